"""Spreadsheets (XLSX, XLSM) through calamine."""

from fonte.parsers.xlsx.parser import XlsxParser

__all__ = ["XlsxParser"]
