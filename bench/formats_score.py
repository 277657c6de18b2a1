"""How much of a reference a text holds: words in order, listed strings, and tables with their column names taken off.

Every text is compared as plain words: Markdown's marks, link targets and comments are taken off ours, the reference's
and the other libraries' alike, so that nobody is paid for writing Markdown.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

from fonte.text.cells import column_letters
from fonte.types import BlockKind, Document

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\.[\w.-]+)?(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([^\w\s])")
_WORD = re.compile(r"[^\W_]+")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00\b")
"""A day as Python writes it: nobody entered the hour."""
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>")
_LETTER = re.compile(r"(^|; )([A-Z]{1,2}): ")
_MARKS = re.compile(r"```\w*|data:\S*")
"""Fences and the data of pictures, which Markdown has as the target of a link."""


def words(text: str) -> list[str]:
    """Words of a text without Markdown's marks, HTML's tags and the midnight of a bare date, in NFKC."""
    text = _MIDNIGHT.sub(r"\1", _COMMENT.sub(" ", text))
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = html.unescape(_TAG.sub(" ", text))
    return _WORD.findall(unicodedata.normalize("NFKC", _ESCAPE.sub(r"\1", text)))


def similarity(ours: Sequence[str], reference: Sequence[str]) -> float:
    """2 LCS / (n + m) over words: 1 for the same words in the same order. Both empty are alike."""
    if not ours or not reference:
        return float(len(ours) == len(reference))
    return 2 * _common(ours, reference) / (len(ours) + len(reference))


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(a)) - 1
    row = full
    for word in b:
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(a) - row.bit_count()


def holds(text_words: Sequence[str], wanted: str) -> bool | None:
    """Whether a listed string's words stand one after another; None for one that is marks alone."""
    needle = [] if _MARKS.fullmatch(wanted) else words(wanted)
    return f" {' '.join(needle)} " in f" {' '.join(text_words)} " if needle else None


def without_names(document: Document) -> str:
    """The text with the column names taken off its data rows, for references that write a name once."""
    pieces, reached = [], 0
    names: dict[int | None, list[str]] = {}
    for span in document.spans:
        if span.kind is not BlockKind.ROW:
            continue
        row = document.text[span.start : span.end]
        pieces.append(document.text[reached : span.start])
        reached = span.end
        if span.header:
            names[span.table] = row.split(" | ")
        pieces.append(_bare(row, names.get(span.table, [])) if not span.header else _named(names[span.table]))
    return "".join([*pieces, document.text[reached:]])


def _named(names: Sequence[str]) -> str:
    """A header row without the letters that stand for columns that have no name."""
    letters = [name == column_letters(at) for at, name in enumerate(names)]
    return " | ".join(name for name, letter in zip(names, letters, strict=True) if not letter or all(letters))


def place_names(documents: Sequence[Document]) -> frozenset[str]:
    """What we write as headings of sheets and of slides without a title, and references do not have."""
    places = [place for document in documents for place in document.places]
    sheets = {" ".join(place.sheet.split()) for place in places if place.sheet}
    return frozenset(sheets | {f"Slide {place.slide}" for place in places if place.slide})


def without_lines(text: str, names: frozenset[str]) -> str:
    """A text without the lines that are one of some names alone."""
    return "\n".join(line for line in text.split("\n") if " ".join(line.lstrip("# ").split()) not in names)


def voices(captions: str) -> frozenset[str]:
    """Who speaks, by the voice tags of WebVTT, which are taken off other texts as tags."""
    return frozenset(" ".join(html.unescape(name).split()) for name in _VOICE.findall(captions))


def without_speakers(text: str, names: frozenset[str]) -> str:
    """A text without the names of who speaks before what they say."""
    either = "|".join(map(re.escape, sorted(names)))
    return re.sub(rf"^(?:{either}): ", "", text, flags=re.MULTILINE) if names else text


def _bare(row: str, names: Sequence[str]) -> str:
    """``A: v1; B: v2`` to ``v1 | v2``."""
    values, at = [], 0
    for name in names:
        found = row.startswith(f"{name}: ", at)
        start = at if found else row.find(f"; {name}: ", at)
        if start < 0:
            continue
        values.append(row[at:start])
        at = start + len(name) + (2 if found else 4)
    found = filter(None, [*values, row[at:]])
    return " | ".join(_LETTER.sub(lambda one: one[0] if one[2] in names else one[1], value) for value in found)


def recall(ours: Sequence[str], reference: Sequence[str]) -> float:
    """Share of the reference's words that stand in the text in the same order."""
    return _common(ours, reference) / len(reference) if reference else 1.0
