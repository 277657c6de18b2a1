"""Quantities that a text says without a number of their own, or in several: a week, an hour and a half, both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final

from fonte.text.claims.figures import Figure
from fonte.text.claims.units import UNITS

_SIGN: Final = 2
"""Letters of a unit that is a sign at most: h, ms."""
_TIMES = (name for name, unit in UNITS.items() if unit.measures & {"time", "months"} and len(name) > _SIGN)
_TIME = "|".join(sorted(_TIMES, key=len, reverse=True))
_PART = r"(?P<part>half|a half|a quarter|three quarters|mezz[oa]|un quarto|tre quarti)"
_ONE = r"(?:an?|one|un|uno|una)\s+|un['’]\s*"
_PARTS: Final = {
    "half": Decimal("0.5"), "a half": Decimal("0.5"), "mezzo": Decimal("0.5"), "mezza": Decimal("0.5"),
    "a quarter": Decimal("0.25"), "un quarto": Decimal("0.25"),
    "three quarters": Decimal("0.75"), "tre quarti": Decimal("0.75"),
}  # fmt: skip
_PART_OF = re.compile(rf"\b{_PART}\s*(?:(?:of\s+)?an?\s+|d['’]\s*|di\s+)(?P<unit>{_TIME})\b", re.IGNORECASE)
_AND_PART = re.compile(rf"\b(?:{_ONE})(?P<unit>{_TIME})\s+(?:and|e)\s+{_PART}\b", re.IGNORECASE)
_BEHIND = re.compile(rf"\s+(?:and|e)\s+{_PART}\b", re.IGNORECASE)
_BETWEEN = re.compile(rf"\s+and\s+{_PART}\s+(?P<unit>{_TIME})\b", re.IGNORECASE)
_SINGLE = re.compile(rf"\b(?:{_ONE})(?P<unit>(?!second|secondo){_TIME})\b", re.IGNORECASE)
_TWO = re.compile(r"\b(?:both|couple|pair|entramb[ie]|coppia|paio)\b", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:,|and|e|,\s*and)?\s*")


def wholes(text: str, figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Quantities beside the figures of a text, in order: what a figure is part of, and what is said by no number."""
    found = [*_worded(text), *_summed(text, figures)]
    return tuple(sorted(found, key=lambda one: one.start))


def _worded(text: str) -> Iterator[Figure]:
    for pattern, more in ((_PART_OF, 0), (_AND_PART, 1)):
        for match in pattern.finditer(text):
            value = _PARTS[" ".join(match["part"].lower().split())] + more
            yield _whole(text, match.start(), match.end(), value, match["unit"])
    for match in _SINGLE.finditer(text):
        if _BEHIND.match(text, match.end()) or re.search(r"\b(?:of|quarti|quarto|half)\s+$", text[: match.start()]):
            continue
        yield _whole(text, match.start(), match.end(), Decimal(1), match["unit"])
    for match in _TWO.finditer(text):
        yield Figure(match.start(), match.end(), match.group(), frozenset({Decimal(2)}))


def _summed(text: str, figures: Sequence[Figure]) -> Iterator[Figure]:
    """Two and a half hours, 2 ore e mezza, 1 hour 20 minutes."""
    for one in figures:
        behind = _BETWEEN.match(text, one.end) if one.unit is None else _BEHIND.match(text, one.end)
        if behind is None or (one.unit is not None and one.unit.name not in UNITS):
            continue
        more = _PARTS[" ".join(behind["part"].lower().split())]
        unit = UNITS[behind["unit"].lower()] if one.unit is None else one.unit
        numbers = frozenset(number + more for number in one.numbers)
        yield Figure(one.start, behind.end(), text[one.start : behind.end()], numbers, unit)
    for one, after in pairwise(figures):
        if one.unit is None or after.unit is None or not _JOINED.fullmatch(text[one.end : after.start]):
            continue
        if one.unit.measures == after.unit.measures <= {"time", "months"} and one.unit.size > after.unit.size:
            times = one.unit.size / after.unit.size
            numbers = frozenset(big * times + small for big in one.numbers for small in after.numbers)
            yield Figure(one.start, after.end, text[one.start : after.end], numbers, after.unit)


def _whole(text: str, start: int, end: int, value: Decimal, unit: str) -> Figure:
    return Figure(start, end, text[start:end], frozenset({value}), UNITS[unit.lower()])
