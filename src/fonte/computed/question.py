"""A question's words: where operations, comparisons, numbers and dates stand in it, whatever the table."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fonte.computed.values import DATES, NUMBER, WORD, days_of, number_readings
from fonte.computed.words import AFTERWARDS, COMPARISONS, OPERATIONS, Operation, Phrase
from fonte.text.months import MONTHS
from fonte.text.terms import folded
from fonte.types import Language

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH_OF_YEAR = re.compile(
    rf"\b(?P<name>{_MONTH})\s+(?:of\s+|del\s+)?(?P<y>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Span:
    """Words ``first..last`` of a question (half-open) and what they mean."""

    first: int
    last: int
    meaning: object


@dataclass(frozen=True, slots=True)
class Period:
    """From a moment up to another one, which it does not hold."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Question:
    """A question cut into folded words, with the spans that mean something in every table."""

    text: str
    words: tuple[str, ...]
    written: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Characters of each word in the text."""
    language: Language
    operations: tuple[Span, ...]
    comparisons: tuple[Span, ...]
    afterwards: tuple[Span, ...]
    numbers: tuple[Span, ...]
    """Decimals."""
    periods: tuple[Span, ...]
    """Days, months and years; a year stands among the numbers as well."""
    unclear: bool
    """A date in it can be read two ways."""

    @property
    def counts(self) -> bool:
        """Whether it asks how many."""
        return any(span.meaning[0] is Operation.COUNT for span in self.operations if isinstance(span.meaning, tuple))

    def text_of(self, span: Span) -> str:
        """The words of a span as they were written."""
        return self.text[self.places[span.first][0] : self.places[span.last - 1][1]]


def read_question(text: str, language: Language) -> Question:
    """The question's words and what they mean by themselves."""
    matches = list(WORD.finditer(text))
    words = tuple(folded(match.group()) for match in matches)
    starts = {match.start(): at for at, match in enumerate(matches)}
    ends = {match.end(): at + 1 for at, match in enumerate(matches)}

    def spot(match: re.Match[str], meaning: object) -> list[Span]:
        first, last = starts.get(match.start()), ends.get(match.end())
        return [] if first is None or last is None else [Span(first, last, meaning)]

    periods: list[Span] = []
    unclear = False
    for pattern in DATES:
        for match in pattern.finditer(text):
            days = days_of(match.groupdict())
            if len(days) > 1 and language == "it":
                days = frozenset(day for day in days if day.day == int(match["a"]))
            unclear = unclear or len(days) != 1
            periods += [span for day in days for span in spot(match, _day(day))]
    for match in _MONTH_OF_YEAR.finditer(text):
        periods += spot(match, _month(int(match["y"]), MONTHS[match["name"].casefold()]))
    taken = {at for span in periods for at in range(span.first, span.last)}
    numbers: list[Span] = []
    for match in NUMBER.finditer(text):
        readings = number_readings(match.group())
        value = readings.get("," if language == "it" else ".")
        for span in spot(match, value if value is not None else next(iter(readings.values()), None)):
            if span.first not in taken and span.meaning is not None:
                numbers.append(span)
                if _YEAR.fullmatch(match.group()):
                    periods.append(Span(span.first, span.last, _years(int(match.group()))))
    return Question(
        text,
        words,
        tuple(match.group() for match in matches),
        tuple(match.span() for match in matches),
        language,
        tuple(spans(words, OPERATIONS)),
        tuple(spans(words, COMPARISONS)),
        tuple(spans(words, AFTERWARDS)),
        tuple(numbers),
        tuple(periods),
        unclear,
    )


def spans(words: tuple[str, ...], phrases: Mapping[Phrase, object] | Collection[Phrase]) -> list[Span]:
    """Where the phrases stand, the longest first, none inside another one."""
    found: list[Span] = []
    longest = max(map(len, phrases))
    at = 0
    while at < len(words):
        for size in range(min(longest, len(words) - at), 0, -1):
            phrase = words[at : at + size]
            if phrase in phrases:
                found.append(Span(at, at + size, phrases[phrase] if isinstance(phrases, Mapping) else phrase))
                at += size - 1
                break
        at += 1
    return found


def number_of(span: Span) -> Decimal:
    """The value of a span of ``numbers``."""
    if not isinstance(span.meaning, Decimal):
        raise TypeError("a number's span holds a Decimal")
    return span.meaning


def period_of(span: Span) -> Period:
    """The value of a span of ``periods``."""
    if not isinstance(span.meaning, Period):
        raise TypeError("a period's span holds a Period")
    return span.meaning


def _day(day: datetime) -> Period:
    return Period(day, datetime.fromordinal(day.toordinal() + 1))


def _month(year: int, month: int) -> Period:
    following = (year, month + 1) if month < 12 else (year + 1, 1)  # noqa: PLR2004 - December
    return Period(datetime(year, month, 1), datetime(*following, 1))  # noqa: DTZ001 - calendar days


def _years(year: int) -> Period:
    return Period(datetime(year, 1, 1), datetime(year + 1, 1, 1))  # noqa: DTZ001 - calendar days
