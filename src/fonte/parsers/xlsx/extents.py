"""What a sheet's XML tells before calamine reads it, and a way out for sheets whose few cells lie far apart.

calamine holds the whole used rectangle in memory, so one stray cell at XFD1048576 would end the process.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fonte.text.cells import cell_range, column_number

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package

MAX_AREA = 8_000_000
"""Cells of a sheet's used rectangle that calamine may hold."""
MAX_CELLS = 20_000_000
"""Cells with a value in all sheets."""
MAX_SPARSE = 500_000
"""Cells with a value of a sheet that is squeezed because its rectangle is too large."""

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_HIDDEN = ("hidden", "veryHidden")


@dataclass(slots=True)
class Extent:
    """What a sheet's XML tells before calamine reads it; rows and columns from 0."""

    name: str
    hidden: bool
    chart: bool = False
    first: tuple[int, int] = (2**31, 2**31)
    last: tuple[int, int] = (-1, -1)
    cells: int = 0
    rows: int = 0
    uncached: list[str] = field(default_factory=list)
    part: str = ""
    squeezed: tuple[list[int], list[int]] | None = None
    """Original rows and columns of a squeezed sheet's, in order."""

    @property
    def area(self) -> int:
        """Cells of the used rectangle."""
        return max(self.last[0] - self.first[0] + 1, 0) * max(self.last[1] - self.first[1] + 1, 0)


def read_extents(package: Package) -> list[Extent]:
    """The workbook's sheets in order.

    Raises:
        ParseError: damaged, or more cells than the limits.
    """
    main = package.main_part("xl/workbook.xml")
    relations = package.relations(main)
    found: list[Extent] = []
    total = 0
    for sheet in package.xml(main).iter(f"{MAIN}sheet"):
        kind, target = relations.get(sheet.get(_ID, ""), ("", ""))
        extent = Extent(sheet.get("name", ""), sheet.get("state") in _HIDDEN)
        found.append(extent)
        if kind != "worksheet":
            extent.chart = True
            continue
        extent.part = target
        _scan(package, target, extent)
        total += extent.cells
        if (extent.area > MAX_AREA and extent.cells > MAX_SPARSE) or total > MAX_CELLS:
            where = cell_range(*extent.first, *extent.last)
            message = f"the sheet {extent.name} reaches over {where}, more than {MAX_AREA} cells can be read"
            raise package.error(message)
    return found


def _scan(package: Package, part: str, extent: Extent) -> None:
    """Walk a sheet's cells without keeping them."""
    from lxml import etree

    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False}
    row_number = -1
    try:
        for _, row in etree.iterparse(package.stream(part), tag=f"{MAIN}row", **safe):
            row_number = int(row.get("r") or row_number + 2) - 1
            column = -1
            filled = False
            for cell in row.iterchildren(f"{MAIN}c"):
                reference = _REFERENCE.fullmatch(cell.get("r") or "")
                column = column_number(reference[1]) if reference else column + 1
                value = cell.find(f"{MAIN}v")
                if (value is None or not value.text) and cell.find(f"{MAIN}is") is None:
                    if cell.find(f"{MAIN}f") is not None:
                        extent.uncached.append(cell_range(row_number, column, row_number, column))
                    continue
                filled = True
                extent.cells += 1
                extent.first = (min(extent.first[0], row_number), min(extent.first[1], column))
                extent.last = (max(extent.last[0], row_number), max(extent.last[1], column))
            extent.rows += filled
            row.clear()
            while row.getprevious() is not None:
                del row.getparent()[0]
    except (etree.XMLSyntaxError, ValueError) as error:
        raise package.error(f"the sheet {extent.name} is not well-formed: {error}") from error


def squeeze(package: Package, extents: list[Extent]) -> bytes | None:
    """The workbook with the rows and columns of too wide sheets moved together; None when no sheet is too wide.

    Raises:
        ParseError: still too wide.
    """
    from lxml import etree

    replaced: dict[str, bytes] = {}
    for extent in extents:
        if extent.area > MAX_AREA:
            root = package.xml(extent.part)
            rows, columns = _move_together(root)
            if len(rows) * len(columns) > MAX_AREA:
                raise package.error(f"the sheet {extent.name} is too wide: more than {MAX_AREA} cells can be read")
            extent.squeezed = (rows, columns)
            replaced[extent.part.lower()] = etree.tostring(root)
    return _with_parts(package, replaced) if replaced else None


def _move_together(root: _Element) -> tuple[list[int], list[int]]:
    """Renumber the cells that hold something; (original rows, original columns)."""
    data = root.find(f"{MAIN}sheetData")
    for element in root:
        if element is not data:
            root.remove(element)
    used: dict[tuple[int, int], _Element] = {}
    row_number = -1
    for row in data if data is not None else ():
        row_number = int(row.get("r") or row_number + 2) - 1
        column = -1
        for cell in row:
            reference = _REFERENCE.fullmatch(cell.get("r") or "")
            column = column_number(reference[1]) if reference else column + 1
            if cell.find(f"{MAIN}v") is not None or cell.find(f"{MAIN}is") is not None:
                used[row_number, column] = cell
    rows = sorted({row for row, _ in used})
    columns = sorted({column for _, column in used})
    row_of = {row: index for index, row in enumerate(rows)}
    column_of = {column: index for index, column in enumerate(columns)}
    if data is not None:
        _refill(data, {(row_of[row], column_of[column]): cell for (row, column), cell in used.items()})
    return rows, columns


def _refill(data: _Element, cells: Mapping[tuple[int, int], _Element]) -> None:
    from lxml import etree

    for row in list(data):
        data.remove(row)
    current: _Element | None = None
    for (row_number, column), cell in sorted(cells.items(), key=lambda item: item[0]):
        if current is None or current.get("r") != str(row_number + 1):
            current = etree.SubElement(data, f"{MAIN}row", r=str(row_number + 1))
        cell.set("r", cell_range(row_number, column, row_number, column))
        current.append(cell)


def _with_parts(package: Package, replaced: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in package.names(original=True):
            archive.writestr(name, replaced.get(name.lower()) or package.read(name))
    return buffer.getvalue()
