"""The documents of the active generation under other settings, beside it: what ``compare`` and experiments measure.

Nothing is parsed again and the active generation is left alone: its canonical texts are cut, embedded and indexed anew
into a place of their own. Vectors that are remembered are used, and new ones remembered, so that a second run of the
same settings embeds nothing. Rights are those of the corpus itself, at the moment of asking.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fonte.answer import Asker
from fonte.embedding import embed_cached, fitted
from fonte.ingest import BATCH_CHUNKS
from fonte.parts import Parts, TenantStore
from fonte.protocols import Progress
from fonte.retrieve import Mode, settled
from fonte.store_protocols import IndexReader, IndexStore
from fonte.types import SEARCHABLE, Generation, StoredChunk


@dataclass(frozen=True, slots=True)
class Variant:
    """An index of the active generation's documents; ``seconds`` and ``embedded`` (texts) are what building took."""

    reader: IndexReader
    seconds: float
    embedded: int


def build_variant(
    parts: Parts, store: TenantStore, active: Generation, beside: IndexStore, progress: Progress
) -> Variant:
    """The active generation's documents by the recipe of ``parts``, written to ``beside``.

    Raises:
        ModelError, StoreError: it could not be built.
    """
    began = time.perf_counter()
    embedder, recipe = parts.embedder, parts.recipe
    writer = beside.begin(recipe, None)
    embedded = done = 0
    for batch in _batches(_chunks(parts, store, active)):
        made = embed_cached([fitted(one.chunk, embedder) for one in batch], embedder, store.cache)
        terms = [parts.terms.document_terms(one.chunk.text, one.chunk.language) for one in batch]
        writer.add(batch, terms, made.vectors, made.codes)
        embedded += made.new
        done += len(batch)
        progress("embedding", done, None)
    version, chunks = writer.seal()
    # The id stays: rights and texts are asked of the catalog by it.
    generation = replace(active, recipe=recipe, table=writer.table, table_version=version, chunks=chunks)
    return Variant(beside.open(generation), time.perf_counter() - began, embedded)


def asker_over(
    parts: Parts,
    store: TenantStore,
    reader: IndexReader,
    *,
    k: int | None = None,
    mode: Mode | None = None,
    max_distance: float | None = None,
    rerank: bool | None = None,
) -> Asker:
    """What answers over an index by what is given, else by the settings of ``parts``, with its model's default gate.

    Raises:
        ConfigError: reranking was asked for and cannot be done.
    """
    settings = parts.answers
    retrieval = settled(
        settings.retrieval,
        reader,
        parts.embedder,
        k=k,
        mode=mode,
        max_distance=max_distance,
        rerank=rerank,
        reads=parts.reranker is not None,
    )
    return Asker(
        reader=reader,
        catalog=store.catalog,
        embedder=parts.embedder,
        terms=parts.terms,
        scorer=parts.scorer,
        gate=parts.gate_for(parts.embedder.space),
        settings=replace(settings, retrieval=retrieval),
        reranker=parts.reranker,
        entailer=parts.entailer,
        rewriter=parts.rewriter,
    )


def _chunks(parts: Parts, store: TenantStore, active: Generation) -> Iterator[StoredChunk]:
    chunker = parts.make_chunker(parts.recipe, parts.embedder)
    for state in store.catalog.states(active.id):
        document = store.catalog.document(active.id, state.document_id) if state.status in SEARCHABLE else None
        if document is None:
            continue
        for chunk in chunker.chunk(document):
            yield StoredChunk.of(document, chunk, state.acl.roles)


def _batches(chunks: Iterator[StoredChunk]) -> Iterator[list[StoredChunk]]:
    waiting: list[StoredChunk] = []
    for one in chunks:
        waiting.append(one)
        if len(waiting) == BATCH_CHUNKS:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
