"""reStructuredText to blocks with their source lines. No file is read, whatever the text asks for."""

from __future__ import annotations

import re
from functools import cached_property
from importlib.metadata import version
from typing import Final

from fonte.parsers.counting import count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.plain import decoded_body, undecoded, verbatim_blocks
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Source

_KEPT_SHARE: Final = 0.8
"""Of the words that stand in the source, markup left out; fewer in the blocks means that something was lost."""
_SHOWN = 10
_LOST = 3
_MAX_SEARCH: Final = 200_000_000
"""Characters that docutils may look through for the ends of marks that have none: some four seconds."""
_OPENS = re.compile(r"(?<!\S)(?:\*\*?|``?|\|)(?=\S)")
_CLOSES = re.compile(r"(?<=\S)(?:\*\*?|``?_{0,2}|\|_{0,2})(?![\w*`|])")
_SILENT = re.compile(
    r"^([ \t]*)\.\. (?:toctree|index|contents|highlight|currentmodule|include|literalinclude|meta|autosummary|raw|"
    r"automodule|module|sectionauthor|codeauthor|only)::.*\n(?:(?:\1[ \t]+.*|[ \t]*)\n)*",
    re.MULTILINE,
)
_COMMENT = re.compile(
    r"^([ \t]*)\.\.(?:[ \t]+(?!\[|_|\||[\w:+.-]+::).*)?\n(?:(?:\1[ \t]+\S.*|[ \t]*)\n)*", re.MULTILINE
)
_NOT_TEXT = re.compile(
    r"^[ \t]*\.\. (?:_.*|\|.*|[\w:+.-]+::.*)$|^[ \t]*:[^:\n]+:(?:[ \t].*)?$|^__ .*$|"
    r":[\w:+.-]+:(?=`)|(?<=`):[\w:+.-]+:|<[^<>\n]*>(?=`)|\|[\w -]+\||\[[#*\w]*\]_",
    re.MULTILINE,
)


class RstParser:
    """reStructuredText by docutils, read without files and without raw markup."""

    @cached_property
    def name(self) -> str:
        """Parser and library with their versions."""
        return f"rst/1 docutils/{version('docutils')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order. Text that the grammar loses comes back as plain paragraphs, told so.

        Raises:
            ParseError: bytes that are not text.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        counts = _source_counts(text)
        losses = list(undecoded(decoded))
        blocks, comments, files = _read(text, source.name)
        kept = sum(count_words(block.text) for block in blocks)
        if kept < _KEPT_SHARE * counts.words and counts.words - kept > _LOST:
            paragraphs, _ = verbatim_blocks(text)
            blocks = tuple(Block(block.kind, block.text) for block in paragraphs)
            losses.append(Loss("structure", "not readable as reStructuredText: read as plain text"))
        if files:
            some = ", ".join(files[:_SHOWN])
            losses.append(Loss("include", f"other files that belong here are not read: {some}", len(files)))
        if comments:
            losses.append(Loss("comments", f"{comments} comments left out", comments))
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=next((block.text for block in blocks if block.kind is BlockKind.HEADING), None),
            media_type="text/x-rst",
            source_counts=counts,
            losses=tuple(losses),
            metadata={"encoding": decoded.encoding},
            empty_reason=None if blocks else "empty",
        )


def _read(text: str, name: str) -> tuple[tuple[Block, ...], int, list[str]]:
    """(blocks, comments, files that are named and not read); no blocks where docutils cannot go on."""
    from fonte.parsers.rst.grammar import files_named, read_tree
    from fonte.parsers.rst.walk import Walk

    if _searched(text) > _MAX_SEARCH:
        return (), 0, files_named(text)
    try:
        walk = Walk(read_tree(text, name), text)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError):  # its own faults
        return (), 0, files_named(text)
    return tuple(walk.blocks), walk.comments, files_named(text)


def _searched(text: str) -> int:
    """How far docutils would look, in all, for the ends of marks: each that nothing closes is sought to the end."""
    return sum(
        max(0, len(_OPENS.findall(piece)) - len(_CLOSES.findall(piece))) * len(piece) for piece in text.split("\n\n")
    )


def _source_counts(text: str) -> Counts:
    """Counts of the source with its markup left out, found without docutils."""
    plain = _COMMENT.sub("\n", _SILENT.sub("\n", f"{text}\n"))
    return count_text(_NOT_TEXT.sub(" ", plain))
