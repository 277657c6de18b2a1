"""AsciiDoc as text with structure."""

from fonte.parsers.asciidoc.parser import AsciidocParser

__all__ = ["AsciidocParser"]
