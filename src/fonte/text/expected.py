"""What a person expects to be found: words, or a place in a document; and where a text or raw bytes hold it.

Words are found exactly, else where they are written a little otherwise: other white space, small or capital letters,
other quotation marks and dashes, ligatures, accents in one or two characters, a word broken at a line's end.
"""

from __future__ import annotations

import codecs
import html
import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from fonte.errors import InvalidQuery
from fonte.types import Document

MOST_WORDS: Final = 1000
"""Characters of the words that are looked for."""
_MOST_PLACES = 50
_MOST_BYTES = 32 * 2**20
_CHARACTERS = re.compile(r"(?P<document>.+)#char=(?P<start>\d{1,12}),(?P<end>\d{1,12})")
_PAGE = re.compile(r"(?P<document>.+)#page=(?P<page>\d{1,6})")
_SHEET = re.compile(r"(?P<document>.+)#sheet=(?P<sheet>[^&]+)(?:&range=(?P<range>[A-Z]+\d+(?::[A-Z]+\d+)?))?")
_QUOTES = "[\"“”„‟«»″'‘’‚‛ʼ′´]"
_DASHES = "[-‐‑‒–—―−]"
_BROKEN = "(?:[\u00ad\u200b\u2060\ufeff]|[-\u00ad\u2010\u2011]?[ \t]*\r?\n[ \t]*)?"
"""What may stand between two letters of a word: an invisible character, or the end of a line with its hyphen."""
_LIGATURES = {"ffi": "\ufb03", "ffl": "\ufb04", "ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02"}
_TAG = re.compile(r"<[^<>]{0,10000}>")
_PARAGRAPH_END = re.compile(r"</(?:\w{1,3}:)?(?:p|si|row|tr|td|li|div|h[1-6])>|<(?:\w{1,3}:)?br\s*/?>", re.IGNORECASE)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Expected:
    """Words, or a place: a document (id, name or URI) with characters, a page, or a sheet's range; or it as a whole."""

    words: str = ""
    document: str = ""
    start: int | None = None
    end: int | None = None
    page: int | None = None
    sheet: str | None = None
    range: str | None = None

    def places(self, document: Document) -> list[tuple[int, int]]:
        """Where a document holds what is expected, as ranges of its text; none when it does not."""
        if self.words:
            return occurrences(document.text, self.words)
        if self.start is not None and self.end is not None:
            return [(self.start, self.end)] if self.end <= len(document.text) else []
        if self.page is None and self.sheet is None:
            return [(0, len(document.text))] if document.text.strip() else []
        found = [
            (place.start, place.end)
            for place in document.places
            if (self.page is not None and place.page == self.page)
            or (self.sheet is not None and place.sheet == self.sheet and self.range in (None, place.range))
        ]
        return [(found[0][0], found[-1][1])] if found else []


def read_expected(text: str, document: str = "") -> Expected:
    """``NAME#char=120,180``, ``NAME#page=3`` or ``NAME#sheet=S&range=A2:B9`` is a place, all else is words.

    ``document`` says in which document words are looked for. What is a place is told by its form alone, whatever
    documents there are.

    Raises:
        InvalidQuery: nothing is expected, words beyond ``MOST_WORDS``, or an empty range.
    """
    text = text.strip()
    if len(text) > MOST_WORDS or len(unicodedata.normalize("NFKC", text)) > MOST_WORDS:  # one may stand for eighteen
        raise InvalidQuery(f"more than {MOST_WORDS} characters are expected", hint="a sentence is enough")
    if match := _CHARACTERS.fullmatch(text):
        start, end = int(match["start"]), int(match["end"])
        if start >= end:
            raise InvalidQuery(f"{start},{end} is no range of characters", hint="as fonte show --json tells them")
        return Expected(document=match["document"], start=start, end=end)
    if match := _PAGE.fullmatch(text):
        return Expected(document=match["document"], page=int(match["page"]))
    if match := _SHEET.fullmatch(text):
        return Expected(document=match["document"], sheet=unquote(match["sheet"]), range=match["range"])
    if not any(map(str.isalnum, text)) and not document:
        raise InvalidQuery("no words are expected", hint="copy some from fonte show DOCUMENT")
    return Expected(words=text if any(map(str.isalnum, text)) else "", document=document)


def occurrences(text: str, words: str) -> list[tuple[int, int]]:
    """Ranges of ``text`` that hold the words: exactly, else a little otherwise; at most some dozen."""
    found: list[tuple[int, int]] = []
    at = text.find(words)
    while at >= 0 and len(found) < _MOST_PLACES:
        found.append((at, at + len(words)))
        at = text.find(words, at + 1)
    if found:
        return found
    for match in loosely(words).finditer(text):
        found.append(match.span())
        if len(found) == _MOST_PLACES:
            break
    return found


def holds(text: str, words: str) -> bool:
    """Whether the text holds the words, a little otherwise or not."""
    return words in text or loosely(words).search(text) is not None


def loosely(words: str) -> re.Pattern[str]:
    """A pattern of the words in every way that they may be written."""
    parts: list[str] = []
    plain = unicodedata.normalize("NFKC", words).strip()
    at = 0
    while at < len(plain):
        one = plain[at]
        step = 1
        if one.isspace():
            while at + step < len(plain) and plain[at + step].isspace():
                step += 1
            parts.append(r"\s+")
        elif re.fullmatch(_QUOTES, one):
            parts.append(_QUOTES)
        elif re.fullmatch(_DASHES, one):
            parts.append(_DASHES + r"\s*")
        else:
            ligature = next((whole for whole in _LIGATURES if plain[at : at + len(whole)].lower() == whole), "")
            step = max(1, len(ligature))
            parts.append(_written(plain[at : at + step], _LIGATURES.get(ligature, "")))
        at += step
        if one.isalnum() and at < len(plain) and plain[at].isalnum():
            parts.append(_BROKEN)
    return re.compile("".join(parts), re.IGNORECASE)


def _written(letters: str, ligature: str) -> str:
    ways = dict.fromkeys(("".join(letters), unicodedata.normalize("NFD", letters), ligature))
    told = [re.escape(way) for way in ways if way]
    return told[0] if len(told) == 1 else "(?:" + "|".join(told) + ")"


def raw_texts(body: bytes) -> Iterator[str]:
    """What can be read in bytes without their parser: their text as it stands, and the same without tags and escapes.

    Office files are opened and every XML part of them is read. Text that is packed inside a PDF is not found here.
    """
    if body.startswith(b"PK\x03\x04"):
        for text in _members(body):
            yield _untagged(text)
        return
    text = _decoded(body[:_MOST_BYTES])
    yield text
    if "<" in text:
        yield _untagged(text)
    if "\\" in text:
        spaced = text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\/", "/")
        yield _UNICODE_ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), spaced)


def _untagged(text: str) -> str:
    return html.unescape(_TAG.sub("", _PARAGRAPH_END.sub("\n", text)))


def _decoded(body: bytes) -> str:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _members(body: bytes) -> Iterator[str]:
    left = _MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            for entry in packed.infolist():
                if left <= 0 or not entry.filename.endswith((".xml", ".rels")):
                    continue
                with packed.open(entry) as opened:
                    part = opened.read(left)
                left -= len(part)
                yield part.decode("utf-8", "replace")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        # A damaged or encrypted archive: only what was read of it so far can be looked through. A loss is then told
        # as one of the canonical text instead of the parser's; the document's own state says that it is damaged.
        return
