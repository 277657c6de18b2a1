"""A claim against the sentences it goes back to: every fact of it looked for where it ought to stand.

A fact that no source holds is grave. One that stands elsewhere in the sources, in the place of what the right sentence
says, has been moved: it is told too, and weighs less, since a claim may rightly join what stands apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.days import Day, Hour, same_day
from fonte.text.claims.figures import Figure, may_measure_the_same, same_quantity
from fonte.text.claims.names import EXONYMS, Name, code_form, name_keys
from fonte.text.claims.reading import Statement
from fonte.text.claims.units import EVERY, UNITS
from fonte.text.claims.wording import strength
from fonte.text.claims.wording import words as read_words
from fonte.text.terms import folded

CURRENCIES: Final = frozenset({"EUR", "GBP", "USD", "CHF", "JPY"})
_CONTEXT: Final = 6
"""Words of a claim on either side of a figure that say what it counts."""
_NEARER: Final = 0.55
"""A figure is a swap where another one stands at most at this share of its distance from the words around it."""
_PREFIX: Final = 5
_NUMBERED: Final = 20
"""Smaller numbers of a heading may be its own."""
_YEARS: Final = (1000, 2200)
_LONG_CODE: Final = 4
_SHARED: Final = 0.5
"""A clause of which the main sentence holds more than this share of what another one does is its own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found wrong, or where it cannot be sure that all is right."""

    check: str
    what: str
    grave: bool
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Scope:
    """Where facts are looked for: the claim over its sources, and headings that hold for all of them."""

    aligned: Aligned
    context: tuple[Statement, ...]

    @property
    def used(self) -> list[Statement]:
        """Sentences that the claim goes back to."""
        return [self.aligned.sources[at] for at in self.aligned.used]

    def beside(self, at: int) -> list[Statement]:
        """Sentences that the clause at a character goes back to."""
        return [self.aligned.sources[one] for one in self.aligned.source_of(at)]


def numbers(scope: Scope) -> Iterable[Finding]:
    """Figures and their units."""
    claim = scope.aligned.claim
    for one in claim.figures:
        beside = scope.beside(one.start)
        if one.common:
            if one.unit is not None and not _unit_said(one, [*beside, *scope.context]):
                yield Finding("units", f"missing: {one.text}", grave=False)
            continue
        headed = any(held(one, source) for source in scope.context if one.unit is None or _measures(source))
        if any(held(one, source) for source in beside) or (headed and min(one.numbers) >= _NUMBERED):
            if _beside_others(one, scope):
                yield Finding("numbers", f"beside other words: {one.text}", grave=False)
            continue
        odd = _other_unit(one, beside)
        if odd is not None:
            yield odd
            continue
        elsewhere = [at for at, source in enumerate(scope.aligned.sources) if held(one, source)]
        if any(_at_home(one, scope.aligned, at) for at in elsewhere):
            continue
        if elsewhere:
            lost = [other for source in beside for other in _lost(source, claim)]
            if any(may_measure_the_same(one, other) for other in lost):
                yield Finding("numbers", f"of another sentence: {one.text}", grave=False)
            continue
        yield _other_unit(one, scope.aligned.sources) or Finding("numbers", f"missing: {one.text}", grave=True)


def _measures(heading: Statement) -> bool:
    return any(figure.unit for figure in heading.figures)


def _at_home(one: Figure, aligned: Aligned, at: int) -> bool:
    """Whether the words next to a figure come from the sentence that holds it, and from none that the claim uses."""
    words = aligned.claim.words
    place = sum(1 for word in words if word.start < one.start)
    rows = [row for row, word in enumerate(words) if word.content and not one.start <= word.start < one.end]
    rows = sorted(rows, key=lambda row: abs(row - place))[:2]
    used = aligned.source_of(one.start)
    return any(aligned.links[at][row] and not any(aligned.links[s][row] for s in used) for row in rows)


def _other_unit(one: Figure, sources: Iterable[Statement]) -> Finding | None:
    """What is told where a source has the number with another unit."""
    for source in sources:
        for other in source.figures:
            if one.unit and other.unit and one.numbers & other.numbers:
                money = one.unit.measures & CURRENCIES and other.unit.measures & CURRENCIES
                return Finding("currency" if money else "units", f"{one.text}, source: {other.text}", grave=True)
    return None


def _unit_said(one: Figure, sources: Iterable[Statement]) -> bool:
    """Whether sources speak of the unit of a figure that is hardly one: ``a day`` for ``one day``."""
    units = [UNITS[word.form] for source in sources for word in source.words if word.form in UNITS]
    units += [figure.unit for source in sources for figure in source.figures if figure.unit]
    return any(one.unit and one.unit.measures & unit.measures and one.unit.size == unit.size for unit in units) or any(
        one.sizes & figure.sizes for source in sources for figure in source.figures
    )


def held(one: Figure, source: Statement) -> bool:
    """Whether a text holds a quantity, in whatever form."""
    alike = [other for other in source.figures if one.numbers & other.numbers and other.unit]
    bare = not (one.unit and alike)  # 24 hours out of 24 are no 24 days
    return any(same_quantity(one, other) for other in source.figures if bare or other.unit) or _in_a_date(one, source)


def _in_a_date(one: Figure, source: Statement) -> bool:
    """A bare number that is the day, the year or the hour of a date of the source, or a part of a code."""
    if one.unit is not None:
        return False
    parts = {part for day in source.days for meant in day.meant for part in (meant[0], meant[2]) if part}
    parts |= {at // 60 for hour in source.hours for at in hour.minutes if at % 60 == 0}
    parts |= {at // 60 % 12 for hour in source.hours for at in hour.minutes if at % 60 == 0}
    parts |= {int(part) for code in source.codes for part in re.findall(r"\d{1,9}", code.text)}
    return any(number in parts for number in one.numbers)


def _lost(source: Statement, claim: Statement) -> list[Figure]:
    """Figures of a source that the claim does not repeat."""
    return [
        one
        for one in source.figures
        if not one.common and not any(same_quantity(one, other) for other in claim.figures)
    ]


def _beside_others(one: Figure, scope: Scope) -> bool:
    """Whether the words around a figure stand, in the source, around another figure of the same kind."""
    aligned = scope.aligned
    if one.unit is None and any(_YEARS[0] <= number <= _YEARS[1] for number in one.numbers):
        return False
    for at in aligned.source_of(one.start):
        source = aligned.sources[at]
        own = [other for other in source.figures if same_quantity(one, other)]
        rivals = [other for other in source.figures if other not in own and may_measure_the_same(one, other)]
        if not own:
            continue
        if not rivals:
            return False
        near = _neighbors(one, aligned, at)
        if len(near) < 2:  # noqa: PLR2004 - one word proves nothing
            return False
        mine = min(_distance(near, other, source) for other in own)
        for rival in rivals:
            theirs = [other for other in aligned.claim.figures if same_quantity(rival, other)]
            if not theirs:
                if _distance(near, rival, source) <= _NEARER * mine:
                    return True
                continue
            # Both figures are said: they have changed places where both sit better on the other's.
            about = _neighbors(theirs[0], aligned, at)
            straight = mine + _distance(about, rival, source)
            crossed = _distance(near, rival, source) + min(_distance(about, other, source) for other in own)
            if about and crossed <= _NEARER * straight:
                return True
        return False
    return False


def _neighbors(one: Figure, aligned: Aligned, at: int) -> list[tuple[float, int]]:
    """Places in a source of the words around a figure, each with its weight: the nearer, the more."""
    words = aligned.claim.words
    place = sum(1 for word in words if word.start < one.start)
    near = []
    for row, word in enumerate(words):
        away = abs(row - place) + 1
        if (
            word.content
            and away <= _CONTEXT
            and not one.start <= word.start < one.end
            and len(aligned.links[at][row]) == 1
        ):
            near.append((aligned.weights[row] / away, aligned.links[at][row][0].at))
    return near


def _distance(near: Sequence[tuple[float, int]], other: Figure, source: Statement) -> float:
    place = sum(1 for word in source.words if word.start < other.start)
    total = sum(weight for weight, _ in near) or 1.0
    return sum(weight * abs(at - place + (0.5 if at >= place else 0.0)) for weight, at in near) / total + 0.5


def rates(scope: Scope) -> Iterable[Finding]:
    """Units that say by what: where the source says another one that the claim leaves out."""
    claim = scope.aligned.claim
    for one in claim.rates:
        beside = [*scope.beside(one.start), *scope.context]
        units = [rate.unit for source in beside for rate in source.rates]
        units += [figure.unit for source in beside for figure in source.figures if figure.unit]
        if folded(one.text) in EVERY:  # monthly: month by month
            units += [UNITS[word.form] for source in beside for word in source.words if word.form in UNITS]
        if any(one.unit.measures & unit.measures and one.unit.size == unit.size for unit in units):
            continue
        words = {word.form for source in beside for word in source.words}
        if folded(one.text).split()[-1] in words:
            continue
        said = [rate.unit for rate in claim.rates]
        lost = [rate for source in beside for rate in source.rates if rate.unit not in said]
        if lost:
            yield Finding("units", f"{one.text}, source: {lost[0].text}", grave=True)


def dates(scope: Scope) -> Iterable[Finding]:
    """Days, months, weekdays and hours."""
    aligned = scope.aligned
    years = frozenset[int]().union(*(one.years for one in (*aligned.sources, *scope.context)))
    for day in aligned.claim.days:
        beside = [*scope.beside(day.start), *scope.context]
        if _day_held(day, beside, years):
            continue
        if _day_held(day, aligned.sources, years):
            if any(not _day_held(other, [aligned.claim], years) for source in beside for other in source.days):
                yield Finding("dates", f"of another sentence: {day.text}", grave=False)
            continue
        yield Finding("dates", f"missing: {day.text}", grave=True)
    for hour in aligned.claim.hours:
        if any(_hour_held(hour, source) for source in (*scope.beside(hour.start), *scope.context)):
            continue
        if not any(_hour_held(hour, source) for source in aligned.sources):
            yield Finding("dates", f"missing: {hour.text}", grave=True)
        elif any(not _hour_held(other, aligned.claim) for source in scope.beside(hour.start) for other in source.hours):
            yield Finding("dates", f"of another sentence: {hour.text}", grave=False)


def _day_held(day: Day, sources: Iterable[Statement], years: frozenset[int]) -> bool:
    return any(same_day(day, other, years) for source in sources for other in source.days)


def _hour_held(hour: Hour, source: Statement) -> bool:
    said = {at for other in source.hours for at in other.minutes}
    for figure in source.figures:
        if match := re.fullmatch(r"(\d{1,2})[.:](\d\d)", figure.text):
            said.add(int(match[1]) * 60 + int(match[2]))
        said |= {int(number) * 60 for number in figure.numbers if figure.unit is None and number <= 24}  # noqa: PLR2004 - hours of a day
    return any(at in said or (at + 720) % 1440 in said for at in hour.minutes)


def codes(scope: Scope) -> Iterable[Finding]:
    """Identifiers."""
    aligned = scope.aligned
    for one in aligned.claim.codes:
        beside = [*scope.used, *scope.context]
        if any(_code_held(one, source) for source in beside):
            continue
        if not any(_code_held(one, source) for source in aligned.sources):
            yield Finding("codes", f"missing: {one.text}", grave=True)
        elif _lost_codes(scope) or _lost_names(scope):
            yield Finding("codes", f"of another sentence: {one.text}", grave=False)


def _code_held(one: Name, source: Statement) -> bool:
    if any(one.form == other.form for other in source.codes):
        return True
    if len(one.form) < _LONG_CODE:
        return False
    found = re.search(re.escape(one.form) + r"(?!\d)", code_form(source.text))
    return found is not None


def names(scope: Scope) -> Iterable[Finding]:
    """Names: in the sentence meant, or elsewhere without taking the place of another one."""
    aligned = scope.aligned
    claim = aligned.claim
    lost = [*_lost_names(scope), *_lost_codes(scope)]
    known = {word.form for source in aligned.sources for word in source.words}
    for one in claim.names:
        if any(name_held(one, source) for source in (*scope.used, *scope.context)):
            continue
        elsewhere = any(name_held(one, source) for source in aligned.sources)
        if not one.sure and (not lost or (one.form in known and not _is_name_elsewhere(one, aligned.sources))):
            continue
        if not one.sure and not elsewhere and _is_plain_word(one, claim):
            continue
        if elsewhere and not one.sure and not _is_name_elsewhere(one, aligned.sources):
            continue  # a word that only its place made large
        if elsewhere and lost:
            yield Finding("names", f"of another sentence: {one.text}", grave=False)
        elif not elsewhere:
            yield Finding("names", f"missing: {one.text}", grave=bool(lost))


def _lost_names(scope: Scope) -> list[Name]:
    """Names of the sentences meant that the claim leaves out."""
    return [one for one in _names_of(scope.used) if not name_held(one, scope.aligned.claim)]


def _lost_codes(scope: Scope) -> list[Name]:
    return [one for source in scope.used for one in source.codes if not _code_held(one, scope.aligned.claim)]


def _names_of(sources: Iterable[Statement]) -> list[Name]:
    return [one for source in sources for one in source.names if one.sure or not _is_plain_word(one, source)]


def _is_name_elsewhere(one: Name, sources: Iterable[Statement]) -> bool:
    return any(one.form == other.form and other.sure for source in sources for other in source.names)


def _is_plain_word(one: Name, claim: Statement) -> bool:
    """Whether the glossary knows the word: then only its place made it large."""
    read = read_words(one.text, claim.language)
    return any(len(word.wide) > 1 for word in read) and one.form not in EXONYMS


def name_held(one: Name, source: Statement) -> bool:
    """Whether a text holds a name, inflected or in the other language's form."""
    keys = name_keys(one.form)
    own = read_words(one.text, source.language)
    for word in source.words:
        if keys & name_keys(word.form) or any(strength(mine, word) for mine in own):
            return True
        if min(len(word.form), len(one.form)) >= _PREFIX and word.form[:_PREFIX] == one.form[:_PREFIX]:
            return True
    return one.text.isupper() and one.form in _initials(source)


def _initials(source: Statement) -> str:
    """First letters of the words of a text in a row: an acronym's letters stand side by side there."""
    return "".join(word.form[0] for word in source.words if word.content)


def roles(scope: Scope) -> Iterable[Finding]:
    """Who does it: where the sentence meant names somebody else."""
    claim = scope.aligned.claim
    said = {role for _, role in claim.roles}
    held = {role for source in (*scope.used, *scope.context) for _, role in source.roles}
    for word, role in claim.roles:
        if role in held or any(scope.aligned.links[at][_row(claim, word.start)] for at in scope.aligned.used):
            continue
        beside = {other for source in scope.beside(word.start) for _, other in source.roles}
        if beside - said:
            yield Finding("roles", f"{word.form}, source: {min(beside - said)}", grave=False)


def _row(claim: Statement, at: int) -> int:
    return between(claim.words, at, at + 1)[0]


def merged(scope: Scope) -> Iterable[Finding]:
    """Clauses that were cut off what they are about: a second sentence's words without those that it begins with."""
    aligned = scope.aligned
    for start, end, at in aligned.parts:
        rows = between(aligned.claim.words, start, end)
        if at == aligned.main or _held(rows, aligned, aligned.main) > _SHARED * _held(rows, aligned, at):
            continue
        linked = {link.at for row in rows if aligned.weights[row] for link in aligned.links[at][row]}
        if len(linked) < 2:  # noqa: PLR2004 - one word proves nothing
            continue
        source = aligned.sources[at]
        about = [place for place, word in enumerate(source.words) if word.content][:2]
        said = {link.at for row, _ in enumerate(aligned.claim.words) for link in aligned.links[at][row]}
        if about and not said & set(about) and source.words[0].form not in _PRONOUNS:
            text = " ".join(aligned.claim.text[start:end].split())[:60]
            yield Finding("clauses", f"of another subject: {text}", grave=False)


def _held(rows: Sequence[int], aligned: Aligned, at: int) -> float:
    """How much of some words of the claim a source holds."""
    return math.fsum(
        aligned.weights[row] * max((link.strength for link in aligned.links[at][row]), default=0.0) for row in rows
    )


_PRONOUNS: Final = frozenset(
    "it they he she this these that those such its their we you lo la li le questo questa questi queste essa esso si "
    "viene vengono".split()
)
