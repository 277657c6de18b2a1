"""Word documents of 1997 to 2003."""

from fonte.parsers.doc.parser import DocParser

__all__ = ["DocParser"]
