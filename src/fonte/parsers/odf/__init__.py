"""OpenDocument texts and presentations (ODT, ODP)."""

from fonte.parsers.odf.parser import OdpParser, OdtParser

__all__ = ["OdpParser", "OdtParser"]
