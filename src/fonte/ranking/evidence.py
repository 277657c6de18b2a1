"""How well single sentences answer a question: the evidence that the gate judges and the extractive generator cites.

A sentence is scored by what can be seen without a model that reads: cosine similarity of its vector to the
question's, the share of the question's rare terms that it and its passage hold, and whether it holds the kind of
thing that is asked for (a number, a date).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fonte.types import Vector, Vectors

NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|high|large|big|late|early)|what (?:percentage|share|number|amount|age)"
    r"|quant[oiae]|quanto tempo|ogni quanto|che percentuale|quale percentuale|a quanto)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:when|what (?:time|date|year|day)|by which date|which (?:day|year|month)|quando|che ora|a che ora|in che anno"
    r"|che data|in quale data|entro quando|da quando|fino a quando|che giorno)\b",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|gennaio|febbraio"
    r"|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a passage: which passage (position in the ranking, from 0) and its exact characters there."""

    passage: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its evidence. ``score`` orders; the rest explains."""

    piece: Piece
    score: float
    similarity: float
    coverage: float
    fits: bool


def wants_number(question: str) -> bool:
    """Whether the question asks for a quantity or a time."""
    return bool(_QUANTITY.search(question) or _TIME.search(question))


def holds_number(text: str) -> bool:
    """Whether a text holds a figure, a month or a weekday."""
    return bool(NUMBER.search(text) or _MONTH.search(text))


def coverage(wanted: Mapping[str, float], present: set[str]) -> float:
    """Share of the question's terms, weighted by rarity, that are present: 0 to 1; 1 when nothing is wanted."""
    total = math.fsum(wanted.values())
    if total <= 0:
        return 1.0
    return math.fsum(weight for term, weight in wanted.items() if term in present) / total


def inverse_document_frequency(frequency: int, documents: int) -> float:
    """BM25's idf, ln(1 + (N - n + 0.5) / (n + 0.5)): Robertson and Zaragoza (2009)."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def score_pieces(
    question: str,
    query_vector: Vector,
    pieces: Sequence[Piece],
    vectors: Vectors,
    *,
    wanted: Mapping[str, float],
    terms_of: Callable[[str], set[str]],
    passage_similarity: Sequence[float],
) -> list[Scored]:
    """Sentences best first (ties in reading order).

    Args:
        question: as asked.
        query_vector: shape (dim,).
        pieces: the sentences.
        vectors: shape (len(pieces), dim), unit rows, in the pieces' order.
        wanted: the question's terms with their weights.
        terms_of: the analyser, for a sentence.
        passage_similarity: cosine similarity of each passage to the question, by position in the ranking.
    """
    if not pieces:
        return []
    similar = np.asarray(vectors @ query_vector, dtype=np.float64)
    asks_number = wants_number(question)
    scored = []
    for piece, similarity in zip(pieces, similar.tolist(), strict=True):
        share = coverage(wanted, terms_of(piece.text))
        fits = not asks_number or holds_number(piece.text)
        score = similarity + 0.10 * share + 0.25 * passage_similarity[piece.passage] + (0.03 if fits else 0.0)
        scored.append(Scored(piece, score, similarity, share, fits))
    return sorted(scored, key=lambda one: (-one.score, one.piece.passage, one.piece.start))
