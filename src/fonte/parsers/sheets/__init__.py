"""Workbooks of other programs than today's Excel: XLS and ODS, through calamine."""

from fonte.parsers.sheets.parser import OdsParser, XlsParser

__all__ = ["OdsParser", "XlsParser"]
