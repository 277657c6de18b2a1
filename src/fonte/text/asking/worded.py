"""What a question says of where to look: a language, a kind of file, a document by its name or year, a day.

"In the Italian handbook", "nel foglio Excel", "in the 2024 travel policy", "as of 1 March 2024". Read by rules, in
English and Italian; a name is only read where a document has it that the asker may read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from fonte.text.frontmatter import iso_date
from fonte.text.stop_words import STOP_WORDS
from fonte.text.terms import folded
from fonte.types import Filters, Narrowed

_TEXTS = (
    r"(?:documents?|handbooks?|manuals?|versions?|texts?|guides?|rules|polic(?:y|ies)|pages?"
    r"|document[oi]|manual[ei]|version[ei]|testi|testo|guid[ae]|regole|pagin[ae])"
)
_LANGUAGE = re.compile(
    rf"\b(?:in|from|according to|under|nel(?:la|le)?|nei|secondo|dal(?:la)?)\s+(?:the |il |la |le |i |gli )?"
    rf"(?:(?P<before>english|italian)\s+{_TEXTS}|{_TEXTS}\s+(?:in\s+)?(?P<after>english|italian|ingles[ei]|italian[oaie]))\b,?",
    re.IGNORECASE,
)
_SHEETS: Final = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
)
_WORD_FILES: Final = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/msword",
    "application/vnd.oasis.opendocument.text",
)
_SLIDES: Final = (
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.oasis.opendocument.presentation",
)
_KINDS: Final = {
    "pdf": ("application/pdf",), "excel": _SHEETS, "spreadsheet": _SHEETS, "calcolo": _SHEETS, "word": _WORD_FILES,
    "csv": ("text/csv",), "tsv": ("text/tab-separated-values",), "text": ("text/plain",), "testo": ("text/plain",),
    "markdown": ("text/markdown",), "html": ("text/html",), "web": ("text/html",), "slides": _SLIDES,
    "slide": _SLIDES, "presentation": _SLIDES, "presentazione": _SLIDES, "powerpoint": _SLIDES,
}  # fmt: skip
_KIND = re.compile(
    r"\b(?:in|from|according to|nel(?:la|le)?|nei|dal(?:la)?|secondo) (?:the |an? |il |la |le |i |un |una )?"
    r"(?:(?P<kind>pdf|excel|spreadsheet|word|csv|tsv|text|markdown|html|web|slides|presentation|powerpoint)"
    r"(?: (?:file|files|sheet|document|documents|page|pages|table))?"
    r"|(?:file|foglio|fogli|documento|documenti|pagina|tabella)(?: di)? "
    r"(?P<tipo>pdf|excel|calcolo|word|csv|tsv|testo|markdown|html|web)|(?P<solo>presentazione|slide))\b,?",
    re.IGNORECASE,
)
_NEEDS_NOUN: Final = frozenset({"text", "web", "word"})
"""Words that name a kind of file only before "file", "document", "page": "in the text" is no filter."""
_DATED = (
    r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}"
    r"|(?:the )?\d{1,2}(?:st|nd|rd|th|°|º)? (?:of )?[a-zA-Z]{3,9},? \d{4}|[A-Z][a-z]{2,8} \d{1,2},? \d{4}"
)
_AS_OF = re.compile(
    rf"\b(?:as of|as at|as on|in force on|valid on|al|alla data del|(?:in vigore|valid[oaie]) (?:il|al)) "
    rf"(?P<day>{_DATED})[,]?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"^the |(?<=\d)(?:st|nd|rd|th|°|º)")
_TODAY = re.compile(
    r"\b(?:currently (?:in force|valid|applicable)|in force (?:today|now)|valid today|as of today|ad oggi"
    r"|attualmente (?:in vigore|valid[oaie])|(?:in vigore|valid[oaie]) (?:oggi|ora|attualmente))\b[,]?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d./-])(?:19|20)\d\d(?![\d./-]|\s*(?:euro|eur|€|£))")
_ISSUE = re.compile(
    r"\b(?:version|edition|polic(?:y|ies)|rules|manual|handbook|guide|price list|version[ei]|edizion[ei]|regole|manuale"
    r"|guida|listino|regolamento)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\b(?:version|edition|versione|edizione)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+")
_SLACK: Final = 3
"""Other words that may stand among those of a document's name."""


@dataclass(frozen=True, slots=True)
class Worded:
    """What was read: where to look, told in words."""

    narrowed: Narrowed
    told: tuple[str, ...]


def worded(text: str, names: Sequence[str], today: date, *, days: bool = True) -> Worded | None:
    """What a question says of where to look; None where it says nothing. ``names`` are documents that may be read."""
    rest = text
    told: list[str] = []
    languages, rest = _languages(rest, told)
    kinds, rest = _kinds(rest, told)
    day, rest = _day(rest, today, told) if days else (None, rest)
    documents = _named(text, names)
    if documents:
        told.append("documents " + ", ".join(documents))
    if not told:
        return None
    rest = " ".join(rest.split()).strip(" ,;:")
    return Worded(
        Narrowed(rest if _TOKEN.search(rest) else text, Filters(documents, languages, kinds), day), tuple(told)
    )


def _languages(text: str, told: list[str]) -> tuple[tuple[str, ...], str]:
    found = _LANGUAGE.search(text)
    if found is None:
        return (), text
    language = "it" if (found["before"] or found["after"]).lower().startswith("ital") else "en"
    told.append(f"language {language}")
    return (language,), f"{text[: found.start()]} {text[found.end() :]}"


def _kinds(text: str, told: list[str]) -> tuple[tuple[str, ...], str]:
    for found in _KIND.finditer(text):
        word = (found["kind"] or found["tipo"] or found["solo"]).lower()
        if word in _NEEDS_NOUN and found["kind"] and found.group().rstrip(",").lower().endswith(word):
            continue
        told.append(f"kind {word}")
        return _KINDS[word], f"{text[: found.start()]} {text[found.end() :]}"
    return (), text


def _day(text: str, today: date, told: list[str]) -> tuple[date | None, str]:
    found = _AS_OF.search(text)
    day = None
    if found is not None:
        plain = re.sub(
            r"^the |(?<=\d)(?:st|nd|rd|th|°|º)| of ", lambda one: " " if one.group() == " of " else "", found["day"]
        )
        iso = iso_date(plain, day_first=True)
        day = date.fromisoformat(iso[:10]) if iso else None
    else:
        found = _TODAY.search(text)
        day = today if found else None
    if found is None or day is None:
        return None, text
    told.append(f"as of {day.isoformat()}")
    return day, f"{text[: found.start()]} {text[found.end() :]}"


def _named(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Documents that the question names: by file, by the words of their names, or by a year of theirs and a word."""
    plain = folded(text)
    tokens = _TOKEN.findall(plain)
    exact = [name for name in names if re.search(rf"(?<!\w){re.escape(folded(name.rsplit('/', 1)[-1]))}(?!\w)", plain)]
    if exact:
        return tuple(exact)
    whole = [name for name in names if _holds(tokens, _words(name))]
    if whole:
        return tuple(whole)
    years = set(_YEAR.findall(text))
    if not years or not _ISSUE.search(text):
        return ()
    dated = [name for name in names if years & set(_words(name))]
    shared = [name for name in dated if {word for word in _words(name) if not word.isdigit()} & set(tokens)]
    return tuple(shared or (dated if _VERSION.search(text) else ()))


def _words(name: str) -> list[str]:
    stem = folded(name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    return [one for one in _TOKEN.findall(stem) if one not in STOP_WORDS["en"] and one not in STOP_WORDS["it"]]


def _holds(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Whether all words of a name of two or more stand near each other."""
    if len(words) < 2:  # noqa: PLR2004 - one word names a subject, not a document
        return False
    wanted, size = set(words), len(words) + _SLACK
    return any(wanted <= set(tokens[at : at + size]) for at in range(len(tokens)))
