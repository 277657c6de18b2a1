"""How far a table that OCR read may be trusted, as a figure.

Confidence is told word by word, and of single figures, which no language helps to read, it is told too high. What
counts in a table is whether a whole row is right, and its columns tell more of that than the engine does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from fonte.parsers.tables import is_number
from fonte.types import Block, Box

LOW = 75
"""Trust under which a table is said to be of low trust."""
_MOST = 0.6
"""Share of a column's cells that are numbers, or of its numbers that are written alike, from which others are odd."""


@dataclass(frozen=True, slots=True)
class TableTrust:
    """``trust`` from 0 to 100; ``odd`` of ``rows`` have a cell that does not fit its column, or lack one."""

    trust: int
    rows: int
    odd: int

    def __str__(self) -> str:
        """In words."""
        low = "low trust, " if self.trust < LOW else "trust "
        told = f": {self.odd} of {self.rows} rows do not fit their columns" if self.odd else ""
        return f"{low}{self.trust} of 100{told}"


NOT_FOUND = TableTrust(0, 0, 0)
"""There are ruled lines, and no rows came out of them."""


def table_trust(rows: Sequence[Block], confidence: Mapping[Box, int]) -> TableTrust:
    """Mean over rows of how likely a row is right: the product of its words' confidences; 0 for a row that is odd.

    ``rows`` are ROW blocks of one page; ``confidence`` (0 to 100) is by the box of a word. A header row is not odd.
    """
    cells = [_cells(row) for row in rows]
    odd = _odd(cells, [row.header for row in rows])
    shares = [
        0.0 if strange else prod(confidence.get(place.box, 0) / 100 for place in row.places if place.box)
        for row, strange in zip(rows, odd, strict=True)
    ]
    return TableTrust(round(100 * sum(shares) / len(shares)), len(rows), sum(odd)) if rows else NOT_FOUND


def _cells(row: Block) -> list[str]:
    """The texts of a row's cells: what stands between two words of one is a space."""
    if not row.places:
        return []
    cuts = [0]
    cuts += [index for index, (a, b) in enumerate(pairwise(row.places), 1) if row.text[a.end : b.start].strip()]
    return [
        row.text[row.places[start].start : row.places[end - 1].end] for start, end in pairwise([*cuts, len(row.places)])
    ]


def _odd(rows: Sequence[Sequence[str]], headers: Sequence[bool]) -> list[bool]:
    """Which rows have fewer or more cells than most, or a cell that is not written as most of its column are."""
    data = [row for row, header in zip(rows, headers, strict=True) if not header]
    width = Counter(map(len, data)).most_common(1)[0][0] if data else 0
    forms = [_form([row[column] for row in data if len(row) == width]) for column in range(width)]
    return [
        not header
        and (len(row) != width or any(form and _written(cell) != form for cell, form in zip(row, forms, strict=True)))
        for row, header in zip(rows, headers, strict=True)
    ]


def _form(cells: Sequence[str]) -> str:
    """How most of a column's cells are written where most are numbers; empty for columns of words, or of all kinds."""
    numbers = [cell for cell in cells if is_number(cell)]
    if len(numbers) < _MOST * len(cells):
        return ""
    form, count = Counter(map(_written, numbers)).most_common(1)[0]
    return form if count >= _MOST * len(cells) else ""


def _written(cell: str) -> str:
    """``12.50`` is ``9.9``: runs of digits stand for one, all else stays."""
    form = "".join("9" if sign.isdigit() else sign for sign in cell)
    while "99" in form:
        form = form.replace("99", "9")
    return form
