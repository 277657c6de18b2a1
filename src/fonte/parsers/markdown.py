"""Markdown to blocks of clean text with their source lines, on markdown-it-py's token stream."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING

from fonte.parsers.counting import check_found, count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.html_blocks import fragment_blocks, raised
from fonte.parsers.plain import decoded_body, undecoded, verbatim_blocks
from fonte.parsers.tables import count_empty_cells, table_blocks
from fonte.text.frontmatter import split_front_matter
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Place, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MAX_NESTING = 100
_KEPT_SHARE = 0.9
"""Of the words that stand in the source, markup left out; fewer in the blocks means that something was lost."""
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\"|\s+'[^'\n]*')?\)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S+.*$|\]\[[^\]\n]*\]|\[\^[^\]\n]+\]:?", re.MULTILINE)
_HTML = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[/!]?[A-Za-z][^<>]*>", re.DOTALL | re.IGNORECASE)
_FENCE_LINE = re.compile(r"^ {0,3}(?:`{3,}|~{3,}).*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")


@dataclass(slots=True)
class _List:
    """A list that is open: the number of its next item, or None for bullets."""

    number: int | None


@dataclass(slots=True)
class _Table:
    """A table that is open."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[tuple[int, int] | None] = field(default_factory=list)


class MarkdownParser:
    """CommonMark with tables, strike-through, footnotes and front matter."""

    @cached_property
    def name(self) -> str:
        """Parser and library with their versions."""
        return f"markdown/1 markdown-it-py {version('markdown-it-py')}"

    @cached_property
    def _markdown(self) -> MarkdownIt:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.footnote import footnote_plugin

        markdown = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
        return markdown.use(footnote_plugin)

    def parse(self, source: Source) -> Parsed:
        """Blocks in order. Text that the grammar loses (nested too deeply) comes back as plain paragraphs, told so.

        Raises:
            ParseError: bytes that are not text, or front matter that is not read whole.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        metadata, front_lines = split_front_matter(text)
        body = "\n" * front_lines + text.split("\n", front_lines)[-1] if front_lines else text
        counts = _source_counts(body)
        losses = undecoded(decoded)
        try:
            reader = _Reader()
            reader.read(self._markdown.parse(body))
            blocks = tuple(reader.blocks)
        except RecursionError:
            blocks = ()
        kept = sum(count_words(block.text) for block in blocks)
        if kept < _KEPT_SHARE * counts.words and counts.words - kept > 1:
            blocks, _ = verbatim_blocks(body)
            blocks = tuple(Block(block.kind, block.text) for block in blocks)
            losses = (*losses, Loss("structure", "nested too deeply for Markdown: read as plain text"))
        elif reader.empty_cells:
            metadata = {**metadata, "empty_cells": str(reader.empty_cells)}
        check_found(source, words=counts.words, found=bool(blocks))
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=metadata.get("title"),
            media_type="text/markdown",
            source_counts=counts,
            losses=losses,
            metadata={"encoding": decoded.encoding, **metadata},
            empty_reason=None if blocks else "empty",
        )


class _Reader:
    """Turns a token stream into blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.empty_cells = 0
        self._lists: list[_List] = []
        self._prefix = ""
        self._in_note = 0
        self._table: _Table | None = None
        self._tables = 0

    def read(self, tokens: Sequence[Token]) -> None:
        """All tokens of a document."""
        for index, token in enumerate(tokens):
            kind = token.type
            if kind == "inline":
                self._inline(token, tokens[index - 1])
            elif kind in ("fence", "code_block"):
                self._code(token)
            elif kind == "html_block":
                self._html(token)
            elif kind.startswith(("bullet_list", "ordered_list", "list_item", "footnote_")):
                self._structure(token)
            elif kind.startswith(("table", "tr", "td", "th")):
                self._table_part(token)

    def _structure(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(_List(None))
            case "ordered_list_open":
                self._lists.append(_List(int(token.attrs.get("start", 1))))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open" if self._lists:
                current = self._lists[-1]
                self._prefix = "- " if current.number is None else f"{current.number}. "
                if current.number is not None:
                    current.number += 1
            case "list_item_close":
                self._prefix = ""
            case "footnote_open":
                self._in_note += 1
            case "footnote_close":
                self._in_note -= 1
            case _:
                pass

    def _inline(self, token: Token, opening: Token) -> None:
        first = token.map[0] + 1 if token.map else None
        text, breaks = inline_text(token.children or ())
        if self._table is not None:
            if opening.type in ("td_open", "th_open"):
                self._table.rows[-1].append(text)
            return
        if not text.strip():
            return
        if opening.type == "heading_open":
            self._add(BlockKind.HEADING, text, token, first, breaks, level=int(opening.tag[1]))
        elif self._in_note:
            self._add(BlockKind.NOTE, text, token, first, breaks)
        elif self._prefix:
            prefix, self._prefix = self._prefix, ""
            shifted = [at + len(prefix) for at in breaks]
            self._add(BlockKind.LIST_ITEM, prefix + text, token, first, shifted)
        else:
            self._add(BlockKind.PARAGRAPH, text, token, first, breaks)

    def _add(
        self, kind: BlockKind, text: str, token: Token, first: int | None, breaks: Sequence[int], *, level: int = 0
    ) -> None:
        """Add a block of one inline token, with a place for each of its source lines."""
        places: tuple[Place, ...] = ()
        if first is not None and len(breaks) == token.content.count("\n"):
            edges = [0, *breaks, len(text)]
            places = tuple(
                Place(start, end, lines=(first + row, first + row))
                for row, (start, end) in enumerate(pairwise(edges))
                if start < end
            )
        elif first is not None and token.map:
            places = (Place(0, len(text), lines=(first, max(first, token.map[1]))),)
        self.blocks.append(Block(kind, text, level=level, places=places))

    def _code(self, token: Token) -> None:
        text = token.content.rstrip("\n")
        first = (token.map[0] + 1 if token.map else 1) + (1 if token.type == "fence" else 0)
        leading = len(text) - len(text.lstrip("\n"))
        if not text.strip():
            return
        places, at = [], 0
        for row, line in enumerate(text.split("\n")):
            if row >= leading and line:
                places.append(Place(at - leading, at - leading + len(line), lines=(first + row, first + row)))
            at += len(line) + 1
        self._prefix = ""
        self.blocks.append(Block(BlockKind.CODE, text[leading:], places=tuple(places) if token.map else ()))

    def _html(self, token: Token) -> None:
        lines = (token.map[0] + 1, token.map[1]) if token.map else None
        blocks, tables = fragment_blocks(token.content, first_table=self._tables)
        self._tables += tables
        for block in blocks:
            places = () if lines is None else (Place(0, len(block.text), lines=lines),)
            self.blocks.append(replace(block, places=places))

    def _table_part(self, token: Token) -> None:
        if token.type == "table_open":
            self._table = _Table()
        elif token.type == "tr_open" and self._table is not None:
            self._table.rows.append([])
            self._table.lines.append((token.map[0] + 1, token.map[1]) if token.map else None)
        elif token.type == "table_close" and self._table is not None:
            table, self._table = self._table, None
            places = [None if lines is None else Place(0, 0, lines=lines) for lines in table.lines]
            header = any(cell.strip() for cell in table.rows[0])
            self.blocks += table_blocks(table.rows, table=self._tables, header=header, places=places)
            self.empty_cells += count_empty_cells(table.rows)
            self._tables += 1


def inline_text(children: Sequence[Token]) -> tuple[str, list[int]]:
    """(clean text, where a source line begins after the first) of an inline token's children."""
    parts: list[str] = []
    breaks: list[int] = []
    size, superscript = 0, False
    for child in children:
        piece = ""
        match child.type:
            case "text" | "text_special" | "code_inline":
                piece = raised(child.content, parts) if superscript else child.content
                superscript = False
            case "softbreak" | "hardbreak":
                piece = " " if child.type == "softbreak" else "\n"
                breaks.append(size + 1)
            case "image":
                piece = inline_text(child.children or ())[0]
            case "html_inline":
                piece = "\n" if re.match(r"<br\b", child.content, re.IGNORECASE) else ""
                superscript = child.content.lower().startswith("<sup")
                breaks.extend([size + len(piece)] * child.content.count("\n"))
            case _:
                pass
        parts.append(piece)
        size += len(piece)
    return _stripped("".join(parts), breaks)


def _stripped(text: str, breaks: list[int]) -> tuple[str, list[int]]:
    body = text.strip()
    start = len(text) - len(text.lstrip())
    return body, [min(max(at - start, 0), len(body)) for at in breaks]


def _source_counts(body: str) -> Counts:
    """Counts of the source with its markup left out, found without the grammar."""
    text = _FENCE_LINE.sub("", body)
    for markup in (_HTML, _LINK_TARGET, _REFERENCE):
        text = markup.sub(" ", text)
    return count_text(_ESCAPE.sub(r"\1", _ENTITY.sub(" ", text)))
