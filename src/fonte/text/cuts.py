"""Where a text may be cut: at white space, and never inside what people see as one character."""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without its outer white space; ``(end, end)`` when there is nothing else."""
    piece = text[start:end]
    bare = piece.lstrip()
    start += len(piece) - len(bare)
    return start, start + len(bare.rstrip())


def safe_cut(text: str, low: int, position: int) -> int:
    """The nearest position at or before, after ``low``, that parts no base letter from its marks.

    ``position`` itself when there is none.
    """
    at = position
    while at > low and splits_cluster(text, at):
        at -= 1
    return at if at > low else position


def splits_cluster(text: str, position: int) -> bool:
    """Whether a cut here parts a letter from its combining marks, a joined emoji, or CR from LF."""
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    if left < "\u0300" and right < "\u0300":
        return left == "\r" and right == "\n"
    return (
        unicodedata.category(right) in {"Mn", "Mc", "Me"}
        or right in _JOINERS
        or left == "\u200d"
        or "\U0001f3fb" <= right <= "\U0001f3ff"
    )


def word_cut(text: str, low: int, position: int) -> int:
    """The last position after ``low``, at or before ``position``, that follows white space; else a safe cut."""
    if position >= len(text) or text[position].isspace():
        return safe_cut(text, low, position)
    at = position
    while at > low and not text[at - 1].isspace():
        at -= 1
    if at > low and text[low:at].strip():
        return at
    return safe_cut(text, low, position)
