"""Stretches of a text that an encoder reads whole: what is too long for one window is read in several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil

from fonte.text.cuts import trim, word_cut

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


def sliding(text: str, offsets: Sequence[Range], room: int, overlap: int, fits: Fits) -> list[Range]:
    """The whole text in windows of up to ``room`` tokens that overlap by ``overlap`` of them or more, evenly spread.

    Args:
        text: what is to be read whole.
        offsets: ranges of its tokens, in order.
        room: most tokens of a window, above ``overlap``.
        overlap: what stands in two windows, so that a sentence that one cuts is whole in the next.
        fits: the last word on a window's length: one that it refuses is halved.

    Raises:
        ValueError: no room beyond the overlap.
    """
    if not 0 <= overlap < room:
        raise ValueError(f"windows of {room} tokens cannot overlap by {overlap}")
    beyond = len(offsets) - room
    if beyond <= 0:
        return cut_to_fit(text, 0, len(text), fits)
    count = ceil(beyond / (room - overlap)) + 1
    found: list[Range] = []
    for index in range(count):
        first = beyond * index // (count - 1)
        start = offsets[first][0] if index else 0
        end = offsets[first + room - 1][1] if index < count - 1 else len(text)
        found += cut_to_fit(text, start, end, fits)
    return found


def _joined(text: str, parts: Sequence[Range], fits: Fits) -> list[Range]:
    """Neighbouring parts in as few stretches as halving gives."""
    if not parts:
        return []
    whole = (parts[0][0], parts[-1][1])
    if len(parts) == 1 or fits(text[whole[0] : whole[1]]):
        return [whole]
    middle = len(parts) // 2
    return [*_joined(text, parts[:middle], fits), *_joined(text, parts[middle:], fits)]
