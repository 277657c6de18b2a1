"""What cells mean: numbers in both ways of writing them, with their units, and dates.

A column is read as a whole. ``1.250`` alone may be 1250 or 1.25; beside ``2,5`` it can only be 1250. What stays open is
said to be open, never chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, cached_property
from typing import Literal, TypeAlias

from fonte.text.months import MONTHS
from fonte.text.terms import Analyser, folded

Style: TypeAlias = Literal[".", ","]
"""The decimal mark; the other one groups thousands."""
STYLES: tuple[Style, Style] = (".", ",")

WORD = re.compile(r"[^\W_]+|[€$£¥%]")
_DIGITS = r"\d[\d.,'’\u00a0\u2009\u202f ]*\d|\d"
NUMBER = re.compile(rf"(?<![\w.,]){_DIGITS}(?![\w])")
_CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<before>[€$£¥]|(?:eur|euro|usd|gbp|chf|jpy)\b)?\s*(?P<sign>[+\-−–])?\s*(?P<mark>[€$£¥])?\s*"
    rf"(?P<number>{_DIGITS})(?P<after>[^\d()]*)(?P<close>\))?",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:(?P<mark>[.,'’\u00a0\u2009\u202f ])\d{3})(?:(?P=mark)\d{3})*")
_PLAIN = re.compile(r"\d+")
_ABSENT = frozenset(
    {"", "-", "–", "—", "−", "/", "n/a", "na", "n.a.", "n.d.", "nd", "n/d", "none", "null", "nessuno", "nessuna"}
    | {"not applicable", "non applicabile", "not available", "non disponibile", "tbd", "?", "..."}
)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ANY_CASE = re.IGNORECASE
DATES = (
    re.compile(r"(?<![\w-])(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\w-])"),
    re.compile(r"(?<![\w/.-])(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<y>\d{4})(?![\w/-])"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|º|°)?\s+(?:of\s+)?(?P<name>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<name>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b", _ANY_CASE),
)
_CLOCK = re.compile(r"[T ](\d{2}):(\d{2})(?::(\d{2}))?")
_UNITS = {
    "€": "€", "eur": "€", "euro": "€", "euros": "€", "£": "£", "gbp": "£", "pound": "£", "pounds": "£",
    "sterlina": "£", "sterline": "£", "$": "$", "usd": "$", "dollar": "$", "dollars": "$", "dollaro": "$",
    "dollari": "$", "¥": "¥", "%": "%", "percent": "%", "per cent": "%", "per cento": "%", "percento": "%",
}  # fmt: skip
MONEY = frozenset("€£$¥") | {"chf"}
_HALF = 0.5
_ENDINGS = frozenset(frozenset(pair.split("/")) for pair in "/es y/ies o/he a/he o/hi a/hi e/hi /ed /ing".split())
"""Pairs of ends, longer than a letter, of forms of one word."""


def fold(text: str) -> str:
    """The words of a text in small letters without accents, one space between them."""
    return " ".join(WORD.findall(text.lower() if text.isascii() else folded(text)))


_TERMS = Analyser()


@cache
def stems(word: str) -> frozenset[str]:
    """What a folded word is reduced to in English and in Italian, and the word itself."""
    return frozenset({word, _TERMS.stem(word, "en"), _TERMS.stem(word, "it")})


def alike(one: str, other: str) -> bool:
    """Whether two folded words are forms of one word: one stem, and only their last letters differ.

    A stem alone is too wide: ``universal`` and ``university`` have one.
    """
    if one == other:
        return True
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    ends = frozenset({one[same:], other[same:]})
    return same > 1 and (max(map(len, ends)) <= 1 or ends in _ENDINGS) and bool(stems(one) & stems(other))


def unit_of(text: str) -> str:
    """One name for each unit: ``€`` for euro, the stem of a word."""
    plain = fold(text)
    if plain in _UNITS:
        return _UNITS[plain]
    return " ".join(min(stems(word), key=lambda stem: (len(stem), stem)) for word in plain.split())


def number_readings(written: str) -> dict[Style, Decimal]:
    """What a number may mean under each decimal mark; nothing where it is written in neither way."""
    found: dict[Style, Decimal] = {}
    for style in STYLES:
        whole, mark, fraction = written.partition(style)
        if mark and not _PLAIN.fullmatch(fraction):
            continue
        groups = _GROUPS.fullmatch(whole)
        if not _PLAIN.fullmatch(whole) and (groups is None or groups.group("mark") == style):
            continue
        digits = "".join(_PLAIN.findall(whole))
        found[style] = Decimal(f"{digits}.{fraction}" if mark else digits)
    return found


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as a cell writes it: its readings, and its unit as written before or after it."""

    readings: dict[Style, Decimal]
    unit: str
    prefix: str
    suffix: str


def amount(text: str) -> Amount | None:
    """The number that a cell holds and nothing else but its unit; None for any other text."""
    match = _CELL.fullmatch(text.strip())
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    readings = number_readings(match["number"])
    after, before = match["after"].strip(), match["before"] or match["mark"] or ""
    if not readings or len(after.split()) > 3:  # noqa: PLR2004 - a unit
        return None
    if before and after and unit_of(before) != unit_of(after):
        return None
    if match["open"] or (match["sign"] or "+") != "+":
        readings = {style: -value for style, value in readings.items()}
    return Amount(readings, unit_of(before or after), before, "" if before else after)


def date_readings(text: str) -> frozenset[datetime]:
    """The moments that a text which is one date may mean, with its time of day; 3/4/2026 both ways round."""
    text = text.strip()
    for pattern in DATES:
        match = pattern.match(text)
        if match is None:
            continue
        rest = text[match.end() :]
        clock = _CLOCK.fullmatch(rest)
        if rest and clock is None:
            return frozenset()
        hours, minutes, seconds = (int(part or 0) for part in clock.groups()) if clock else (0, 0, 0)
        after = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return frozenset(day + after for day in days_of(match.groupdict()))
    return frozenset()


def days_of(parts: dict[str, str | None]) -> frozenset[datetime]:
    """The days that a match of ``DATES`` may mean."""
    if parts.get("a"):
        pairs = [(parts["a"], parts["b"]), (parts["b"], parts["a"])]
    elif parts.get("name"):
        pairs = [(parts["d"], str(MONTHS.get((parts["name"] or "").casefold(), 0)))]
    else:
        pairs = [(parts["d"], parts["m"])]
    found = set()
    for day, month in pairs:
        try:
            found.add(datetime(int(parts["y"] or 0), int(month or 0), int(day or 0)))  # noqa: DTZ001 - a calendar's day
        except ValueError:
            continue
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers: a value for each row that has one, the unit they share, and the rows that have none."""

    values: tuple[Decimal | None, ...]
    units: frozenset[str]
    prefix: str
    suffix: str
    unread: tuple[int, ...]
    """Rows whose cell holds something that is no number."""


@dataclass(frozen=True, slots=True)
class Moments:
    """A column of dates."""

    values: tuple[datetime | None, ...]
    unread: tuple[int, ...]


class Column:
    """One column's cells, and what they mean; each reading is made when it is asked for."""

    def __init__(self, cells: Sequence[str], *, day_first: bool) -> None:
        self.cells = cells
        self._day_first = day_first

    @cached_property
    def distinct(self) -> dict[str, int]:
        """Every cell that is not empty, with how often it stands there."""
        found: dict[str, int] = {}
        for cell in self.cells:
            if cell:
                found[cell] = found.get(cell, 0) + 1
        return found

    @property
    def empty(self) -> int:
        """How many cells are empty."""
        return len(self.cells) - sum(self.distinct.values())

    @cached_property
    def whole(self) -> dict[str, list[str]]:
        """Cells by their folded text."""
        found: dict[str, list[str]] = {}
        for cell in self.distinct:
            found.setdefault(fold(cell), []).append(cell)
        return found

    @cached_property
    def items(self) -> dict[str, list[str]]:
        """Cells that list several things, by the folded text of each of them."""
        found: dict[str, list[str]] = {}
        for cell in self.distinct:
            if ", " in cell or ";" in cell:
                for part in re.split(r", |;", cell):
                    found.setdefault(fold(part), []).append(cell)
        return found

    @cached_property
    def shapes(self) -> dict[tuple[int, str], list[list[str]]]:
        """Words of every whole and item, by how many they are and the first two letters."""
        found: dict[tuple[int, str], list[list[str]]] = {}
        for text in self.whole.keys() | self.items.keys():
            words = text.split()
            found.setdefault((len(words), text[:2].strip()), []).append(words)
        return found

    @cached_property
    def amounts(self) -> dict[str, Amount]:
        """Distinct cells that are numbers."""
        return {cell: found for cell in self.distinct if (found := amount(cell)) is not None}

    @cached_property
    def moments(self) -> dict[str, frozenset[datetime]]:
        """Distinct cells that are dates."""
        return {cell: found for cell in self.distinct if (found := date_readings(cell))}

    @cached_property
    def kind(self) -> Literal["number", "date", "text"]:
        """What most of its cells are, of those that say something."""
        told = [cell for cell in self.distinct if cell.casefold() not in _ABSENT]
        if told and len(self.moments) >= _HALF * len(told):
            return "date"
        return "number" if told and len(self.amounts) >= _HALF * len(told) else "text"

    @cached_property
    def styles(self) -> frozenset[Style]:
        """The decimal marks under which every number of the column can be read."""
        found = frozenset[Style](STYLES)
        for one in self.amounts.values():
            found &= frozenset(one.readings)
        return found

    @property
    def own_style(self) -> Style | None:
        """The only one under which it can be read; None where both can."""
        return next(iter(self.styles)) if len(self.styles) == 1 else None

    def numbers(self, elsewhere: Style | None) -> Numbers | str:
        """Its numbers, or the code of why they cannot be told: ``mixed_writing``, ``two_readings``.

        ``elsewhere`` is how the table's other columns are written.
        """
        if not self.styles:
            return "mixed_writing"
        style = self.own_style or elsewhere
        if style is None and any(len(set(one.readings.values())) > 1 for one in self.amounts.values()):
            return "two_readings"
        style = style or STYLES[0]
        values = {cell: one.readings[style] for cell, one in self.amounts.items() if style in one.readings}
        if len(values) < len(self.amounts):
            return "mixed_writing"
        first = next(iter(self.amounts.values()), None)
        return Numbers(
            tuple(values.get(cell) for cell in self.cells),
            frozenset(one.unit for one in self.amounts.values()),
            first.prefix if first else "",
            first.suffix if first else "",
            self._unread(values),
        )

    def dates(self) -> Moments | str:
        """Its dates, or ``two_readings`` where day and month can be taken for each other."""
        values: dict[str, datetime] = {}
        for cell, meant in self.moments.items():
            if len(meant) == 1:
                values[cell] = next(iter(meant))
        if len(values) < len(self.moments):
            orders = self._orders()
            if len(orders) != 1:
                return "two_readings"
            first = next(iter(orders))
            for cell in self.moments.keys() - values.keys():
                leading = _first(cell)
                values[cell] = next(one for one in self.moments[cell] if (one.day == leading) == (first == "day"))
        return Moments(tuple(values.get(cell) for cell in self.cells), self._unread(values))

    def _orders(self) -> set[str]:
        """Which of day and month can come first in every date of the column, and by the language alone if both can."""
        orders = {"day", "month"}
        for cell, meant in self.moments.items():
            slashed = DATES[1].match(cell.strip())
            if slashed is not None and len(meant) == 1:
                day = next(iter(meant)).day
                if slashed["a"] != slashed["b"]:
                    orders &= {"day" if int(slashed["a"]) == day else "month"}
        return {"day"} if orders == {"day", "month"} and self._day_first else orders

    def _unread(self, known: dict[str, Decimal] | dict[str, datetime]) -> tuple[int, ...]:
        return tuple(
            at for at, cell in enumerate(self.cells) if cell not in known and cell.strip().casefold() not in _ABSENT
        )


def _first(cell: str) -> int:
    match = DATES[1].match(cell.strip())
    return int(match["a"]) if match else 0
