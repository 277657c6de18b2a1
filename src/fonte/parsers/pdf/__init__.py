"""Digital PDF: characters -> segments -> columns -> rows -> blocks, every word with its page and box."""

from fonte.parsers.pdf.parser import PdfParser

__all__ = ["PdfParser"]
