"""A claim's quantities against those of the sentences it goes back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.text.claims.alignment import Aligned
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.days import same_day
from fonte.text.claims.figures import Figure, may_measure_the_same, same_quantity
from fonte.text.claims.reading import Statement
from fonte.text.claims.units import EVERY, UNITS
from fonte.text.terms import folded

CURRENCIES: Final = frozenset({"EUR", "GBP", "USD", "CHF", "JPY"})
_CONTEXT: Final = 6
"""Words of a claim on either side of a figure that say what it counts."""
_NEARER: Final = 0.55
"""A figure is a swap where another one stands at most at this share of its distance from the words around it."""
_NUMBERED: Final = 20
"""Smaller numbers of a heading may be its own."""
_YEARS: Final = (1000, 2200)


def numbers(scope: Scope) -> Iterable[Finding]:
    """Figures and their units."""
    claim = scope.aligned.claim
    for one in claim.figures:
        beside = scope.beside(one.start)
        if _in_a_whole(one, claim, beside):
            continue
        if one.common:
            if one.unit is not None and not _unit_said(one, [*beside, *scope.context]):
                yield Finding("units", f"missing: {one.text}", grave=False)
            continue
        headed = any(held(one, source) for source in scope.context if one.unit is None or _measures(source))
        if any(held(one, source) for source in beside) or (headed and min(one.numbers) >= _NUMBERED):
            if _beside_others(one, scope) or _counts_another(one, beside, claim):
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


def _in_a_whole(one: Figure, claim: Statement, sources: Iterable[Statement]) -> bool:
    """Whether a figure is part of a longer quantity that a source holds: an hour and a half, for 90 minutes."""
    whole = next((whole for whole in claim.wholes if whole.start <= one.start < whole.end and whole.unit), None)
    return whole is not None and any(held(whole, source) for source in sources)


def backed(scope: Scope) -> bool:
    """Whether the sentence that a claim goes back to has one of its quantities with a unit, dates or hours."""
    aligned = scope.aligned
    claim, source = aligned.claim, aligned.sources[aligned.main]
    sized = (one for one in claim.figures if one.unit and not one.common)
    if any(same_quantity(one, other) for one in sized for other in source.figures if other.unit):
        return True
    return any(same_day(one, other, source.years) for one in claim.days for other in source.days) or any(
        one.minutes & other.minutes for one in claim.hours for other in source.hours
    )


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
    uncounted = [other for other in source.figures if other.unit is None and not (one.unit and other.common)]
    if any(same_quantity(one, other) for other in source.figures if other.unit):
        return True
    if bare and any(same_quantity(one, other) for other in uncounted):
        return True
    return any(same_quantity(one, whole) for whole in source.wholes) or _in_a_date(one, source)


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


def _counts_another(one: Figure, beside: Sequence[Statement], claim: Statement) -> bool:
    """Whether a quantity stands in for one of its kind, and its number in the source counts something else."""
    if one.unit is None or any(other.unit and same_quantity(one, other) for s in beside for other in s.figures):
        return False
    if any(same_quantity(one, whole) for source in beside for whole in source.wholes):
        return False
    return any(other.unit and may_measure_the_same(one, other) for s in beside for other in _lost(s, claim))


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
