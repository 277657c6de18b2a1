"""Words of a text as they are compared: by stem, and by what the glossary gives for them in the other language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from fonte.text.glossary import OTHER
from fonte.text.stop_words import STOP_WORDS
from fonte.text.terms import Analyser, folded
from fonte.types import Language

_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(
    r"[,;:()–—|]+\s+|\s+[–—-]\s+|\s+(?:and|but|while|whereas|although|because|so that|e|ed|ma|mentre|perche|perché|"
    r"purché|quindi|oppure)\s+"
)
_CLAUSE_WORDS: Final = 3
_PREFIX: Final = 5
"""Letters that two words of one language share from the start to be of one family: approve, approval."""
_EMPTY: Final = frozenset("get take make give use go come do one thing way kind sort prend fare dare".split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its keys: ``own`` by its stem, ``wide`` also by those of its translations."""

    start: int
    end: int
    form: str
    own: str
    wide: frozenset[str]
    content: bool


@cache
def _analyser() -> Analyser:
    return Analyser()


@cache
def _translations(form: str, language: Language) -> frozenset[str]:
    analyser = _analyser()
    other = OTHER.get(language)
    if other is None:
        return frozenset()
    return frozenset(
        f"{other}:{analyser.stem(folded(one), other)}"
        for one in analyser.translations(form, language)
        if " " not in one and "'" not in one
    )


@lru_cache(maxsize=20_000)
def _keys(form: str, language: Language) -> tuple[str, frozenset[str]]:
    own = f"{language}:{_analyser().stem(form, language)}"
    return own, frozenset({own}) | _translations(form, language)


def key(form: str, language: Language) -> str:
    """What forms of one word have in common: language and stem."""
    return _keys(form, language)[0]


def words(text: str, language: Language) -> tuple[Word, ...]:
    """Words in order; those that carry no subject are kept and marked."""
    mute = STOP_WORDS.get(language, frozenset())
    found = []
    for match in _WORD.finditer(text):
        form = folded(match.group())
        own, wide = _keys(form, language)
        found.append(Word(match.start(), match.end(), form, own, wide, len(form) > 1 and form not in mute))
    return tuple(found)


def strength(one: Word, other: Word) -> float:
    """How surely two words say the same: 1 by stem, less through the glossary, 0 where nothing says so.

    Two words of one language that share a translation are often synonyms.
    """
    if one.own == other.own or one.form == other.form:
        return 1.0
    if one.own in other.wide or other.own in one.wide:
        return 0.9
    if one.wide & other.wide:
        return 0.6
    shorter = min(len(one.form), len(other.form))
    alike = next((at for at in range(shorter) if one.form[at] != other.form[at]), shorter)
    same_language = one.own[:3] == other.own[:3]
    return 0.6 if same_language and one.content and alike >= max(_PREFIX, 0.6 * shorter) else 0.0


def clauses(text: str, found: Sequence[Word]) -> list[tuple[int, int]]:
    """Parts of a sentence between marks and joining words, each of some content; short ones go with what precedes."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    parts: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        held = sum(1 for word in found if word.content and start <= word.start < end)
        if parts and held < _CLAUSE_WORDS:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    if len(parts) > 1 and sum(1 for w in found if w.content and w.start < parts[0][1]) < _CLAUSE_WORDS:
        parts[:2] = [(0, parts[1][1])]
    return parts
