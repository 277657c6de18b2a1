"""A sentence against the passages it cites: which of its facts stand there, and whether they say the same.

A sentence taken word for word is ``supported`` and costs nothing. Of any other, numbers, units, dates, codes, names,
roles, negations and opposites are looked for in the sentence of the passage that it goes back to: one that no passage
holds, or that says the contrary, makes it ``unsupported``; one that belongs to another sentence makes it ``partial``.
Where nothing is wrong, it is ``supported`` when its words go back to the passage too (and an entailment model, if there
is one, agrees), else ``not_checked``: nothing here claims more than it looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from fonte.deferred import Once
from fonte.errors import ModelError
from fonte.pieces import pieces_of
from fonte.protocols import Entailer, SeesTokens
from fonte.text.claims import comparison, contraries, quantities, turning
from fonte.text.claims.alignment import Aligned, Near, align
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.days import same_day
from fonte.text.claims.reading import Statement, statement
from fonte.text.claims.wording import Word
from fonte.text.stop_words import STOP_WORDS
from fonte.text.terms import folded
from fonte.types import Language, Passage, Support, TokenVectors

SupportPolicy = Literal["flag", "drop", "abstain"]
"""What becomes of an unsupported sentence: shown as such, left out, or with it the whole answer."""
CHECKED_LANGUAGES: Final = frozenset({"en", "it"})
EVERYWHERE: Final = frozenset({"numbers", "dates", "codes"})
"""Checks of other languages too: figures are read without words, of months only the English and Italian names."""
COVERED: Final = 0.5
"""Share of a claim's words that must go back to the passage before it is called supported."""
UNCOVERED: Final = 0.2
"""Below this share of its words it is partly supported at most."""
ENTAILED: Final = 0.5
"""Probability from which an entailment model is believed that a source says it."""
CONTRADICTED: Final = 0.1
_CHECKS: Final[Sequence[tuple[str, Callable[[Scope], Iterable[Finding]]]]] = (
    ("numbers", quantities.numbers),
    ("units", quantities.rates),
    ("dates", comparison.dates),
    ("codes", comparison.codes),
    ("names", comparison.names),
    ("roles", comparison.roles),
    ("negation", turning.negations),
    ("opposites", contraries.opposites),
    ("clauses", comparison.merged),
)
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of a passage: which passage, where in its document, and what it says."""

    passage: int
    start: int
    said: Statement


class DeferredEntailer:
    """An entailment model, loaded when it is first asked. Where that fails every sentence hears why, and none waits."""

    def __init__(self, source: str, load: Callable[[], Entailer]) -> None:
        """``source`` names it until it is loaded, ``load`` makes it."""
        self._source = source
        self._loaded = Once(load)

    @property
    def id(self) -> str:
        """Which model it is, or where it cannot be loaded its source. Loads it."""
        try:
            return self._loaded.there().id
        except ModelError:
            return self._source

    def score(self, premise: str, hypothesis: str) -> float:
        """As the loaded model, or raise what loading raised."""
        return self._loaded.there().score(premise, hypothesis)


class SupportChecker:
    """Judges the sentences of one answer: an entailment model that failed is not asked again, and ``notes`` say so."""

    def __init__(self, sees: SeesTokens | None = None, entailer: Entailer | None = None) -> None:
        """``sees`` shows the tokens that an encoder made of passages; without it words are compared as letters."""
        self._sees = sees
        self._entailer = entailer
        self._failed = ""

    @property
    def entails(self) -> bool:
        """Whether there is an entailment model."""
        return self._entailer is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer should tell of the checks beyond its sentences."""
        return (f"entailment was not checked: {self._failed}",) if self._failed else ()

    def check(
        self,
        sentence: str,
        cited: Sequence[Passage],
        *,
        language: Language,
        verbatim: bool = False,
        entail: bool = True,
    ) -> tuple[Support, dict[str, str | float]]:
        """Verdict and checks of one sentence (its markers already taken out).

        Args:
            sentence: the claim.
            cited: the passages whose markers it carries.
            language: of the answer; the sentence's own words may show another one.
            verbatim: it was cut from one of them and its hash was checked.
            entail: the entailment model is asked, where there is one.

        Raises:
            ModelUnavailable, BadModelOutput: the encoder failed.
        """
        if not cited:
            return "unsupported", {"citation": "missing"}
        if verbatim or _stands_in(sentence, cited):
            return "supported", {"verbatim": "ok", "numbers": "ok"}
        return self.compare(sentence, cited, language=language, entail=entail)

    def compare(
        self, sentence: str, cited: Sequence[Passage], *, language: Language, entail: bool = True
    ) -> tuple[Support, dict[str, str | float]]:
        """The same by comparing alone, also for a sentence that stands in its passage word for word."""
        claim = statement(sentence, _language_of(sentence, language))
        places = [place for at, passage in enumerate(cited) for place in _places(at, passage)]
        if not places:
            return "unsupported", {"citation": "empty"}
        near = self._near(claim, cited, places)
        aligned = align(claim, [place.said for place in places], near)
        return self._judged(aligned, Scope(aligned, tuple(_context(cited))), entail=entail and self.entails)

    def _judged(self, aligned: Aligned, scope: Scope, *, entail: bool) -> tuple[Support, dict[str, str | float]]:
        languages = {aligned.claim.language, *(one.language for one in scope.used)}
        known = languages <= CHECKED_LANGUAGES
        checks: dict[str, str | float] = {}
        found: list[Finding] = []
        for name, check in _CHECKS:
            applies = known or name in EVERYWHERE
            wrong = list(check(scope)) if applies else []
            found += wrong
            checks.setdefault(name, "ok" if applies else "not checked")
            for one in wrong:
                told = checks.get(one.check, "ok")
                checks[one.check] = one.what if told == "ok" else f"{told}; {one.what}"
        covered = aligned.covered(aligned.used)
        checks["alignment"] = round(covered, 4)
        entailed = self._entailed(aligned) if entail else None
        if entail:
            checks["entailment"] = "not checked" if entailed is None else round(entailed, 4)
        # A translation may share no word that the glossary knows; what has the same facts may use other words.
        least = 0.0 if len(languages) > 1 or quantities.backed(scope) else UNCOVERED
        verdict = _verdict(found, covered, entailed, known=known, least=least)
        if entail and entailed is None and verdict == "supported":
            verdict = "not_checked"
        return verdict, checks

    def _entailed(self, aligned: Aligned) -> float | None:
        """What the entailment model says; None where it fails, or failed for a sentence before."""
        if self._entailer is None or self._failed:
            return None
        premise = " ".join(aligned.sources[at].text for at in sorted(aligned.used))
        try:
            return self._entailer.score(premise, aligned.claim.text)
        except ModelError as error:
            self._failed = error.message
            return None

    def _near(
        self, claim: Statement, cited: Sequence[Passage], places: Sequence[_Place]
    ) -> Callable[[int], Near] | None:
        """How near the claim's words are to those of each sentence, by the encoder's tokens in their context."""
        if self._sees is None:
            return None
        shown = self._sees.passages_seen(cited)
        own = self._sees.sentence_seen(claim.text)
        if shown is None or own is None:
            return None
        return _Nearness(claim, own, shown, places).to


class _Nearness:
    """Words of a claim and of sentences as centered unit vectors.

    Token vectors of one encoder share a large common part, which is taken away: the mean over the passages' tokens.
    """

    def __init__(
        self, claim: Statement, own: TokenVectors, shown: Sequence[TokenVectors], places: Sequence[_Place]
    ) -> None:
        self._places = places
        self._shown = shown
        self._mean = np.concatenate([one.vectors for one in shown]).mean(axis=0)
        self._claim = self._rows(own, claim.words, 0)

    def to(self, at: int) -> Near:
        """Cosines of the claim's words (rows) with those of a sentence."""
        place = self._places[at]
        near: Near = self._claim @ self._rows(self._shown[place.passage], place.said.words, place.start).T
        return near

    def _rows(self, tokens: TokenVectors, words: Sequence[Word], shift: int) -> Near:
        """One centered unit row for each word, the mean of its tokens; zero for a word without any."""
        rows = np.zeros((len(words), len(self._mean)), np.float32)
        first = 0
        for at, word in enumerate(words):
            start, end = word.start + shift, word.end + shift
            while first < len(tokens.offsets) and tokens.offsets[first][1] <= start:
                first += 1
            last = first
            while last < len(tokens.offsets) and tokens.offsets[last][0] < end:
                last += 1
            if last > first:
                rows[at] = tokens.vectors[first:last].mean(axis=0) - self._mean
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Near = rows / np.maximum(lengths, np.float32(1e-6))
        return unit


def _verdict(found: Sequence[Finding], covered: float, entailed: float | None, *, known: bool, least: float) -> Support:
    if any(one.grave for one in found):
        return "unsupported"
    if entailed is not None and entailed < CONTRADICTED:
        return "unsupported"
    if any(one.sure for one in found) or covered < least or (entailed is not None and entailed < ENTAILED):
        return "partial"
    if entailed is not None:
        return "supported"
    return "supported" if known and covered >= COVERED and not found else "not_checked"


def _places(at: int, passage: Passage) -> list[_Place]:
    """The sentences and rows of a passage; of one that has none, all of it."""
    language = passage.stored.chunk.language
    pieces = pieces_of(passage, at, lambda _: True)
    if not pieces:
        return [_Place(at, passage.start, statement(passage.content, language))] if passage.content.strip() else []
    return [_Place(at, one.start, statement(one.text, language)) for one in pieces]


def _context(cited: Sequence[Passage]) -> Iterable[Statement]:
    """What holds for every sentence of a passage: title and headings."""
    for passage in cited:
        chunk = passage.stored.chunk
        for text in dict.fromkeys((passage.document.title, chunk.context, " > ".join(chunk.section))):
            if text:
                yield statement(text, chunk.language)


def _stands_in(sentence: str, cited: Sequence[Passage]) -> bool:
    """Whether a sentence is one of a passage's but for case and marks."""
    plain = _plain(sentence)
    pieces = (piece for passage in cited for piece in pieces_of(passage, 0, lambda _: True))
    return any(_plain(one.text) == plain for one in pieces)


def _plain(text: str) -> str:
    """Letters and figures, with the signs that change what they mean."""
    return " ".join(re.findall(r"[^\W_]+(?:[.,:/][^\W_]+)*|[%€£$°<>=+-]", text.casefold()))


def _language_of(sentence: str, language: Language) -> Language:
    """English or Italian where a sentence's function words are plainly of one of them, else what was said."""
    words = [folded(match.group()) for match in _WORDS.finditer(sentence)]
    hits = {one: sum(word in STOP_WORDS[one] for word in words) for one in sorted(CHECKED_LANGUAGES)}
    best = max(hits, key=lambda one: hits[one])
    others = max(count for one, count in hits.items() if one != best)
    return best if hits[best] > others + 1 else language


def missing_figures(sentence: str, sources: Iterable[str], language: Language = "en") -> list[str]:
    """Numbers, dates and hours of a sentence that none of the sources holds anywhere, as they are written."""
    claim = statement(sentence, language)
    known = [statement(source, language) for source in sources]
    years = frozenset[int]().union(*(one.years for one in known))
    absent = [
        one.text
        for one in claim.figures
        if not one.common and not any(quantities.held(one, source) for source in known)
    ]
    absent += [
        one.text
        for one in claim.days
        if not any(same_day(one, other, years) for source in known for other in source.days)
    ]
    return absent
