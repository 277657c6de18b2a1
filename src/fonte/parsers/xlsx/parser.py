"""XLSX to blocks: a heading for each sheet, a ROW for each row, with its cells in A1 notation."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.ooxml import opened
from fonte.parsers.tables import is_number, looks_like_header, one_line, row_line
from fonte.parsers.xlsx.extents import MAIN, Extent, read_extents, squeeze
from fonte.text.cells import cell_range
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Place

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

    from fonte.types import Source

XLSX_VERSION = "2"
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDE = 1000
"""Columns from which empty ones are left out of a table."""

_Cells = tuple[int, dict[int, str]]
"""A row's number with its cells by column, both from 0."""
Cell = str | int | float | bool | date | datetime | time | timedelta


class XlsxParser:
    """Spreadsheets through calamine, after their extents were checked in the XML."""

    def __init__(self) -> None:
        self.name = f"xlsx/{XLSX_VERSION} python-calamine/{version('python-calamine')}"

    def parse(self, source: Source) -> Parsed:
        """A heading and rows for each sheet with cells, in the workbook's order.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, or past a limit on cells.
        """
        with opened(source) as package:
            extents = read_extents(package)
            body = squeeze(package, extents) or source.body
            title, dates = package.title(), package.dates()
            comments = sum(
                1
                for name in package.names()
                if re.fullmatch(r"xl/(?:.*/)?comments?\d*\.xml", name)
                for _ in package.xml(name).iter(f"{MAIN}comment")
            )
        return workbook_parsed(source, body, extents, comments, parser=self.name, title=title, dates=dates)


def workbook_parsed(
    source: Source,
    body: bytes | None,
    extents: Sequence[Extent],
    comments: int,
    *,
    parser: str,
    title: str | None = None,
    dates: Mapping[str, str] | None = None,
) -> Parsed:
    """A workbook whose extents were checked, through calamine; ``body`` is what calamine is to read.

    Raises:
        ParseError: damaged, or cells without any text.
    """
    workbook = _workbook(source, body)
    blocks: list[Block] = []
    counts = Counts()
    next_table = 0
    for extent in extents:
        if extent.cells:
            rows = _rows(workbook, extent, source)
            words = "\n".join(text for _, cells in rows for text in cells.values())
            counts += count_text(words, rows=extent.rows, pages=1)
            blocks += _sheet(extent.name, rows, next_table, merged=_merged(workbook, extent.name))
            next_table = (blocks[-1].table or 0) + 1
    if not any(block.kind is BlockKind.ROW for block in blocks):
        if any(extent.cells for extent in extents):
            raise ParseError(f"{source.name} has cells but no text came out", uri=source.uri)
        blocks = []
    return Parsed(
        blocks=tuple(blocks),
        parser=parser,
        title=title,
        media_type=source.media_type or _MEDIA_TYPE,
        source_counts=counts,
        losses=_losses(extents, comments),
        metadata=dates or {},
        empty_reason=None if blocks else "empty",
    )


def _losses(extents: Sequence[Extent], comments: int) -> tuple[Loss, ...]:
    losses: list[Loss] = []
    hidden = [extent.name for extent in extents if extent.hidden and extent.cells]
    if hidden:
        losses.append(Loss("hidden_sheet", f"hidden sheets kept: {', '.join(hidden)}", len(hidden)))
    charts = [extent.name for extent in extents if extent.chart]
    if charts:
        losses.append(Loss("chart_sheet", f"sheets without cells: {', '.join(charts)}", len(charts)))
    for extent in extents:
        if extent.uncached:
            shown = ", ".join(extent.uncached[:20])
            message = f"formulas without a stored result on {extent.name}: {shown}"
            losses.append(Loss("formula_without_value", message, len(extent.uncached)))
    if comments:
        losses.append(Loss("comments", f"{comments} comments left out", comments))
    return tuple(losses)


# --- what calamine reads


def _workbook(source: Source, body: bytes | None) -> CalamineWorkbook:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        if body is not None:
            return CalamineWorkbook.from_filelike(io.BytesIO(body))
        return CalamineWorkbook.from_path(source.path or "")
    except (CalamineError, OSError, ValueError) as error:
        raise ParseError(f"{source.name} cannot be opened as a workbook: {error}", uri=source.uri) from error


def _rows(workbook: CalamineWorkbook, extent: Extent, source: Source) -> list[_Cells]:
    """(row, column -> text) of each row with text, rows and columns from 0."""
    from python_calamine import CalamineError

    rows: list[_Cells] = []
    try:
        sheet = workbook.get_sheet_by_name(extent.name)
        start = sheet.start or (0, 0)
        for row, values in enumerate(sheet.to_python(skip_empty_area=True), start[0]):
            cells = {column: text for column, value in enumerate(values, start[1]) if (text := shown(value))}
            if cells and extent.squeezed is not None:
                known_rows, known_columns = extent.squeezed
                rows.append((known_rows[row], {known_columns[column]: text for column, text in cells.items()}))
            elif cells:
                rows.append((row, cells))
    except (CalamineError, ValueError) as error:
        message = f"{source.name}: the sheet {extent.name} cannot be read: {error}"
        raise ParseError(message, uri=source.uri) from error
    return rows


def _merged(workbook: CalamineWorkbook, sheet: str) -> bool:
    """Whether a cell of the sheet reaches over rows: the rows below it then do not say what they hold."""
    ranges = workbook.get_sheet_by_name(sheet).merged_cell_ranges or []
    return any(last_row > first_row for (first_row, _), (last_row, _) in ranges)


def shown(value: Cell) -> str:
    """A cell's value as people read it: 26 and not 26.0, ISO dates, no float noise."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        midnight = value.time() == time(0)
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return one_line(str(value))


def _number(value: float) -> str:
    """Fifteen significant digits, as spreadsheets keep them, without an exponent where that is readable."""
    short = f"{value:.15g}"
    if "e" not in short:
        return short
    return f"{Decimal(short):f}" if 1e-9 < abs(value) < 1e21 else short  # noqa: PLR2004 - readable numbers


def _bands(rows: Sequence[_Cells]) -> Iterator[list[_Cells]]:
    """Runs of rows without an empty row between them."""
    band: list[_Cells] = []
    for row in rows:
        if band and row[0] > band[-1][0] + 1:
            yield band
            band = []
        band.append(row)
    if band:
        yield band


def _sheet(name: str, rows: Sequence[_Cells], table: int, *, merged: bool) -> list[Block]:
    title = one_line(name) or "Sheet"
    blocks = [Block(BlockKind.HEADING, title, level=1, places=(Place(0, len(title), sheet=name),))]
    for number, region in enumerate(region for band in _bands(rows) for region in _beside(band)):
        blocks += _table(name, region, table + number, merged=merged)
    return blocks


def _beside(band: list[_Cells]) -> list[list[_Cells]]:
    """Tables that stand side by side with an empty column between them; the band itself where that is not plain.

    Each must have a header of its own over two columns and two rows: a form with gaps stays one table.
    """
    used = sorted({column for _, cells in band for column in cells})
    starts = [used[0], *(right for left, right in pairwise(used) if right > left + 1)]
    regions = []
    for start, end in zip(starts, [*starts[1:], used[-1] + 1], strict=True):
        rows = [
            (row, inside) for row, cells in band if (inside := {at: cells[at] for at in cells if start <= at < end})
        ]
        width = max(at for _, cells in rows for at in cells) - start + 1
        grid = [[cells.get(at, "") for at in range(start, start + width)] for _, cells in rows]
        if width == 1 or not looks_like_header(grid):
            return [band]
        regions.append(rows)
    return regions


def _table(sheet: str, band: Sequence[_Cells], table: int, *, merged: bool) -> list[Block]:
    """Rows of one table. Rows of a single cell above a wider one are its title and stand before its header."""
    left = min(min(cells) for _, cells in band)
    width = max(max(cells) for _, cells in band) - left + 1
    columns = range(left, left + width) if width < _WIDE else sorted({column for _, cells in band for column in cells})
    grid = [[cells.get(column, "") for column in columns] for _, cells in band]
    top = 0
    while width > 1 and top < len(grid) - 1 and sum(map(bool, grid[top])) == 1:
        top += 1
    headed = looks_like_header(grid[top:]) and (width > 1 or any(is_number(row[0]) for row in grid[1:]))
    names = grid[top] if headed else None
    blocks: list[Block] = []
    for index, ((row, cells), texts) in enumerate(zip(band, grid, strict=True)):
        header = headed and index == top
        plain = header or index < top
        text, within = row_line(texts, None if plain else names)
        place = Place(0, len(text), sheet=sheet, range=cell_range(row, min(cells), row, max(cells)))
        known = within if index >= top and not merged else ()  # a title stands above the columns
        blocks.append(Block(BlockKind.ROW, text, places=(place,), table=table, header=header, cells=known))
    return blocks
