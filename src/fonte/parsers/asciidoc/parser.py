"""AsciiDoc to blocks with their source lines, by one walk over the lines; no file is included, nothing evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fonte.errors import ParseError
from fonte.parsers.asciidoc.walk import Walk
from fonte.parsers.counting import count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.plain import decoded_body, undecoded
from fonte.types import Counts, Loss, Parsed, Source

_KEPT_SHARE: Final = 0.8
_SHOWN = 10
_COMMENT_LINE = re.compile(r"^//(?!/).*$", re.MULTILINE)
_COMMENT_BLOCK = re.compile(r"^(/{4,})[ \t]*\n.*?(?:^\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_NOT_TEXT = re.compile(
    r"^:!?[\w-]+!?:.*$|^\[.*\][ \t]*$|^(?:include|ifdef|ifndef|ifeval|endif|toc|video|audio)::.*$|^[`~]{3}.*$",
    re.MULTILINE,
)
_TARGET = re.compile(
    r"(?:link|xref|image|icon|video|audio|footnote|footnoteref|kbd|btn|menu|pass|stem|anchor|indexterm2?):{1,2}[^\s\[\]]*\[|"
    r"(?:https?|ftp|mailto):[^\s\[\]<>]+\[|<<[^<>,]*,|\(\(\(.*?\)\)\)|\[\[[^\]]*\]\]|\[[.#][^\]]*\](?=[#*_`])|\{[\w-]+\}|"
    r"&#?\w+;"
)
_NAMED = re.compile(r"\b[\w-]+=(?:\"[^\"]*\"|[^\s,\]]+)")
_SPEC = re.compile(r"(?:^|(?<=\s))[\d.+*<^>]*[a-z]?\|", re.MULTILINE)


class AsciidocParser:
    """AsciiDoc as text with headings, lists, tables, code and notes."""

    name = "asciidoc/1"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order.

        Raises:
            ParseError: bytes that are not text, or text of which too little came out.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        walk = Walk()
        walk.read(text.split("\n"), 1)
        counts = _source_counts(text)
        kept = sum(count_words(block.text) for block in walk.blocks)
        if kept < _KEPT_SHARE * counts.words and counts.words - kept > 3:  # noqa: PLR2004 - words of a very short text
            raise ParseError(f"{source.name}: only {kept} of {counts.words} words came out", uri=source.uri)
        return Parsed(
            blocks=tuple(walk.blocks),
            parser=self.name,
            title=walk.title,
            media_type="text/asciidoc",
            source_counts=counts,
            losses=(*undecoded(decoded), *_losses(walk, text)),
            metadata={"encoding": decoded.encoding, **walk.metadata()},
            empty_reason=None if walk.blocks else "empty",
        )


def _losses(walk: Walk, text: str) -> Sequence[Loss]:
    found: list[Loss] = []
    if walk.includes:
        some = ", ".join(walk.includes[:_SHOWN])
        found.append(Loss("include", f"other files that belong here are not read: {some}", len(walk.includes)))
    for line, hidden in walk.unclosed:
        if hidden:
            what = f"the comment of line {line} is never closed: it hides {hidden} words"
            found.append(Loss("unclosed_comment", what, hidden))
    if walk.conditions:
        what = f"{walk.conditions} conditions are not evaluated: their text is kept"
        found.append(Loss("structure", what, walk.conditions))
    comments = len(_COMMENT_LINE.findall(_COMMENT_BLOCK.sub("", text))) + len(_COMMENT_BLOCK.findall(text))
    if comments:
        found.append(Loss("comments", f"{comments} comments left out", comments))
    return found


def _source_counts(text: str) -> Counts:
    """Counts of the source with its markup left out, found without the walk."""
    plain = _COMMENT_LINE.sub("", _COMMENT_BLOCK.sub("", text))
    for markup in (_NOT_TEXT, _TARGET, _SPEC):
        plain = markup.sub(" ", plain)
    return count_text(_NAMED.sub(" ", plain))
