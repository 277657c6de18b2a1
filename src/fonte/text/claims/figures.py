"""Quantities of a text: numbers in figures and words with their units, in one form whatever way they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from fonte.text.claims.numerals import (
    COMMON,
    FRACTIONS,
    ORDINALS,
    SCALES,
    THIRDS,
    TIMES,
    english,
    italian,
    readings,
    roman,
)
from fonte.text.claims.units import CAPITALS, EACH, EVERY, LETTERS_ONLY_BY_FIGURES, QUALIFIERS, SIGNS, UNITS, Unit
from fonte.text.terms import folded
from fonte.types import Language

_TOKEN = re.compile(
    r"(?P<num>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,'’]\d+)*)|(?P<word>[^\W\d_]+)"
    r"|(?P<sign>%|‰|€|£|\$|¥|°[CF]?)|(?P<gap>\s+)|(?P<other>.)",
    re.DOTALL,
)
_GROUPED: Final = {
    "en": re.compile(r"[1-9]\d{0,2}(?:,\d{3})+"),
    "it": re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+"),
}
"""Whole numbers as each language groups their figures."""
_SUFFIX: Final = frozenset("st nd rd th s º ª o a".split())
_JOINTS = re.compile(r"[^\S\n]*(?:-|–|—|/|to|and|or|until|e|ed|a|al|o|fino a)[^\S\n]*", re.IGNORECASE)
_FAR: Final = 3
"""Words behind a number among which its unit is looked for."""
_DAY_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity as written: the numbers it may mean, its unit where it has one, and whether it is hardly a number."""

    start: int
    end: int
    text: str
    numbers: frozenset[Decimal]
    unit: Unit | None = None
    common: bool = False

    @property
    def sizes(self) -> frozenset[tuple[str, Decimal]]:
        """What is measured and how much of it, in each way to read it."""
        if self.unit is None:
            return frozenset()
        return frozenset((what, one * self.unit.size) for what in self.unit.measures for one in self.numbers)


@dataclass(frozen=True, slots=True)
class Rate:
    """A unit that says by what or how often: per night, al chilometro, monthly."""

    start: int
    end: int
    text: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    text: str
    kind: str
    form: str


def figures(text: str, taken: Sequence[tuple[int, int]] = (), language: Language = "en") -> list[Figure]:
    """Quantities in order, those left out that touch the ranges ``taken`` (dates, hours, codes).

    Numbers in words are read of English and Italian alone, each its own: ``due`` is two in one of them.
    """
    tokens = [
        _Token(match.start(), match.end(), match.group(), match.lastgroup or "", folded(match.group()))
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "gap"
    ]
    found: list[Figure] = []
    at = 0
    while at < len(tokens):
        if any(tokens[at].start < end and start < tokens[at].end for start, end in taken):
            at += 1
            continue
        figure, used = _number(tokens, at, language)
        if figure is None:
            at += 1
            continue
        figure, used = _with_unit(text, tokens, at, used, figure)
        found.append(figure)
        at += max(used, 1)
    return _with_shared_units(text, found)


def _number(tokens: Sequence[_Token], at: int, language: Language) -> tuple[Figure | None, int]:
    """The number that begins at a token, and the tokens it takes."""
    token = tokens[at]
    values: frozenset[Decimal] = frozenset()
    used, common = 1, False
    if token.kind == "num":
        values = frozenset(_decimals(token.text, language))
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if after is not None and after.start == token.end and after.form in _SUFFIX and after.kind == "word":
            used = 2
    elif token.kind == "word":
        values, used = _in_words(tokens, at, language)
        common = token.form in COMMON and used == 1
        if not values and (value := roman(token.text)) is not None:
            values, used = frozenset({Decimal(value)}), 1
    if not values:
        return None, 1
    while at + used < len(tokens) and (scale := SCALES.get(tokens[at + used].form)) is not None:
        values, used, common = frozenset(one * scale for one in values), used + 1, False
    end = tokens[at + used - 1].end
    return Figure(token.start, end, "", values, common=common), used


def _decimals(written: str, language: Language) -> list[Decimal]:
    grouped = _GROUPED.get(language)
    if grouped is not None and grouped.fullmatch(written):  # 1.400 is no 1,4 in Italian
        return [Decimal(re.sub(r"\D", "", written))]
    found = []
    for value in readings(written):
        try:
            found.append(Decimal(value))
        except InvalidOperation:  # 81.2008.1 is a code of its own, and stands for nothing to count
            continue
    return found


def _in_words(tokens: Sequence[_Token], at: int, language: Language) -> tuple[frozenset[Decimal], int]:
    """What a number in words may mean: ``a third`` is a part or an ordinal."""
    forms = [one.form for one in tokens[at : at + 8] if one.text != "-"]
    dashes = [one.text == "-" for one in tokens[at : at + 12]]
    word = forms[0]
    if language not in {"en", "it"}:
        return frozenset(), 1
    if word in FRACTIONS:
        return frozenset({FRACTIONS[word]}), 1
    if word in TIMES:
        return frozenset({Decimal(TIMES[word])}), 1
    value, used = english(forms) if language == "en" else (0, 0)
    if language == "it" and (whole := italian(word)) is not None:
        value, used = whole, 1
        if used < len(forms) and forms[1] == "e" and forms[2:3] and forms[2] in {"mezzo", "mezza"}:
            return frozenset({Decimal(whole) + Decimal("0.5")}), 3
    if not used:
        values = {Decimal(ORDINALS[word])} if word in ORDINALS else set()
        if word in THIRDS and at and tokens[at - 1].form in {"a", "one", "un", "the", "di"}:
            values.add(_third(1, THIRDS[word]))
        return frozenset(values), 1
    if used < len(forms) and forms[used] in THIRDS and value < THIRDS[forms[used]]:
        return frozenset({_third(value, THIRDS[forms[used]])}), used + 1 + sum(dashes[: used + 1])
    return frozenset({Decimal(value)}), used + sum(dashes[: used + sum(dashes[:used])])


def _third(count: int, parts: int) -> Decimal:
    return (Decimal(count) / Decimal(parts)).quantize(Decimal("0.0001"))


def _with_unit(text: str, tokens: Sequence[_Token], at: int, used: int, figure: Figure) -> tuple[Figure, int]:
    """The figure with the unit that stands before or behind it, and the tokens that both take."""
    behind = at + used
    if tokens[at].form in FRACTIONS and behind < len(tokens) and tokens[behind].form in {"a", "an", "di", "d"}:
        behind += 1  # half a day
    while behind < len(tokens) and tokens[behind].form in {"'", "’"}:
        behind += 1  # mezz'ora
    unit, last = _unit_behind(tokens, behind, digits=tokens[at].kind == "num")
    start, end = figure.start, figure.end
    if unit is not None:
        end = tokens[last].end
        used = last + 1 - at
    elif at and tokens[at - 1].form in SIGNS:
        unit, start = UNITS[tokens[at - 1].form], tokens[at - 1].start
    return replace(figure, start=start, end=end, text=" ".join(text[start:end].split()), unit=unit), used


def _unit_behind(tokens: Sequence[_Token], at: int, *, digits: bool) -> tuple[Unit | None, int]:
    for ahead in range(at, min(at + _FAR, len(tokens))):
        for length in (3, 2, 1):
            part = tokens[ahead : ahead + length]
            if len(part) < length:
                continue
            for joint in (" ", ""):
                name = joint.join(one.form for one in part)
                unit = UNITS.get(name)
                if unit is None or (name in LETTERS_ONLY_BY_FIGURES and not (digits and ahead == at)):
                    continue
                if name in CAPITALS and not part[0].text.isupper():
                    continue
                if joint == "" and len(part) > 1 and part[0].end != part[1].start:
                    continue
                return unit, ahead + length - 1
        if tokens[ahead].form not in QUALIFIERS and tokens[ahead].text != "-":
            break
    return None, at


def _with_shared_units(text: str, found: list[Figure]) -> list[Figure]:
    """``5 to 10 km``: what is joined to a figure with a unit has that unit."""
    for at in range(len(found) - 2, -1, -1):
        one, after = found[at], found[at + 1]
        if one.unit is None and after.unit is not None and _JOINTS.fullmatch(text[one.end : after.start]):
            found[at] = replace(one, unit=after.unit, common=False)
    return found


def rates(text: str) -> list[Rate]:
    """Units that stand without a number and say by what: ``45 pence a mile``, ``al mese``, ``weekly``."""
    found = []
    words = [(match.start(), match.end(), folded(match.group())) for match in re.finditer(r"[^\W\d_]+", text)]
    for at, (start, end, word) in enumerate(words):
        if word in {"cent", "cento"}:
            continue
        if word in EVERY:
            found.append(Rate(start, end, text[start:end], UNITS[EVERY[word]]))
        elif word in UNITS and word not in LETTERS_ONLY_BY_FIGURES and at and words[at - 1][2] in EACH:
            if not re.fullmatch(r"[\s'’]*", text[words[at - 1][1] : start]):
                continue
            found.append(Rate(words[at - 1][0], end, text[words[at - 1][0] : end], UNITS[word]))
    return found


def same_quantity(one: Figure, other: Figure) -> bool:
    """Whether two figures may say the same: equal sizes, or equal numbers where one of them has no unit."""
    if one.unit is not None and other.unit is not None:
        if one.sizes & other.sizes:
            return True
        return bool(_parts_of_hundred(one) & _parts_of_hundred(other))
    return bool(one.numbers & other.numbers or _parts_of_hundred(one) & _parts_of_hundred(other))


def _parts_of_hundred(one: Figure) -> frozenset[Decimal]:
    """Half is 50 %."""
    if one.unit is not None:
        return one.numbers if "percent" in one.unit.measures else frozenset()
    return frozenset((value * 100).quantize(Decimal(1)) for value in one.numbers if 0 < value < 1)


def may_measure_the_same(one: Figure, other: Figure) -> bool:
    """Whether one may stand where the other stood: neither says that it measures something else."""
    if one.unit is None or other.unit is None:
        return one.unit is other.unit
    return bool(_kinds(one.unit) & _kinds(other.unit))


def _kinds(unit: Unit) -> frozenset[str]:
    """What a unit measures, months and days alike."""
    return frozenset("time" if what == "months" else what for what in unit.measures)
