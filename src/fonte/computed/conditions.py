"""Conditions of a question on a table's rows: what its cells, numbers and dates say of which rows are meant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from fonte.computed.claims import Claims, Named, Said
from fonte.computed.question import Period, Span, number_of, period_of, spans
from fonte.computed.values import unit_of
from fonte.computed.words import BOTH, EITHER, GLUE, IN_A_TIME, MISSING, NEGATIONS, RANGE_JOINTS, Comparison

_MONEY = frozenset("€£$")
_BEFORE = _MONEY | frozenset("the il l la lo a al of di del dell".split())
"""What may stand between a comparison and its number."""


class Unclear(Exception):
    """A condition that can be taken in more than one way, or in none: a code, and the words or names it is about."""

    def __init__(self, code: str, *about: str) -> None:
        super().__init__(code)
        self.code, self.about = code, about


@dataclass(frozen=True, slots=True)
class Condition:
    """What a row must fulfil in one column.

    ``cells`` (one of them), ``empty``, or a number or a moment between two bounds.
    """

    column: int
    kind: Literal["cells", "empty", "number", "date"]
    cells: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    """What the question calls the cells."""
    listed: bool = False
    """Cells that list several things count as well."""
    negated: bool = False
    low: Decimal | datetime | None = None
    high: Decimal | datetime | None = None
    low_open: bool = False
    high_open: bool = False


def conditions_of(claims: Claims) -> tuple[Condition, ...]:
    """Every condition of the question; words and columns that they use are claimed.

    Raises:
        Unclear: one that cannot be told.
    """
    found = [*_missing(claims), *_dates(claims), *_numbers(claims), *_values(claims)]
    for at, word in enumerate(claims.question.words):
        # "a and b": two conditions, or two cells of one that were joined above.
        if claims.kinds[at] is None and word in BOTH and word not in GLUE and _between_conditions(claims, at):
            claims.kinds[at] = "joint"
    return tuple(found)


def _between_conditions(claims: Claims, at: int) -> bool:
    kinds = ("value", "number", "date", "missing", "used")
    after = at + 1
    while after < len(claims.kinds) and claims.kinds[after] is None and claims.question.words[after] in GLUE:
        after += 1
    return claims.kinds[at - 1] in kinds and after < len(claims.kinds) and claims.kinds[after] in (*kinds, "compare")


def _use(claims: Claims, span: Span) -> None:
    claims.claim(span, "used")


def _missing(claims: Claims) -> list[Condition]:
    found = []
    for span in spans(claims.question.words, MISSING):
        after = claims.column_after(span.last)
        if claims.free(span) and after is not None and len(after[1].columns) == 1:
            claims.claim(span, "missing")
            _use(claims, after[0])
            found.append(Condition(after[1].columns[0], "empty"))
    return found


# --- numbers and dates


@dataclass(frozen=True, slots=True)
class _Compared:
    """A comparison in the question: what it does, all its words, and where its numbers stand."""

    how: Comparison | None
    first: int
    last: int


def _comparison(claims: Claims, span: Span) -> _Compared:
    """The comparison that a number or date stands in."""
    words, first = claims.question.words, span.first
    while not any(one.last == first for one in claims.question.comparisons) and _is_free(claims, first - 1, _BEFORE):
        first -= 1
    before = next((one for one in claims.question.comparisons if one.last == first and claims.free(one)), None)
    if before is not None and isinstance(before.meaning, Comparison):
        return _Compared(before.meaning, before.first, span.last)
    after = span.last
    while after < len(words) and claims.kinds[after] is None and _unit_word(claims, after):
        after += 1
    behind = next((one for one in claims.question.afterwards if one.first == after), None)
    if behind is not None and isinstance(behind.meaning, Comparison):
        return _Compared(behind.meaning, span.first, behind.last)
    return _Compared(None, span.first, span.last)


def _is_free(claims: Claims, at: int, words: frozenset[str]) -> bool:
    return at >= 0 and claims.kinds[at] is None and claims.question.words[at] in words


def _unit_word(claims: Claims, at: int) -> bool:
    return unit_of(claims.question.words[at]) in claims.table.units


def _partner(claims: Claims, span: Span, others: tuple[Span, ...]) -> Span | None:
    """The second bound of ``between … and …``."""
    at = span.last
    while at < len(claims.question.words) and _unit_word(claims, at):
        at += 1
    if at < len(claims.question.words) and claims.question.words[at] in RANGE_JOINTS:
        at += 1
        while at < len(claims.question.words) and claims.question.words[at] in _BEFORE:
            at += 1
        return next((one for one in others if one.first == at), None)
    return None


def _numbers(claims: Claims) -> list[Condition]:
    found = []
    for span in claims.question.numbers:
        if claims.free(span):
            found += _number(claims, span)
    return found


def _number(claims: Claims, span: Span) -> list[Condition]:
    compared = _comparison(claims, span)
    end, high = span, None
    if compared.how is Comparison.BETWEEN:
        partner = _partner(claims, span, claims.question.numbers)
        if partner is None:
            return []
        end, high = partner, number_of(partner)
    unit, last = _unit(claims, end, max(end.last, compared.last))
    near = claims.column_before(compared.first) or claims.column_after(last)
    if near is None and (compared.how is None or not unit):
        return []
    columns = _numeric(claims, near[1] if near else None, unit)
    if len(columns) != 1:
        raise Unclear("which_column" if columns else "no_column", *(claims.table.names[one] for one in columns))
    column = columns[0]
    units = {one.unit for one in claims.table.typed[column].amounts.values()}
    if unit and units != {unit}:
        raise Unclear("unit", claims.table.names[column])
    negated = _negated(claims, compared.first)
    claims.claim(Span(compared.first, last, None), "number")
    if near is not None:
        _use(claims, near[0])
    return [_bounded(column, compared.how, number_of(span), high, negated=negated)]


def _bounded(column: int, how: Comparison | None, value: Decimal, high: Decimal | None, *, negated: bool) -> Condition:
    if how is None:
        return Condition(column, "number", low=value, high=value, negated=negated)
    if how is Comparison.BETWEEN and high is not None:
        return Condition(column, "number", low=min(value, high), high=max(value, high), negated=negated)
    if how in (Comparison.OVER, Comparison.FROM):
        return Condition(column, "number", low=value, low_open=how is Comparison.OVER, negated=negated)
    return Condition(column, "number", high=value, high_open=how is Comparison.UNDER, negated=negated)


def _unit(claims: Claims, span: Span, last: int) -> tuple[str, int]:
    """The unit said before or after a number, and where its words end."""
    words = claims.question.words
    if span.first > 0 and words[span.first - 1] in _MONEY:
        return unit_of(words[span.first - 1]), last
    at = span.last
    if at < len(words) and claims.kinds[at] in (None, "compare") and _unit_word(claims, at):
        return unit_of(words[at]), max(last, at + 1)
    return "", last


def _numeric(claims: Claims, named: Named | None, unit: str) -> list[int]:
    table = claims.table
    able = range(len(table.names)) if named is None else named.columns
    found = [at for at in able if table.typed[at].kind == "number"]
    if named is None:
        found = [at for at in found if {one.unit for one in table.typed[at].amounts.values()} == {unit}]
    return found


def _dates(claims: Claims) -> list[Condition]:
    found = []
    for span in sorted(claims.question.periods, key=lambda one: one.first - one.last):
        if claims.free(span):
            found += _date(claims, span)
    return found


def _date(claims: Claims, span: Span) -> list[Condition]:
    period, table = period_of(span), claims.table
    compared = _comparison(claims, span)
    end, last = period, span
    if compared.how is Comparison.BETWEEN:
        other = _partner(claims, span, claims.question.periods)
        if other is None:
            return []
        end, last = period_of(other), other
    near = claims.column_before(compared.first) or claims.column_after(last.last)
    dated = [at for at, column in enumerate(table.typed) if column.kind == "date"]
    columns = [at for at in near[1].columns if at in dated] if near else dated
    if not columns or (compared.how is None and near is None and not _in_time(claims.question.words, span)):
        return []
    if len(columns) > 1:
        raise Unclear("which_column", *(table.names[at] for at in columns))
    negated = _negated(claims, compared.first)
    claims.claim(Span(compared.first, max(last.last, compared.last), None), "date")
    # "were ordered in 2025": a column of dates is named by its verb, wherever that stands.
    named = [
        one for one, name in claims.columns if name.columns == (columns[0],) and claims.kinds[one.first] == "column"
    ]
    for one in [near[0]] if near is not None else named[-1:]:
        _use(claims, one)
    low, high = _time_bounds(compared.how, period, end)
    return [Condition(columns[0], "date", low=low, high=high, high_open=True, negated=negated)]


def _in_time(words: tuple[str, ...], span: Span) -> bool:
    return span.first > 0 and words[span.first - 1] in IN_A_TIME


def _time_bounds(how: Comparison | None, period: Period, end: Period) -> tuple[datetime | None, datetime | None]:
    """From the first moment on, and before the second one."""
    if how is Comparison.OVER:
        return period.end, None
    if how is Comparison.FROM:
        return period.start, None
    if how is Comparison.UNDER:
        return None, period.start
    if how is Comparison.TO:
        return None, period.end
    return min(period.start, end.start), max(period.end, end.end)


# --- cells


def _values(claims: Claims) -> list[Condition]:
    found: list[tuple[Span, Condition]] = []
    for span, said in [*claims.values, *_year_cells(claims)]:
        column, near = _column_of(claims, span, said)
        if near is not None:
            _use(claims, near)
        written = claims.question.text_of(span)
        begun = near.first if near is not None and near.last <= span.first else span.first
        negated = _negated(claims, span.first) or _negated(claims, begun)
        found.append((span, Condition(column, "cells", said.cells[column], (written,), said.listed, negated)))
    return _joined(claims, found)


def _year_cells(claims: Claims) -> list[tuple[Span, Said]]:
    """Years that a cell is, said as a time: ``in 2025`` of a column of years."""
    found = []
    for span in claims.question.numbers:
        words = claims.question.words
        year = any(one.first == span.first for one in claims.question.periods)
        if not year or not claims.free(span) or not _in_time(words, span):
            continue
        cells = {
            at: tuple(column.whole[words[span.first]])
            for at, column in enumerate(claims.table.typed)
            if words[span.first] in column.whole
        }
        if len(cells) == 1:
            claims.claim(span, "value")
            found.append((span, Said(cells, listed=False)))
    return found


def _column_of(claims: Claims, span: Span, said: Said) -> tuple[int, Span | None]:
    """The column that a cell is meant in: the one named beside it, else the only one that has it."""
    for near in (claims.column_before(span.first), claims.column_after(span.last)):
        if near is not None:
            both = [at for at in near[1].columns if at in said.cells]
            if len(both) == 1:
                return both[0], near[0]
    if len(said.cells) > 1:
        raise Unclear("which_column", *(claims.table.names[at] for at in said.cells))
    return next(iter(said.cells)), None


def _negated(claims: Claims, first: int) -> bool:
    """Whether the words right before say that it is not so."""
    words = claims.question.words
    while first > 0 and claims.kinds[first - 1] is None and words[first - 1] in GLUE - {"non"}:
        if any(one.last == first for one in spans(words, NEGATIONS)):
            break
        first -= 1
    before = next((one for one in spans(words, NEGATIONS) if one.last == first and claims.free(one)), None)
    if before is None:
        return False
    claims.claim(before, "negation")
    return True


def _joined(claims: Claims, found: list[tuple[Span, Condition]]) -> list[Condition]:
    """Conditions on one column as one: ``high or critical``."""
    done: list[tuple[Span, Condition]] = []
    for span, one in found:
        same = next((at for at, (_, other) in enumerate(done) if other.column == one.column), None)
        if same is None:
            done.append((span, one))
            continue
        before, other = done[same]
        joint = _joint(claims, before.last, span.first)
        name = claims.table.names[one.column]
        if joint is None or one.negated or (joint == "both" and (one.listed or other.listed)):
            raise Unclear("same_column", name)
        cells = tuple(dict.fromkeys([*other.cells, *one.cells]))
        listed = one.listed or other.listed
        done[same] = (
            Span(before.first, span.last, None),
            Condition(one.column, "cells", cells, (*other.said, *one.said), listed, other.negated),
        )
    return [one for _, one in done]


def _joint(claims: Claims, first: int, last: int) -> Literal["either", "both"] | None:
    """How two cells of one column are joined by the words between them."""
    words = claims.question.words[first:last]
    rest = [word for word in words if word not in GLUE - BOTH]
    if len(rest) == 1 and rest[0] in EITHER | BOTH:
        at = first + words.index(rest[0])
        claims.kinds[at] = "joint"
        return "either" if rest[0] in EITHER else "both"
    return None
