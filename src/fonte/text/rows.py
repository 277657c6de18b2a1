"""A table as a grid around a place of its document: some of its rows with their cells, and the rows of its names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fonte.text.locate import locate
from fonte.types import BlockKind, Cell, Document, Span

MOST_ROWS: Final = 200
MOST_COLUMNS: Final = 100
LONGEST_CELL: Final = 2000
"""Characters of a cell that are shown."""
_BEFORE: Final = 10
"""Rows shown before the place that is looked for."""
_NUMBER = re.compile(r"[A-Z]+(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its number in the sheet (in the table where there is no sheet), its characters, its cells."""

    number: int
    start: int
    end: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows ``first`` (from 0) and on of the ``total`` that one of the document's ``tables`` has below its names."""

    table: int
    tables: int
    sheet: str | None
    columns: int
    names: tuple[Row, ...]
    first: int
    total: int
    rows: tuple[Row, ...]


def grid(
    document: Document, start: int, end: int, *, table: int | None = None, first: int | None = None, many: int
) -> Grid | None:
    """The table (from 0) that is named, else the first with a row in ``start..end``, else the first one.

    Shown are ``many`` rows from ``first`` on, else from a little before the place. None where the document has no such
    table, or cells were not kept of it.
    """
    tables = _tables(document)
    at = _wanted(tables, start, end) if table is None else table
    if not document.cells or not 0 <= at < len(tables):
        return None
    spans = tables[at]
    names, body = [one for one in spans if one.header], [one for one in spans if not one.header]
    if first is None:
        cited = next((row for row, one in enumerate(body) if start < end and one.end > start and one.start < end), 0)
        first = max(0, cited - _BEFORE)
    first = max(0, min(first, len(body) - 1))
    shown = body[first : first + min(many, MOST_ROWS)]
    sheet = locate(document, spans[0].start, spans[-1].end).sheet
    return Grid(
        table=at,
        tables=len(tables),
        sheet=sheet,
        columns=1 + max((cell.column for one in (*names, *shown) for cell in _cells(document, one)), default=0),
        names=tuple(_row(document, one, 0) for one in names),
        first=first,
        total=len(body),
        rows=tuple(_row(document, one, first + row + 1) for row, one in enumerate(shown)),
    )


def _tables(document: Document) -> list[list[Span]]:
    found: dict[int, list[Span]] = {}
    for span in document.spans:
        if span.kind is BlockKind.ROW and span.table is not None:
            found.setdefault(span.table, []).append(span)
    return [found[number] for number in sorted(found)]


def _wanted(tables: Sequence[Sequence[Span]], start: int, end: int) -> int:
    for at, spans in enumerate(tables):
        if spans[-1].end > start and spans[0].start < end:
            return at
    return 0


def _row(document: Document, span: Span, ordinal: int) -> Row:
    place = locate(document, span.start, span.end)
    number = _NUMBER.match(place.range or "")
    cells = tuple(one for one in _cells(document, span) if one.column < MOST_COLUMNS)
    return Row(int(number[1]) if number else ordinal, span.start, span.end, cells)


def _cells(document: Document, span: Span) -> Sequence[Cell]:
    low = bisect_left(document.cells, span.start, key=lambda cell: cell.start)
    high = bisect_left(document.cells, span.end, key=lambda cell: cell.start)
    return document.cells[low:high]
