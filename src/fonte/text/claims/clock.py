"""Hours of the day in words: half past nine, eight in the evening, le cinque e mezza, le nove di sera."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_EN = "one two three four five six seven eight nine ten eleven twelve".split()
_IT = "una due tre quattro cinque sei sette otto nove dieci undici dodici".split()
_VALUES: Final = {name: at for names in (_EN, _IT) for at, name in enumerate(names, 1)}
_MINUTES: Final = {
    "five": 5, "ten": 10, "a quarter": 15, "quarter": 15, "twenty": 20, "twenty five": 25, "half": 30,
    "mezza": 30, "mezzo": 30, "un quarto": 15, "tre quarti": 45, "cinque": 5, "dieci": 10, "venti": 20,
}  # fmt: skip
_PARTS: Final = {
    "morning": 0, "mattina": 0, "mattino": 0, "notte": 0, "night": 720, "afternoon": 720, "evening": 720,
    "pomeriggio": 720, "sera": 720,
}  # fmt: skip
_EN_PART = r"(?:\s+(?:in\s+the\s+(?P<part>morning|afternoon|evening)|at\s+(?P<late>night)))"
_IT_PART = r"(?:\s+(?:di|del|della)\s+(?P<part>mattina|mattino|notte|pomeriggio|sera))"
_EN_HOUR = rf"(?P<hour>{'|'.join(_EN)}|\d{{1,2}})"
_IT_HOUR = rf"(?P<hour>{'|'.join(_IT)}|\d{{1,2}})"
_MANY = r"twenty[ -]five|twenty|ten|five|a\s+quarter|quarter"
_PATTERNS: Final = (
    re.compile(rf"\b(?P<minutes>half|{_MANY})\s+(?P<side>past|to)\s+{_EN_HOUR}\b{_EN_PART}?", re.IGNORECASE),
    re.compile(rf"\b{_EN_HOUR}\s+o['’]clock\b{_EN_PART}?", re.IGNORECASE),
    re.compile(rf"\b{_EN_HOUR}{_EN_PART}\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:\w*le\s+|\w*l['’]\s*){_IT_HOUR}\s+(?P<side>e|meno)\s+(?P<minutes>mezz[ao]|un\s+quarto|tre\s+quarti)"
        rf"\b{_IT_PART}?",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:\w*le\s+|\w*l['’]\s*){_IT_HOUR}{_IT_PART}\b", re.IGNORECASE),
)


def spoken(text: str) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Where an hour stands in words, and the minutes after midnight that it may mean."""
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            said = match["hour"].lower()
            hour = _VALUES[said] if said in _VALUES else int(said)
            start, end = match.start("hour"), match.end()
            parts = match.groupdict()
            if parts.get("minutes"):
                start = min(start, match.start("minutes"))
            if hour > 12 or any(start < high and low < end for low, high in taken):  # noqa: PLR2004 - of a clock
                continue
            taken.append((start, end))
            yield start, end, _meant(hour % 12, parts)


def _meant(hour: int, parts: dict[str, str | None]) -> frozenset[int]:
    told = " ".join(re.split(r"[\s-]+", (parts.get("minutes") or "").lower()))
    minutes = _MINUTES.get(told, 0)
    at = hour * 60 + (-minutes if (parts.get("side") or "").lower() in {"to", "meno"} else minutes)
    part = (parts.get("part") or parts.get("late") or "").lower()
    if part in _PARTS:
        return frozenset({(at + _PARTS[part]) % 1440})
    return frozenset({at % 1440, (at + 720) % 1440})
