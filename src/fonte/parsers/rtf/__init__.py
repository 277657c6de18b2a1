"""Rich Text Format."""

from fonte.parsers.rtf.parser import RtfParser

__all__ = ["RtfParser"]
