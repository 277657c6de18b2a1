"""A sentence read for its facts, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fonte.text.claims import days as calendar
from fonte.text.claims.days import Day, Hour
from fonte.text.claims.figures import Figure, Rate, figures, rates
from fonte.text.claims.names import ROLES, Name, codes, names
from fonte.text.claims.polarity import Turns, turns
from fonte.text.claims.wholes import wholes
from fonte.text.claims.wording import Word, words
from fonte.types import Language


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence and what it says, every part with its characters."""

    text: str
    language: Language
    words: tuple[Word, ...]
    figures: tuple[Figure, ...]
    wholes: tuple[Figure, ...]
    """Quantities said without a number of their own or in several parts, which figures may go back to."""
    rates: tuple[Rate, ...]
    days: tuple[Day, ...]
    hours: tuple[Hour, ...]
    codes: tuple[Name, ...]
    names: tuple[Name, ...]
    roles: tuple[tuple[Word, str], ...]
    turns: Turns

    @property
    def years(self) -> frozenset[int]:
        """Years of its dates, and figures that may be years."""
        said = {year for day in self.days for year, _, _ in day.meant if year}
        counted = {int(n) for one in self.figures for n in one.numbers if 1000 <= n < 2200 and n == int(n)}  # noqa: PLR2004 - four figures
        return frozenset(said | counted)


@lru_cache(maxsize=4096)
def statement(text: str, language: Language) -> Statement:
    """A sentence read for its facts."""
    named = codes(text)
    found_days = [one for one in calendar.days(text) if not _inside(one.start, one.end, named)]
    found_hours = [one for one in calendar.hours(text) if not _inside(one.start, one.end, named)]
    taken = [*calendar.spans(found_days, found_hours), *((one.start, one.end) for one in named)]
    weekdays = [(one.start, one.end) for one in found_days]
    read = words(text, language)
    counted = tuple(figures(text, taken, language))
    return Statement(
        text=text,
        language=language,
        words=read,
        figures=counted,
        wholes=wholes(text, counted),
        rates=tuple(rates(text)),
        days=tuple(found_days),
        hours=tuple(found_hours),
        codes=tuple(named),
        names=tuple(names(text, [*taken, *weekdays])),
        roles=tuple((word, ROLES[word.form]) for word in read if word.form in ROLES),
        turns=turns(text, language),
    )


def _inside(start: int, end: int, named: list[Name]) -> bool:
    return any(one.start < end and start < one.end and one.end - one.start > end - start for one in named)
