"""Passages to scored sentences and to the features that the gate judges.

One pass of the encoder over each passage gives the vectors of all its tokens; sentences are read out of them in their
context. The scorer keeps the token vectors of passages and the evidence of questions that it has seen, so that the
gate and the extractive generator, which look at the same passages one after the other, pay once.

Neighbouring chunks that overlap are one passage, which may be longer than the encoder's window: it is read in several
windows, and a piece (a block of code, a row) that does not fit is cut into lines or runs of words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from fonte.text.terms import folded
from fonte.text.windows import Fits, cut_to_fit, windows
from fonte.types import UNKNOWN_LANGUAGE, BlockKind, Language, Passage, Query, TokenVectors, Vector, Vectors

MAX_PASSAGES = 5
MAX_PIECES = 200
"""More than a full context of prose or rows holds."""
SHORTLIST = 12
"""Sentences that are read alone as well."""
_REMEMBERED_PASSAGES = 256
_REMEMBERED_QUESTIONS = 64
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_LINE = re.compile(r"[^\n]+")
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
            term for language in languages or (UNKNOWN_LANGUAGE,) for term in self._terms.document_terms(text, language)
        }

    def _scored(
        self,
        query: Query,
        passages: Sequence[Passage],
        vector: Vector,
        words: Sequence[Word],
        moved: Mapping[Language, float],
    ) -> Evidence:
        fitting = [self._fitting(passage) for passage in passages]
        by_passage = [_pieces(passage, at, fitting[at]) for at, passage in enumerate(passages)]
        pieces = [piece for some in by_passage for piece in some][:MAX_PIECES]
        tokens = self._passage_tokens(passages, by_passage, fitting)
        question, read = self._read(query, passages, vector, pieces, tokens)
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
        scored.sort(key=_order)
        if tokens is not None:
            scored = self._read_alone(passages, scored, vector, shift)
            whole = [alignment(question, one.vectors) + by for one, by in zip(tokens, shift, strict=True)]
        else:
            whole = [
                max((one.alignment for one in scored if one.piece.passage == at), default=0.0)
                for at in range(len(passages))
            ]
        return Evidence(tuple(scored), tuple(words), tuple(whole))

    def _read_alone(
        self, passages: Sequence[Passage], scored: Sequence[Scored], vector: Vector, shift: Sequence[float]
    ) -> list[Scored]:
        """The first sentences judged once more by a vector of their own, under their passage's header.

        In its passage a sentence's tokens lean towards what stands around it; alone it says only what it says.
        """
        tokenizer = self._embedder.tokenizer
        room = tokenizer.window - tokenizer.overhead
        texts = {
            at: text
            for at, one in enumerate(scored[:SHORTLIST])
            if tokenizer.count(text := search_form(_headed(passages[one.piece.passage], one.piece.text))) <= room
        }
        if not texts:
            return list(scored)
        near = dict(zip(texts, (self._embedder.embed_passages(list(texts.values())) @ vector).tolist(), strict=True))
        again = []
        for at, one in enumerate(scored):
            if at in near:
                own = near[at] + shift[one.piece.passage]
                both = replace(one, similarity=(one.similarity + own) / 2, score=one.score + WEIGHTS.alone * own)
                again.append(both)
            else:
                again.append(one)
        return sorted(again, key=_order)

    def _read(
        self,
        query: Query,
        passages: Sequence[Passage],
        vector: Vector,
        pieces: Sequence[Piece],
        tokens: Sequence[TokenVectors] | None,
    ) -> tuple[Vectors, list[Vectors]]:
        """The question's vectors (tokens, dim), and those of each sentence.

        Token vectors where the encoder shows them, else one vector for the question and one for each sentence.
        """
        if tokens is not None and isinstance(self._embedder, TokenEmbedder):
            read = [rows_within(tokens[piece.passage], piece.start, piece.end) for piece in pieces]
            return self._embedder.question_tokens(query.text).vectors, read
        if not pieces:
            return vector[np.newaxis, :], []
        made = self._embedder.embed_passages([search_form(_headed(passages[one.passage], one.text)) for one in pieces])
        return vector[np.newaxis, :], [row[np.newaxis, :] for row in made]

    def _fitting(self, passage: Passage) -> Fits:
        """Whether a text of the passage, in the form that the encoder reads, is short enough for its window."""
        tokenizer = self._embedder.tokenizer
        room = tokenizer.window - tokenizer.overhead
        if self._shows_tokens:
            return lambda text: tokenizer.count(_headed(passage, text)) <= room
        return lambda text: tokenizer.count(search_form(_headed(passage, text))) <= room

    @property
    def _shows_tokens(self) -> bool:
        return isinstance(self._embedder, TokenEmbedder) and self._embedder.shows_tokens

    def _passage_tokens(
        self, passages: Sequence[Passage], pieces: Sequence[Sequence[Piece]], fitting: Sequence[Fits]
    ) -> list[TokenVectors] | None:
        """Of each passage the vectors of its tokens with their characters in the document; None for an endpoint."""
        if not isinstance(self._embedder, TokenEmbedder) or not self._embedder.shows_tokens:
            return None
        keys = [(passage.stored.chunk.id, passage.start, passage.end) for passage in passages]
        held = [self._tokens.get(key) for key in keys]
        stretches: list[tuple[int, int, int]] = []
        for at, passage in enumerate(passages):
            if held[at] is None:
                borders = [piece.start for piece in pieces[at]]
                stretches += [(at, *one) for one in _stretches(passage, borders, fitting[at])]
        texts = [_headed(passages[at], passages[at].document.text[start:end]) for at, start, end in stretches]
        made = self._embedder.passage_tokens(texts) if texts else []
        read: dict[int, list[TokenVectors]] = {}
        for (at, start, _), tokens in zip(stretches, made, strict=True):
            read.setdefault(at, []).append(_placed(tokens, passages[at], start))
        for at, some in read.items():
            self._tokens.put(keys[at], joined := _one(some))
            held[at] = joined
        return [tokens for tokens in held if tokens is not None]


def _order(one: Scored) -> tuple[float, int, int]:
    return -one.score, one.piece.passage, one.piece.start


def _stretches(passage: Passage, borders: Sequence[int], fits: Fits) -> list[tuple[int, int]]:
    """The passage as one stretch when the encoder can read it at once, else in several that it can."""
    if fits(passage.content):
        return [(passage.start, passage.end)]
    return windows(passage.document.text, passage.start, passage.end, borders, fits)


def _placed(tokens: TokenVectors, passage: Passage, start: int) -> TokenVectors:
    """Offsets in what the encoder read to characters of the document.

    The context header's tokens stand before the passage; those of a later window's header, which say the same again,
    are left out.
    """
    shift = start - _content_offset(passage)
    moved = [(first + shift, last + shift) for first, last in tokens.offsets]
    rows = [row for row, (_, last) in enumerate(moved) if start == passage.start or last > start]
    return TokenVectors(tuple(moved[row] for row in rows), tokens.vectors[rows])


def _one(parts: Sequence[TokenVectors]) -> TokenVectors:
    if len(parts) == 1:
        return parts[0]
    offsets = tuple(offset for part in parts for offset in part.offsets)
    return TokenVectors(offsets, np.concatenate([part.vectors for part in parts]))


def _headed(passage: Passage, text: str) -> str:
    """What the encoder reads of a text of the passage: the context header, then its characters as they are."""
    context = passage.stored.chunk.context
    return f"{context}\n{text}" if context else text


def _content_offset(passage: Passage) -> int:
    context = passage.stored.chunk.context
    return len(context) + 1 if context else 0


def _pieces(passage: Passage, position: int, fits: Fits) -> list[Piece]:
    """What can be quoted of a passage, with its characters in the document.

    A table's row and a block of code are whole; everything else gives its sentences. Headings, rows of column names and
    bare questions answer nothing and are left out. What is longer than the encoder reads at once is cut: code into its
    lines, anything else between words.
    """
    text = passage.document.text
    short = fits(passage.content)
    pieces = []
    for kind, start, end in _blocks(passage):
        whole = kind in (BlockKind.ROW, BlockKind.CODE)
        spans = [(start, end)] if whole else _sentences(text, start, end, passage.stored.chunk.language)
        if kind is BlockKind.CODE and not short and not fits(text[start:end]):
            spans = [match.span() for match in _LINE.finditer(text, start, end)]
        if not short:
            spans = [part for first, last in spans for part in _cut(text, first, last, fits)]
        for first, last in spans:
            body = text[first:last]
            if _WORD.search(body) and (whole or not body.rstrip("\"'”’»)").endswith("?")):
                pieces.append(Piece(position, first, last, body))
    return pieces


def _cut(text: str, start: int, end: int, fits: Fits) -> list[tuple[int, int]]:
    return [(start, end)] if fits(text[start:end]) else cut_to_fit(text, start, end, fits)


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
    near = [hit.score for hit in dense] or [1 - _distance(one) for one in passages]
    spread = float(np.std(near))
    shown = passages[:MAX_PASSAGES]
    texts = [_headed(passage, passage.content) for passage in shown]
    present = [scorer.terms_of(text, query.languages) for text in texts]
    ranks = {hit.chunk_id: rank for rank, hit in enumerate(bm25, start=1)}
    nearest = min(shown, key=_distance).stored.chunk.id
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
        "code_missing": missing_identifiers(query.text, texts, folded),
        "quoted": max(
            only_quoted(evidence.words, text, lambda one: scorer.terms_of(one, query.languages)) for text in texts[:3]
        ),
        "comparable": 1.0 if any(one.stored.chunk.language in languages for one in shown[:3]) else 0.0,
    }


def _distance(passage: Passage) -> float:
    """Cosine distance of a passage; where it was not looked at, that of texts which have nothing in common."""
    distance = passage.hit.dense_distance
    return 1.0 if distance is None else distance
