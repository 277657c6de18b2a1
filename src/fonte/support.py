"""A sentence against the passages it cites: what can be proved or refuted without a model.

A sentence taken word for word from its passage is ``supported``. A number or a date that no cited passage holds makes
a sentence ``unsupported``. Everything else is ``not_checked``: nothing here claims more than it looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from fonte.text.months import MONTHS
from fonte.types import Passage, Support

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<d>\d{1,2})[./-](?P<m>\d{1,2})[./-](?P<y>\d{4})\b"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|º|°)?\s+(?:of\s+)?(?P<name>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<name>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE),
)
_NUMBER = re.compile(r"\d+(?:[.,'’]\d+)*")
_GROUPED = 3


def _dates(text: str) -> tuple[list[tuple[str, frozenset[date]]], str]:
    """Each date of a text as it is written, with its readings; and the text without them.

    A day that no calendar has is no date: it stays in the text, and its figures are looked for one by one.
    """
    found: list[tuple[str, frozenset[date]]] = []

    def take(match: re.Match[str]) -> str:
        meant = _read(match.groupdict())
        if not meant:
            return match.group()
        found.append((match.group(), meant))
        return " "

    for pattern in _DATES:
        text = pattern.sub(take, text)
    return found, text


def _read(parts: dict[str, str]) -> frozenset[date]:
    """The days that a matched date may mean; 03/04/2026 both ways round: which one was meant is not ours to guess."""
    day = int(parts["d"])
    if "name" in parts:
        # Letters that only look like these (the long s, the dotless i) match too, and not all of them fold back.
        pairs = [(day, MONTHS.get(parts["name"].casefold(), 0))]
    else:
        month = int(parts["m"])
        pairs = [(day, month), (month, day)]
    return frozenset(_valid(int(parts["y"]), second, first) for first, second in pairs) - {date.min}


def _valid(year: int, month: int, day: int) -> date:
    """The date, or date.min for a day that no calendar has."""
    try:
        return date(year, month, day)
    except ValueError:
        return date.min


def readings(number: str) -> frozenset[str]:
    """Values that a written number may mean, as plain decimals: ``1.250`` is 1250 in Italian and 1.25 in English."""
    plain = number.replace("'", "").replace("’", "")
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


def missing_figures(sentence: str, sources: Iterable[str]) -> list[str]:
    """Numbers and dates of a sentence that none of the sources holds, as they are written in the sentence."""
    whole = "\n".join(sources)
    source_dates, source_rest = _dates(whole)
    days = frozenset[date]().union(*(meant for _, meant in source_dates))
    known = frozenset[str]().union(*(readings(match.group()) for match in _NUMBER.finditer(source_rest + " " + whole)))
    sentence_dates, rest = _dates(sentence)
    missing = [written for written, meant in sentence_dates if not meant & days]
    missing += [match.group() for match in _NUMBER.finditer(rest) if not readings(match.group()) & known]
    return missing


def check_sentence(
    sentence: str, cited: Sequence[Passage], *, verbatim: bool
) -> tuple[Support, dict[str, str | float]]:
    """Verdict and checks of one sentence (its markers already taken out).

    Args:
        sentence: the claim.
        cited: the passages whose markers it carries.
        verbatim: it was cut from one of them and its hash was checked.
    """
    if not cited:
        return "unsupported", {"citation": "missing"}
    if verbatim:
        return "supported", {"verbatim": "ok", "numbers": "ok"}
    absent = missing_figures(sentence, [f"{passage.stored.chunk.context}\n{passage.content}" for passage in cited])
    if absent:
        return "unsupported", {"numbers": "missing: " + ", ".join(absent)}
    return "not_checked", {"numbers": "ok"}
