"""The body of a Word file: paragraphs, headings, lists, tables, notes, text boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fonte.parsers.docx.inline import Inline, InlineReader
from fonte.parsers.docx.names import ALTERNATE, CHOICE, FALLBACK, PASSED_THROUGH, w
from fonte.parsers.docx.styles import Numbering, Styles, child_value, number
from fonte.parsers.tables import Line, joined_line, looks_like_header, one_line, row_line, table_blocks
from fonte.types import Block, BlockKind, Cell

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.pptx.charts import Chart

_MAX_DEPTH = 40
_MAX_COLUMNS = 1000
_MAX_LEVEL = 6


@dataclass(slots=True)
class Notes:
    """Footnotes and endnotes by (kind, id), and which were used, in order."""

    found: Mapping[tuple[str, str], _Element]
    used: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Cell:
    text: str
    column: int
    span: int


class BodyReader:
    """Walks block-level elements and gathers blocks."""

    def __init__(
        self, styles: Styles, numbering: Numbering, notes: Notes, chart: Callable[[str], Chart | None]
    ) -> None:
        self.blocks: list[Block] = []
        self.notes = notes
        self.images = 0
        self.hidden = 0
        self.foreign = 0
        self.charts_lost = 0
        self._styles = styles
        self._numbering = numbering
        self._chart = chart
        self._inline = InlineReader()
        self._tables = 0
        self._pending: list[tuple[str, str]] = []

    def read(self, parent: _Element, depth: int = 0) -> None:
        """Add the blocks below an element."""
        for element in members(parent):
            if element.tag == w("p"):
                self._paragraph(element, depth)
                self._flush_notes(depth)
            elif element.tag == w("tbl"):
                self._table(element, depth)
                self._flush_notes(depth)
            elif element.tag == w("altChunk"):
                self.foreign += 1

    # --- paragraphs

    def _take(self, paragraph: _Element) -> tuple[Inline, str]:
        """A paragraph's content, and its text after its list label."""
        inline = self._inline.read(paragraph)
        self.images += inline.images
        self.hidden += inline.hidden
        self._pending += inline.notes
        text = inline.text
        place = self._styles.numbering(paragraph.find(w("pPr")))
        if text and place is not None:
            label = self._numbering.label(*place)
            text = f"{label} {text}" if label else text
        return inline, text

    def _paragraph(self, paragraph: _Element, depth: int) -> None:
        inline, text = self._take(paragraph)
        properties = paragraph.find(w("pPr"))
        if text:
            self._add(text, properties)
        if depth < _MAX_DEPTH:
            for box in inline.boxes:
                self.read(box, depth + 1)
        for relation in inline.charts:
            self._draw(self._chart(relation))

    def _draw(self, chart: Chart | None) -> None:
        """A chart's title, and its stored values as rows."""
        if chart is None:
            self.charts_lost += 1
            return
        if chart.title:
            self.blocks.append(Block(BlockKind.CAPTION, chart.title))
        for rows in chart.tables:
            self.blocks += table_blocks(rows, table=self._tables, header=True)
            self._tables += 1

    def _add(self, text: str, properties: _Element | None) -> None:
        level = min(self._styles.heading_level(properties), _MAX_LEVEL)
        if level:
            self.blocks.append(Block(BlockKind.HEADING, one_line(text), level=level))
        elif self._styles.is_code(properties):
            last = self.blocks[-1] if self.blocks else None
            if last is not None and last.kind is BlockKind.CODE:
                self.blocks[-1] = Block(BlockKind.CODE, f"{last.text}\n{text}")
            else:
                self.blocks.append(Block(BlockKind.CODE, text))
        elif self._styles.is_caption(properties):
            self.blocks.append(Block(BlockKind.CAPTION, text))
        elif self._styles.numbering(properties) is not None:
            self.blocks.append(Block(BlockKind.LIST_ITEM, text))
        else:
            self.blocks.append(Block(BlockKind.PARAGRAPH, text))

    def _flush_notes(self, depth: int) -> None:
        """Notes that the element referred to, each once."""
        while self._pending:
            key = self._pending.pop(0)
            note = self.notes.found.get(key)
            if note is None or key in self.notes.used or depth > _MAX_DEPTH:
                continue
            self.notes.used.append(key)
            text = "\n".join(self._lines(note, depth + 1))
            if text:
                self.blocks.append(Block(BlockKind.NOTE, text))

    # --- tables

    def _table(self, table: _Element, depth: int) -> None:
        rows = [row for row in members(table, depth) if row.tag == w("tr") and child_of(row, "trPr", "del") is None]
        if len(rows) == 1 and depth < _MAX_DEPTH:
            cells = [cell for cell in members(rows[0]) if cell.tag == w("tc")]
            if len(cells) == 1:
                self.read(cells[0], depth + 1)
                return
        marked = [child_of(row, "trPr", "tblHeader") is not None for row in rows]
        grid = [self._row(row, depth) for row in rows]
        width = max((cell.column + cell.span for row in grid for cell in row), default=0)
        spread = [_spread(row, width) for row in grid]
        full = [texts for texts in spread if any(texts)]
        head = marked[:1] == [True] or (width > 1 and looks_like_header(full))
        names: list[str] | None = None
        merged = any(cell.find(f"{w('tcPr')}/{w('vMerge')}") is not None for row in rows for cell in row.iter(w("tc")))
        for row, texts in zip(grid, spread, strict=True):
            if not any(texts):
                continue
            header = head and names is None
            if header:
                names = _names(row, width)
                text, within = _header(row)
            else:
                text, within = row_line(texts, names)
            self.blocks.append(
                Block(BlockKind.ROW, text, table=self._tables, header=header, cells=() if merged else within)
            )
        self._tables += 1

    def _row(self, row: _Element, depth: int) -> list[_Cell]:
        column = number(child_value(row, "trPr", "gridBefore"), 0)
        cells: list[_Cell] = []
        for element in members(row):
            if element.tag != w("tc") or column > _MAX_COLUMNS:
                continue
            properties = element.find(w("tcPr"))
            span = min(max(number(child_value(properties, "gridSpan"), 1), 1), _MAX_COLUMNS)
            merge = properties.find(w("vMerge")) if properties is not None else None
            continued = merge is not None and merge.get(w("val"), "continue") == "continue"
            text = " ".join(self._lines(element, depth + 1))
            if text or not continued:
                cells.append(_Cell(text, column, span))
            column += span
        return cells

    def _lines(self, parent: _Element, depth: int) -> list[str]:
        """Paragraphs of a cell or note as text; tables inside them flattened, row by row."""
        lines: list[str] = []
        if depth > _MAX_DEPTH:
            return lines
        for element in members(parent):
            if element.tag == w("p"):
                inline, text = self._take(element)
                lines += [text] if text else []
                self.images += len(inline.charts)  # in a cell its rows would stand inside a row
                for box in inline.boxes:
                    lines += self._lines(box, depth + 1)
            elif element.tag == w("tbl"):
                for row in members(element):
                    if row.tag == w("tr"):
                        cells = [one_line(cell.text) for cell in self._row(row, depth + 1) if cell.text]
                        lines += [" | ".join(cells) + ";"] if cells else []
        return lines


def members(parent: _Element, depth: int = 0) -> Iterator[_Element]:
    """Block-level children, wrappers opened, one form of alternate content."""
    for element in parent:
        if element.tag in PASSED_THROUGH and depth < _MAX_DEPTH:
            yield from members(element, depth + 1)
        elif element.tag == ALTERNATE:
            form = element.find(CHOICE)
            form = element.find(FALLBACK) if form is None else form
            if form is not None and depth < _MAX_DEPTH:
                yield from members(form, depth + 1)
        else:
            yield element


def child_of(element: _Element, *path: str) -> _Element | None:
    """A descendant by its path of names."""
    found: _Element | None = element
    for name in path:
        found = found.find(w(name)) if found is not None else None
    return found


def _spread(row: list[_Cell], width: int) -> list[str]:
    cells = [""] * width
    for cell in row:
        cells[cell.column] = cell.text
    return cells


def _header(row: list[_Cell]) -> Line:
    """The header as a line; a name that spans columns is the cell of each of them."""
    named = [cell for cell in row if cell.text]
    text, cells = joined_line([(cell.column, "", one_line(cell.text)) for cell in named], between=" | ")
    spread = [
        Cell(column, place.start, place.end)
        for cell, place in zip(named, cells, strict=True)
        for column in range(cell.column, cell.column + cell.span)
    ]
    return text, tuple(spread)


def _names(row: list[_Cell], width: int) -> list[str]:
    """Column names; a name that spans columns names each of them."""
    names = [""] * width
    for cell in row:
        for column in range(cell.column, min(cell.column + cell.span, width)):
            names[column] = one_line(cell.text)
    return names
