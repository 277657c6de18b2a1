"""The order in which what stands on a slide is read, by its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

Frame: TypeAlias = tuple[int, int, int, int]
"""Left, top, right, bottom in EMU; y grows downwards."""

OVERLAP = 91_440
"""How far neighbours may reach into each other and still be cut apart: a tenth of an inch, a text box's own margin."""

MOST_CUT = 2000
"""Shapes beyond which a slide is read by upper left corners alone: cutting takes the square of their number."""

_Item = TypeVar("_Item")
_Framed: TypeAlias = tuple[Frame, _Item]


def reading_order(items: Sequence[tuple[Frame | None, _Item]]) -> list[_Item]:
    """Items in reading order: cut again and again at the widest gap, rows from the top, columns from the left.

    What overlaps is read by its upper left corner. An item without a frame follows the one before it.
    """
    framed: list[tuple[Frame, list[_Item]]] = []
    loose: list[_Item] = []
    for frame, item in items:
        if frame is not None:
            framed.append((frame, [item]))
        elif framed:
            framed[-1][1].append(item)
        else:
            loose.append(item)
    ordered: list[_Item] = loose
    pending = [framed]
    while pending:
        group = pending.pop()
        parts = _cut(group) if len(group) <= MOST_CUT else []
        if len(parts) > 1:
            pending.extend(reversed(parts))
        else:
            for _, members in sorted(group, key=lambda entry: (entry[0][1], entry[0][0])):
                ordered.extend(members)
    return ordered


def _cut(group: Sequence[_Framed[_Item]]) -> list[list[_Framed[_Item]]]:
    """Two parts at the widest gap; one where there is none."""
    best: tuple[int, int, int] | None = None
    for axis in (1, 0):  # rows first: of two equal gaps, the one between rows is taken
        gap = _widest(group, axis)
        if gap is not None and (best is None or gap[0] > best[0]):
            best = (*gap, axis)
    if best is None:
        return [list(group)]
    _, at, axis = best
    return [[one for one in group if one[0][axis] < at], [one for one in group if one[0][axis] >= at]]


def _widest(group: Sequence[_Framed[_Item]], axis: int) -> tuple[int, int] | None:
    """(width of the widest gap, where the items behind it begin) along an axis, slight overlaps admitted."""
    spans = sorted((frame[axis], frame[axis + 2]) for frame, _ in group)
    best: tuple[int, int] | None = None
    reached = spans[0][1] if spans else 0
    for begin, end in spans[1:]:
        gap = begin - reached
        if gap >= -OVERLAP and begin > spans[0][0] and (best is None or gap > best[0]):
            best = (gap, begin)
        reached = max(reached, end)
    return best
