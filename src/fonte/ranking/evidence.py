"""How well single sentences answer a question: the evidence that the gate judges and the extractive generator cites.

A sentence is scored by what can be seen without a model that reads: how its vectors stand to the question's, the share
of the question's rare words that it holds, and whether it holds the kind of thing that is asked for. Alignment is late
interaction: the mean, over the question's tokens, of the best cosine with a token of the text (Khattab and Zaharia,
"ColBERT", SIGIR 2020).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fonte.types import Reading, TokenVectors, Vector, Vectors

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|high|low|large|big|late|early|soon)"
    r"|what (?:percentage|share|number|amount|age|price|rate)|quant[oiae]|ogni quanto|che percentuale|quale percentuale"
    r"|che prezzo|when|what (?:time|date|year|day)|(?:by|on|from) (?:which|what) (?:date|day|year)"
    r"|which (?:day|year|month)"
    r"|quando|a che ora|che ora|in che anno|in quale anno|che data|quale data|che giorno|quale giorno)\b",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|gennaio|febbraio"
    r"|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|un|una|due|tre|quattro|cinque|sei|sette|otto"
    r"|nove|dieci|dodici)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?<![\w./-])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])\w+(?:[-./]\w+)*(?![\w-])")
_QUOTATION = re.compile(r"[\"“«‘][^\"“”«»‘’\n]{8,300}[\"”»’]")


WORD = re.compile(r"\w+(?:[-/.]\w+)*")
"""A word of a question."""
NO_ANSWER = -30.0
"""Log odds of what cannot be read: nothing answers there."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question that says something: the terms that stand for it, and how rare it is."""

    text: str
    terms: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a passage: which passage (position in the ranking, from 0) and its exact characters there."""

    passage: int
    start: int
    end: int
    text: str
    row: bool = False
    """Whether it is a row of a table."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its evidence. ``score`` orders; the rest explains."""

    piece: Piece
    score: float
    similarity: float
    alignment: float
    coverage: float
    fits: bool
    odds: float = 0.0
    """Log odds that the answer lies in it, by a reader; 0 without one."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign adds to a sentence's score; fitted once (docs/evaluation.md)."""

    similarity: float = 0.75
    alignment: float = 1.0
    coverage: float = 0.06
    fits: float = 0.015
    rank: float = 0.006
    alone: float = 1.0
    """Of the similarity of a sentence read alone."""
    odds: float = 0.02
    """Of the reader's log odds."""

    def score(
        self, similarity: float, aligned: float, share: float, *, rank: int, fits: bool, odds: float = 0.0
    ) -> float:
        """The score of a sentence in the passage at ``rank``, from 1."""
        return (
            self.similarity * similarity
            + self.alignment * aligned
            + self.coverage * share
            + self.fits * fits
            + self.rank / rank
            + self.odds * odds
        )


WEIGHTS = Weights()


def asks_for_number(question: str) -> bool:
    """Whether the question asks for a quantity or a time."""
    return bool(_QUANTITY.search(question))


def holds_number(text: str) -> bool:
    """Whether a text holds a figure, a month, a weekday or a small number in words."""
    return bool(_NUMBER.search(text) or _MONTH.search(text))


def holds_numbers_of(question: str, text: str) -> bool:
    """Whether every figure of the question stands in the text; true of a question without any."""
    return set(_NUMBER.findall(question)) <= set(_NUMBER.findall(text))


def weakest_word(question: str, words: Sequence[Word], tokens: TokenVectors, text: Vectors) -> float:
    """The least, over the question's words, of the mean of their tokens' best cosines with the rows of ``text``.

    A text that lacks one thing that is asked for may be near as a whole. 1 where the question has no such words.
    """
    if not len(text):
        return 0.0
    wanted = {word.text for word in words if word.weight > 0}
    near = (tokens.vectors @ text.T).max(axis=1)
    least = 1.0
    for match in WORD.finditer(question):
        rows = [at for at, (start, end) in enumerate(tokens.offsets) if start < match.end() and end > match.start()]
        if match.group() in wanted and rows:
            least = min(least, float(near[rows].mean()))
    return least


def coverage(words: Sequence[Word], present: set[str]) -> float:
    """Share of the question's words, weighted by rarity, that stand in a text: 0 to 1; 1 when nothing is wanted."""
    total = math.fsum(word.weight for word in words)
    if total <= 0:
        return 1.0
    return math.fsum(word.weight for word in words if not word.terms.isdisjoint(present)) / total


def inverse_document_frequency(frequency: int, documents: int) -> float:
    """BM25's idf, ln(1 + (N - n + 0.5) / (n + 0.5)): Robertson and Zaragoza (2009)."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def alignment(question: Vectors, text: Vectors) -> float:
    """Mean over the question's tokens (n, dim) of the best cosine with the text's (m, dim); 0 when either is empty."""
    if not len(question) or not len(text):
        return 0.0
    return float((question @ text.T).max(axis=1).mean())


def rows_of(tokens: TokenVectors, piece: Piece) -> list[int]:
    """Rows of the tokens that touch the piece's characters."""
    return [row for row, (first, last) in enumerate(tokens.offsets) if first < piece.end and last > piece.start]


def answer_odds(reading: Reading, rows: Sequence[int]) -> float:
    """Log odds that an answer lies within the rows: the best start there, and the best end not before it."""
    if not rows:
        return NO_ANSWER
    chosen = list(rows)
    starts = np.maximum.accumulate(reading.starts[chosen])
    return float((starts + reading.ends[chosen]).max())


def pooled(vectors: Vectors, fallback: Vector) -> Vector:
    """Unit mean of token vectors; the fallback where there are none."""
    if not len(vectors):
        return fallback
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length, dtype=np.float32) if length > 0 else fallback


def missing_identifiers(question: str, texts: Sequence[str], folded: Callable[[str], str]) -> float:
    """Share of the question's codes (letters and digits in one word) that no text holds; 0 when it names none.

    ``folded`` gives the form in which codes are compared.
    """
    wanted = {match.group() for match in _IDENTIFIER.finditer(folded(question))}
    if not wanted:
        return 0.0
    whole = "\n".join(folded(text) for text in texts)
    absent = [one for one in wanted if not re.search(rf"(?<!\w){re.escape(one)}(?!\w)", whole)]
    return len(absent) / len(wanted)


def only_quoted(words: Sequence[Word], text: str, terms_of: Callable[[str], set[str]]) -> float:
    """Share of the question's words in a text that stand there only between quotation marks.

    A manual on asking questions quotes questions: it holds their words, and not their answers.
    """
    found = terms_of(text)
    held = [word for word in words if not word.terms.isdisjoint(found)]
    if not held or not _QUOTATION.search(text):
        return 0.0
    outside = terms_of(_QUOTATION.sub(" ", text))
    return sum(word.terms.isdisjoint(outside) for word in held) / len(held)
