"""Page furniture: headers and footers that repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fonte.parsers.pdf.layout import Segment

_MIN_PAGES = 3
_TOP, _BOTTOM = 0.88, 0.12
"""Furniture starts above 88 % or ends below 12 % of the page's height."""
_LARGER = 1.1
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
"""A page number, also in Roman numerals."""


def _key(segment: Segment, body: float) -> tuple[str, int]:
    """Text and height. Larger print keeps its digits: ``Chapter 1`` and ``Chapter 2`` are headings."""
    text = segment.text.casefold()
    return text if segment.em > _LARGER * body else _NUMBER.sub("#", text), round(segment.y0 / 4)


def _in_margin(segment: Segment, low: float, high: float) -> bool:
    height = high - low
    return segment.y0 > low + _TOP * height or segment.y1 < low + _BOTTOM * height


def find_furniture(
    pages: Sequence[Sequence[Segment]], extents: Sequence[tuple[float, float]], body: float
) -> set[tuple[str, int]]:
    """Keys of segments with the same digit-folded text at the same height on half of all (or all odd, all even) pages.

    ``extents`` are the lowest and highest y of each page in its reading direction, ``body`` the body's font size. Under
    three pages there are none.
    """
    counts: Counter[tuple[str, int]] = Counter()
    by_side: tuple[Counter[tuple[str, int]], Counter[tuple[str, int]]] = (Counter(), Counter())
    filled = 0
    sides = [0, 0]
    for number, (segments, (low, high)) in enumerate(zip(pages, extents, strict=True)):
        if not segments:
            continue
        filled += 1
        sides[number % 2] += 1
        keys = {_key(segment, body) for segment in segments if _in_margin(segment, low, high)}
        counts.update(keys)
        by_side[number % 2].update(keys)
    found = {key for key, count in counts.items() if count >= max(_MIN_PAGES, 0.5 * filled)}
    for side, counted in enumerate(by_side):
        found |= {key for key, count in counted.items() if count >= max(_MIN_PAGES, 0.6 * sides[side])}
    return found


def without_furniture(
    segments: Sequence[Segment], extent: tuple[float, float], furniture: set[tuple[str, int]], body: float
) -> tuple[list[Segment], list[Segment]]:
    """(segments that stay, segments that are furniture) of one page.

    Only what lies between the text and the page's edge goes: a repeated line with other text beyond it stays.
    """
    gone: set[int] = set()
    frame = segments[0].words[0].frame if segments else 0
    upright = sorted((s for s in segments if s.words[0].frame == frame), key=lambda s: s.y0)
    for order in (upright, upright[::-1]):
        blocked: Segment | None = None
        for segment in order:
            if blocked is not None and abs(blocked.y0 - segment.y0) > 0.5 * segment.size:
                break
            if _in_margin(segment, *extent) and _key(segment, body) in furniture:
                gone.add(id(segment))
            else:
                blocked = segment
    return [s for s in segments if id(s) not in gone], [s for s in segments if id(s) in gone]
