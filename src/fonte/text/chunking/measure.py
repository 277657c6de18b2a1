"""How much of the budget a range of text takes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, Protocol

from fonte.protocols import Tokenizer


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


def starts(ranges: Sequence[tuple[int, int]]) -> list[int]:
    """First positions of ranges."""
    return [start for start, _ in ranges]
