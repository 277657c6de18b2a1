"""Rows that can be understood alone: the one way in which every format writes a table.

A header row reads ``A | B | C``; a data row names its columns, ``A: v1; B: v2``, or reads ``v1 | v2`` when the table
has no header. Empty cells of a data row are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fonte.text.cells import column_letters
from fonte.types import Block, BlockKind, Cell, Place

_NUMERIC = re.compile(r"[\s€$£%+\-−()]*\d[\d.,:/\s€$£%()\-]*(?:[A-Za-z%€]{1,3})?")
_LONGEST_NAME = 80
_HEADER_SHARE = 0.5
_BULLET = "- "
"""Begins an item of a list in a cell: what columns hold, not what they are called."""


def one_line(text: str) -> str:
    """A cell's text with its white space collapsed: a row is one line."""
    return " ".join(text.split())


def is_number(text: str) -> bool:
    """Whether a cell reads as a number, an amount, a date or a time."""
    return _NUMERIC.fullmatch(text.strip()) is not None


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of ``rows`` names columns: distinct short words over most columns, with rows below."""
    if len(rows) <= 1:
        return False
    cells = [one_line(cell) for cell in rows[0]]
    names = [cell for cell in cells if cell]
    if len(names) <= 1 and max(map(len, rows)) > 1:
        return False
    width = max(len(row) for row in rows[:50])
    return (
        len(names) > _HEADER_SHARE * width
        and len({name.casefold() for name in names}) == len(names)
        and not any(is_number(name) or len(name) > _LONGEST_NAME or name.startswith(_BULLET) for name in names)
        and [one_line(cell) for cell in rows[1]] != cells
    )


Line = tuple[str, tuple[Cell, ...]]
"""A row as one line, and where its cells lie in it."""


def header_line(cells: Sequence[str]) -> Line:
    """``A | B | C``; a column without a name keeps its letter, so that every column is seen, and has no cell."""
    return joined_line(
        [(index, "", one_line(cell) or column_letters(index)) for index, cell in enumerate(cells)],
        between=" | ",
        unknown=frozenset(index for index, cell in enumerate(cells) if not cell.strip()),
    )


def row_line(cells: Sequence[str], names: Sequence[str] | None) -> Line:
    """A data row: ``A: v1; B: v2`` with column names, ``v1 | v2`` without. Empty when every cell is."""
    values = [(index, value) for index, cell in enumerate(cells) if (value := one_line(cell))]
    if names is None:
        return joined_line([(index, "", value) for index, value in values], between=" | ")
    titles = [one_line(name) for name in names]
    known = {index: title for index, title in enumerate(titles) if title}
    return joined_line(
        [(index, f"{known.get(index) or column_letters(index)}: ", value) for index, value in values], between="; "
    )


def joined_line(parts: Sequence[tuple[int, str, str]], *, between: str, unknown: frozenset[int] = frozenset()) -> Line:
    """(column, what stands before, cell) as one line; columns in ``unknown`` give no cell."""
    pieces: list[str] = []
    cells: list[Cell] = []
    at = 0
    for number, (column, before, value) in enumerate(parts):
        lead = (between if number else "") + before
        pieces += (lead, value)
        at += len(lead) + len(value)
        if column not in unknown:
            cells.append(Cell(column, at - len(value), at))
    return "".join(pieces), tuple(cells)


def table_blocks(
    rows: Sequence[Sequence[str]],
    *,
    table: int,
    header: bool | None = None,
    places: Sequence[Place | None] | None = None,
    merged: bool = False,
) -> list[Block]:
    """ROW blocks of one table, in order; rows without any text give none.

    Args:
        rows: cells as text, the header row first where there is one.
        table: the table's number in the document, from 0.
        header: whether the first row names the columns; None looks.
        places: for each row where it stands (its characters are set here), or None.
        merged: cells reach over rows, so that what a row says alone is not what can be counted: no cells are told.

    """
    if header is None:
        header = looks_like_header([row for row in rows if any(map(str.strip, row))])
    names: Sequence[str] | None = None
    blocks: list[Block] = []
    for index, cells in enumerate(rows):
        if not any(cell.strip() for cell in cells):
            continue
        is_header = header and names is None
        text, within = header_line(cells) if is_header else row_line(cells, names)
        if is_header:
            names = cells
        place = places[index] if places is not None else None
        spread = () if place is None else (_over(place, len(text)),)
        blocks.append(
            Block(BlockKind.ROW, text, places=spread, table=table, header=is_header, cells=() if merged else within)
        )
    return blocks


def count_empty_cells(rows: Sequence[Sequence[str]]) -> int:
    """Cells without text in rows that have some."""
    return sum(not cell.strip() for row in rows if any(map(str.strip, row)) for cell in row)


def _over(place: Place, length: int) -> Place:
    return Place(
        0, length, place.page, place.box, place.slide, place.time, place.sheet, place.range, place.anchor, place.lines
    )
