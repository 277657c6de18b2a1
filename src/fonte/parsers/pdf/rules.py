"""Ruled tables: the lines drawn on a page, the grids that they form, and the words in each cell."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from fonte.parsers.pdf.layout import Segment, direction, line_order

if TYPE_CHECKING:
    from fonte.parsers.pdf.glyphs import Word

_MAX_OBJECTS = 4000
_MAX_SEGMENTS = 200
"""Points of one path beyond which it is a drawing."""
_MAX_RULES = 3000
_THIN = 2.0
"""Points: what is thinner is a line."""
_NEAR = 2.0
"""Points: lines that come this near to each other touch."""
_SHORT = 4.0
_MAX_CELL = 1500
"""Characters; a frame around a page of text is no table."""


@dataclass(slots=True)
class _Rule:
    """A straight line: at ``at``, from ``low`` to ``high`` along the other axis."""

    at: float
    low: float
    high: float


def _points(path: object, origin: tuple[float, float]) -> list[list[tuple[float, float]]]:
    """Polylines of a path on the page; nothing for curves."""
    from pypdfium2 import raw

    count = raw.FPDFPath_CountSegments(path)
    if not 1 < count <= _MAX_SEGMENTS:
        return []
    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(path, ctypes.byref(matrix)):
        return []
    x, y = ctypes.c_float(), ctypes.c_float()
    lines: list[list[tuple[float, float]]] = []
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_BEZIERTO:
            return []
        raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e - origin[0],
            matrix.b * x.value + matrix.d * y.value + matrix.f - origin[1],
        )
        if kind == raw.FPDF_SEGMENT_MOVETO or not lines:
            lines.append([point])
        else:
            lines[-1].append(point)
        if raw.FPDFPathSegment_GetClose(segment) and len(lines[-1]) > 1:
            lines[-1].append(lines[-1][0])
    return lines


def _strokes(page: object, origin: tuple[float, float]) -> tuple[list[_Rule], list[_Rule]]:
    """Horizontal and vertical lines of a page: strokes, and filled boxes as thin as lines."""
    from pypdfium2 import raw

    across: list[_Rule] = []
    upright: list[_Rule] = []
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    for index in range(min(raw.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        path = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(path) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke)):
            continue
        for line in _points(path, origin):
            width = max(p[0] for p in line) - min(p[0] for p in line)
            height = max(p[1] for p in line) - min(p[1] for p in line)
            if not stroke.value and min(width, height) > _THIN:
                continue
            for (x0, y0), (x1, y1) in pairwise(line):
                if abs(y0 - y1) <= 1 and abs(x0 - x1) > _SHORT:
                    across.append(_Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
                elif abs(x0 - x1) <= 1 and abs(y0 - y1) > _SHORT:
                    upright.append(_Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
        if len(across) + len(upright) > _MAX_RULES:
            return [], []
    return _joined(across), _joined(upright)


def _joined(rules: list[_Rule]) -> list[_Rule]:
    """Pieces of one line brought together."""
    found: list[_Rule] = []
    for rule in sorted(rules, key=lambda r: (round(r.at), r.low)):
        for other in found[-40:]:
            near = abs(other.at - rule.at) <= _THIN
            if near and rule.low <= other.high + _NEAR and rule.high >= other.low - _NEAR:
                other.low, other.high = min(other.low, rule.low), max(other.high, rule.high)
                break
        else:
            found.append(rule)
    return found


def _crosses(across: _Rule, upright: _Rule) -> bool:
    return (
        across.low - _NEAR <= upright.at <= across.high + _NEAR
        and upright.low - _NEAR <= across.at <= upright.high + _NEAR
    )


def _grids(across: list[_Rule], upright: list[_Rule]) -> list[tuple[list[_Rule], list[_Rule]]]:
    """Groups of lines that cross each other, directly or through others."""
    free_across, free_upright = list(across), list(upright)
    grids: list[tuple[list[_Rule], list[_Rule]]] = []
    while free_across:
        rows, columns = [free_across.pop()], list[_Rule]()
        todo: list[tuple[_Rule, bool]] = [(rows[0], True)]
        while todo:
            rule, is_across = todo.pop()
            if is_across:
                touched = [other for other in free_upright if _crosses(rule, other)]
                free_upright = [other for other in free_upright if not _crosses(rule, other)]
                columns += touched
            else:
                touched = [other for other in free_across if _crosses(other, rule)]
                free_across = [other for other in free_across if not _crosses(other, rule)]
                rows += touched
            todo += [(other, not is_across) for other in touched]
        if len(rows) > 2 and len(columns) > 2:  # noqa: PLR2004 - two rows and two columns at least
            grids.append((rows, columns))
    return grids


def _positions(rules: Sequence[_Rule]) -> list[float]:
    found: list[float] = []
    for at in sorted(rule.at for rule in rules):
        if not found or at - found[-1] > _SHORT:
            found.append(at)
    return found


class _Grid:
    """Cells between lines; those without a line between them are one."""

    def __init__(self, across: list[_Rule], upright: list[_Rule]) -> None:
        self._across, self._upright = across, upright
        self.xs = _positions(upright)
        self.ys = _positions(across)[::-1]
        self.rows, self.columns = len(self.ys) - 1, len(self.xs) - 1
        self._root = {
            (row, column): self._find(row, column) for row in range(self.rows) for column in range(self.columns)
        }

    def _find(self, row: int, column: int) -> tuple[int, int]:
        """The upper left cell of the merged cell that this one is part of."""
        while True:
            middle_y = (self.ys[row] + self.ys[row + 1]) / 2
            middle_x = (self.xs[column] + self.xs[column + 1]) / 2
            if column and not _drawn(self._upright, self.xs[column], middle_y):
                column -= 1
            elif row and not _drawn(self._across, self.ys[row], middle_x):
                row -= 1
            else:
                return row, column

    def cell_of(self, word: Word) -> tuple[int, int] | None:
        """The cell that holds the word's middle, None outside the grid."""
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if not (self.xs[0] <= x <= self.xs[-1] and self.ys[-1] <= y <= self.ys[0]):
            return None
        column = max(sum(edge <= x for edge in self.xs) - 1, 0)
        row = max(sum(edge >= y for edge in self.ys) - 1, 0)
        return self._root[min(row, self.rows - 1), min(column, self.columns - 1)]


def _drawn(rules: Sequence[_Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _SHORT and rule.low - 1 <= middle <= rule.high + 1 for rule in rules)


def _reading_order(words: list[Word]) -> list[Word]:
    """A cell's words line by line."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda w: -w.y0):
        if lines and abs(lines[-1][0].y0 - word.y0) < 0.5 * word.size:
            lines[-1].append(word)
        else:
            lines.append([word])
    ordered: list[Word] = []
    for line in map(line_order, lines):
        line[0].spaced = True
        ordered += line
    return ordered


def _table(grid: _Grid, words: Sequence[Word]) -> tuple[Segment, set[int]] | None:
    held: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        cell = grid.cell_of(word) if word.frame == 0 else None
        if cell is not None:
            held.setdefault(cell, []).append(word)
    longest = max((sum(len(word.text) for word in cell) for cell in held.values()), default=0)
    if len(held) < 3 or longest > _MAX_CELL or len(held) < 0.3 * grid.rows * grid.columns:  # noqa: PLR2004 - a table
        return None
    if len({row for row, _ in held}) < 2 or len({column for _, column in held}) < 2:  # noqa: PLR2004 - both ways
        return None
    cells = [
        [_reading_order(held.get((row, column), [])) for column in range(grid.columns)] for row in range(grid.rows)
    ]
    leftwards = direction([word for cell in held.values() for word in cell]) > 0
    cells = [row[::-1] if leftwards else row for row in cells if any(row)]
    inside = [word for row in cells for cell in row for word in cell]
    size = sorted(word.size for word in inside)[len(inside) // 2]
    box = (grid.xs[0], grid.ys[-1], grid.xs[-1], grid.ys[0])
    return Segment(inside, *box, size=size, cells=cells, edges=tuple(grid.xs)), {id(word) for word in inside}


def ruled_tables(page: object, origin: tuple[float, float], words: Sequence[Word]) -> tuple[list[Segment], list[Word]]:
    """(ruled tables of a pdfium page, each as one segment; the words outside them)."""
    across, upright = _strokes(page, origin)
    tables: list[Segment] = []
    left = list(words)
    for rows, columns in _grids(across, upright):
        grid = _Grid(rows, columns)
        if grid.rows < 2 or grid.columns < 2 or grid.rows * grid.columns > _MAX_RULES:  # noqa: PLR2004 - both ways
            continue
        found = _table(grid, left)
        if found is not None:
            tables.append(found[0])
            left = [word for word in left if id(word) not in found[1]]
    return tables, left
