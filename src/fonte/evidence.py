"""Passages to scored sentences and to the features that the gate judges.

One pass of the encoder over each passage gives the vectors of all its tokens; sentences are read out of them in their
context. The scorer keeps the token vectors of passages and the evidence of questions that it has seen, so that the
gate and the extractive generator, which look at the same passages one after the other, pay once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from fonte.protocols import Embedder, IndexReader, Terms, TokenEmbedder
from fonte.ranking.evidence import (
    WEIGHTS,
    Piece,
    Scored,
    Word,
    alignment,
    asks_for_number,
    coverage,
    holds_number,
    inverse_document_frequency,
    missing_identifiers,
    only_quoted,
    pooled,
    rows_within,
)
from fonte.retrieve import Retrieved
from fonte.text.normalise import search_form
from fonte.text.sentences import sentences
from fonte.types import UNKNOWN_LANGUAGE, BlockKind, Language, Passage, Query, TokenVectors, Vector, Vectors

MAX_PASSAGES = 5
MAX_PIECES = 80
_REMEMBERED_PASSAGES = 256
_REMEMBERED_QUESTIONS = 64
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_WORD = re.compile(r"\w+(?:[-/.]\w+)*")

Key = TypeVar("Key")
Value = TypeVar("Value")


class _Memory(Generic[Key, Value]):
    """The newest values by key. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            return self._held.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._held[key] = value
            while len(self._held) > self._size:
                self._held.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the best passages hold for a question."""

    scored: tuple[Scored, ...]
    """Sentences, best first."""
    words: tuple[Word, ...]
    """The question's words that say something."""
    alignments: tuple[float, ...]
    """Of each passage as a whole, in ranking order."""


class EvidenceScorer:
    """Scores sentences for one embedder and analyser. Thread-safe."""

    def __init__(self, embedder: Embedder, terms: Terms) -> None:
        self._embedder = embedder
        self._terms = terms
        self._tokens: _Memory[tuple[str, int, int], TokenVectors] = _Memory(_REMEMBERED_PASSAGES)
        self._evidence: _Memory[tuple[str, ...], Evidence] = _Memory(_REMEMBERED_QUESTIONS)

    def score(
        self,
        query: Query,
        passages: Sequence[Passage],
        retrieved: Retrieved | None = None,
        words: Sequence[Word] | None = None,
    ) -> Evidence:
        """Sentences of the first passages by how well they answer.

        Without ``words`` (the question's, with their weights) all weigh the same, unless the same question and
        passages were scored before: then that evidence is given again. ``retrieved`` spares a second embedding of the
        question, and makes passages of several languages comparable.
        """
        key = (query.text, *(f"{passage.stored.chunk.id}:{passage.start}:{passage.end}" for passage in passages))
        known = self._evidence.get(key)
        if known is not None and words is None:
            return known
        vector = retrieved.query_vector if retrieved is not None else None
        if vector is None:
            vector = self._embedder.embed_query(query.text)
        moved = retrieved.shifts if retrieved is not None else {}
        wanted = question_words(query, self._terms, {}, 1) if words is None else words
        evidence = self._scored(query, passages[:MAX_PASSAGES], vector, wanted, moved)
        self._evidence.put(key, evidence)
        return evidence

    def terms_of(self, text: str, languages: Sequence[Language]) -> set[str]:
        """Terms of a text read in each of the languages."""
        return {
            term
            for language in languages or (UNKNOWN_LANGUAGE,)
            for term in self._terms.document_terms(text, language)
        }

    def _scored(
        self,
        query: Query,
        passages: Sequence[Passage],
        vector: Vector,
        words: Sequence[Word],
        moved: Mapping[Language, float],
    ) -> Evidence:
        pieces = [piece for at, passage in enumerate(passages) for piece in _pieces(passage, at)][:MAX_PIECES]
        question, read = self._read(query, passages, vector, pieces)
        shift = [moved.get(passage.stored.chunk.language, 0.0) for passage in passages]
        asks = asks_for_number(query.text)
        scored = []
        for piece, rows in zip(pieces, read, strict=True):
            similarity = float(pooled(rows, vector) @ vector) + shift[piece.passage] if len(rows) else 0.0
            aligned = alignment(question, rows) + shift[piece.passage]
            share = coverage(words, self.terms_of(piece.text, query.languages))
            fits = not asks or holds_number(piece.text)
            score = WEIGHTS.score(similarity, aligned, share, rank=piece.passage + 1, fits=fits)
            scored.append(Scored(piece, score, similarity, aligned, share, fits))
        scored.sort(key=lambda one: (-one.score, one.piece.passage, one.piece.start))
        if isinstance(self._embedder, TokenEmbedder) and self._embedder.shows_tokens:
            tokens = self._passage_tokens(self._embedder, passages)
            whole = [alignment(question, one.vectors) + by for one, by in zip(tokens, shift, strict=True)]
        else:
            whole = [
                max((one.alignment for one in scored if one.piece.passage == at), default=0.0)
                for at in range(len(passages))
            ]
        return Evidence(tuple(scored), tuple(words), tuple(whole))

    def _read(
        self, query: Query, passages: Sequence[Passage], vector: Vector, pieces: Sequence[Piece]
    ) -> tuple[Vectors, list[Vectors]]:
        """The question's vectors (tokens, dim), and those of each sentence.

        Token vectors where the encoder shows them, else one vector for the question and one for each sentence.
        """
        if isinstance(self._embedder, TokenEmbedder) and self._embedder.shows_tokens:
            tokens = self._passage_tokens(self._embedder, passages)
            read = []
            for piece in pieces:
                shift = _content_offset(passages[piece.passage]) - passages[piece.passage].start
                read.append(rows_within(tokens[piece.passage], piece.start + shift, piece.end + shift))
            return self._embedder.question_tokens(query.text).vectors, read
        if not pieces:
            return vector[np.newaxis, :], []
        made = self._embedder.embed_passages([search_form(piece.text) for piece in pieces])
        return vector[np.newaxis, :], [row[np.newaxis, :] for row in made]

    def _passage_tokens(self, embedder: TokenEmbedder, passages: Sequence[Passage]) -> list[TokenVectors]:
        keys = [(passage.stored.chunk.id, passage.start, passage.end) for passage in passages]
        held = {key: self._tokens.get(key) for key in keys}
        unknown = {key: passage for key, passage in zip(keys, passages, strict=True) if held[key] is None}
        made = embedder.passage_tokens([_shown(passage) for passage in unknown.values()]) if unknown else []
        fresh = dict(zip(unknown, made, strict=True))
        for key, value in fresh.items():
            self._tokens.put(key, value)
        return [held[key] or fresh[key] for key in keys]


def _shown(passage: Passage) -> str:
    """What the encoder reads of a passage: its context header, then its characters as they are."""
    context = passage.stored.chunk.context
    return f"{context}\n{passage.content}" if context else passage.content


def _content_offset(passage: Passage) -> int:
    context = passage.stored.chunk.context
    return len(context) + 1 if context else 0


def _pieces(passage: Passage, position: int) -> list[Piece]:
    """What can be quoted of a passage, with its characters in the document.

    A table's row and a line of code are whole; everything else gives its sentences. Headings, rows of column names and
    bare questions answer nothing and are left out.
    """
    text = passage.document.text
    pieces = []
    for kind, start, end in _blocks(passage):
        whole = kind in (BlockKind.ROW, BlockKind.CODE)
        spans = [(start, end)] if whole else _sentences(text, start, end, passage.stored.chunk.language)
        for first, last in spans:
            body = text[first:last]
            if _WORD.search(body) and (whole or not body.rstrip("\"'”’»)").endswith("?")):
                pieces.append(Piece(position, first, last, body))
    return pieces


def _blocks(passage: Passage) -> Iterator[tuple[BlockKind, int, int]]:
    """Kind and characters of the blocks that a passage touches, cut to it; text outside blocks is a paragraph."""
    spans = passage.document.spans
    if not spans:
        yield BlockKind.PARAGRAPH, passage.start, passage.end
        return
    at = bisect_right(spans, passage.start, key=lambda span: span.end)
    for span in islice(spans, at, None):
        if span.start >= passage.end:
            return
        if span.kind is not BlockKind.HEADING and not span.header:
            yield span.kind, max(span.start, passage.start), min(span.end, passage.end)


def _sentences(text: str, start: int, end: int, language: Language) -> list[tuple[int, int]]:
    found = []
    for first, last in sentences(text[start:end], language):
        bullet = _BULLET.match(text, start + first, start + last)
        found.append((bullet.end() if bullet else start + first, start + last))
    return found


def question_words(query: Query, terms: Terms, frequencies: Mapping[str, int], documents: int) -> list[Word]:
    """The words of a question that say something, each with the terms that stand for it and its idf.

    A word is as rare as the commonest of its terms (its stem). With no frequencies all words weigh the same.
    """
    wanted = set(terms.query_terms(query.text, query.languages))
    words = []
    for match in _WORD.finditer(query.text):
        own = frozenset(terms.query_terms(match.group(), query.languages)) & wanted
        if own:
            commonest = max(frequencies.get(term, 0) for term in own)
            words.append(Word(match.group(), own, inverse_document_frequency(commonest, documents)))
    return words


def weighted_words(query: Query, terms: Terms, reader: IndexReader) -> list[Word]:
    """The question's words with their idf among the generation's chunks."""
    frequencies = reader.document_frequencies(terms.query_terms(query.text, query.languages))
    return question_words(query, terms, frequencies, max(reader.generation.chunks, 1))


def features(
    query: Query, retrieved: Retrieved, passages: Sequence[Passage], evidence: Evidence, scorer: EvidenceScorer
) -> dict[str, float]:
    """What the gate judges, each a number with one meaning.

    ``similarity``: of the nearest passage, compared within its language; ``standing``: how far it stands out of the
    candidates, in standard deviations; ``alignment``: of the best passage, token by token; ``sentence``: similarity of
    the best sentence; ``sentence_alignment``: its alignment; ``coverage``: share of the question's words, weighted by
    rarity, in the best passage; ``sentence_coverage``: the same for the best sentences; ``agreement``: 1/rank that BM25
    gives the nearest passage; ``fits``: the best sentence holds the kind of thing asked for; ``code_missing``: share of
    the question's codes that no passage holds; ``quoted``: share of its words that stand only in quotations;
    ``comparable``: whether words can be compared (question and passages share a language).
    """
    dense = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "dense"), ())
    bm25 = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "bm25"), ())
    near = [hit.score for hit in dense] or [1 - (one.hit.dense_distance or 1.0) for one in passages]
    spread = float(np.std(near))
    shown = passages[:MAX_PASSAGES]
    texts = [_shown(passage) for passage in shown]
    present = [scorer.terms_of(text, query.languages) for text in texts]
    ranks = {hit.chunk_id: rank for rank, hit in enumerate(bm25, start=1)}
    nearest = min(shown, key=lambda passage: passage.hit.dense_distance or 0.0).stored.chunk.id
    languages = (*query.languages, UNKNOWN_LANGUAGE)
    best = evidence.scored[0] if evidence.scored else None
    return {
        "similarity": max(near),
        "standing": (max(near) - float(np.mean(near))) / spread if spread > 0 else 0.0,
        "alignment": max(evidence.alignments, default=0.0),
        "sentence": max((one.similarity for one in evidence.scored), default=0.0),
        "sentence_alignment": max((one.alignment for one in evidence.scored), default=0.0),
        "coverage": max((coverage(evidence.words, one) for one in present), default=0.0),
        "sentence_coverage": max((one.coverage for one in evidence.scored[:3]), default=0.0),
        "agreement": 1.0 / ranks[nearest] if nearest in ranks else 0.0,
        "fits": 1.0 if best is not None and best.fits else 0.0,
        "code_missing": missing_identifiers(query.text, texts),
        "quoted": max(
            only_quoted(evidence.words, text, lambda one: scorer.terms_of(one, query.languages)) for text in texts[:3]
        ),
        "comparable": 1.0 if any(one.stored.chunk.language in languages for one in shown[:3]) else 0.0,
    }
