"""What an XLS file's records tell before calamine reads it: sheets, their cells' extents, passwords.

Records after Microsoft's [MS-XLS]: two bytes of kind, two of length, the data. calamine holds each sheet's whole
rectangle in memory, so one far cell must be known before.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.xlsx.extents import MAX_AREA, MAX_CELLS, Extent
from fonte.text.cells import cell_range
from fonte.types import Source

_BOF, _EOF, _SHEET, _PASSWORD, _DIMENSIONS, _NOTE = 0x0809, 0x000A, 0x0085, 0x002F, 0x0200, 0x001C
_FORMULA = 0x0006
_CELLS = frozenset({_FORMULA, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E, 0x0003, 0x0004, 0x0005})
"""FORMULA, RSTRING, LABELSST, NUMBER, LABEL, BOOLERR, RK, and the older forms of three of them."""
_MANY = 0x00BD
"""MULRK: several numbers side by side."""
_BIFF8 = 0x0600
_WORKSHEET = 0
_MAX_RECORDS = 50_000_000


def read_biff(source: Source) -> tuple[list[Extent], int]:
    """(sheets in order, comments) of an XLS file.

    Raises:
        EncryptedSource: under a password. ParseError: damaged, or more cells than the limits.
    """
    stream = _workbook_stream(source)
    found: list[Extent] = []
    positions: list[int] = []
    biff8 = True
    for kind, data in _records(stream, 0):
        if kind == _PASSWORD:
            raise EncryptedSource(
                f"{source.name} needs a password", hint="Save a copy without a password.", uri=source.uri
            )
        if kind == _BOF and len(data) >= 2:  # noqa: PLR2004 - the version's bytes
            biff8 = struct.unpack_from("<H", data)[0] >= _BIFF8
        if kind == _SHEET and len(data) > 7:  # noqa: PLR2004 - position, state, kind, length of the name
            position, hidden, of = struct.unpack_from("<IBB", data)
            found.append(Extent(_name(data, wide=biff8), hidden & 3 in (1, 2), chart=of != _WORKSHEET))
            positions.append(position)
    notes = sum(_scan(stream, at, extent, source) for at, extent in zip(positions, found, strict=True))
    if sum(extent.cells for extent in found) > MAX_CELLS:
        raise ParseError(f"{source.name}: more than {MAX_CELLS} cells", uri=source.uri)
    return found, notes


def _workbook_stream(source: Source) -> bytes:
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(source.body or b"")) as package:
            for name in ("Workbook", "Book"):
                if package.exists(name):
                    return bytes(package.openstream(name).read())
    except (OSError, ValueError, IndexError, struct.error, TypeError, AttributeError) as error:
        raise ParseError(f"{source.name} is a damaged Office file: {error}", uri=source.uri) from error
    raise ParseError(f"{source.name} holds no workbook", uri=source.uri)


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """(kind, data) of a substream's records to its end, those of charts inside it left out."""
    depth = 0
    for _ in range(_MAX_RECORDS):
        if at + 4 > len(stream):
            return
        kind, size = struct.unpack_from("<HH", stream, at)
        if kind == _BOF:
            depth += 1
        if depth == 1:
            yield kind, stream[at + 4 : at + 4 + size]
        if kind == _EOF:
            depth -= 1
            if depth <= 0:
                return
        at += 4 + size


def _name(data: bytes, *, wide: bool) -> str:
    """A sheet's name: Latin-1 or UTF-16 after a byte of flags, or the older form without flags."""
    length = data[6]
    if not wide:
        return data[7 : 7 + length].decode("cp1252", "replace")
    two = bool(data[7] & 1)
    return data[8 : 8 + length * (2 if two else 1)].decode("utf-16-le" if two else "latin-1", "replace")


def _scan(stream: bytes, at: int, extent: Extent, source: Source) -> int:
    """Fill in a sheet's extent; how many comments it has."""
    notes, last_row = 0, -1
    for kind, data in _records(stream, at):
        if kind == _NOTE:
            notes += 1
        if kind == _DIMENSIONS and len(data) >= 12:  # noqa: PLR2004 - two rows and two columns
            first, end, left, right = struct.unpack_from("<IIHH", data)
            _check((end - first) * max(right - left, 0) if end > first else 0, extent, source)
        if (kind not in _CELLS and kind != _MANY) or len(data) < 4:  # noqa: PLR2004 - row and column
            continue
        if kind == _FORMULA and data[6:7] == b"\3" and data[12:14] == b"\xff\xff":  # its result is empty text
            continue
        row, column = struct.unpack_from("<HH", data)
        last = struct.unpack_from("<H", data, len(data) - 2)[0] if kind == _MANY else column
        extent.cells += max(last - column + 1, 1)
        extent.rows += row != last_row
        last_row = row
        extent.first = (min(extent.first[0], row), min(extent.first[1], column))
        extent.last = (max(extent.last[0], row), max(extent.last[1], last))
    _check(extent.area, extent, source)
    return notes


def _check(area: int, extent: Extent, source: Source) -> None:
    if area <= MAX_AREA:
        return
    where = f" over {cell_range(*extent.first, *extent.last)}" if extent.cells else ""
    message = f"{source.name}: the sheet {extent.name} reaches{where}, more than {MAX_AREA} cells can be read"
    raise ParseError(message, uri=source.uri)
