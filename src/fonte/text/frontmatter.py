"""Front matter of Markdown: a tolerant reader of flat ``key: value`` lines (``key = value`` between ``+++``)."""

from __future__ import annotations

import re
from datetime import date, datetime

from fonte.text.months import MONTHS

_FENCES = {"---": re.compile(r"(?:---|\.\.\.)\s*"), "+++": re.compile(r"\+\+\+\s*")}
_MEMBER = re.compile(r"(\s*)([\w][\w .\-]*?)\s*[:=](?:\s+(.*)|(.*))")
_ITEM = re.compile(r"\s*-\s+(.*)")
_MOST_LINES = 500
_DECEMBER = 12
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_DAY_NAMED = re.compile(r"(\d{1,2})(?:st|nd|rd|th|º|°)?(?: of| de)? ([^\W\d_]+)\.?,? (\d{4})")
_NAMED_DAY = re.compile(r"([^\W\d_]+)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")


def split_front_matter(text: str) -> tuple[dict[str, str], int]:
    """(metadata, number of lines that it takes); no lines when the text does not begin with front matter.

    Keys of nested maps are dotted, lists joined by ``, ``. A value that is a date becomes ISO 8601, and
    ``KEY_original`` keeps how it was written when that differs.
    """
    lines = text.split("\n", _MOST_LINES)
    closing = _FENCES.get(lines[0].rstrip())
    if closing is None:
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:_MOST_LINES], 1) if closing.fullmatch(line)), None)
    if end is None:
        return {}, 0
    body = lines[1:end]
    if any(line.strip() for line in body) and not any(map(_MEMBER.fullmatch, body)):
        return {}, 0
    return _with_iso_dates(_members(body)), end + 1


def _members(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    parents: list[tuple[int, str]] = []
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item = _ITEM.fullmatch(line)
        if item is not None and parents:
            key = parents[-1][1]
            found[key] = ", ".join(filter(None, (found.get(key, ""), _unquoted(item[1]))))
            continue
        member = _MEMBER.fullmatch(line)
        if member is None:
            if parents:  # a folded or block value goes on
                key = parents[-1][1]
                found[key] = " ".join(filter(None, (found.get(key, ""), line.strip())))
            continue
        indent = len(member[1])
        parents = [parent for parent in parents if parent[0] < indent]
        key = ".".join([*(parent[1] for parent in parents[-1:]), member[2].strip()])
        parents.append((indent, key))
        value = _value((member[3] or member[4] or "").strip())
        if value:
            found[key] = value
    return {key: value for key, value in found.items() if value}


def _value(text: str) -> str:
    if text in ("|", ">", "|-", ">-", "|+", ">+", "[]", "{}", "null", "~"):
        return ""
    if text.startswith("[") and text.endswith("]"):
        return ", ".join(filter(None, (_unquoted(part) for part in text[1:-1].split(","))))
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.sub(r"\s+#.*", "", text)


def _with_iso_dates(members: dict[str, str]) -> dict[str, str]:
    day_first = members.get("lang", members.get("language", "")).lower().startswith(("it", "es", "fr", "de", "pt"))
    result: dict[str, str] = {}
    for key, value in members.items():
        iso = iso_date(value, day_first=day_first)
        result[key] = value if iso is None else iso
        if iso is not None and iso != value:
            result[f"{key}_original"] = value
    return result


def iso_date(text: str, *, day_first: bool = False) -> str | None:
    """A date or a time of day with its date in ISO 8601, or None when ``text`` is not surely one.

    ``03/04/2024`` is a date only with ``day_first``; ``13/04/2024``, ``03.04.2024`` and month names need no help.
    """
    text = " ".join(text.split())
    numbers = _numbers(text, day_first=day_first)
    try:
        if numbers is not None:
            return date(*numbers).isoformat()
        if re.match(r"\d{4}-\d\d-\d\d[T ]\d", text):
            return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return None
    return None


def _numbers(text: str, *, day_first: bool) -> tuple[int, int, int] | None:
    """(year, month, day) as written, not checked."""
    if match := _YEAR_FIRST.fullmatch(text):
        return int(match[1]), int(match[2]), int(match[3])
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        if second > _DECEMBER >= first:
            return year, first, second
        sure = first > _DECEMBER or first == second or match[2] == "." or day_first
        return (year, second, first) if sure else None
    for pattern, month_at, day_at in ((_DAY_NAMED, 2, 1), (_NAMED_DAY, 1, 2)):
        match = pattern.fullmatch(text)
        month = MONTHS.get(match[month_at].lower()) if match else None
        if match and month:
            return int(match[3]), month, int(match[day_at])
    return None
