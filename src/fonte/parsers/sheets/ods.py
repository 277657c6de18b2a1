"""What an ODS file's XML tells before calamine reads it: sheets, extents with repeated cells counted, comments."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING, Final

from fonte.parsers.odf.names import OFFICE, STYLE, TABLE, TEXT, check_open, times
from fonte.parsers.xlsx.extents import MAX_AREA, MAX_CELLS, Extent
from fonte.text.cells import cell_range

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package

_MIMETYPE = b"application/vnd.oasis.opendocument.spreadsheet"
_SPACED = re.compile(rb">\s+</?table:")
_CELLS: Final = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")


def read_ods(package: Package) -> tuple[list[Extent], int]:
    """(sheets in order, comments).

    Raises:
        EncryptedSource: under a password. ParseError: damaged, or more cells than the limits.
    """
    from lxml import etree

    check_open(package)
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False}
    hidden: set[str] = set()
    found: list[Extent] = []
    comments = 0
    tags = (f"{TABLE}table", f"{TABLE}table-row", f"{STYLE}style", f"{OFFICE}annotation")
    row = 0
    try:
        for event, element in etree.iterparse(package.stream("content.xml"), events=("start", "end"), tag=tags, **safe):
            if element.tag == f"{STYLE}style":
                if event == "end" and element.find(f"{STYLE}table-properties[@{TABLE}display='false']") is not None:
                    hidden.add(element.get(f"{STYLE}name", ""))
            elif element.tag == f"{OFFICE}annotation":
                comments += event == "end"
            elif element.tag == f"{TABLE}table" and event == "start":
                style = element.get(f"{TABLE}style-name", "")
                found.append(Extent(element.get(f"{TABLE}name", ""), style in hidden))
                row = 0
            elif element.tag == f"{TABLE}table-row" and event == "end" and found:
                row += _take_row(element, row, found[-1])
                element.clear()
    except (etree.XMLSyntaxError, ValueError) as error:
        raise package.error(f"its content is not well-formed: {error}") from error
    for extent in found:
        if extent.area > MAX_AREA or extent.cells > MAX_CELLS:
            where = cell_range(*extent.first, *extent.last)
            raise package.error(f"the sheet {extent.name} reaches over {where}, more than {MAX_AREA} cells can be read")
    return found, comments


def _take_row(element: _Element, row: int, extent: Extent) -> int:
    """Enter a row into the extent; how many rows it stands for."""
    rows = times(element, f"{TABLE}number-rows-repeated")
    column, cells, first, last = 0, 0, -1, -1
    for cell in element.iterchildren(*_CELLS):
        again = times(cell, f"{TABLE}number-columns-repeated")
        if _has_value(cell):
            first = column if first < 0 else first
            last = column + again - 1
            cells += again
        elif cell.get(f"{TABLE}formula") is not None:
            extent.uncached.append(cell_range(row, column, row, column))
        column += again
    if cells:
        extent.cells += cells * rows
        extent.rows += rows
        extent.first = (min(extent.first[0], row), min(extent.first[1], first))
        extent.last = (max(extent.last[0], row + rows - 1), max(extent.last[1], last))
    return rows


def _has_value(cell: _Element) -> bool:
    kind = cell.get(f"{OFFICE}value-type")
    if kind not in (None, "string"):
        return True
    if cell.get(f"{OFFICE}string-value"):
        return True
    return any("".join(map(str, part.itertext())).strip() for part in cell.iterchildren(f"{TEXT}p", f"{TEXT}h"))


def tidied(package: Package) -> bytes | None:
    """The file without white space between its rows and cells, which calamine takes for damage; None without any."""
    content = package.read("content.xml")
    if _SPACED.search(content) is None:
        return None
    from lxml import etree

    root = package.xml("content.xml")
    for element in root.iter(f"{OFFICE}spreadsheet", f"{TABLE}*"):
        if not (element.text or "").strip():
            element.text = None
        for child in element:
            if not (child.tail or "").strip():
                child.tail = None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("mimetype", package.read("mimetype") if package.has("mimetype") else _MIMETYPE)
        archive.writestr("content.xml", etree.tostring(root))
        for name in ("META-INF/manifest.xml", "styles.xml"):
            if package.has(name):
                archive.writestr(name, package.read(name))
    return buffer.getvalue()
