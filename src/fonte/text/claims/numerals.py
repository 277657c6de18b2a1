"""Numbers in words, English and Italian, and numbers in figures in every way that they may be meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Final

_EN_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_EN_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_IT_SMALL: Final = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove"
).split()
_IT_TENS: Final = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()
SCALES: Final[Mapping[str, Decimal]] = {
    "hundred": Decimal(100),
    **dict.fromkeys(("thousand", "mila"), Decimal(1000)),
    **dict.fromkeys(("million", "millions", "mln", "milione", "milioni"), Decimal(10**6)),
    **dict.fromkeys(("billion", "billions", "bn", "miliardo", "miliardi", "mld"), Decimal(10**9)),
    **dict.fromkeys(("dozen", "dozens", "dozzina", "dozzine"), Decimal(12)),
}
FRACTIONS: Final[Mapping[str, Decimal]] = {
    **dict.fromkeys(("half", "halves", "mezzo", "mezza", "mezz", "meta"), Decimal("0.5")),
    **dict.fromkeys(("quarter", "quarters"), Decimal("0.25")),
}
THIRDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("third", "thirds", "terzo", "terzi"), 3),
    **dict.fromkeys(("quarto", "quarti", "fourth", "fourths"), 4),
    **dict.fromkeys(("fifth", "fifths", "quinto", "quinti"), 5),
    **dict.fromkeys(("tenth", "tenths", "decimo", "decimi"), 10),
}
"""Parts that read as an ordinal where no count stands before them."""
TIMES: Final[Mapping[str, int]] = {"twice": 2, "thrice": 3, "once": 1, "doppio": 2, "double": 2, "triplo": 3}
_ORDINALS: Final = """
first primo prima / second secondo seconda / third terzo terza / fourth quarto quarta / fifth quinto quinta / sixth
sesto sesta / seventh settimo settima / eighth ottavo ottava / ninth nono nona / tenth decimo decima / eleventh
undicesimo undicesima / twelfth dodicesimo dodicesima / thirteenth tredicesimo tredicesima / fourteenth
quattordicesimo quattordicesima / fifteenth quindicesimo quindicesima / sixteenth sedicesimo sedicesima /
seventeenth diciassettesimo diciassettesima / eighteenth diciottesimo diciottesima / nineteenth diciannovesimo
diciannovesima / twentieth ventesimo ventesima
"""
ORDINALS: Final[Mapping[str, int]] = {
    word: at for at, words in enumerate(_ORDINALS.split("/"), 1) for word in words.split()
}
COMMON: Final = frozenset("first second secondo seconda primo prima one uno una un once a an".split())
"""Words that are seldom meant as a number: a claim may hold them freely, and a source's satisfy a figure."""
_ROMAN = re.compile(r"(?=[IVXLC]{2,})(?:X{1,3}|XL|L|XC|C)?(?:X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_GROUPED: Final = 3


def readings(number: str) -> frozenset[str]:
    """Values that a written number may mean, as plain decimals: ``1.250`` is 1250 in Italian and 1.25 in English."""
    plain = re.sub(r"['’\s\u00a0\u202f]", "", number)
    values = set()
    for decimal, group in ((".", ","), (",", ".")):
        whole, *rest = plain.split(decimal)
        groups = whole.split(group)
        if (
            len(rest) > 1
            or any(len(part) != _GROUPED for part in groups[1:])
            or not all(part.isdigit() for part in rest)
        ):
            continue
        value = "".join(groups).lstrip("0") or "0"
        fraction = rest[0].rstrip("0") if rest else ""
        values.add(f"{value}.{fraction}" if fraction else value)
    return frozenset(values) or frozenset({plain})


def roman(word: str) -> int | None:
    """The value of a Roman numeral of two signs or more."""
    if not _ROMAN.fullmatch(word):
        return None
    total = 0
    values = [_ROMAN_VALUES[sign] for sign in word]
    for at, value in enumerate(values):
        total += -value if at + 1 < len(values) and values[at + 1] > value else value
    return total


@cache
def _italian() -> Mapping[str, int]:
    """0 to 999 as Italian writes them in one word, without accents."""
    below = {word: at for at, word in enumerate(_IT_SMALL)}
    for at, ten in enumerate(_IT_TENS, 2):
        below[ten] = at * 10
        for unit in range(1, 10):
            stem = ten[:-1] if unit in {1, 8} else ten
            below[stem + _IT_SMALL[unit]] = at * 10 + unit
        below[ten[:-1] + "un"] = at * 10 + 1
    known = dict(below)
    for hundreds in range(1, 10):
        head = ("" if hundreds == 1 else _IT_SMALL[hundreds]) + "cento"
        known[head] = hundreds * 100
        for word, value in below.items():
            if value:
                known[head + word] = hundreds * 100 + value
                if value in {8, 11} or value // 10 == 8:  # noqa: PLR2004 - centotto, centottanta
                    known[head[:-1] + word] = hundreds * 100 + value
    return known


def italian(word: str) -> int | None:
    """The value of an Italian number in one folded word: ``centoventi``, ``milleduecento``, ``sessantamila``."""
    known = _italian()
    if word in known:
        return known[word]
    for mark in ("mille", "mila"):
        head, found, tail = word.partition(mark)
        if not found or (mark == "mille") != (not head) or (tail and tail not in known):
            continue
        if mark == "mille":
            return 1000 + known.get(tail, 0)
        if head in known:
            return known[head] * 1000 + known.get(tail, 0)
    return None


@cache
def _english() -> Mapping[str, int]:
    return {word: at for at, word in enumerate(_EN_SMALL)} | {ten: at * 10 for at, ten in enumerate(_EN_TENS, 2)}


def english(words: Sequence[str]) -> tuple[int, int]:
    """Value, and words used, of the English number that folded words begin with; no words used where none does.

    ``twenty five``, ``one hundred and twenty``, ``two thousand``.
    """
    known = _english()
    total = part = used = 0
    at = 0
    while at < len(words):
        word = words[at]
        if word in known:
            # "two three" are two numbers; "twenty three" is one.
            fits = part % 100 == 0 or (part % 10 == 0 and part % 100 >= 20 and 0 < known[word] < 10)  # noqa: PLR2004 - tens, then units
            if used and not fits:
                break
            part += known[word]
        elif word == "hundred" and 0 < part < 10:  # noqa: PLR2004 - one digit
            part *= 100
        elif word == "thousand" and part:
            total, part = total + part * 1000, 0
        elif word == "and" and used and words[at - 1] in {"hundred", "thousand"} and words[at + 1 : at + 2]:
            if words[at + 1] not in known:
                break
            at += 1
            continue
        else:
            break
        at += 1
        used = at
    return total + part, used
