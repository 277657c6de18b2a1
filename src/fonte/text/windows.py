"""Stretches of a text that an encoder reads whole: what is too long for one window is read in several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from fonte.text.chunking.measure import trim, word_cut

Range = tuple[int, int]
Fits = Callable[[str], bool]
"""Whether a text is short enough. A part of a text that fits must fit."""


def cut_to_fit(text: str, start: int, end: int, fits: Fits) -> list[Range]:
    """The range without its outer white space, halved at white space until every part fits; in order.

    A single character is given as it is, whether it fits or not. White space alone gives nothing.
    """
    low, high = trim(text, start, end)
    if low >= high:
        return []
    if high - low == 1 or fits(text[low:high]):
        return [(low, high)]
    middle = word_cut(text, low, (low + high) // 2)
    return [*cut_to_fit(text, low, middle, fits), *cut_to_fit(text, middle, high, fits)]


def windows(text: str, start: int, end: int, borders: Sequence[int], fits: Fits) -> list[Range]:
    """The range in stretches that fit, cut at ``borders`` (ascending, inside it), elsewhere only where it must be.

    Together they hold every character of the range that is no white space, each once, in order.
    """
    edges = [start, *(border for border in borders if start < border < end), end]
    parts = [part for low, high in pairwise(edges) for part in cut_to_fit(text, low, high, fits)]
    return _joined(text, parts, fits)


def _joined(text: str, parts: Sequence[Range], fits: Fits) -> list[Range]:
    """Neighbouring parts in as few stretches as halving gives."""
    if not parts:
        return []
    whole = (parts[0][0], parts[-1][1])
    if len(parts) == 1 or fits(text[whole[0] : whole[1]]):
        return [whole]
    middle = len(parts) // 2
    return [*_joined(text, parts[:middle], fits), *_joined(text, parts[middle:], fits)]
