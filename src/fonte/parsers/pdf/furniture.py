"""Page furniture: headers and footers that repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fonte.parsers.pdf.layout import Row

_MIN_PAGES = 3
_TOP, _BOTTOM = 0.88, 0.12
"""Furniture starts above 88 % or ends below 12 % of the page's height."""
_LARGER = 1.1
_DIGITS = re.compile(r"\d+")


def _key(row: Row, body: float) -> tuple[str, int]:
    """Text and height. Larger print keeps its digits: ``Chapter 1`` and ``Chapter 2`` are headings."""
    text = row.text if row.em > _LARGER * body else _DIGITS.sub("#", row.text)
    return text.casefold(), round(row.y0 / 4)


def _in_margin(row: Row, low: float, high: float) -> bool:
    height = high - low
    return row.y0 > low + _TOP * height or row.y1 < low + _BOTTOM * height


def find_furniture(
    pages: Sequence[Sequence[Row]], extents: Sequence[tuple[float, float]], body: float
) -> set[tuple[str, int]]:
    """Keys of rows with the same digit-folded text at the same height on half of all (or all odd, all even) pages.

    ``extents`` are the lowest and highest y of each page in its reading direction, ``body`` the body's font size. Under
    three pages there are none.
    """
    counts: Counter[tuple[str, int]] = Counter()
    by_side: tuple[Counter[tuple[str, int]], Counter[tuple[str, int]]] = (Counter(), Counter())
    filled = 0
    sides = [0, 0]
    for number, (rows, (low, high)) in enumerate(zip(pages, extents, strict=True)):
        if not rows:
            continue
        filled += 1
        sides[number % 2] += 1
        keys = {_key(row, body) for row in rows if _in_margin(row, low, high)}
        counts.update(keys)
        by_side[number % 2].update(keys)
    found = {key for key, count in counts.items() if count >= max(_MIN_PAGES, 0.5 * filled)}
    for side, counted in enumerate(by_side):
        found |= {key for key, count in counted.items() if count >= max(_MIN_PAGES, 0.6 * sides[side])}
    return found


def without_furniture(
    rows: Sequence[Row], extent: tuple[float, float], furniture: set[tuple[str, int]], body: float
) -> tuple[list[Row], list[Row]]:
    """(rows that stay, rows that are furniture) of one page.

    Only what lies between the text and the page's edge goes: a repeated line with other text beyond it stays.
    """
    gone: set[int] = set()
    frame = rows[0].words[0].frame if rows else 0
    upright = sorted((row for row in rows if row.words[0].frame == frame), key=lambda row: row.y0)
    for order in (upright, upright[::-1]):
        blocked: Row | None = None
        for row in order:
            if blocked is not None and abs(blocked.y0 - row.y0) > 0.5 * row.size:
                break
            if _in_margin(row, *extent) and _key(row, body) in furniture:
                gone.add(id(row))
            else:
                blocked = row
    return [row for row in rows if id(row) not in gone], [row for row in rows if id(row) in gone]
