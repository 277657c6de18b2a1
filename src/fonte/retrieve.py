"""A question to a ranking: terms → BM25, embedding → dense, reciprocal rank fusion, reranking, diversity.

The principal and the filters act inside each leg, before k. Every stage leaves its Ranking for the trace.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from fonte.errors import ConfigError
from fonte.protocols import Embedder, Reranker, Terms, TokenCoder
from fonte.ranking.diversity import Candidate, Group, diversify
from fonte.ranking.evidence import coverage
from fonte.ranking.fusion import Method, fuse
from fonte.ranking.languages import centered, shifts
from fonte.ranking.late import COVERAGE_WEIGHT, SHIFT_WEIGHT, maxsim
from fonte.reranking import Reordered, reordered
from fonte.store_protocols import IndexReader
from fonte.types import (
    UNKNOWN_LANGUAGE,
    Codes,
    Hit,
    Language,
    Query,
    Ranking,
    Space,
    StoredChunk,
    TokenWeights,
    Vector,
)
from fonte.words import terms_of, weighted_words

Mode = Literal["hybrid", "bm25", "dense"]

BM25 = "bm25"
ACROSS = "bm25_across"
"""BM25 of the question's words in another language."""
_BEHIND = frozenset({ACROSS})
"""Of two passages of one rank, the one with the question's own words comes before the one with their translations."""
DENSE = "dense"
FUSION = "fusion"
RERANK = "rerank"
LATE = "late"
"""The reranker that is built in: late interaction over the index's token codes."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Widths and cuts. ``max_distance`` is a plain cut on cosine distance; fused and rerank scores are never cut."""

    k: int = 8
    candidates: int = 50
    mode: Mode = "hybrid"
    fusion: Method = "rrf"
    dense_weight: float = 0.5
    """What the dense leg weighs in fusion, between 0 and 1; BM25 weighs the rest."""
    per_document: int = 4
    max_distance: float | None = None
    rerank: bool = False
    """Order the first ``rerank_depth`` anew: by the retriever's reranker, or where it has none by late interaction, for
    which the index and the embedder must have one codec."""
    rerank_depth: int = 25
    rerank_required: bool = False
    """Whether a reranker that fails makes the question fail; else the fused order is kept, and a note says so."""
    near_once: bool = False
    """Show of near copies the best alone, the others as its duplicates."""
    distances: bool = False
    """Cosine distances also in mode ``bm25``: the gate judges by them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A ranked stretch of one document: the best chunk's hit, and the range that its overlapping neighbours extend.

    ``copies`` are (document id, source URI) of equal passages elsewhere, that the principal may read too.
    """

    hit: Hit
    stored: StoredChunk
    start: int
    end: int
    parts: tuple[str, ...]
    copies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What came back, best first, with the rankings of every stage and the time of each in milliseconds."""

    found: tuple[Found, ...]
    rankings: tuple[Ranking, ...]
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    query_vector: Vector | None = None
    shifts: Mapping[Language, float] = field(default_factory=dict)
    """What similarities to passages in each language are moved by, so that they can be compared."""
    reranker: str = ""
    """What ordered the head anew (``Reranker.id``, or ``late:CODEC``); empty where nothing did."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retriever:
    """The parts that a retrieval needs, for one open generation."""

    reader: IndexReader
    embedder: Embedder
    terms: Terms
    reranker: Reranker | None = None
    """What orders the head anew where the settings want it; None is late interaction over the index's token codes."""

    def retrieve(self, query: Query, revoked: Sequence[str], settings: RetrievalSettings) -> Retrieved:
        """The best ``settings.k`` stretches for ``query``; ``revoked`` documents never enter a leg.

        Raises:
            ModelUnavailable, BadModelOutput: the question could not be embedded (not in mode ``bm25``), or a reranker
                that the settings require failed.
            StoreError: the index could not be read.
        """
        began = time.perf_counter()
        timings: dict[str, float] = {}
        legs, asked = self._legs(query, revoked, settings, timings)
        mark = time.perf_counter()
        ids = list(dict.fromkeys(hit.chunk_id for hits in legs.values() for hit in hits))
        stored = self.reader.chunks(ids, query.principal, revoked=revoked)
        legs = {leg: [hit for hit in hits if hit.chunk_id in stored] for leg, hits in legs.items()}
        fused = fuse(
            legs,
            method=settings.fusion,
            weights={leg: 2 * (settings.dense_weight if leg == DENSE else 1 - settings.dense_weight) for leg in legs},
            least={DENSE: -1.0},
            applicable=lambda chunk_id, leg: applies(leg, query, stored[chunk_id]),
            behind=_BEHIND,
        )
        if asked is not None:
            fused = self._with_distances(fused, asked.vector)
        kept = [hit for hit in fused if _within(hit, settings.max_distance)]
        rankings = [Ranking(leg, tuple(hits)) for leg, hits in legs.items()]
        rankings.append(Ranking(FUSION, tuple(fused)))
        timings["fuse"] = _since(mark)
        moved = shifts(asked.vector, self.reader.centroids()) if asked is not None else {}
        mark = time.perf_counter()
        again = self._again(kept, asked, moved, stored, query, revoked, settings)
        if again is not None:
            timings["rerank"] = _since(mark)
            kept = [*again.first, *again.rest]
        if again is not None and not again.note:
            rankings.append(Ranking(RERANK, again.first))
        mark = time.perf_counter()
        found = _diverse(kept, stored, settings)
        timings["fuse"] += _since(mark)
        timings["total"] = _since(began)
        vector = asked.vector if asked is not None else None
        reranker = again.reranker if again is not None and not again.note else ""
        notes = (again.note,) if again is not None and again.note else ()
        return Retrieved(tuple(found), tuple(rankings), timings, vector, moved, reranker, notes)

    def _legs(
        self, query: Query, revoked: Sequence[str], settings: RetrievalSettings, timings: dict[str, float]
    ) -> tuple[dict[str, list[Hit]], _Asked | None]:
        """The hits of each leg that the mode asks for, run side by side."""

        def lexical() -> dict[str, list[Hit]]:
            mark = time.perf_counter()
            wanted = self.terms.query_terms(query.text, query.languages)
            hits = self.reader.bm25(wanted, query, revoked=revoked, k=settings.candidates) if wanted else []
            found = {BM25: hits}
            across = self._across(query, revoked, settings.candidates)
            if across:
                found[ACROSS] = across
            timings["bm25"] = _since(mark)
            return found

        if settings.mode == "bm25":
            late = settings.rerank and self.reranker is None
            needed = late or settings.distances or settings.max_distance is not None
            asked = self._embed(query, settings, timings) if needed else None
            return lexical(), asked
        pending = _beside(os.getpid()).submit(lexical) if settings.mode == "hybrid" else None
        try:
            asked = self._embed(query, settings, timings)
            mark = time.perf_counter()
            dense = self._dense(asked.vector, query, revoked, settings.candidates)
            timings["dense"] = _since(mark)
        finally:
            # Nothing reads the index after a question has ended, however it ended.
            wait([pending] if pending is not None else [])
        return {DENSE: dense} if pending is None else {**pending.result(), DENSE: dense}, asked

    def _across(self, query: Query, revoked: Sequence[str], k: int) -> list[Hit]:
        """BM25 of the question's translated words, among passages in the language that they are translated into."""
        present = self.reader.languages()
        found: list[Hit] = []
        for language, wanted in self.terms.terms_across(query.text, query.languages).items():
            if wanted and language in present and language in (query.filters.languages or present):
                found += self.reader.bm25(wanted, _only(query, language), revoked=revoked, k=k)
        return [replace(hit, bm25=None) for hit in found]

    def _dense(self, vector: Vector, query: Query, revoked: Sequence[str], k: int) -> list[Hit]:
        """The nearest in each language, compared by how far each stands out of its own language.

        Multilingual encoders put texts of one language near each other whatever they say, so that the passage that
        answers in another language loses against any passage in the question's. With one language nothing changes.
        """
        centroids = self.reader.centroids()
        wanted = [one for one in centroids if not query.filters.languages or one in query.filters.languages]
        found = {
            language: self.reader.dense(vector, _only(query, language), revoked=revoked, k=k) for language in wanted
        }
        return centered(found, shifts(vector, centroids))[:k]

    def _embed(self, query: Query, settings: RetrievalSettings, timings: dict[str, float]) -> _Asked:
        """The question's vector, and the codes of its tokens out of the same pass where it is to be reranked."""
        mark = time.perf_counter()
        late = settings.rerank and self.reranker is None
        if late and isinstance(self.embedder, TokenCoder) and can_rerank(self.reader, self.embedder):
            vector, codes = self.embedder.encode_query(query.text)
            asked = _Asked(vector, codes, self.embedder.token_weights(codes))
        else:
            asked = _Asked(self.embedder.embed_query(query.text))
        timings["embed"] = _since(mark)
        return asked

    def _again(
        self,
        hits: Sequence[Hit],
        asked: _Asked | None,
        moved: Mapping[Language, float],
        stored: Mapping[str, StoredChunk],
        query: Query,
        revoked: Sequence[str],
        settings: RetrievalSettings,
    ) -> Reordered | None:
        """The head ordered anew, by the one kind that is in force; None where none is."""
        if settings.rerank and self.reranker is not None:
            depth, required = settings.rerank_depth, settings.rerank_required
            return reordered(self.reranker, query.text, hits, stored, depth=depth, required=required)
        if asked is None or asked.codes is None or asked.weights is None or not len(asked.codes):
            return None
        codes, weights, depth = asked.codes, asked.weights, settings.rerank_depth
        first, rest = self._reranked(hits, codes, weights, moved, stored, query, revoked, depth)
        return Reordered(tuple(first), tuple(rest), late_id(self.reader.generation.recipe.space))

    def _reranked(
        self,
        hits: Sequence[Hit],
        question: Codes,
        weights: TokenWeights,
        moved: Mapping[Language, float],
        stored: Mapping[str, StoredChunk],
        query: Query,
        revoked: Sequence[str],
        depth: int,
    ) -> tuple[list[Hit], list[Hit]]:
        """The first ``depth`` hits by late interaction and by the question's rare words that they hold, best first.

        Ties by chunk id; then the rest as they were.

        Only what came is ordered: nothing is added, and nothing is cut by its score.
        """
        first = hits[:depth]
        codes = self.reader.codes([hit.chunk_id for hit in first], query.principal, revoked=revoked)
        scored = [hit for hit in first if hit.chunk_id in codes]
        near = maxsim(question, [codes[hit.chunk_id] for hit in scored], weights)
        words = weighted_words(query, self.terms, self.reader)
        ranked = []
        for hit, value in zip(scored, near, strict=True):
            chunk = stored[hit.chunk_id].chunk
            held = coverage(words, terms_of(self.terms, chunk.text, query, chunk.language))
            score = round(value + SHIFT_WEIGHT * moved.get(chunk.language, 0.0) + COVERAGE_WEIGHT * held, 6)
            ranked.append(replace(hit, score=score, rerank=score))
        ranked.sort(key=lambda hit: (-hit.score, hit.chunk_id))
        return ranked, [hit for hit in hits if hit.chunk_id not in codes]

    def _with_distances(self, hits: Sequence[Hit], vector: Vector) -> list[Hit]:
        """Exact distances also for hits that only BM25 found."""
        unknown = [hit.chunk_id for hit in hits if hit.dense_distance is None]
        known = self.reader.distances(vector, unknown) if unknown else {}
        return [
            hit if hit.dense_distance is not None else replace(hit, dense_distance=known[hit.chunk_id]) for hit in hits
        ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question as the encoder reads it."""

    vector: Vector
    codes: Codes | None = None
    weights: TokenWeights | None = None
    """Of the codes."""


def late_id(space: Space) -> str:
    """What late interaction over a space's token codes is called."""
    return f"{LATE}:{space.codec}"


def can_rerank(reader: IndexReader, embedder: Embedder) -> bool:
    """Whether late interaction can rerank: the index keeps token codes, of the codec that the embedder writes."""
    codec = reader.generation.recipe.space.codec
    return bool(codec) and isinstance(embedder, TokenCoder) and embedder.codec == codec


def settled(
    settings: RetrievalSettings,
    reader: IndexReader,
    embedder: Embedder,
    *,
    k: int | None,
    mode: Mode | None,
    max_distance: float | None,
    rerank: bool | None,
    reads: bool = False,
) -> RetrievalSettings:
    """The settings of one question: what it names, else what they say; words alone (``bm25``) are reranked if asked.

    ``reads`` says that the reranker reads the passages, and needs no token codes.

    Raises:
        ConfigError: ``rerank`` is asked for, and the model keeps no token vectors or the index holds none of its codec.
    """
    able = reads or can_rerank(reader, embedder)
    if rerank and not able:
        if not embedder.space.codec:
            raise ConfigError(
                f"cannot rerank: {embedder.space.model} has no token vectors to keep",
                hint='leave --rerank out, or set [embedding] source = "package:multilingual-e5-small", '
                "or a [reranker] source that reads",
            )
        raise ConfigError("cannot rerank: the index holds no token vectors of this model", hint="run fonte sync again")
    mode = mode or settings.mode
    wanted = settings.rerank and mode != BM25 if rerank is None else rerank
    return replace(
        settings,
        k=k or settings.k,
        mode=mode,
        candidates=max(settings.candidates, k or settings.k),
        max_distance=max_distance if max_distance is not None else settings.max_distance,
        rerank=wanted and able,
    )


@lru_cache(maxsize=1)
def _beside(process: int) -> ThreadPoolExecutor:
    """Threads for BM25, kept: to start one for each question takes as long as the search. A fork makes its own."""
    del process
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="fonte-bm25")


def _since(mark: float) -> float:
    return (time.perf_counter() - mark) * 1000


def _only(query: Query, language: Language) -> Query:
    return replace(query, filters=replace(query.filters, languages=(language,)))


def applies(leg: str, query: Query, stored: StoredChunk) -> bool:
    """BM25 says nothing about a passage in another language than the question's."""
    language = stored.chunk.language
    own = language == UNKNOWN_LANGUAGE or not query.languages or language in query.languages
    return own if leg == BM25 else leg != ACROSS or not own


def _within(hit: Hit, max_distance: float | None) -> bool:
    return max_distance is None or (hit.dense_distance is not None and hit.dense_distance <= max_distance)


def _diverse(hits: Sequence[Hit], stored: Mapping[str, StoredChunk], settings: RetrievalSettings) -> list[Found]:
    by_id = {hit.chunk_id: hit for hit in hits}
    candidates = [
        Candidate(
            key=hit.chunk_id,
            document=hit.document_id,
            start=stored[hit.chunk_id].chunk.start,
            end=stored[hit.chunk_id].chunk.end,
            content=stored[hit.chunk_id].chunk.content,
            readers=stored[hit.chunk_id].roles,
        )
        for hit in hits
    ]
    return [
        Found(
            hit=by_id[group.key],
            stored=stored[group.key],
            start=group.start,
            end=group.end,
            parts=group.parts,
            copies=tuple(
                (stored[key].chunk.document_id, stored[key].source_uri)
                for key in group.copies
                if stored[key].chunk.document_id != stored[group.key].chunk.document_id
            ),
        )
        for group in _shared_out(diversify(candidates, near_once=settings.near_once), settings)
    ]


def _shared_out(groups: Sequence[Group], settings: RetrievalSettings) -> list[Group]:
    """The first ``k``, no document with more than its share while others have something to say."""
    cap = settings.per_document or settings.k
    counts: Counter[str] = Counter()
    first: list[Group] = []
    rest: list[Group] = []
    for group in groups:
        counts[group.document] += 1
        (first if counts[group.document] <= cap else rest).append(group)
    return (first + rest)[: settings.k]
