"""A plan to a candidate generation: parse, cut, embed what is new, write, seal.

Nothing that happens here is seen before the alias moves. A source that cannot be read is recorded against itself and
the rest goes on; a model or store that fails ends the sync with its error and leaves the active generation as it was.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import Protocol

from fonte.embedding import embed_cached, fitted
from fonte.errors import FonteError
from fonte.plan import Plan, Tally, extractor_now, said_of
from fonte.protocols import Chunker, Embedder, Progress, Terms
from fonte.store_protocols import Catalog, IndexStore, IndexWriter, VectorCache
from fonte.text.bibliography import bibliographies
from fonte.text.canonical import canonicalise, in_line
from fonte.text.ledger import FOUND_HERE, balance
from fonte.text.likeness import likeness_of
from fonte.types import (
    SEARCHABLE,
    Acl,
    Chunk,
    Document,
    DocumentState,
    DocumentStatus,
    Generation,
    GenerationState,
    Parsed,
    Recipe,
    Source,
    Stamp,
    StoredChunk,
    document_id,
    sha256_hex,
)

BATCH_CHUNKS = 256
_NO_BYTES = sha256_hex("")
"""What the version of an empty file is."""
"""Chunks embedded and written together: enough to sort by length, few enough to show progress."""


class ParserPool(Protocol):
    """Parses many sources in child processes, in order."""

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        """Each source with its structure, or with the error that it met."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sealed generation and how it came to be."""

    generation: Generation
    plan: Plan
    tally: Tally


@dataclass(frozen=True, slots=True)
class _Ready:
    """A document that is cut and waits for its vectors."""

    state: DocumentState
    document: Document
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Ingestor:
    """The parts that turn sources into a sealed generation of one tenant."""

    tenant: str
    catalog: Catalog
    index: IndexStore
    cache: VectorCache
    chunker: Chunker
    embedder: Embedder
    terms: Terms
    recipe: Recipe

    def build(self, plan: Plan, active: Generation | None, pool: ParserPool, progress: Progress) -> Candidate:
        """A sealed candidate beside the active generation.

        Raises:
            ModelError, StoreError: the sync ends; the active generation is as it was, and vectors already made are
                kept in the cache for the next try.
        """
        if plan.narrowed:
            self.catalog.narrow_all(plan.narrowed)
        base = active if plan.on_top else None
        writer = self.index.begin(self.recipe, base)
        generation = Generation(
            id="g" + uuid.uuid4().hex[:16],
            tenant=self.tenant,
            state=GenerationState.BUILDING,
            recipe=self.recipe,
            table=writer.table,
            table_version=0,
            created_at=datetime.now(UTC),
            base=base.id if base else None,
        )
        if plan.restored:
            self.catalog.restore(plan.restored)
        self.catalog.add_generation(generation)
        tally = Tally()
        self._remove(generation.id, plan, writer, tally)
        self._rerole(generation.id, plan, writer)
        self._move(generation.id, plan)
        self.catalog.put_documents(generation.id, [(state, None) for state in self._unreadable(plan, writer, tally)])
        waiting: list[_Ready] = []
        for ready in self._documents(generation.id, plan, active, pool, progress, writer, tally):
            waiting.append(ready)
            if sum(len(one.chunks) for one in waiting) >= BATCH_CHUNKS:
                self._write(generation.id, waiting, writer, tally, progress)
                waiting = []
        self._write(generation.id, waiting, writer, tally, progress)
        progress("indexing", 0, None)
        version, chunks = writer.seal()
        self.catalog.update_generation(generation.id, GenerationState.CANDIDATE, table_version=version, chunks=chunks)
        return Candidate(self.catalog.generation(generation.id), plan, tally)

    def _remove(self, generation: str, plan: Plan, writer: IndexWriter, tally: Tally) -> None:
        gone = [state.document_id for state in plan.removed]
        if gone and plan.known:
            tally.chunks_removed += writer.remove_documents(gone)
            self.catalog.remove_documents(generation, gone)

    def _rerole(self, generation: str, plan: Plan, writer: IndexWriter) -> None:
        if not plan.reroled:
            return
        writer.set_roles({state.document_id: acl.roles for state, acl in plan.reroled})
        self.catalog.put_documents(generation, [(replace(state, acl=acl), None) for state, acl in plan.reroled])

    def _move(self, generation: str, plan: Plan) -> None:
        """Records in other lines of their file: their places change, their text and chunks do not."""
        moved: list[tuple[DocumentState, Document]] = []
        for known, said, line in plan.moved:
            state = self.catalog.state(generation, known.document_id)
            document = self.catalog.document(generation, known.document_id)
            if state is not None and document is not None:
                places = in_line(line, len(document.text))
                moved.append((replace(state, said=said), replace(document, places=places)))
        self.catalog.put_documents(generation, moved)

    def _unreadable(self, plan: Plan, writer: IndexWriter, tally: Tally) -> Iterator[DocumentState]:
        for uri, name, error in plan.unreadable:
            identity = document_id(self.tenant, uri)
            tally.chunks_removed += writer.remove_documents([identity]) if identity in plan.known else 0
            yield DocumentState(
                identity,
                name,
                uri,
                DocumentStatus.FAILED,
                "",
                Acl(),
                error.message,
                retryable=error.retryable,
                source_root=plan.roots[uri],
            )

    def _documents(
        self,
        generation: str,
        plan: Plan,
        active: Generation | None,
        pool: ParserPool,
        progress: Progress,
        writer: IndexWriter,
        tally: Tally,
    ) -> Iterator[_Ready]:
        """Documents with chunks; those without are recorded at once, as what they are."""
        total = len(plan.parse) + len(plan.carried)
        done = 0
        for source, outcome in pool.parse_many(plan.parse):
            identity = document_id(self.tenant, source.uri)
            if identity in plan.known:
                tally.chunks_removed += writer.remove_documents([identity])
            ready = self._cut(source, outcome, plan.roots[source.uri])
            if ready.state.status is not DocumentStatus.FAILED:
                tally.modified += identity in plan.existed
                tally.added += identity not in plan.existed
            yield from self._with_chunks(generation, ready)
            done += 1
            progress("reading", done, total)
        for state in plan.carried:
            document, whole = None, None
            if active is not None:
                document = self.catalog.document(active.id, state.document_id)
                whole = self.catalog.state(active.id, state.document_id)
            kept = replace(state, ledger=whole.ledger) if whole else state
            if document is None or state.status not in SEARCHABLE:
                self.catalog.put_document(generation, kept, document)
            else:
                yield from self._with_chunks(generation, self._recut(kept, replace(document, acl=state.acl)))
            done += 1
            progress("reading", done, total)

    def _with_chunks(self, generation: str, ready: _Ready) -> Iterator[_Ready]:
        """The document if it has chunks; else it is recorded at once."""
        if ready.chunks:
            yield ready
        else:
            self.catalog.put_document(generation, ready.state, ready.document if ready.document.text else None)

    def _cut(self, source: Source, outcome: Parsed | FonteError, root: str) -> _Ready:
        identity = document_id(self.tenant, source.uri)
        state = DocumentState(
            identity,
            source.name,
            source.uri,
            DocumentStatus.PENDING,
            source.content_hash,
            source.acl,
            source_root=root,
            said=said_of(source),
        )
        if isinstance(outcome, FonteError):
            failed = replace(
                state, status=DocumentStatus.FAILED, reason=outcome.message, retryable=_worth_a_retry(outcome)
            )
            return _Ready(failed, _textless(source, self.tenant), ())
        document = canonicalise(outcome, source, tenant=self.tenant)
        chunks = tuple(self.chunker.chunk(document)) if document.text.strip() else ()
        return _Ready(self._judged(state, outcome, document, chunks), document, chunks)

    def _recut(self, state: DocumentState, document: Document) -> _Ready:
        """The same canonical text under another recipe: nothing is parsed again, and the source's counts stay."""
        chunks = tuple(self.chunker.chunk(document))
        if state.ledger is None:
            return _Ready(replace(state, chunks=len(chunks), stamp=self._stamp(document)), document, chunks)
        parsed = Parsed(
            (),
            document.parser,
            source_counts=state.ledger.source,
            losses=tuple(loss for loss in state.ledger.losses if loss.code not in FOUND_HERE),
        )
        judged = self._judged(state, parsed, document, chunks)
        if judged.ledger is not None:
            judged = replace(judged, ledger=replace(judged.ledger, parsed=state.ledger.parsed))
        return _Ready(judged, document, chunks)

    def _judged(
        self, state: DocumentState, parsed: Parsed, document: Document, chunks: Sequence[Chunk]
    ) -> DocumentState:
        """READY only with chunks and a balanced ledger."""
        aside = bibliographies(document) if self.recipe.chunking.strip_bibliography else ()
        ledger = balance(parsed, document, chunks, window=self.embedder.space.window, left_out=aside)
        if not chunks:
            status = DocumentStatus.NEEDS_OCR if parsed.empty_reason == "needs_ocr" else DocumentStatus.EMPTY
            reason = "the file is empty: 0 bytes" if state.version == _NO_BYTES else "it holds no text"
            if status is DocumentStatus.NEEDS_OCR:
                told = (loss.message for loss in ledger.losses if loss.code == "page_needs_ocr")
                reason = "; ".join(["its pages are pictures without text", *told])
        elif ledger.balanced:
            status, reason = DocumentStatus.READY, None
        else:
            status, reason = (
                DocumentStatus.PARTIAL,
                "; ".join(loss.message for loss in ledger.losses) or "text is missing",
            )
        return replace(
            state,
            status=status,
            reason=reason,
            chunks=len(chunks),
            pages=document.pages,
            language=document.language,
            stamp=self._stamp(document),
            ledger=ledger,
            likeness=likeness_of(document.text) if chunks else "",
        )

    def _stamp(self, document: Document) -> Stamp:
        return stamp_of(self.recipe, document.parser)

    def _write(
        self, generation: str, waiting: Sequence[_Ready], writer: IndexWriter, tally: Tally, progress: Progress
    ) -> None:
        """Embed what is new, add the chunks, and only then record their documents."""
        if not waiting:
            return
        stored = [
            StoredChunk.of(one.document, chunk, one.document.acl.roles) for one in waiting for chunk in one.chunks
        ]
        for start in range(0, len(stored), BATCH_CHUNKS):
            batch = stored[start : start + BATCH_CHUNKS]
            texts = [fitted(one.chunk, self.embedder) for one in batch]
            made = embed_cached(texts, self.embedder, self.cache)
            terms = [self.terms.document_terms(one.chunk.text, one.chunk.language) for one in batch]
            writer.add(batch, terms, made.vectors, made.codes)
            tally.embedded += made.new
            tally.chunks_added += len(batch)
            progress("embedding", tally.chunks_added, None)
        self.catalog.put_documents(generation, [(one.state, one.document) for one in waiting])


def stamp_of(recipe: Recipe, extractor: str) -> Stamp:
    """What a document built with this recipe and extractor is stamped with."""
    return Stamp(
        embedding_model=recipe.space.model,
        embedding_revision=recipe.space.revision,
        dimensions=recipe.space.dimensions,
        space=recipe.space.id,
        pipeline=f"{recipe.pipeline}/{recipe.normaliser}",
        extractor=extractor,
        chunking=str(recipe.chunking),
        terms=recipe.terms,
        codec=recipe.space.codec,
    )


def staleness(states: Sequence[DocumentState], recipe: Recipe, extractors: Mapping[str, str]) -> dict[str, list[str]]:
    """Searchable documents whose stamp is not the one that they would get now: id → fields that differ."""
    differs: dict[str, list[str]] = {}
    for state in states:
        stamp = state.stamp
        if stamp is None or state.status not in SEARCHABLE:
            continue
        wanted = stamp_of(recipe, extractor_now(stamp, extractors))
        fields = [
            f"{name}: {getattr(stamp, name) or 'none'} -> {getattr(wanted, name) or 'none'}"
            for name in (one.name for one in fields_of(Stamp))
            if getattr(stamp, name) != getattr(wanted, name)
        ]
        if fields:
            differs[state.document_id] = fields
    return differs


def _textless(source: Source, tenant: str) -> Document:
    return Document(
        document_id(tenant, source.uri),
        tenant,
        source.uri,
        source.name,
        source.content_hash,
        source.name,
        "",
        source.acl,
    )


def _worth_a_retry(error: FonteError) -> bool:
    """Whether another try may go better without a change of the file: a timeout or a crash, not a wrong format."""
    return error.retryable or error.code in {"parse_timeout", "parser_crashed"}
