"""A question's words in another language, out of a small glossary of our own (English and Italian).

It serves the lexical leg alone: multilingual encoders compare meanings across languages, and BM25 cannot compare words
across them at all. Each word stands for all its translations at once, as in dictionary-based retrieval across languages
(Ballesteros and Croft, SIGIR 1997); what no glossary holds (names, codes, numbers) stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from fonte.types import Language

OTHER: Mapping[Language, Language] = {"en": "it", "it": "en"}
MOST = 5
"""Translations of one word."""

Fold = Callable[[str], str]
Stem = Callable[[str, Language], str]


class Glossary:
    """Translations by word and, where inflection hides it, by stem; ``stem`` takes a folded word and its language."""

    def __init__(self, fold: Fold, stem: Stem) -> None:
        self._fold = fold
        self._stem = stem
        self._known: dict[Language, tuple[Mapping[str, list[str]], Mapping[str, list[str]]]] = {}

    def of(self, word: str, source: Language) -> Sequence[str]:
        """Translations of a word out of ``source`` into the other language, likeliest first; none where unknown."""
        if source not in OTHER:
            return ()
        words, stems = self._words(source)
        folded = self._fold(word)
        return (words.get(folded) or stems.get(self._stem(folded, source)) or [])[:MOST]

    def _words(self, source: Language) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        if source not in self._known:
            words: dict[str, list[str]] = {}
            stems: dict[str, list[str]] = {}
            for word, translations in _pairs(source):
                folded = self._fold(word)
                for held, key in ((words, folded), (stems, self._stem(folded, source))):
                    own = held.setdefault(key, [])
                    own += [one for one in translations if one not in own]
            self._known[source] = (words, stems)
        return self._known[source]


@cache
def _pairs(source: Language) -> list[tuple[str, list[str]]]:
    """Entries of a language as they are listed, then those of the other language turned round."""
    listed: list[tuple[str, list[str]]] = []
    turned: list[tuple[str, list[str]]] = []
    lines = (files("fonte.text") / "data" / "glossary-en-it.tsv").read_text(encoding="utf-8").splitlines()
    for language, word, translations in (line.split("\t") for line in lines):
        others = translations.split("|")
        if language == source:
            listed.append((word, others))
        else:
            turned += [(one, [word]) for one in others]
    return listed + turned
