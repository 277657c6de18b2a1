"""Days, months, weekdays and hours of a text, however they are written in English and Italian."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from fonte.text.claims.clock import spoken
from fonte.text.months import MONTHS

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_LONG = "|".join(sorted((name for name in MONTHS if len(name) > 4 or name == "june" or name == "july"), key=len))  # noqa: PLR1714, PLR2004 - short names are words of other meanings
_ORDINAL = r"(?:st|nd|rd|th|º|°)?"
_DATES = (
    re.compile(r"(?<![\w/.-])(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\w/-])"),
    re.compile(r"(?<![\w/.-])(?P<d>\d{1,2})[./-](?P<m>\d{1,2})[./-](?P<y>\d{4}|\d{2})(?![\w/-])"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}}|primo|first){_ORDINAL}\s+(?:(?:day\s+)?of\s+|di\s+)?(?P<name>{_MONTH})\b\.?"
        rf"(?:,?\s+(?:(?:of|del)\s+)?(?P<y>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH})\b\.?\s+(?:the\s+)?(?P<d>\d{{1,2}}){_ORDINAL}(?![\d.,]*\d|\w)(?:,?\s+(?P<y>\d{{4}})\b)?",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<name>{_MONTH})\b\.?,?\s+(?:(?:of|del|dell['’]anno)\s+)?(?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<name>{_LONG})\b", re.IGNORECASE),
    re.compile(r"(?<=[a-z,;] )(?P<name>May)\b"),
)
_RANGE = re.compile(
    rf"\b(\d{{1,2}}){_ORDINAL}\s*(?:-|–|to|and|or|until|e|ed|al|a|o)\s*(?:the\s+|il\s+|al\s+)?$", re.IGNORECASE
)
_WEEKDAYS: Final = {
    name: at
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "lunedi martedi mercoledi giovedi venerdi sabato domenica",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    )
    for at, name in enumerate(names.split(), 1)
}
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})s?\b", re.IGNORECASE)
_HOUR = re.compile(
    r"(?<![\w.,:/-])(?P<h>[01]?\d|2[0-4])(?:[:.](?P<min>[0-5]\d))?\s*(?P<half>a\.?m\b\.?|p\.?m\b\.?)"
    r"|(?<![\w.,:/-])(?P<h2>[01]?\d|2[0-4]):(?P<min2>[0-5]\d)(?![\w:]|\.\d)",
    re.IGNORECASE,
)
_NAMED_HOURS: Final = {"noon": 720, "midday": 720, "mezzogiorno": 720, "midnight": 0, "mezzanotte": 0}
_NAMED_HOUR = re.compile(rf"\b({'|'.join(_NAMED_HOURS)})\b(?P<half>\s+e\s+mezz[oa]\b)?", re.IGNORECASE)
_DOTTED_HOUR = re.compile(
    r"(?:(?:\balle|\bdalle|\bore|\bat|\bentro le|\bprima delle|\bdopo le|\bfino alle|\bfra le|\btra le|\be le)\s+)"
    r"(?P<h>[01]?\d|2[0-4])[.](?P<min>[0-5]\d)(?![\w:]|\.\d)",
    re.IGNORECASE,
)
_HALF: Final = 30
_SHORT_YEAR: Final = 100
_NOON: Final = 12


@dataclass(frozen=True, slots=True)
class Day:
    """A day, month, year or weekday as written; each way to read it is (year, month, day), 0 for what is not said."""

    start: int
    end: int
    text: str
    meant: frozenset[tuple[int, int, int]]
    weekday: int = 0


@dataclass(frozen=True, slots=True)
class Hour:
    """An hour of the day as written, and the minutes after midnight that it may mean."""

    start: int
    end: int
    text: str
    minutes: frozenset[int]


def days(text: str) -> list[Day]:
    """Every date of a text in order. A day that no calendar has is none: its figures stay figures."""
    found: list[Day] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            meant = _read(match.groupdict())
            if not meant:
                continue
            found.append(Day(match.start(), match.end(), match.group(), meant))
            before = _RANGE.search(text[: match.start()])
            both = {(year, month, int(before.group(1))) for year, month, day in meant if day} if before else set()
            if before and both and all(_exists(*one) for one in both):
                found.append(Day(before.start(1), before.end(1), before.group(1), frozenset(both)))
    for match in _WEEKDAY.finditer(text):
        name = match.group(1).lower()
        found.append(Day(match.start(), match.end(), match.group(), frozenset(), _WEEKDAYS[name]))
    return sorted(found, key=lambda one: one.start)


def _read(parts: dict[str, str | None]) -> frozenset[tuple[int, int, int]]:
    """The days that a match may mean; 03/04/2026 both ways round: which one was meant is not ours to guess."""
    year = int(parts.get("y") or 0)
    if year and year < _SHORT_YEAR:
        year += 2000
    told = parts.get("d") or "0"
    day = int(told) if told.isdigit() else 1
    if parts.get("name"):
        # Letters that only look like these (the long s, the dotless i) match too, and not all of them fold back.
        pairs = [(day, MONTHS.get((parts["name"] or "").casefold(), 0))]
    else:
        month = int(parts.get("m") or 0)
        pairs = [(day, month), (month, day)]
    return frozenset((year, month, day) for day, month in pairs if _exists(year, month, day))


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year or 2000, month, day or 1)
    except ValueError:
        return False
    return True


def same_day(one: Day, other: Day, years: frozenset[int]) -> bool:
    """Whether ``one`` is what ``other`` says; a year that ``other`` leaves out may be one of ``years``."""
    if one.weekday or other.weekday:
        return one.weekday == other.weekday
    return any(_covered(mine, theirs, years) for mine in one.meant for theirs in other.meant)


def _covered(mine: tuple[int, int, int], theirs: tuple[int, int, int], years: frozenset[int]) -> bool:
    year = mine[0] in (0, theirs[0]) or (theirs[0] == 0 and mine[0] in years)
    return year and mine[1] == theirs[1] and mine[2] in (0, theirs[2])


def hours(text: str) -> list[Hour]:
    """Every hour of the day that is surely one: 08:30, 9 p.m., alle 20.00, noon, half past nine."""
    found = [
        Hour(
            match.start(),
            match.end(),
            match.group(),
            frozenset({_NAMED_HOURS[match.group(1).lower()] + (_HALF if match["half"] else 0)}),
        )
        for match in _NAMED_HOUR.finditer(text)
    ]
    found += [_hour(match) for match in _HOUR.finditer(text)]
    for match in _DOTTED_HOUR.finditer(text):
        at = int(match["h"]) * 60 + int(match["min"])
        found.append(Hour(match.start("h"), match.end(), text[match.start("h") : match.end()], frozenset({at % 1440})))
    for start, end, minutes in spoken(text):
        if not any(start < one.end and one.start < end for one in found):
            found.append(Hour(start, end, text[start:end], minutes))
    return sorted(found, key=lambda one: one.start)


def _hour(match: re.Match[str]) -> Hour:
    hour, minute = int(match["h"] or match["h2"]), int(match["min"] or match["min2"] or 0)
    half = (match["half"] or "").lower()
    if half.startswith("p") and hour < _NOON:
        hour += _NOON
    elif half.startswith("a") and hour == _NOON:
        hour = 0
    return Hour(match.start(), match.end(), match.group(), frozenset({(hour * 60 + minute) % 1440}))


def spans(found: list[Day], at: list[Hour]) -> Iterator[tuple[int, int]]:
    """Characters that dates and hours take."""
    yield from ((one.start, one.end) for one in found if not one.weekday)
    yield from ((one.start, one.end) for one in at)
