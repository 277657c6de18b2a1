"""Words to reading order: segments of a line, XY-cut into columns, visual rows.

A *segment* is a run of words without a wide gap; a *region* is a stretch of page read from top to bottom (a column, or
a full-width part between columns); a *row* is one visual line of a region and holds one segment for each cell.
Recursive XY-cut after Nagy and Seth (1984), with the vertical cut taken first where both sides look like prose.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fonte.parsers.pdf.glyphs import DIAGONAL, Word

_WIDE_GAP = 1.6
"""In font heights: a wider gap than this inside a line separates cells or columns."""
_RUN_GAP = 0.6
"""In font heights: runs of one line that were drawn apart but lie nearer than this are one segment."""
_MAX_CUT = 1500
"""Segments on a page beyond which columns are not looked for (drawings full of labels): the cut is quadratic."""

_STRAY = 20
"""Of so many segments one may be drawn out of its column's turn: a page number, a note."""
_ITEM = re.compile(r"(?:[•◦▪‣·●○■□►➢✓*–—-]|\(?\d{1,2}[.)])\s")


@dataclass(slots=True)
class Segment:
    """Words that belong together on one line."""

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float = 0.0
    cells: list[list[list[Word]]] | None = None
    """Rows of cells when the segment stands for a whole ruled table."""
    edges: tuple[float, ...] = ()
    """Where a ruled table's columns begin and the last ends."""

    @property
    def em(self) -> float:
        """Font size of most of its letters."""
        return _common_em(self.words)

    @property
    def text(self) -> str:
        """The words with spaces where they stood."""
        return joined(self.words)

    def add(self, word: Word) -> None:
        """Append a word and grow."""
        self.words.append(word)
        self.x0, self.y0 = min(self.x0, word.x0), min(self.y0, word.y0)
        self.x1, self.y1 = max(self.x1, word.x1), max(self.y1, word.y1)


@dataclass(slots=True)
class Row:
    """One visual line of a region."""

    cells: list[Segment]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    """Height of most of its letters' boxes."""
    em: float
    """Font size of most of its letters."""
    bold: bool
    fixed: bool
    page: int
    region: int
    left: float = 0.0
    right: float = 0.0
    """Edges of the region."""
    words: list[Word] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The row's words."""
        return joined(self.words)

    @property
    def table(self) -> list[list[list[Word]]] | None:
        """Rows of cells when the row stands for a ruled table."""
        return self.cells[0].cells


def joined(words: Sequence[Word]) -> str:
    """Words as text."""
    return "".join((" " if word.spaced and index else "") + word.text for index, word in enumerate(words))


def direction(words: Sequence[Word]) -> int:
    """1 where most words run from right to left, -1 where most run from left to right, 0 where neither do."""
    balance = 0
    for word in words:
        kind = unicodedata.bidirectional(word.text[0])
        balance += 1 if kind in ("R", "AL") else -1 if kind == "L" else 0
    return (balance > 0) - (balance < 0)


def _right_to_left(words: Sequence[Word]) -> bool:
    """Whether text runs from right to left: such lines stay in the order that pdfium gives."""
    return direction(words) > 0


def line_order(line: Sequence[Word]) -> list[Word]:
    """The words of one line as they are read; in one that runs leftwards, runs of foreign words run rightwards."""
    if not _right_to_left(line):
        return sorted(line, key=lambda w: w.x0)
    ordered: list[Word] = []
    foreign: list[Word] = []
    for word in sorted(line, key=lambda w: -w.x1):
        if direction([word]) < 0:
            foreign.append(word)
            continue
        ordered += [*foreign[::-1], word]
        foreign = []
    return ordered + foreign[::-1]


def _segment(word: Word) -> Segment:
    return Segment([word], word.x0, word.y0, word.x1, word.y1)


def _common_size(words: Sequence[Word]) -> float:
    first = words[0].size
    if all(word.size == first for word in words):
        return round(first, 1)
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[round(word.size, 1)] += len(word.text)
    return max(sizes, key=lambda size: (sizes[size], size))


def _common_em(words: Sequence[Word]) -> float:
    first = words[0].style
    if all(word.style is first for word in words):
        return first.em
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.style.em] += len(word.text)
    return max(sizes, key=lambda size: (sizes[size], size))


def segments_of(words: Sequence[Word]) -> list[Segment]:
    """Segments in stream order from words of one frame."""
    segments: list[Segment] = []
    current: Segment | None = None
    for word in words:
        if current is not None and not word.line_start:
            last = current.words[-1]
            height = max(last.size, word.size)
            gap = max(word.x0 - current.x1, current.x0 - word.x1)
            if gap <= _WIDE_GAP * height and abs(word.y0 - last.y0) <= 0.7 * height:
                current.add(word)
                continue
        current = _segment(word)
        segments.append(current)
    for segment in segments:
        segment.size = _common_size(segment.words)
    return _merge_runs(segments)


def _merge_runs(segments: list[Segment]) -> list[Segment]:
    """Join segments of one line that were drawn as separate runs (one word or one letter at a time)."""
    order = {id(segment): index for index, segment in enumerate(segments)}
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (-s.y0, s.x0)):
        line = lines[-1] if lines else None
        if line is not None and abs(line[0].y0 - segment.y0) <= 0.25 * max(segment.size, line[0].size):
            line.append(segment)
        else:
            lines.append([segment])
    merged: list[Segment] = []
    for line in lines:
        line.sort(key=lambda s: s.x0)
        current = line[0]
        for segment in line[1:]:
            size = max(current.size, segment.size)
            gap = segment.x0 - current.x1
            if -0.3 * size <= gap <= _RUN_GAP * size and not _right_to_left([*current.words, *segment.words]):
                segment.words[0].spaced = gap > 0.15 * size or (segment.words[0].spaced and gap > 0.08 * size)
                for word in segment.words:
                    current.add(word)
                order[id(current)] = min(order[id(current)], order[id(segment)])
            else:
                merged.append(current)
                current = segment
        merged.append(current)
    merged.sort(key=lambda s: order[id(s)])
    return merged


def _gaps(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """(width, middle) of each empty stretch between the intervals."""
    intervals.sort()
    found: list[tuple[float, float]] = []
    end = intervals[0][1]
    for low, high in intervals[1:]:
        if low > end:
            found.append((low - end, (low + end) / 2))
        end = max(end, high)
    return found


def _looks_like_column(segments: Sequence[Segment]) -> bool:
    """Whether segments fill their width as prose does: most are wide, and long enough to be read."""
    width = max(s.x1 for s in segments) - min(s.x0 for s in segments)
    filled = sum((s.x1 - s.x0) > 0.75 * width for s in segments) / len(segments)
    length = sum(sum(len(word.text) + 1 for word in s.words) for s in segments) / len(segments)
    return len(segments) >= 3 and filled > 0.5 and length > 18  # noqa: PLR2004 - measured on two-column pages


def _vertical_cut(segments: list[Segment]) -> tuple[list[Segment], list[Segment]] | None:
    """Left and right part where a gutter runs through and both sides are columns of text."""
    size = sorted(s.size for s in segments)[len(segments) // 2]
    gutters = [gap for gap in _gaps([(s.x0, s.x1) for s in segments]) if gap[0] > 0.8 * size]
    if not gutters:
        return None
    middle = max(gutters)[1]
    left = [s for s in segments if s.x1 <= middle]
    right = [s for s in segments if s.x0 >= middle]
    few = len(gutters) <= 3  # noqa: PLR2004 - four columns of prose; more is a table
    prose = few and _looks_like_column(left) and _looks_like_column(right)
    if not prose and not _drawn_apart(segments, middle):
        return None
    leftwards = _right_to_left([word for segment in segments for word in segment.words])
    return (right, left) if leftwards else (left, right)


def _drawn_apart(segments: Sequence[Segment], middle: float) -> bool:
    """Whether one side was drawn after the other and both hold lines to be read: lists, short lines, two pages on one.

    A table is drawn row by row, or has cells that are shorter.
    """
    sides = [segment.x0 >= middle for segment in segments]
    changes = sum(one != other for one, other in pairwise(sides))
    if changes > 1 + len(sides) // _STRAY:
        return False
    return all(_reads([s for s, one in zip(segments, sides, strict=True) if one == side]) for side in (False, True))


def _reads(segments: Sequence[Segment]) -> bool:
    """Whether segments are lines of text or items of a list, on three lines at least."""
    lines = len({round(s.y0 / max(s.size, 1.0)) for s in segments})
    length = sum(sum(len(word.text) + 1 for word in s.words) for s in segments) / len(segments)
    items = sum(_ITEM.match(segment.text) is not None for segment in segments) / len(segments)
    return lines >= 3 and (length > 18 or items > 0.6)  # noqa: PLR2004 - as in columns; most are items


def _horizontal_cut(segments: list[Segment]) -> tuple[list[Segment], list[Segment]] | None:
    gaps = [gap for gap in _gaps([(s.y0, s.y1) for s in segments]) if gap[0] > 0.1]  # noqa: PLR2004 - points
    if not gaps:
        return None
    middle = max(gaps)[1]
    return [s for s in segments if s.y0 >= middle], [s for s in segments if s.y1 <= middle]


def regions_of(segments: list[Segment]) -> list[list[Segment]]:
    """Regions in reading order. Parts that only horizontal cuts separate stay one region."""
    if len(segments) > _MAX_CUT:
        return [segments]
    stack: list[tuple[list[Segment], int]] = [(segments, 0)]
    leaves: list[tuple[list[Segment], int]] = []
    columns = 0
    while stack:
        part, column = stack.pop()
        if len(part) > 1:
            sides = _vertical_cut(part)
            if sides is not None:
                stack += [(sides[1], columns + 2), (sides[0], columns + 1)]
                columns += 2
                continue
            halves = _horizontal_cut(part)
            if halves is not None:
                stack += [(halves[1], column), (halves[0], column)]
                continue
        if leaves and leaves[-1][1] == column:
            leaves[-1][0].extend(part)
        else:
            leaves.append((list(part), column))
    return [part for part, _ in leaves if part]


def rows_of(region: list[Segment], page: int, number: int) -> list[Row]:
    """Visual rows of a region from top to bottom, cells from left to right (as given where text runs leftwards)."""
    groups: list[list[Segment]] = []
    given = {id(segment): index for index, segment in enumerate(region)}
    for segment in sorted(region, key=lambda s: -s.y1):
        for group in groups[-3:]:
            if abs(group[0].y0 - segment.y0) < 0.4 * segment.size and not group[0].cells and not segment.cells:
                group.append(segment)
                break
        else:
            groups.append([segment])
    left, right = min(s.x0 for s in region), max(s.x1 for s in region)
    rows: list[Row] = []
    for group in groups:
        words = [word for segment in group for word in segment.words]
        if _right_to_left(words):
            group.sort(key=lambda s: given[id(s)])
        else:
            group.sort(key=lambda s: s.x0)
        for segment in group[1:]:
            segment.words[0].spaced = True
        words = [word for segment in group for word in segment.words]
        rows.append(
            Row(
                group,
                min(s.x0 for s in group),
                min(s.y0 for s in group),
                max(s.x1 for s in group),
                max(s.y1 for s in group),
                _common_size(words),
                _common_em(words),
                all(word.style.bold for word in words),
                all(word.style.fixed for word in words),
                page,
                number,
                left,
                right,
                words,
            )
        )
    return rows


def page_segments(words: Sequence[Word], tables: Sequence[Segment] = ()) -> list[Segment]:
    """Segments of a page: the page's main direction first, then turned text, then diagonal text as one segment."""
    frames = Counter(word.frame for word in words if word.frame != DIAGONAL)
    frames.update(word.frame for table in tables for word in table.words)
    segments: list[Segment] = []
    for frame in sorted(frames, key=lambda f: -frames[f]):
        segments += segments_of([word for word in words if word.frame == frame])
        segments += [table for table in tables if table.words[0].frame == frame]
    diagonal = [word for word in words if word.frame == DIAGONAL]
    if diagonal:
        segment = _segment(diagonal[0])
        for word in diagonal[1:]:
            segment.add(word)
        segment.size = _common_size(diagonal)
        segments.append(segment)
    return segments


def page_rows(segments: Sequence[Segment], page: int) -> list[Row]:
    """All rows of a page in reading order, one direction of text after the other."""
    rows: list[Row] = []
    number = 0
    for frame in dict.fromkeys(segment.words[0].frame for segment in segments):
        for region in regions_of([segment for segment in segments if segment.words[0].frame == frame]):
            rows += rows_of(region, page, number)
            number += 1
    return rows
