"""Sources to a candidate generation: compare, parse, cut, embed what is new, write, seal.

Nothing that happens here is seen before the alias moves. A source that cannot be read is recorded against itself and
the rest goes on; a model or store that fails ends the sync with its error and leaves the active generation as it was.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

import numpy as np

from fonte.errors import CorruptIndex, FonteError, ParseError, StoreUnavailable
from fonte.protocols import Catalog, Chunker, Embedder, IndexStore, IndexWriter, Progress, SourceReader, Terms, VectorCache
from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance
from fonte.text.normalise import search_form
from fonte.types import (
    Acl,
    Chunk,
    Document,
    DocumentState,
    DocumentStatus,
    Failure,
    Generation,
    GenerationState,
    Parsed,
    Principal,
    Query,
    Recipe,
    Source,
    Stamp,
    StoredChunk,
    Vector,
    Vectors,
    document_id,
    sha256_hex,
)

BATCH_CHUNKS = 256
"""Chunks embedded and written together: enough to sort by length, few enough to show progress."""
MOST_COPIES_TOLD = 20
"""Notes about documents of equal content in one report."""

_INCOMPLETE = (DocumentStatus.FAILED, DocumentStatus.PARTIAL, DocumentStatus.EMPTY, DocumentStatus.NEEDS_OCR)
_SEARCHABLE = (DocumentStatus.READY, DocumentStatus.PARTIAL)


class ParserPool(Protocol):
    """Parses many sources in child processes, in order."""

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        """Each source with its structure, or with the error that it met."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync has to do, from comparing the sources with the active generation."""

    parse: tuple[Source, ...]
    known: dict[str, DocumentState]
    """States of the base generation by document id; empty when the recipe changed."""
    unchanged: tuple[DocumentState, ...]
    reroled: tuple[tuple[DocumentState, Acl], ...]
    removed: tuple[DocumentState, ...]
    unreadable: tuple[tuple[str, str, FonteError], ...]
    roots: dict[str, str]
    """Root of each source URI."""
    existed: frozenset[str]
    """Ids of the documents of the active generation, built again or not."""
    on_top: bool
    """Whether the new generation begins as a copy of the active one, else with nothing."""
    carried: tuple[DocumentState, ...] = ()
    """Documents of other sources that must be built again because the recipe changed."""
    notes: tuple[str, ...] = ()
    """What the sources found worth saying."""
    restored: tuple[str, ...] = ()
    """Ids of deleted documents that a source holds again."""

    @property
    def nothing_to_do(self) -> bool:
        """Whether the active generation already is what the sources say."""
        return not (self.parse or self.reroled or self.removed or self.unreadable or self.carried)


@dataclass(slots=True)
class Tally:
    """Counters of a running sync: what really happened."""

    added: int = 0
    modified: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sealed generation and how it came to be."""

    generation: Generation
    plan: Plan
    tally: Tally


def plan_sync(
    readers: Sequence[SourceReader],
    *,
    tenant: str,
    catalog: Catalog,
    active: Generation | None,
    same_recipe: bool,
    retry: frozenset[str] = frozenset(),
) -> Plan:
    """Compare sources with the active generation by content hash and rights.

    Args:
        readers: each compared as a whole: a document below its root that is not found any more is removed.
        tenant: whose documents these are.
        catalog: for the states of the active generation.
        active: the generation to compare with.
        same_recipe: whether what is already indexed may be kept: built by the recipe in force, and readable.
        retry: document ids to be parsed again although they did not change.

    Raises:
        SourceUnreadable: a root is missing or may not be read.
    """
    before = {state.document_id: state for state in catalog.states(active.id)} if active else {}
    deleted = catalog.deleted()
    parse, unchanged, reroled, unreadable = [], [], [], []
    roots: dict[str, str] = {}
    seen: set[str] = set()
    for reader in readers:
        for item in reader.scan():
            if not isinstance(item, Source):
                uri, name, error = item
                identity = document_id(tenant, uri)
                if identity in seen:
                    continue
                seen.add(identity)
                roots[uri] = reader.root
                failed, reason = before.get(identity), _typed(error)
                if failed is not None and failed.status is DocumentStatus.FAILED and failed.reason == reason.message:
                    unchanged.append(failed)
                else:
                    unreadable.append((uri, name, reason))
                continue
            identity = document_id(tenant, item.uri)
            if identity in seen:
                continue
            seen.add(identity)
            roots[item.uri] = reader.root
            state = before.get(identity)
            changed = state is None or state.version != item.content_hash or not same_recipe
            if state is None or changed or identity in retry or identity in deleted:
                parse.append(item)
            elif state.acl != item.acl or catalog.acl(identity) != item.acl:
                # Live rights may be narrower than indexed ones: a candidate that narrowed them was never published.
                reroled.append((state, item.acl))
            else:
                unchanged.append(state)
    scanned = [reader.root for reader in readers]
    removed = [
        state for identity, state in before.items() if identity not in seen and any(_belongs(state, one) for one in scanned)
    ]
    elsewhere = [state for identity, state in before.items() if identity not in seen and state not in removed]
    return Plan(
        parse=tuple(parse),
        known=before if same_recipe else {},
        unchanged=tuple(unchanged),
        reroled=tuple(reroled),
        removed=tuple(removed),
        unreadable=tuple(unreadable),
        roots=roots,
        on_top=same_recipe,
        existed=frozenset(before),
        carried=() if same_recipe else tuple(_as_readable_now(state, catalog, deleted) for state in elsewhere),
        notes=tuple(note for reader in readers for note in reader.notes),
        restored=tuple(sorted(identity for identity in seen & deleted)),
    )


def fault_of(index: IndexStore, active: Generation) -> str | None:
    """Why a generation's index cannot be read (its words or its vectors), so that a sync builds it anew; else None."""
    try:
        reader = index.open(active)
        reader.languages()
        reader.bm25(["a"], Query("a", Principal(active.tenant)), revoked=(), k=1)
    except (CorruptIndex, StoreUnavailable) as error:
        return error.message
    return None


def _as_readable_now(state: DocumentState, catalog: Catalog, deleted: frozenset[str]) -> DocumentState:
    """With the rights that hold by now, which may be narrower than those that were indexed."""
    if state.document_id in deleted:
        return state
    return replace(state, acl=Acl(state.acl.roles & catalog.acl(state.document_id).roles))


def _belongs(state: DocumentState, root: str) -> bool:
    """Whether a document is one that a source with this root would have shown."""
    return root in (state.source_root, state.uri) or state.uri.startswith((root.rstrip("/") + "/", root + "#"))


def _typed(error: Exception) -> FonteError:
    return error if isinstance(error, FonteError) else ParseError(str(error))


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
        self.catalog.update_generation(
            generation.id, GenerationState.CANDIDATE, table_version=version, chunks=chunks
        )
        return Candidate(self.catalog.generation(generation.id), plan, tally)

    def _remove(self, generation: str, plan: Plan, writer: IndexWriter, tally: Tally) -> None:
        gone = [state.document_id for state in plan.removed]
        if gone and plan.known:
            tally.chunks_removed += writer.remove_documents(gone)
            self.catalog.remove_documents(generation, gone)

    def _rerole(self, generation: str, plan: Plan, writer: IndexWriter) -> None:
        if not plan.reroled:
            return
        for state, acl in plan.reroled:
            if not acl.roles >= state.acl.roles:
                self.catalog.narrow(state.document_id, acl)
        writer.set_roles({state.document_id: acl.roles for state, acl in plan.reroled})
        self.catalog.put_documents(generation, [(replace(state, acl=acl), None) for state, acl in plan.reroled])

    def _unreadable(self, plan: Plan, writer: IndexWriter, tally: Tally) -> Iterator[DocumentState]:
        for uri, name, error in plan.unreadable:
            identity = document_id(self.tenant, uri)
            tally.chunks_removed += writer.remove_documents([identity]) if identity in plan.known else 0
            yield DocumentState(
                identity, name, uri, DocumentStatus.FAILED, "", Acl(), error.message, retryable=error.retryable,
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
            before = plan.known.get(identity)
            if before is not None:
                tally.chunks_removed += writer.remove_documents([identity])
                if before.acl != source.acl and not source.acl.roles >= before.acl.roles:
                    self.catalog.narrow(identity, source.acl)
            ready = self._cut(source, outcome, plan.roots[source.uri])
            if ready.state.status is not DocumentStatus.FAILED:
                tally.modified += identity in plan.existed
                tally.added += identity not in plan.existed
            if ready.chunks:
                yield ready
            else:
                self.catalog.put_document(generation, ready.state, ready.document if ready.document.text else None)
            done += 1
            progress("reading", done, total)
        for state in plan.carried:
            document = self.catalog.document(active.id, state.document_id) if active else None
            if document is None or state.status not in _SEARCHABLE:
                self.catalog.put_document(generation, state, document)
            else:
                yield self._recut(state, replace(document, acl=state.acl))
            done += 1
            progress("reading", done, total)

    def _cut(self, source: Source, outcome: Parsed | FonteError, root: str) -> _Ready:
        identity = document_id(self.tenant, source.uri)
        state = DocumentState(
            identity, source.name, source.uri, DocumentStatus.PENDING, source.content_hash, source.acl, source_root=root
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
        """The same canonical text under another recipe: nothing is parsed again."""
        chunks = tuple(self.chunker.chunk(document))
        return _Ready(replace(state, chunks=len(chunks), stamp=self._stamp(document)), document, chunks)

    def _judged(
        self, state: DocumentState, parsed: Parsed, document: Document, chunks: Sequence[Chunk]
    ) -> DocumentState:
        """READY only with chunks and a balanced ledger."""
        ledger = balance(parsed, document, chunks, window=self.embedder.space.window)
        if not chunks:
            status = DocumentStatus.NEEDS_OCR if parsed.empty_reason == "needs_ocr" else DocumentStatus.EMPTY
            reason = "its pages are pictures without text" if parsed.empty_reason == "needs_ocr" else "it holds no text"
        elif ledger.balanced:
            status, reason = DocumentStatus.READY, None
        else:
            status, reason = DocumentStatus.PARTIAL, "; ".join(loss.message for loss in ledger.losses) or "text is missing"
        return replace(
            state,
            status=status,
            reason=reason,
            chunks=len(chunks),
            pages=document.pages,
            language=document.language,
            stamp=self._stamp(document),
            ledger=ledger,
        )

    def _stamp(self, document: Document) -> Stamp:
        return stamp_of(self.recipe, document.parser)

    def _write(
        self, generation: str, waiting: Sequence[_Ready], writer: IndexWriter, tally: Tally, progress: Progress
    ) -> None:
        """Embed what is new, add the chunks, and only then record their documents."""
        if not waiting:
            return
        stored = [_stored(one.document, chunk) for one in waiting for chunk in one.chunks]
        for start in range(0, len(stored), BATCH_CHUNKS):
            batch = stored[start : start + BATCH_CHUNKS]
            texts = [fitted(one.chunk, self.embedder) for one in batch]
            vectors, embedded = embed_cached(texts, self.embedder, self.cache)
            writer.add(batch, [self.terms.document_terms(one.chunk.text, one.chunk.language) for one in batch], vectors)
            tally.embedded += embedded
            tally.chunks_added += len(batch)
            progress("embedding", tally.chunks_added, None)
        self.catalog.put_documents(generation, [(one.state, one.document) for one in waiting])


def stamp_of(recipe: Recipe, extractor: str) -> Stamp:
    """What a document built with this recipe and extractor is stamped with."""
    cut = recipe.chunking
    return Stamp(
        embedding_model=recipe.space.model,
        embedding_revision=recipe.space.revision,
        dimensions=recipe.space.dimensions,
        space=recipe.space.id,
        pipeline=f"{recipe.pipeline}/{recipe.normaliser}",
        extractor=extractor,
        chunking=f"{cut.strategy}/{cut.size}/{cut.overlap}/{cut.unit}/{'header' if cut.header else 'bare'}",
        terms=recipe.terms,
    )


def embed_cached(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> tuple[Vectors, int]:
    """Unit vectors of texts that fit the window, shape (n, dim), and how many had to be made."""
    space = embedder.space
    keys = [sha256_hex(text) for text in texts]
    known = cache.get(space.id, list(dict.fromkeys(keys)))
    wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if wanted:
        made = embedder.embed_passages(list(wanted.values()))
        fresh: dict[str, Vector] = dict(zip(wanted, made, strict=True))
        cache.put(space.id, fresh)
        known = {**known, **fresh}
    return np.stack([known[key] for key in keys]), len(wanted)


def fitted(chunk: Chunk, embedder: Embedder) -> str:
    """What is embedded of a chunk: its search form, or the head of it that fits the window.

    The ledger has counted a chunk beyond the window as truncated before it comes here.
    """
    text = search_form(chunk.text)
    if chunk.tokens <= embedder.tokenizer.window:
        return text
    room = embedder.tokenizer.window - embedder.tokenizer.overhead
    offsets = embedder.tokenizer.offsets(text)
    if len(offsets) <= room:
        return text
    cut = text[: offsets[room - 1][1]]
    # Cutting can change how the last word is split, by a token or two.
    while embedder.tokenizer.count(cut) > room:
        room -= 1
        cut = text[: offsets[room - 1][1]]
    return cut


def _stored(document: Document, chunk: Chunk) -> StoredChunk:
    return StoredChunk(
        chunk=chunk,
        document_name=document.name,
        source_uri=document.uri,
        source_version=document.version,
        title=document.title,
        roles=document.acl.roles,
        media_type=document.media_type,
    )


def _textless(source: Source, tenant: str) -> Document:
    return Document(
        document_id(tenant, source.uri), tenant, source.uri, source.name, source.content_hash, source.name, "", source.acl
    )


def _worth_a_retry(error: FonteError) -> bool:
    """Whether another try may go better without a change of the file: a timeout or a crash, not a wrong format."""
    return error.retryable or error.code in {"parse_timeout", "parser_crashed"}


def counted(plan: Plan, states: Sequence[DocumentState], tally: Tally) -> dict[str, int]:
    """The document counters of a sync report: what changed, and the states of what the sources hold now."""
    scanned = {state.document_id for state in plan.unchanged} | {state.document_id for state, _ in plan.reroled}
    now = Counter(state.status for state in states if state.uri in plan.roots)
    return {
        "added": tally.added,
        "unchanged": len(scanned),
        "modified": tally.modified,
        "deleted": len(plan.removed),
        "failed": now[DocumentStatus.FAILED],
        "partial": now[DocumentStatus.PARTIAL],
        "empty": now[DocumentStatus.EMPTY],
        "needs_ocr": now[DocumentStatus.NEEDS_OCR],
    }


def failures(plan: Plan, states: Sequence[DocumentState]) -> tuple[Failure, ...]:
    """Every document of the scanned sources that is not whole, with its reason."""
    return tuple(
        Failure(state.uri, state.status, state.reason or state.status.value, state.retryable)
        for state in states
        if state.uri in plan.roots and state.status in _INCOMPLETE
    )


def copies(plan: Plan, states: Sequence[DocumentState]) -> list[str]:
    """A note for each new or changed document whose bytes are those of another document of the generation."""
    new = {source.uri for source in plan.parse}
    by_content: dict[str, list[DocumentState]] = {}
    for state in states:
        if state.version and state.chunks:
            by_content.setdefault(state.version, []).append(state)
    notes = []
    for alike in by_content.values():
        first, *rest = sorted(alike, key=lambda state: (state.uri in new, state.name, state.uri))
        notes += [f"{state.name} has the same content as {first.name}" for state in rest if state.uri in new]
    told = sorted(notes)[:MOST_COPIES_TOLD]
    return told + ([f"and {len(notes) - len(told)} more copies"] if len(notes) > len(told) else [])
