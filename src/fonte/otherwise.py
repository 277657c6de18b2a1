"""What would have found a passage: one change of the settings, tried and not guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fonte.context import build_passages
from fonte.protocols import Chunker
from fonte.retrieve import Found, RetrievalSettings, Retriever, can_rerank
from fonte.types import ChunkingRecipe, Document, Passage, Query, Recipe

SIZES = (1.5, 2, 3, 4)
"""By what chunks are made larger, one after the other."""
DOUBLINGS = 8


@dataclass(frozen=True, slots=True)
class Otherwise:
    """One change, in words that can be typed; the rank that the passage then has (None where ranks are not the point).

    ``tried`` says that it was carried out and found the passage.
    """

    change: str
    rank: int | None
    tried: bool


def retrieved_otherwise(
    retriever: Retriever,
    query: Query,
    revoked: Sequence[str],
    settings: RetrievalSettings,
    deep: int,
    holds: Callable[[Found], bool],
) -> Otherwise | None:
    """The first change of retrieval's settings that brings the passage into the results; None when none does.

    Args:
        retriever: over the open generation.
        query: as asked.
        revoked: as for the question itself.
        settings: as they were.
        deep: the rank that the better leg gives the passage.
        holds: whether a stretch is the passage.
    """
    for change, other in _changes(retriever, settings, deep):
        found = retriever.retrieve(query, revoked, other).found
        rank = next((at for at, one in enumerate(found, start=1) if holds(one)), None)
        if rank is not None:
            return Otherwise(change if "{}" not in change else change.format(rank), rank, tried=True)
    return None


def _changes(retriever: Retriever, settings: RetrievalSettings, deep: int) -> Iterator[tuple[str, RetrievalSettings]]:
    """Changes of one setting, the smallest first; more results and more candidates last."""
    if settings.max_distance is not None:
        yield "no max_distance", replace(settings, max_distance=None)
    if settings.per_document:
        yield "retrieval.per_document = 0", replace(settings, per_document=0)
    doubled = replace(settings, k=2 * settings.k, candidates=max(settings.candidates, 2 * settings.k))
    yield "--k {}", doubled
    if settings.rerank:
        yield "--no-rerank", replace(settings, rerank=False)
    elif retriever.reranker is not None or can_rerank(retriever.reader, retriever.embedder):
        yield "--rerank", replace(settings, rerank=True)
    for mode in ("hybrid", "bm25", "dense"):
        if mode != settings.mode:
            yield f"--mode {mode}", replace(settings, mode=mode, rerank=settings.rerank and mode != "bm25")
    wide = replace(settings, candidates=max(settings.candidates, deep))
    if deep > settings.candidates:
        yield f"retrieval.candidates = {deep}", wide
    most = replace(wide, k=max(wide.candidates, deep))
    yield "--k {}", most
    yield "--k {} and retrieval.per_document = 0", replace(most, per_document=0)


def roomier(
    found: Sequence[Found],
    documents: Mapping[str, Document],
    budget: int,
    chunking: ChunkingRecipe,
    holds: Callable[[Passage], bool],
) -> Otherwise | None:
    """The budget, doubled as often as it takes, that hands the passage out; None when none does."""
    for _ in range(DOUBLINGS):
        budget *= 2
        passages = build_passages(found, documents, token_budget=budget, chunking=chunking)
        if marker := next((one.marker for one in passages if holds(one)), None):
            return Otherwise(f"a context of {budget} tokens", marker, tried=True)
    return None


def cut_otherwise(
    recipe: Recipe,
    chunker_of: Callable[[Recipe], Chunker],
    document: Document,
    start: int,
    end: int,
) -> Otherwise | None:
    """A chunking that keeps the characters in one chunk; None when none of those tried does."""
    for change, chunking in _cuts(recipe.chunking):
        chunks = chunker_of(replace(recipe, chunking=chunking)).chunk(document)
        if any(chunk.start <= start and end <= chunk.end for chunk in chunks):
            return Otherwise(change, None, tried=True)
    return None


def _cuts(chunking: ChunkingRecipe) -> Iterator[tuple[str, ChunkingRecipe]]:
    if chunking.strategy != "boundaries":
        bounded = replace(chunking, strategy="boundaries", parent_characters=0, percentile=0)
        yield 'chunking.strategy = "boundaries"', bounded
    if chunking.overlap < chunking.size // 4:
        overlap = chunking.size // 4
        yield f"chunking.overlap = {overlap}", replace(chunking, overlap=overlap)
    for factor in SIZES:
        size = int(chunking.size * factor)
        yield f"chunking.size = {size}", replace(chunking, size=size)
