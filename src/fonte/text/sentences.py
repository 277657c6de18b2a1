"""Sentences as exact ranges of a text, by rules: terminators, abbreviations, and the lines' own structure.

Rules won over pysbd (slow, breaks at art., D.Lgs., n.) and blingfire (breaks at Dott., pag.). A blank line, a list
item, a row of a table and a heading mark end a sentence; a single line end inside a paragraph does not.
"""

from __future__ import annotations

import re
from typing import Final

from fonte.text.abbreviations import (
    CALENDAR,
    CLOCK,
    ENGLISH_WORDS,
    LISTS,
    NEVER,
    REFERENCES,
    SAYING,
    STARTERS,
    USUALLY,
)
from fonte.types import Language

_CLOSERS = "\"'”’»›)\\]}*_"
_TERMINATOR = re.compile(
    # Begun only where a run of marks begins, and possessive: a page of dots must not take a page squared.
    rf"(?<![.!?…‽؟۔।])[.!?…‽؟۔।]++(?:[{_CLOSERS}]|\[\d{{1,3}}\])*+(?=\s)"
    r"|[。！？｡]+[」』”’）】》\"]*"
)
_WORD_BEFORE = re.compile(r"[\w.’'&/-]*$")
_NEXT = re.compile(r"""\s+([\"'“”‘«‹(\[{¿¡*_–—-]*)\s*(\w+(?:['’])?)?""")
_DOTTED = re.compile(r"(?:\w{1,4}\.)+\w{1,4}")
_ROMAN = re.compile(r"[IVXLCDM]+(?:[-–][IVXLCDM]+)?")
_BULLET = re.compile(r"[ \t]*(?:[-*+•▪◦‣·●■][ \t]|\(?\d{1,3}[.)][ \t]|\(?[a-zA-Z]\)[ \t])")
_SURE_BULLET = re.compile(r"[ \t]*[•▪◦‣●■*+-][ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_LOOK_BACK = 28
_CAPITALISED = frozenset("co int mon fri sun dec mar est spa".split())
"""Abbreviations that in small letters are plain words."""
_CASE_BLIND: Final = "。！？｡؟۔।"


def sentences(text: str, language: Language) -> list[tuple[int, int]]:
    """Ranges of the sentences in order, without outer white space. Everything else between them is white space."""
    found: list[tuple[int, int]] = []
    for start, end in _stretches(text):
        _split(text, start, end, language, found)
    return found


def _stretches(text: str) -> list[tuple[int, int]]:
    """Runs of lines inside which only a terminator ends a sentence."""
    runs: list[tuple[int, int]] = []
    begin = at = 0
    whole = False
    previous = ""
    listed = False
    length = len(text)
    while at < length:
        stop = text.find("\n", at) + 1 or length
        line = text[at:stop]
        bare = line.strip()
        row = _is_row(bare) or _HEADING.match(line) is not None
        item = not row and _begins_item(line, previous, listed=listed)
        if not bare or row or item or whole:
            if at > begin:
                runs.append((begin, at))
            begin = at
        if "\f" in line.rstrip("\f"):
            # A page break inside a line ends nothing; at its start it stands where a blank line would.
            lead = len(line) - len(line.lstrip("\f \t"))
            if "\f" in line[:lead] and at > begin:
                runs.append((begin, at))
                begin = at
        whole = row
        listed = item or (listed and bool(bare))
        previous = bare
        at = stop
    if length > begin:
        runs.append((begin, length))
    return runs


def _is_row(bare: str) -> bool:
    return "\t" in bare or " | " in bare or bare.startswith("|")


def _begins_item(line: str, previous: str, *, listed: bool) -> bool:
    """Whether a line begins a list item, rather than going on with a number or a dash of the line before."""
    if _BULLET.match(line) is None:
        return False
    if not previous or listed or previous[-1] in ".:;!?)":
        word = _WORD_BEFORE.search(previous[:-1])
        return not (previous.endswith(".") and word is not None and _is_pointer(word.group().lower()))
    return _SURE_BULLET.match(line) is not None


def _is_pointer(word: str) -> bool:
    bare = re.split(r"['’(]", word)[-1]
    return bare in NEVER or bare in REFERENCES or len(bare) == 1


def _split(text: str, start: int, end: int, language: Language, found: list[tuple[int, int]]) -> None:
    """Append the sentences of one stretch."""
    begin = start
    for match in _TERMINATOR.finditer(text, start, end):
        stop = match.end()
        if stop >= end or stop <= begin:
            continue
        if match.group()[0] in _CASE_BLIND or _ends(text, begin, match, end, language):
            _append(text, begin, stop, found)
            begin = stop
    _append(text, begin, end, found)


def _append(text: str, start: int, end: int, found: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


def _ends(text: str, begin: int, match: re.Match[str], end: int, language: Language) -> bool:
    """Whether the terminator ends the sentence that began at ``begin``."""
    after = _NEXT.match(text, match.end(), min(end, match.end() + 64))
    opener, word = (after.group(1), after.group(2) or "") if after else ("", "")
    mark = match.group()
    if word and word[0].islower():
        return False
    if mark[0] in "!?" or not mark.startswith(".") or mark.startswith(".."):
        return not _is_reported(text, mark, after.end() if after else 0, end)
    return _stop_ends(text, begin, match, (opener, word), language)


def _is_reported(text: str, mark: str, at: int, end: int) -> bool:
    """``"Really?" Tom asked``: the sentence goes on after the quotation."""
    if mark[-1] not in "\"”’»'":
        return False
    following = re.match(r"\s+(\w+)", text[at : min(end, at + 24)])
    return following is not None and following.group(1).lower() in SAYING


def _stop_ends(text: str, begin: int, match: re.Match[str], after: tuple[str, str], language: Language) -> bool:
    """The same for a single full stop, by the word before it and the word after."""
    opener, word = after
    found = _WORD_BEFORE.search(text[max(begin, match.start() - _LOOK_BACK) : match.start()])
    token = found.group() if found else ""
    first = not text[begin : match.start() - len(token)].strip(" \t\r\n\f\"'“«([*_-")
    bare = re.split(r"['’]", token)[-1].strip("-/&.") if token else ""
    lower = bare.lower()
    starter = not word or (word.lower().rstrip("'’") in STARTERS and not (len(word) == 1 and word not in "AEIO"))
    closed = len(match.group()) > 1 and match.group()[-1] in '"”»'
    if not bare or closed:
        return not closed or not _is_reported(text, match.group(), match.end(), match.end() + 24)
    if first and (bare.isdigit() or re.fullmatch(r"\d+(?:\.\d+)*|[IVXLC]{1,5}|[A-Za-z]", bare)):
        return False
    if language == "en" and lower in ENGLISH_WORDS and lower not in REFERENCES:
        return True
    return _word_ends(text, match, bare, word, starter=starter, opener=opener, language=language)


def _word_ends(  # noqa: PLR0911 - one return a class of abbreviation reads best
    text: str, match: re.Match[str], bare: str, word: str, *, starter: bool, opener: str, language: Language
) -> bool:
    lower = bare.lower()
    if lower in NEVER and (lower not in REFERENCES or bare[0].isupper()):
        return False
    if language == "it" and lower in {"on", "sen", "dir"}:
        return False
    if lower in REFERENCES and not bare.isupper():
        return not _is_number(word, lower, language)
    if lower in CLOCK:
        return word.lower() not in CALENDAR and not word[:1].isdigit()
    if lower in LISTS:
        return not opener or word[:1].isupper()
    if lower in USUALLY and not (lower in _CAPITALISED and bare.islower()):
        return starter or any(mark in opener for mark in '"“«')
    if len(bare) == 1 and bare.isalpha():
        return _letter_ends(text, match, bare, starter=starter)
    if _DOTTED.fullmatch(bare) and any(part.isalpha() for part in bare.split(".")) and "://" not in bare:
        # U.S.-like only with short parts; "example.com" and "file.txt" are words.
        return starter or not all(len(part) <= 2 for part in bare.split("."))  # noqa: PLR2004 - said above
    if bare.isdigit() and language == "de":
        return starter
    return True


def _is_number(word: str, lower: str, language: Language) -> bool:
    """Whether what follows ``art.``, ``fig.``, ``no.`` is a number, a numeral or a letter that it points at."""
    if word[:1].isdigit():
        return True
    if lower in {"no", "nos"}:
        return False
    if _ROMAN.fullmatch(word) and (len(word) > 1 or word != "I" or language == "it"):
        return True
    # "all. A" is an annex in Italian; elsewhere a lone A or I begins a sentence.
    annex = language == "it" and lower in {"all", "alleg", "tav", "sched"}
    return len(word) == 1 and word.isupper() and (annex or word not in {"A", "I", "È", "E", "O"})


def _letter_ends(text: str, match: re.Match[str], letter: str, *, starter: bool) -> bool:
    """``J. Smith`` does not end; ``vitamin C. The``, ``he and I. Mary`` do."""
    if starter:
        return True
    before = text[max(0, match.start() - 24) : match.start() - 1].split()
    return letter == "I" and bool(before) and before[-1].islower()
