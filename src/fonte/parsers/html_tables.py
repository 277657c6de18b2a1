"""Tables of HTML while they are being read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_MAX_SPAN = 100


@dataclass(slots=True)
class Cell:
    """A cell: its text, whether it is a ``th``, and over how many columns and rows it reaches."""

    text: str
    heading: bool
    columns: int
    rows: int


@dataclass(slots=True)
class Frame:
    """A table that is open. A layout table holds paragraphs, no rows."""

    rows: list[list[Cell]] = field(default_factory=list)
    anchors: list[str | None] = field(default_factory=list)
    cell: Cell | None = None
    in_head: bool = False
    head_rows: int = 0
    layout: bool = False


def span(value: str | None) -> int:
    """A colspan or rowspan: 1 unless it is a sane number."""
    if not value or not re.fullmatch(r"[0-9]{1,6}", value):
        return 1
    return max(1, min(int(value), _MAX_SPAN))


def grid_of(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Cells in their columns. A cell over several rows or columns is repeated, so that a row stands alone."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        cells: list[str] = []
        for cell in [*row, None]:
            while len(cells) in hanging:
                left, text = hanging.pop(len(cells))
                if left > 1:
                    hanging[len(cells)] = (left - 1, text)
                cells.append(text)
                if left > 1:
                    continue
            if cell is None:
                break
            for extra in range(cell.columns):
                text = cell.text if extra == 0 or cell.heading else ""
                if cell.rows > 1:
                    hanging[len(cells)] = (cell.rows - 1, text)
                cells.append(text)
        grid.append(cells)
    return grid
