"""EPUB books: the chapters of their spine, read as HTML."""

from fonte.parsers.epub.parser import EpubParser

__all__ = ["EpubParser"]
