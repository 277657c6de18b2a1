"""Front matter of Markdown: a tolerant reader of flat ``key: value`` lines (``key = value`` between ``+++``).

The same lines in a file of their own beside a document, a *sidecar*, are read strictly. Front matter may say who may
read its document: what begins as front matter and cannot be read whole is an error, never text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime

from fonte.errors import ParseError
from fonte.text.months import MONTHS

_FENCES = {"---": re.compile(r"(?:---|\.\.\.)\s*"), "+++": re.compile(r"\+\+\+\s*")}
_MEMBER = re.compile(r"(\s*)[\"']?(\w[\w .\-]{0,99}?)[\"']?\s{0,20}[:=](?:\s+(.*)|(.*))")
_COMMENT = re.compile(r"(?<!\s)\s+#.*")
_ITEM = re.compile(r"\s*-\s+(.*)")
_MOST_LINES = 500
_MOST_CHARACTERS = 32_768
_RIGHTS = ("roles", "tenant")
_RIGHTS_WORDS = (*_RIGHTS, "role", "allow", "acl")
"""What a key about rights may have been meant to be called; of these only ``_RIGHTS`` are understood."""
_WORD = rf"(?:{'|'.join(_RIGHTS_WORDS)})\b"
_ABOUT_RIGHTS = re.compile(
    rf"(?<!\S[?&])\b{_WORD}[\"']?(?:\s{{0,20}}:|[^\S\n]{{0,20}}=)"  # not of an address: ?role=x
    rf"|^\s{{0,20}}\?\s{{0,20}}[\"']?{_WORD}"
    rf"|^[^\S\n]{{0,20}}\[{{1,2}}[\w.\"' -]{{0,99}}?\b{_WORD}[\w.\"' -]{{0,99}}\]{{1,2}}[^\S\n]{{0,20}}$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^']*'")
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U0000([0-9a-fA-F]{4}))")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]"
)
_LIKE_FENCES = ("---", "+++", ";;;", "%YAML", "%TAG")
"""How a line begins that may be meant for the beginning of front matter."""
_LIKE_ENDS = ("---", "+++", ";;;", "...")
_OTHER_FENCE = re.compile(r"(?:---|\+\+\+)[ \t]*(?:ya?ml|toml|json)\s*", re.IGNORECASE)
_LIST = re.compile(r"\[(?:[^\[\]{}\"']|\"[^\"]*\"|'[^']*')*\]")
_SIGNS = ("{", "}", "[", "]", "&", "*", "!", "|", ">", "%", "@", "`", '"', "'")
"""How a value begins that is not read as it stands."""
SIDECAR_ENDING = ".fonte.yaml"
"""What a file is called that says something of its neighbour, behind the neighbour's whole name."""
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn", ".mdtext", ".mdx", ".qmd", ".rmd")
MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")
HEAD_BYTES = 4 * _MOST_CHARACTERS
"""How much of a file ``own_text`` looks at."""
_MARKS = (b"\0\0\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECEMBER = 12
DAY_FIRST = ("it", "es", "fr", "de", "pt")
"""Languages in which 03/04 is the third of April."""
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_DAY_NAMED = re.compile(r"(\d{1,2})(?:st|nd|rd|th|º|°)?(?: of| de)? ([^\W\d_]+)\.?,? (\d{4})")
_NAMED_DAY = re.compile(r"([^\W\d_]+)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")


def split_front_matter(text: str) -> tuple[dict[str, str], int]:
    """(metadata, number of lines that it takes); no lines when the text does not begin with front matter.

    Keys of nested maps are dotted, lists joined by ``, ``. A value that is a date becomes ISO 8601, and
    ``KEY_original`` keeps how it was written when that differs.

    Raises:
        ParseError: front matter that is not read whole, or says of rights what is not understood.
    """
    lead, body = _front_lines(text)
    if body is None:
        return {}, 0
    return _with_iso_dates({key: value for key, value in _members(body)[0].items() if value}), lead + len(body) + 2


def own_text(name: str, body: bytes, media_type: str | None = None) -> str:
    """What a file of this name says of itself or of its neighbour, as it is written; empty for most files.

    That is the front matter of Markdown, and the whole of a sidecar. ``body`` may be its first ``HEAD_BYTES`` only.

    Raises:
        ParseError: front matter that is not read whole, or says of rights what is not understood.
    """
    is_sidecar = name.endswith(SIDECAR_ENDING)
    is_markdown = name.lower().endswith(MARKDOWN_ENDINGS) or media_type in MARKDOWN_TYPES
    if not (is_sidecar or is_markdown):
        return ""
    text = _ascii_like(body[:HEAD_BYTES])
    if is_sidecar:
        return text or "\n"
    _, lines = _front_lines(text)
    return "" if lines is None else "\n".join(lines)


def own_members(text: str) -> dict[str, str]:
    """The members of what ``own_text`` gave for Markdown, by lower-case key; those without a value too.

    A key that is said twice has no value: which of the two holds is not known.
    """
    members, again = _members(text.split("\n"))
    return {key.lower(): "" if key.lower() in again else value for key, value in members.items()}


def sidecar_members(text: str, known: Sequence[str]) -> dict[str, str]:
    """The members of a sidecar by key, those without a value too.

    Raises:
        ValueError: a line that is no member, a key that is not ``known`` or that is said twice: it might have been
            about who may read.
    """
    if len(text) >= _MOST_CHARACTERS:
        raise ValueError("it is too long")
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    lines = lines[1:] if lines[:1] == ["---"] else lines
    for at, line in enumerate(lines):
        member = _MEMBER.fullmatch(line)
        item = _ITEM.fullmatch(line)
        if item is not None and at:
            _check_plain(item[1], lists=False)
            continue
        if member is None or member[1]:
            raise ValueError(f"{line.strip()[:60]!r} is no line of the form key: value")
        if member[2] not in known:
            raise ValueError(f"{member[2][:60]!r} is not one of {', '.join(known)}")
        _check_plain(member[3] or member[4] or "")
    if not lines:
        raise ValueError("it says nothing")
    members, again = _members(lines)
    if again:
        raise ValueError(f"{min(again)} is said twice")
    return members


def _check_plain(value: str, *, lists: bool = True) -> None:
    """Raises ValueError for a value that YAML reads as something else than text, or would not read at all."""
    value = _COMMENT.sub("", value.strip())
    if _QUOTED.fullmatch(value) or value in ("[]", "{}"):
        return
    listed = lists and _LIST.fullmatch(value)
    if not listed and (value.startswith(_SIGNS) or value in ("|", ">")):
        raise ValueError(f"{value[:60]!r} is neither text nor a list of the form [a, b]")


def _front_lines(text: str) -> tuple[int, list[str] | None]:
    """(empty lines before it, the lines between the fences), None when the text does not begin with front matter.

    Raises:
        ParseError: see ``own_text``.
    """
    lines = text[:_MOST_CHARACTERS].split("\n")
    lead = next((number for number, line in enumerate(lines) if _bare(line)), 0)
    first, rest = lines[lead].rstrip(), lines[lead + 1 : lead + _MOST_LINES]
    closing = _FENCES.get(first)
    if closing is None:
        _check_other_kinds(_bare(first), rest)
        return lead, None
    end = next((number for number, line in enumerate(rest) if closing.fullmatch(line)), None)
    if end is None:
        if _is_begun(rest):
            raise ParseError(
                f"its front matter is not closed within {_MOST_LINES} lines and {_MOST_CHARACTERS:,} characters",
                hint=f"it may say who may read the document: close it with {first}, or shorten it; an empty line "
                f"behind a {first} that is no front matter says so",
            )
        return lead, None
    body = rest[:end]
    _check_rights(body)
    is_text = any(line.strip() for line in body) and not any(map(_MEMBER.fullmatch, body))
    return lead, None if is_text else body


def _is_begun(lines: Sequence[str]) -> bool:
    """Whether lines behind a fence that nothing closes are front matter.

    A member stands right behind the fence, or one about rights before any other text.
    """
    if lines and _MEMBER.fullmatch(lines[0]):
        return True
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#") or _ITEM.fullmatch(line):
            continue
        member = _MEMBER.fullmatch(line)
        if member is None or member[2].strip().lower() in _RIGHTS_WORDS:
            return member is not None
    return False


def _check_rights(body: Sequence[str]) -> None:
    """Raises ParseError for a word of rights that is no key of its own at the beginning of a line."""
    found = _rights_beside(body, _RIGHTS)
    if found is not None:
        raise ParseError(
            f"its front matter speaks of rights in a way that is not understood: {found[:60]!r}",
            hint="write roles: NAME, NAME on a line of its own with nothing before it; other text with such a word "
            "and a colon in quotation marks",
        )


def _rights_beside(lines: Sequence[str], understood: Sequence[str]) -> str | None:
    """The line that speaks of rights, or None. Comments, values in quotes and keys that are understood do not.

    Words are looked for as a reader of YAML or TOML would see them: escapes, wide and unseen characters resolved.
    """
    kept: list[str] = []
    for line in lines:
        member = _MEMBER.fullmatch(line)
        left = line
        if member is not None:
            value = member[3] or member[4] or ""
            is_known = not member[1] and member[2].strip().lower() in understood
            left = "" if is_known else line[: len(line) - len(value)]
            left += "" if _QUOTED.fullmatch(value.strip()) else value
        kept.extend(part for part in left.splitlines() if not part.lstrip().startswith("#"))
    text = _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), "\n".join(kept))
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    found = _ABOUT_RIGHTS.search(text)
    if found is None:
        return None
    return text[text.rfind("\n", 0, found.start()) + 1 :].strip().split("\n", 1)[0]


def _check_other_kinds(first: str, rest: Sequence[str]) -> None:
    """Raises ParseError for front matter of a kind that is not read.

    That is ``---json``, and JSON or lines behind what is nearly a fence (``--- # memo``) that speak of rights. A rule
    with ordinary text behind it stays text.
    """
    speaks = False
    if first.startswith("{"):
        ends = next((number for number, line in enumerate(rest) if line.rstrip() == "}"), len(rest))
        speaks = _rights_beside([first, *rest[:ends]], ()) is not None
    elif first.startswith(_LIKE_FENCES):
        start = 0
        if first.startswith("%"):
            start = next((number + 1 for number, line in enumerate(rest) if _bare(line).startswith("---")), 0)
        block = rest[start:]
        end = next((number for number, line in enumerate(block) if _bare(line).startswith(_LIKE_ENDS)), None)
        if end is None:  # nothing closes it: up to the first line of text
            end = next((number for number, line in enumerate(block) if not _is_like_a_member(line)), len(block))
        speaks = _rights_beside([first, *block[:end]], ()) is not None
    if speaks or _OTHER_FENCE.fullmatch(first):
        raise ParseError(
            f"its front matter, which begins with {first[:20]!r}, is of a kind that is not read",
            hint="write key: value lines between --- and ---, which stand alone on their lines",
        )


def _is_like_a_member(line: str) -> bool:
    return not line.strip() or line[:1] in " \t#-" or _MEMBER.fullmatch(line) is not None


def _bare(line: str) -> str:
    """A line without what nobody sees at its ends and in it."""
    return _INVISIBLE.sub("", line).strip()


def _ascii_like(body: bytes) -> str:
    """Text of any encoding with its ASCII right, which is all that keys and roles need: UTF-16 without its NULs."""
    for mark in _MARKS:
        body = body.removeprefix(mark)
    return body.replace(b"\0", b"").decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _members(lines: list[str]) -> tuple[dict[str, str], set[str]]:
    """(members by key, keys in lower case that are said more than once)."""
    found: dict[str, str] = {}
    known: set[str] = set()
    again: set[str] = set()
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
        (again if key.lower() in known else known).add(key.lower())
        found[key] = _value((member[3] or member[4] or "").strip())
    return found, again


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
    return _COMMENT.sub("", text)


def _with_iso_dates(members: dict[str, str]) -> dict[str, str]:
    day_first = members.get("lang", members.get("language", "")).lower().startswith(DAY_FIRST)
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
