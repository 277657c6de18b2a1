"""Word files (DOCX, strict and transitional) by a walk over their XML."""

from fonte.parsers.docx.parser import DocxParser

__all__ = ["DocxParser"]
