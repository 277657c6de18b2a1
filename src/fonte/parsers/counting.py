"""What parsers count in a source, by one rule for all formats."""

from __future__ import annotations

import re

from fonte.types import Counts

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def count_text(text: str, *, rows: int = 0, pages: int = 0) -> Counts:
    """Counts of plain text: characters that are not white space, runs of letters and digits, and numbers."""
    return Counts(
        characters=sum(map(len, text.split())),
        words=sum(1 for _ in _WORD.finditer(text)),
        numbers=sum(1 for _ in _NUMBER.finditer(text)),
        rows=rows,
        pages=pages,
    )
