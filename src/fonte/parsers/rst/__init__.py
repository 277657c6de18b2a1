"""reStructuredText as text with structure, on docutils' tree."""

from fonte.parsers.rst.parser import RstParser

__all__ = ["RstParser"]
