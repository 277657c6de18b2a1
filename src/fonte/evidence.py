"""Passages to scored sentences and to the features that the gate judges.

One pass of the encoder over each passage gives the vectors of all its tokens; sentences are read out of them in their
context, and where a reader belongs to the encoder it goes on from there and says where the passage answers. The scorer
keeps the tokens of passages and the evidence of questions that it has seen, so that the gate and the extractive
generator, which look at the same passages one after the other, pay once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from fonte.pieces import headed, joined, pieces_of, placed, stretches
from fonte.protocols import Embedder, Reader, Terms, TokenEmbedder
from fonte.ranking.evidence import (
    NO_ANSWER,
    WEIGHTS,
    Piece,
    Scored,
    Word,
    alignment,
    answer_odds,
    asks_for_number,
    coverage,
    holds_number,
    holds_numbers_of,
    missing_identifiers,
    only_quoted,
    pooled,
    rows_of,
    weakest_word,
)
from fonte.retrieve import LATE, RERANK, Retrieved
from fonte.text.normalise import search_form
from fonte.text.terms import folded
from fonte.text.windows import Fits
from fonte.types import UNKNOWN_LANGUAGE, Language, Passage, Query, Reading, TokenVectors, Vector, Vectors
from fonte.words import question_words, terms_of

MAX_PASSAGES = 5
MAX_PIECES = 200
"""More than a full context of prose or rows holds."""
SURE = 6.0
"""The most that the gate believes of a reader's log odds, either way."""
SHORTLIST = 12
"""Sentences that are read alone as well."""
_REMEMBERED_PASSAGES = 64
_REMEMBERED_QUESTIONS = 64

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
class _Seen:
    """A passage as the encoder saw it: window by window, and as one. Offsets are characters of the document."""

    parts: tuple[TokenVectors, ...]
    whole: TokenVectors


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the best passages hold for a question."""

    scored: tuple[Scored, ...]
    """Sentences, best first."""
    words: tuple[Word, ...]
    """The question's words that say something."""
    alignments: tuple[float, ...]
    """Of each passage as a whole, in ranking order."""
    readings: tuple[float, ...] = ()
    """Log odds of each passage that it answers, in ranking order; nothing without a reader."""
    weakest: float = 0.0
    """Of the question's words, the least cosine with a token of the best sentence; 0 where no tokens are shown."""


class EvidenceScorer:
    """Scores sentences for one embedder and analyser. Thread-safe."""

    def __init__(self, embedder: Embedder, terms: Terms, reader: Reader | None = None) -> None:
        """``reader`` goes on from the states that ``embedder`` shows; with None sentences are compared, not read."""
        self._embedder = embedder
        self._terms = terms
        self._reader = reader
        self._seen: _Memory[tuple[str, int, int], _Seen] = _Memory(_REMEMBERED_PASSAGES)
        self._evidence: _Memory[tuple[str, ...], Evidence] = _Memory(_REMEMBERED_QUESTIONS)

    @property
    def reader_id(self) -> str:
        """Which reader gives the odds; empty without one. A gate fitted with one does not fit another's odds."""
        return self._reader.id if self._reader is not None else ""

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

    def passages_seen(self, passages: Sequence[Passage]) -> list[TokenVectors] | None:
        """Tokens of each passage, offsets in its document; None where the encoder shows none."""
        fitting = [self._fitting(passage) for passage in passages]
        pieces = [pieces_of(passage, at, fitting[at]) for at, passage in enumerate(passages)]
        seen = self._passages_seen(passages, pieces, fitting)
        return None if seen is None else [one.whole for one in seen]

    def sentence_seen(self, text: str) -> TokenVectors | None:
        """Tokens of a sentence of an answer; None where the encoder shows none or it is too long for it."""
        tokenizer = self._embedder.tokenizer
        if not self._shows_tokens or tokenizer.count(text) > tokenizer.window - tokenizer.overhead:
            return None
        return self._tokens().passage_tokens([text])[0]

    def terms_of(self, text: str, query: Query, passage: Passage) -> set[str]:
        """Terms of a text of the passage, in its own language and in those that the question may be in."""
        return terms_of(self._terms, text, query, passage.stored.chunk.language)

    def _scored(
        self,
        query: Query,
        passages: Sequence[Passage],
        vector: Vector,
        words: Sequence[Word],
        moved: Mapping[Language, float],
    ) -> Evidence:
        fitting = [self._fitting(passage) for passage in passages]
        by_passage = [pieces_of(passage, at, fitting[at]) for at, passage in enumerate(passages)]
        pieces = [piece for some in by_passage for piece in some][:MAX_PIECES]
        shift = [moved.get(passage.stored.chunk.language, 0.0) for passage in passages]
        seen = self._passages_seen(passages, by_passage, fitting)
        if seen is None:
            rows = self._piece_vectors(passages, pieces)
            question = vector[np.newaxis, :]
            readings: list[Reading] | None = None
        else:
            rows = [seen[one.passage].whole.vectors[rows_of(seen[one.passage].whole, one)] for one in pieces]
            tokens = self._tokens().question_tokens(query.text)
            question, readings = tokens.vectors, self._readings(tokens, seen)
        odds = [0.0] * len(pieces)
        if readings is not None and seen is not None:
            odds = [answer_odds(readings[one.passage], rows_of(seen[one.passage].whole, one)) for one in pieces]
        near = [
            float(pooled(own, vector) @ vector) + shift[one.passage] if len(own) else 0.0
            for one, own in zip(pieces, rows, strict=True)
        ]
        aligned = [alignment(question, own) + shift[one.passage] for one, own in zip(pieces, rows, strict=True)]
        scored = self._weighed(query, passages, words, pieces, near, aligned, odds)
        weakest = 0.0
        if seen is not None:
            scored = self._read_alone(passages, scored, vector, shift)
            if scored:
                held, best_piece = seen[scored[0].piece.passage].whole, scored[0].piece
                weakest = weakest_word(query.text, words, tokens, held.vectors[rows_of(held, best_piece)])
            whole = [alignment(question, one.whole.vectors) + by for one, by in zip(seen, shift, strict=True)]
        else:
            whole = [
                max((one.alignment for one in scored if one.piece.passage == at), default=0.0)
                for at in range(len(passages))
            ]
        best = [
            max((one.odds for one in scored if one.piece.passage == at), default=NO_ANSWER)
            for at in range(len(passages) if readings is not None else 0)
        ]
        return Evidence(tuple(scored), tuple(words), tuple(whole), tuple(best), weakest)

    def _weighed(
        self,
        query: Query,
        passages: Sequence[Passage],
        words: Sequence[Word],
        pieces: Sequence[Piece],
        near: Sequence[float],
        aligned: Sequence[float],
        odds: Sequence[float],
    ) -> list[Scored]:
        """Sentences with all their signs, best first."""
        asks = asks_for_number(query.text)
        scored = []
        for piece, similarity, late, read in zip(pieces, near, aligned, odds, strict=True):
            share = coverage(words, self.terms_of(piece.text, query, passages[piece.passage]))
            fits = not asks or holds_number(piece.text)
            score = WEIGHTS.score(similarity, late, share, rank=piece.passage + 1, fits=fits, odds=read)
            scored.append(Scored(piece, score, similarity, late, share, fits, read))
        return sorted(scored, key=_order)

    def _readings(self, question: TokenVectors, seen: Sequence[_Seen]) -> list[Reading] | None:
        """What the reader finds in each passage, its windows side by side; None where there is no reader."""
        if self._reader is None:
            return None
        parts = [part for one in seen for part in one.parts]
        if any(part.states is None for part in (question, *parts)):
            return None
        read = iter(self._reader.read(question, parts))
        found = []
        for one in seen:
            own = [next(read) for _ in one.parts]
            found.append(
                Reading(np.concatenate([part.starts for part in own]), np.concatenate([part.ends for part in own]))
            )
        return found

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
            if tokenizer.count(text := search_form(headed(passages[one.piece.passage], one.piece.text))) <= room
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

    def _piece_vectors(self, passages: Sequence[Passage], pieces: Sequence[Piece]) -> list[Vectors]:
        """One vector for each sentence, under its passage's header, where the encoder shows no tokens."""
        if not pieces:
            return []
        made = self._embedder.embed_passages([search_form(headed(passages[one.passage], one.text)) for one in pieces])
        return [row[np.newaxis, :] for row in made]

    def _fitting(self, passage: Passage) -> Fits:
        """Whether a text of the passage, in the form that the encoder reads, is short enough for its window."""
        tokenizer = self._embedder.tokenizer
        room = tokenizer.window - tokenizer.overhead
        if self._shows_tokens:
            return lambda text: tokenizer.count(headed(passage, text)) <= room
        return lambda text: tokenizer.count(search_form(headed(passage, text))) <= room

    @property
    def _shows_tokens(self) -> bool:
        return isinstance(self._embedder, TokenEmbedder) and self._embedder.shows_tokens

    def _tokens(self) -> TokenEmbedder:
        if not isinstance(self._embedder, TokenEmbedder):
            raise TypeError("this embedder shows no tokens")
        return self._embedder

    def _passages_seen(
        self, passages: Sequence[Passage], pieces: Sequence[Sequence[Piece]], fitting: Sequence[Fits]
    ) -> list[_Seen] | None:
        """Each passage as the encoder sees it; None for one that shows no tokens, as endpoints do."""
        if not self._shows_tokens:
            return None
        keys = [(passage.stored.chunk.id, passage.start, passage.end) for passage in passages]
        known = {key: one for key in keys if (one := self._seen.get(key)) is not None}
        wanted: list[tuple[int, int, int]] = []
        for at, passage in enumerate(passages):
            if keys[at] not in known:
                borders = [piece.start for piece in pieces[at]]
                wanted += [(at, *one) for one in stretches(passage, borders, fitting[at])]
        texts = [headed(passages[at], passages[at].document.text[start:end]) for at, start, end in wanted]
        made = self._tokens().passage_tokens(texts) if texts else []
        read: dict[int, list[TokenVectors]] = {}
        for (at, start, _), tokens in zip(wanted, made, strict=True):
            read.setdefault(at, []).append(placed(tokens, passages[at], start))
        for at, parts in read.items():
            self._seen.put(keys[at], one := _Seen(tuple(parts), joined(parts)))
            known[keys[at]] = one
        return [known[key] for key in keys]


def _order(one: Scored) -> tuple[float, int, int]:
    return -one.score, one.piece.passage, one.piece.start


def features(
    query: Query, retrieved: Retrieved, passages: Sequence[Passage], evidence: Evidence, scorer: EvidenceScorer
) -> dict[str, float]:
    """What the gate judges, each a number with one meaning.

    ``similarity``: of the nearest passage, compared within its language; ``standing``: how far it stands out of the
    candidates, in standard deviations; ``alignment``: of the best passage, token by token; ``sentence``: similarity of
    the best sentence; ``sentence_alignment``: its alignment; ``coverage``: share of the question's words, weighted by
    rarity, in the best passage; ``sentence_coverage``: the same for the best sentences; ``reading``: log odds that a
    passage answers, by the reader, within -6 and 6 (0 without one); ``agreement``: 1/rank that BM25
    gives the nearest passage; ``fits``: the best sentence holds the kind of thing asked for; ``code_missing``: share of
    the question's codes that no passage holds; ``quoted``: share of its words that stand only in quotations;
    ``comparable``: whether words can be compared (question and passages share a language); ``weakest``: of the
    question's words, the least cosine with the best sentence; ``numbers``: whether that sentence holds all numbers of
    the question; ``late``: late interaction of the passage that it puts first, ``late_ahead``: its lead on the next.
    """
    dense = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "dense"), ())
    bm25 = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "bm25"), ())
    # Only late interaction's own: scores of other rerankers are of other scales.
    late = [
        hit.score
        for ranking in retrieved.rankings
        if ranking.stage == RERANK and retrieved.reranker.startswith(LATE)
        for hit in ranking.hits
    ]
    moved = retrieved.shifts
    near = [hit.score for hit in dense] or [
        1 - _distance(one) + moved.get(one.stored.chunk.language, 0.0) for one in passages
    ]
    spread = float(np.std(near))
    shown = passages[:MAX_PASSAGES]
    texts = [headed(passage, passage.content) for passage in shown]
    present = [scorer.terms_of(text, query, one) for text, one in zip(texts, shown, strict=True)]
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
        "reading": max(-SURE, min(SURE, max(evidence.readings, default=0.0))),
        "fits": 1.0 if best is not None and best.fits else 0.0,
        "code_missing": missing_identifiers(query.text, texts, folded),
        "quoted": max(
            only_quoted(evidence.words, text, partial(scorer.terms_of, query=query, passage=one))
            for text, one in zip(texts[:3], shown, strict=False)
        ),
        "comparable": 1.0 if any(one.stored.chunk.language in languages for one in shown[:3]) else 0.0,
        "weakest": evidence.weakest,
        "numbers": 1.0 if best is not None and holds_numbers_of(query.text, best.piece.text) else 0.0,
        "late": late[0] if late else 0.0,
        "late_ahead": late[0] - late[1] if len(late) > 1 else 0.0,
    }


def _distance(passage: Passage) -> float:
    """Cosine distance of a passage; where it was not looked at, that of texts which have nothing in common."""
    distance = passage.hit.dense_distance
    return 1.0 if distance is None else distance
