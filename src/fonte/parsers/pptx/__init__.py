"""PowerPoint files (PPTX, strict and transitional) by a walk over their XML."""

from fonte.parsers.pptx.parser import PptxParser

__all__ = ["PptxParser"]
