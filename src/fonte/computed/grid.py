"""Tables of a document, had back from its canonical text: names, rows, and what keeps a table from being computed on.

Nothing but the document is read: a cell is the slice of canonical text that the parser told (``Document.cells``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from fonte.computed.values import Column, Style, fold
from fonte.text.cells import column_letters
from fonte.text.locate import locate, section_at
from fonte.types import BlockKind, Cell, Document, Span

_TOTALS = frozenset(
    {"total", "totals", "totale", "totali", "sum", "somma", "subtotal", "subtotale", "sub total", "grand total"}
    | {"overall", "overall total", "totale generale", "totale complessivo"}
)
_NOTE_COLUMNS = 3
"""From so many columns on, a row with a single cell is taken for a note or a heading between rows."""


@dataclass(frozen=True)
class Table:
    """One table: its rows of data in order, without column names, titles and rows that add others up.

    ``start..end`` are its characters from the first row of names to the last row.
    """

    document: Document
    number: int
    start: int
    end: int
    names: tuple[str, ...]
    """Of each column; a column without a name has its letter."""
    rows: tuple[tuple[int, int], ...]
    """Characters of each row."""
    columns: tuple[tuple[str, ...], ...]
    """The cells of each column, "" where one is empty."""
    title: str
    """What stands directly above it as its caption, and rows of titles."""
    totals: tuple[tuple[int, int], ...]
    """Rows that add the others up, left out."""
    faults: tuple[str, ...]
    """Codes of what keeps anything from being computed on it."""

    @cached_property
    def typed(self) -> tuple[Column, ...]:
        """The columns with what their cells mean."""
        return tuple(Column(values, day_first=self.day_first) for values in self.columns)

    @property
    def day_first(self) -> bool:
        """Whether 3/4/2026 is surely the third of April here."""
        return self.document.language not in ("en", "und")

    @cached_property
    def style(self) -> Style | None:
        """How the numbers of its other columns are written, where that is plain; never in a spreadsheet.

        A spreadsheet's numbers are shown by us and its texts written by people: neither says how the other is read.
        """
        if self.document.parser.split("/")[0] in ("xlsx", "xls", "ods"):
            return None
        known = {style for column in self.typed for style in [column.own_style] if style is not None}
        return known.pop() if len(known) == 1 else None

    @cached_property
    def units(self) -> frozenset[str]:
        """Units of its numbers."""
        return frozenset(one.unit for column in self.typed for one in column.amounts.values() if one.unit)

    @cached_property
    def label(self) -> str:
        """What people call it: the document, and its sheet or caption or heading where there are several tables."""
        place = locate(self.document, self.start, self.end)
        section = section_at(self.document, self.start)
        own = place.sheet or self.title or (section.path[-1] if section and section.path else "")
        several = sum(1 for _ in outlines(self.document)) > 1
        return f"{self.document.name} ({own})" if own and (several or place.sheet) else self.document.name

    @cached_property
    def content(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """What two copies of a table have in common."""
        return self.names, self.columns

    @cached_property
    def words(self) -> frozenset[str]:
        """Folded words that name it: of the file's name, the title, the headings above it, its sheet and caption."""
        place = locate(self.document, self.start, self.end)
        section = section_at(self.document, self.start)
        said = [
            PurePosixPath(self.document.name).stem,
            self.document.title,
            self.title,
            place.sheet or "",
            *(section.path if section else ()),
        ]
        return frozenset(word for text in said for word in fold(text).split())


@dataclass(frozen=True, slots=True)
class Outline:
    """A table that was not read yet: its number and its rows, as indexes into ``document.spans``."""

    number: int
    rows: tuple[int, ...]


def outlines(document: Document) -> Iterator[Outline]:
    """Every table of the document, in order of their numbers."""
    found: dict[int, list[int]] = {}
    for index, span in enumerate(document.spans):
        if span.kind is BlockKind.ROW and span.table is not None:
            found.setdefault(span.table, []).append(index)
    for number, rows in sorted(found.items()):
        yield Outline(number, tuple(rows))


def read_table(document: Document, outline: Outline) -> Table:
    """The table with its cells."""
    spans = [document.spans[index] for index in outline.rows]
    cells = _cells_of(document, spans)
    text = document.text
    heads = [at for at, span in enumerate(spans) if span.header]
    first = heads[0] if heads else 0
    faults = [] if document.cells else ["no_cells"]
    named = [{cell.column: text[cell.start : cell.end] for cell in cells[at]} for at in heads]
    if any(other != named[0] for other in named[1:]):
        faults.append("two_headers")
    names = named[0] if named else _own_names(text, spans, cells)
    if not names:
        faults.append("no_header")
    if "tesseract" in document.parser:
        faults.append("ocr")
    body = [at for at in range(first, len(spans)) if not spans[at].header]
    if any(not cells[at] for at in body):
        faults.append("no_cells")
    width = 1 + max([*names, *(cell.column for at in body for cell in cells[at])], default=0)
    grid = [_filled(text, cells[at], width) for at in body]
    totals = {at for at, row in zip(body, grid, strict=True) if _adds_up(row)}
    kept = [(at, row) for at, row in zip(body, grid, strict=True) if at not in totals]
    faults += _odd_rows(document, [row for _, row in kept], names, width)
    return Table(
        document=document,
        number=outline.number,
        start=spans[first].start,
        end=spans[-1].end,
        names=tuple(names.get(column) or column_letters(column) for column in range(width)),
        rows=tuple((spans[at].start, spans[at].end) for at, _ in kept),
        columns=tuple(zip(*(row for _, row in kept), strict=True)) if kept else ((),) * width,
        title=" ".join(text[span.start : span.end] for span in [*_caption(document, outline), *spans[:first]]),
        totals=tuple((spans[at].start, spans[at].end) for at in sorted(totals)),
        faults=tuple(dict.fromkeys(faults)),
    )


def _cells_of(document: Document, spans: Sequence[Span]) -> list[Sequence[Cell]]:
    """The cells of each row."""
    all_cells = document.cells
    low = bisect_left(all_cells, spans[0].start, key=lambda cell: cell.start)
    high = bisect_left(all_cells, spans[-1].end, key=lambda cell: cell.start)
    inside = all_cells[low:high]
    found: list[Sequence[Cell]] = []
    at = 0
    for span in spans:
        while at < len(inside) and inside[at].start < span.start:
            at += 1
        begun = at
        while at < len(inside) and inside[at].start < span.end:
            at += 1
        found.append(inside[begun:at])
    return found


def _own_names(text: str, spans: Sequence[Span], cells: Sequence[Sequence[Cell]]) -> dict[int, str]:
    """Names of a table without a row of them whose cells each carry theirs, as records do; else nothing."""
    names: dict[int, str] = {}
    for span, row in zip(spans, cells, strict=True):
        at = span.start
        for cell in row:
            before = text[at : cell.start]
            name = before.removeprefix("; ").removesuffix(": ")
            if not before.endswith(": ") or names.setdefault(cell.column, name) != name:
                return {}
            at = cell.end
    return names


def _filled(text: str, cells: Sequence[Cell], width: int) -> list[str]:
    row = [""] * width
    for cell in cells:
        row[cell.column] = text[cell.start : cell.end]
    return row


def _adds_up(row: Sequence[str]) -> bool:
    """Whether a row is the sum of others: its first cell says so."""
    filled = [cell for cell in row if cell]
    return len(filled) > 1 and fold(filled[0]) in _TOTALS


def _odd_rows(document: Document, rows: Sequence[Sequence[str]], names: dict[int, str], width: int) -> Iterator[str]:
    if names and any(row[column] for row in rows for column in range(width) if column not in names):
        yield "unnamed_column"
    if document.pages is not None and any(not row[0] for row in rows):
        yield "cut_row"  # a row that goes on over a page's end has nothing in its first cell
    if width >= _NOTE_COLUMNS and any(sum(map(bool, row)) == 1 for row in rows):
        yield "note_row"


def _caption(document: Document, outline: Outline) -> Sequence[Span]:
    """The block directly above where it is a caption."""
    above = outline.rows[0] - 1
    span = document.spans[above] if above >= 0 else None
    return [span] if span is not None and span.kind is BlockKind.CAPTION else []
