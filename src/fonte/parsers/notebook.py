"""Jupyter notebooks (formats 3 and 4): Markdown cells as Markdown, code as code, text that came out of it labelled.

Every block has the anchor ``cell-N`` of its cell, counted from 1. Pictures and other results that are no text are
counted and named, not printed.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.html_blocks import fragment_blocks
from fonte.parsers.markdown import MarkdownParser
from fonte.parsers.plain import decoded_body, undecoded
from fonte.types import Acl, Block, BlockKind, Counts, Loss, Parsed, Place, Source, sha256_hex

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HTML_TABLE = re.compile(r"<table\b", re.IGNORECASE)
_NOT_TEXT = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_OLD_KINDS = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "text": "text/plain",
    "html": "text/html",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
    "pdf": "application/pdf",
}
"""What results are called in format 3, where they stand beside the result's other fields."""
_READ = ("text/markdown", "text/plain", "text/latex")
"""Forms of a result that are read before others that are text."""
_MAX_HEADING = 6
_NOBODY = Acl()


@dataclass(slots=True)
class _Reader:
    """Cells to blocks."""

    blocks: list[Block] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    losses: list[Loss] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    tables: int = 0
    cell: int = 0
    _markdown: MarkdownParser = field(default_factory=MarkdownParser)

    def take(self, cell: Mapping[str, Any]) -> None:
        """Read one cell."""
        self.cell += 1
        kind = cell.get("cell_type")
        text = _text(cell.get("source", cell.get("input")))
        for files in _mapping(cell.get("attachments")).values():
            self.left_out.update(map(str, _mapping(files)))
        if kind == "markdown":
            self._take_markdown(text)
        elif kind == "heading":
            level = cell.get("level")
            heading = " ".join(text.split())
            if heading:
                self._count(heading)
                depth = min(max(level, 1), _MAX_HEADING) if isinstance(level, int) else 1
                self._add(Block(BlockKind.HEADING, heading, level=depth))
        elif kind == "code":
            self._take_plain(BlockKind.CODE, "", text)
            for output in _list(cell.get("outputs")):
                self._take_output(_mapping(output))
        else:
            self._take_plain(BlockKind.PARAGRAPH, "", text)

    def _take_markdown(self, text: str) -> None:
        if not text.strip():
            return
        body = f"<!---->\n{text}".encode("utf-8", "replace")  # only a file has front matter
        parsed = self._markdown.parse(Source("", "cell.md", sha256_hex(body), _NOBODY, body=body))
        self._sum(parsed.source_counts)
        self.losses += parsed.losses
        first, highest = self.tables, -1
        for block in parsed.blocks:
            number = None if block.table is None else first + block.table
            highest = max(highest, block.table if block.table is not None else -1)
            self._add(replace(block, table=number))
        self.tables += highest + 1

    def _take_output(self, output: Mapping[str, Any]) -> None:
        kind = output.get("output_type")
        if kind == "stream":
            name = "Errors" if output.get("name", output.get("stream")) == "stderr" else "Output"
            self._take_plain(BlockKind.CODE, name, _text(output.get("text")))
        elif kind in ("error", "pyerr"):
            trace = "\n".join(map(_text, _list(output.get("traceback"))))
            said = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}".strip(": ")
            self._take_plain(BlockKind.CODE, "Error", trace if said in _clean(trace) else f"{said}\n{trace}")
        else:
            old = {_OLD_KINDS[key]: value for key, value in output.items() if key in _OLD_KINDS}
            self._take_result(_mapping(output.get("data")) or old)

    def _take_result(self, data: Mapping[str, Any]) -> None:
        """One result in several forms: a table as rows, else the first form that is text."""
        table = _text(data.get("text/html"))
        others = (kind for kind in data if kind.startswith("text/") and kind != "text/html")
        read = next((kind for kind in (*_READ, *others) if _text(data.get(kind)).strip()), None)
        if _HTML_TABLE.search(table):
            read = "text/html"
            blocks, tables = fragment_blocks(table, first_table=self.tables)
            self.tables += tables
            self._count(html.unescape(_NOT_TEXT.sub(" ", table)))
            for block in blocks:
                self._add(block)
        elif read is not None:
            self._take_plain(BlockKind.CODE, "Output", _text(data[read]))
        elif table.strip():
            read = "text/html"
            self._take_plain(BlockKind.CODE, "Output", html.unescape(_NOT_TEXT.sub(" ", table)))
        self.left_out.update(kind for kind in data if kind != read and not kind.startswith("text/"))

    def _take_plain(self, kind: BlockKind, label: str, text: str) -> None:
        body = _clean(text).strip("\n").rstrip()
        if body.strip():
            self._count(body)
            self._add(Block(kind, f"{label}:\n{body}" if label else body))

    def _add(self, block: Block) -> None:
        place = Place(0, len(block.text), anchor=f"cell-{self.cell}")
        self.blocks.append(replace(block, places=(place,)))

    def _count(self, text: str) -> None:
        self._sum(count_text(text))

    def _sum(self, more: Counts) -> None:
        self.counts += more


class NotebookParser:
    """Notebooks by their cells."""

    name = "notebook/1"

    def parse(self, source: Source) -> Parsed:
        """Blocks of all cells in order.

        Raises:
            ParseError: no JSON, or JSON that is no notebook.
        """
        decoded = decoded_body(source)
        try:
            value = json.loads(decoded.text.lstrip("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise ParseError(f"{source.name} is no JSON: {error}", uri=source.uri) from error
        notebook = _mapping(value)
        if "nbformat" not in notebook:
            raise ParseError(f"{source.name} is JSON, but no notebook", uri=source.uri)
        reader = _Reader()
        for cell in _cells(notebook):
            reader.take(cell)
        losses = [*undecoded(decoded), *reader.losses]
        if reader.left_out:
            count = reader.left_out.total()
            kinds = ", ".join(f"{kind} {times}" for kind, times in sorted(reader.left_out.items()))
            losses.append(
                Loss("images", f"{count} pictures and other results that are no text left out: {kinds}", count)
            )
        return Parsed(
            blocks=tuple(reader.blocks),
            parser=self.name,
            title=_text(_mapping(notebook.get("metadata")).get("title")).strip() or None,
            media_type="application/x-ipynb+json",
            source_counts=reader.counts,
            losses=tuple(losses),
            metadata={"cells": str(reader.cell), **_language(notebook)},
            empty_reason=None if reader.blocks else "empty",
        )


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Cells of format 4, or those of format 3's sheets."""
    sheets = [notebook, *map(_mapping, _list(notebook.get("worksheets")))]
    for sheet in sheets:
        yield from map(_mapping, _list(sheet.get("cells")))


def _language(notebook: Mapping[str, Any]) -> dict[str, str]:
    metadata = _mapping(notebook.get("metadata"))
    name = _mapping(metadata.get("language_info")).get("name") or _mapping(metadata.get("kernelspec")).get("language")
    return {"programming_language": name} if isinstance(name, str) and name else {}


def _clean(text: str) -> str:
    """Text without terminal colours and control characters."""
    return _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _text(value: object) -> str:
    """A string, or the lines of one."""
    if isinstance(value, list):
        return "".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
