"""XLS and ODS to blocks, as XLSX: a heading for each sheet, a ROW for each row, with its cells in A1 notation."""

from __future__ import annotations

from importlib.metadata import version

from fonte.errors import ParseError
from fonte.parsers.odf.names import dates_of, title_of
from fonte.parsers.ooxml import opened
from fonte.parsers.sheets.biff import read_biff
from fonte.parsers.sheets.ods import read_ods, tidied
from fonte.parsers.xlsx.parser import workbook_parsed
from fonte.types import Parsed, Source

_VERSION = "2"


class XlsParser:
    """Workbooks of Excel 5 to 2003, after their extents were checked in the records."""

    def __init__(self) -> None:
        self.name = f"xls/{_VERSION} python-calamine/{version('python-calamine')}"

    def parse(self, source: Source) -> Parsed:
        """A heading and rows for each sheet with cells, in the workbook's order.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, or past a limit on cells.
        """
        extents, comments = read_biff(source)
        if not extents:
            raise ParseError(f"{source.name} holds no sheet", uri=source.uri)
        return workbook_parsed(source, source.body, extents, comments, parser=self.name)


class OdsParser:
    """OpenDocument spreadsheets, after their extents were checked in the XML."""

    def __init__(self) -> None:
        self.name = f"ods/{_VERSION} python-calamine/{version('python-calamine')}"

    def parse(self, source: Source) -> Parsed:
        """A heading and rows for each sheet with cells, in the workbook's order.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, or past a limit on cells.
        """
        with opened(source) as package:
            extents, comments = read_ods(package)
            title, dates = title_of(package), dates_of(package)
            body = tidied(package) or source.body
        return workbook_parsed(source, body, extents, comments, parser=self.name, title=title, dates=dates)
