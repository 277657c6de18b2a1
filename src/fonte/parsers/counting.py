"""What parsers count in a source, by one rule for all formats."""

from __future__ import annotations

import re

from fonte.errors import ParseError
from fonte.types import Counts, Source

_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def count_text(text: str, *, rows: int = 0, pages: int = 0) -> Counts:
    """Counts of plain text: characters that are not white space, runs of letters and digits, and numbers."""
    return Counts(
        characters=len(_SPACE.sub("", text)),
        words=count_words(text),
        numbers=_NUMBER.subn("", text)[1],
        rows=rows,
        pages=pages,
    )


def check_found(source: Source, *, words: int, found: bool) -> None:
    """Raises ParseError when a source has words of which no block was made: that is no empty document."""
    if words and not found:
        raise ParseError(f"{source.name} has {words} words but no text came out", uri=source.uri)


def count_words(text: str) -> int:
    """Runs of letters and digits in ``text``."""
    return _WORD.subn("", text)[1]
