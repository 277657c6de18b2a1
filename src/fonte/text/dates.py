"""Dates in metadata as ISO 8601, whatever form a file writes them in; what it wrote stays beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final

from fonte.text.frontmatter import DAY_FIRST, iso_date
from fonte.types import Language

ORIGINAL: Final = "_original"
"""Behind a key: the date as the file wrote it, where that was another form."""
_KEYS: Final = frozenset(
    "date created modified updated published issued revised expires creationdate moddate lastmodified revdate pubdate "
    "publicationdate datepublished datemodified validfrom validto effectivedate".split()
)
_BETWEEN: Final = "; "
"""Between several values of one key."""
_JOINTS = re.compile(r"[\s_\-]+")
_PDF = re.compile(
    r"D:(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?)?)?(?:([+\-Z])(?:(\d\d)'?(?:(\d\d)'?)?)?)?"
)
_PART = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d.*)?|\d{8}T\d{4}.*")
_WEEKDAY = re.compile(r"[A-Za-z]{3},? |\d{1,2} [A-Za-z]{3} \d{4} \d\d:")
_NO_OFFSET = -1


def with_iso_dates(metadata: Mapping[str, str], language: Language) -> dict[str, str]:
    """The same with dates in ISO 8601 under their keys, and ``KEY_original`` where the file wrote another form.

    A time zone is kept as it was given, and none is made up. What is not surely a date stays as it is.
    """
    told = metadata.get("lang", metadata.get("language", language)).lower()
    found: dict[str, str] = {}
    for key, value in metadata.items():
        found[key] = value
        if not _is_date(key):
            continue
        parts = [iso_of(part, day_first=told.startswith(DAY_FIRST)) for part in value.split(_BETWEEN)]
        iso = _BETWEEN.join(filter(None, parts))
        if all(parts) and iso != value:
            found[key] = iso
            found[key + ORIGINAL] = metadata.get(key + ORIGINAL, value)
    return found


def unclear_dates(metadata: Mapping[str, str]) -> list[str]:
    """``KEY: VALUE`` of every date that could not be read and is kept as it was written."""
    return [
        f"{key}: {value[:60]}"
        for key, value in metadata.items()
        if _is_date(key) and not all(iso_of(part) for part in value.split(_BETWEEN))
    ]


def iso_of(text: str, *, day_first: bool = False) -> str | None:
    """A date, with its time and zone where it says them, or None when ``text`` is not surely one.

    Read are PDF's ``D:20240305143000+01'00'``, mail's ``Tue, 5 Mar 2024 14:30:00 +0100``, ISO 8601 down to the year
    alone, and what people write (``fonte.text.frontmatter.iso_date``).
    """
    text = " ".join(text.split())
    try:
        if match := _PDF.fullmatch(text):
            return _of_pdf(match)
        if _PART.fullmatch(text):
            return text
        if _ISO.fullmatch(text):
            return date.fromisoformat(text).isoformat() if len(text) == 10 else datetime.fromisoformat(text).isoformat()  # noqa: PLR2004 - YYYY-MM-DD
        if _WEEKDAY.match(text):
            return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, OverflowError):  # TypeError: how email.utils says that it is no date
        return None
    return iso_date(text, day_first=day_first)


def _is_date(key: str) -> bool:
    return _JOINTS.sub("", key.lower().rsplit(".", 1)[-1].rsplit(":", 1)[-1]) in _KEYS


def _of_pdf(match: re.Match[str]) -> str:
    """As exact as it was written: a year, a month, a day or a time."""
    year, month, day, hour, minute, second, sign, off_hours, off_minutes = match.groups()
    if month is None:
        return str(datetime(int(year), 1, 1).year).zfill(4)  # noqa: DTZ001 - only to check it
    if day is None:
        return date(int(year), int(month), 1).isoformat()[:7]
    if hour is None:
        return date(int(year), int(month), int(day)).isoformat()
    zone = None
    if sign is not None:
        offset = timedelta(hours=int(off_hours or 0), minutes=int(off_minutes or 0))
        zone = timezone(offset * (_NO_OFFSET if sign == "-" else 1))
    at = datetime(int(year), int(month), int(day), int(hour), int(minute or 0), int(second or 0), tzinfo=zone)
    return at.isoformat()
