"""What an ODS file's XML tells before calamine reads it: sheets, extents with repeated cells counted, comments."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING, Final

from fonte.errors import EncryptedSource
from fonte.parsers.ooxml import local
from fonte.parsers.xlsx.extents import MAX_AREA, MAX_CELLS, Extent
from fonte.text.cells import cell_range

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package
    from fonte.types import Source

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_DATES = (
    "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}creation-date",
    "{http://purl.org/dc/elements/1.1/}date",
)
_MIMETYPE = b"application/vnd.oasis.opendocument.spreadsheet"
_SPACED = re.compile(rb">\s+</?table:")
_CELLS: Final = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


def read_ods(package: Package, source: Source) -> tuple[list[Extent], int]:
    """(sheets in order, comments).

    Raises:
        EncryptedSource: under a password. ParseError: damaged, or more cells than the limits.
    """
    from lxml import etree

    if package.has("META-INF/manifest.xml") and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise EncryptedSource(f"{source.name} needs a password", hint="Save a copy without a password.", uri=source.uri)
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False}
    hidden: set[str] = set()
    found: list[Extent] = []
    comments = 0
    tags = (f"{_TABLE}table", f"{_TABLE}table-row", f"{_STYLE}style", f"{_OFFICE}annotation")
    row = 0
    try:
        for event, element in etree.iterparse(package.stream("content.xml"), events=("start", "end"), tag=tags, **safe):
            if element.tag == f"{_STYLE}style":
                if event == "end" and element.find(f"{_STYLE}table-properties[@{_TABLE}display='false']") is not None:
                    hidden.add(element.get(f"{_STYLE}name", ""))
            elif element.tag == f"{_OFFICE}annotation":
                comments += event == "end"
            elif element.tag == f"{_TABLE}table" and event == "start":
                style = element.get(f"{_TABLE}style-name", "")
                found.append(Extent(element.get(f"{_TABLE}name", ""), style in hidden))
                row = 0
            elif element.tag == f"{_TABLE}table-row" and event == "end" and found:
                row += _take_row(element, row, found[-1])
                element.clear()
    except (etree.XMLSyntaxError, ValueError) as error:
        raise package.error(f"its content is not well-formed: {error}") from error
    for extent in found:
        if extent.area > MAX_AREA or extent.cells > MAX_CELLS:
            where = cell_range(*extent.first, *extent.last)
            raise package.error(f"the sheet {extent.name} reaches over {where}, more than {MAX_AREA} cells can be read")
    return found, comments


def title_of(package: Package) -> str | None:
    """The title among the file's own metadata."""
    if not package.has("meta.xml"):
        return None
    title = next(package.xml("meta.xml").iter(_TITLE), None)
    return (title.text or "").strip() or None if title is not None else None


def dates_of(package: Package) -> dict[str, str]:
    """When it was ``created`` and ``modified``, as the file's own metadata write it."""
    if not package.has("meta.xml"):
        return {}
    said = {local(one.tag): (one.text or "").strip() for one in package.xml("meta.xml").iter(*_DATES)}
    return {name: said[tag] for tag, name in (("creation-date", "created"), ("date", "modified")) if said.get(tag)}


def _take_row(element: _Element, row: int, extent: Extent) -> int:
    """Enter a row into the extent; how many rows it stands for."""
    rows = _number(element, "number-rows-repeated")
    column, cells, first, last = 0, 0, -1, -1
    for cell in element.iterchildren(*_CELLS):
        times = _number(cell, "number-columns-repeated")
        if _has_value(cell):
            first = column if first < 0 else first
            last = column + times - 1
            cells += times
        elif cell.get(f"{_TABLE}formula") is not None:
            extent.uncached.append(cell_range(row, column, row, column))
        column += times
    if cells:
        extent.cells += cells * rows
        extent.rows += rows
        extent.first = (min(extent.first[0], row), min(extent.first[1], first))
        extent.last = (max(extent.last[0], row + rows - 1), max(extent.last[1], last))
    return rows


def _has_value(cell: _Element) -> bool:
    kind = cell.get(f"{_OFFICE}value-type")
    if kind not in (None, "string"):
        return True
    if cell.get(f"{_OFFICE}string-value"):
        return True
    return any("".join(map(str, part.itertext())).strip() for part in cell.iterchildren(f"{_TEXT}p", f"{_TEXT}h"))


def _number(element: _Element, name: str) -> int:
    value = element.get(f"{_TABLE}{name}", "1")
    return max(int(value), 1) if value.isascii() and value.isdigit() and len(value) < 10 else 1  # noqa: PLR2004 - digits of the largest sheet


def tidied(package: Package) -> bytes | None:
    """The file without white space between its rows and cells, which calamine takes for damage; None without any."""
    content = package.read("content.xml")
    if _SPACED.search(content) is None:
        return None
    from lxml import etree

    root = package.xml("content.xml")
    for element in root.iter(f"{_OFFICE}spreadsheet", f"{_TABLE}*"):
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
