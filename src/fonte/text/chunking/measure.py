"""How much of the budget a range of text takes, and where it may be cut."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, Protocol

from fonte.protocols import Tokenizer

_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


class Measure(Protocol):
    """Counts ranges of one text in the recipe's unit."""

    def cost(self, start: int, end: int) -> int:
        """Units of ``text[start:end]``."""

    def reach(self, start: int, budget: int) -> int:
        """The furthest end such that ``cost(start, end) <= budget``; never below ``start``."""

    def back(self, end: int, budget: int) -> int:
        """The furthest start such that ``cost(start, end) <= budget``."""


class Characters:
    """Every character counts one."""

    def cost(self, start: int, end: int) -> int:
        """Characters of the range."""
        return end - start

    def reach(self, start: int, budget: int) -> int:
        """``budget`` characters on."""
        return start + budget

    def back(self, end: int, budget: int) -> int:
        """``budget`` characters back, at most to the text's start."""
        return max(0, end - budget)


class Tokens:
    """The encoder's tokens of ``text[low:high]``, made once; ranges are counted by bisection.

    A token counts where any of its characters lies in the range, so that a sum is never too low.
    """

    def __init__(self, text: str, low: int, high: int, tokenizer: Tokenizer) -> None:
        offsets = tokenizer.offsets(text[low:high])
        self._low, self._high = low, high
        self._starts = [start + low for start, _ in offsets]
        self._ends = [end + low for _, end in offsets]

    def cost(self, start: int, end: int) -> int:
        """Tokens that touch the range."""
        return max(0, bisect_left(self._starts, end) - bisect_right(self._ends, start))

    def reach(self, start: int, budget: int) -> int:
        """Where the token after the last one that fits begins."""
        first = bisect_right(self._ends, start)
        index = first + max(budget, 0)
        return max(start, self._starts[index]) if index < len(self._starts) else max(start, self._high)

    def back(self, end: int, budget: int) -> int:
        """Where the first token that fits begins."""
        index = bisect_left(self._starts, end) - max(budget, 0)
        return self._starts[index] if 0 < index < len(self._starts) else (self._low if index <= 0 else end)


def measure(unit: Literal["tokens", "characters"], text: str, low: int, high: int, tokenizer: Tokenizer) -> Measure:
    """The measure of a stretch of text in the unit."""
    return Tokens(text, low, high, tokenizer) if unit == "tokens" else Characters()


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


def starts(ranges: Sequence[tuple[int, int]]) -> list[int]:
    """First positions of ranges."""
    return [start for start, _ in ranges]
