"""The public face: sync, search, ask, show, publish, rollback, delete, status. It delegates and decides little.

Every read names a principal. A question opens the active generation once and keeps to it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from functools import cached_property
from typing import Any, Protocol, Self

from fonte import contract
from fonte.answer import AnswerSettings, Asker, abstention_message, answer_language, now, with_languages
from fonte.errors import GateFailed, InvalidQuery, NotFound, SpaceMismatch, StoreUnavailable
from fonte.evidence import EvidenceScorer
from fonte.gate import NOTHING, GateModel
from fonte.ingest import (
    Candidate,
    Ingestor,
    ParserPool,
    Tally,
    copies,
    counted,
    failures,
    fault_of,
    plan_sync,
    stamp_of,
)
from fonte.protocols import (
    Catalog,
    Chunker,
    Embedder,
    Generator,
    IndexReader,
    IndexStore,
    Progress,
    SourceReader,
    Terms,
    VectorCache,
)
from fonte.publish import publish, rollback
from fonte.retrieve import Mode
from fonte.text.locate import locate
from fonte.types import (
    Abstained,
    AbstentionReason,
    Answer,
    Answered,
    Citation,
    Document,
    DocumentState,
    DocumentStatus,
    Filters,
    Generation,
    GenerationState,
    Locator,
    Principal,
    Query,
    Recipe,
    SearchResults,
    Space,
    Stamp,
    SyncReport,
    Trace,
)

KEPT_GENERATIONS = 3
_STAMPED = tuple(one.name for one in fields_of(Stamp))


class TenantStore(Protocol):
    """What a tenant owns."""

    @property
    def catalog(self) -> Catalog:
        """Documents, states, rights, generations, answers."""

    @property
    def index(self) -> IndexStore:
        """Tables."""

    @property
    def cache(self) -> VectorCache:
        """Vectors already known."""

    def close(self) -> None:
        """Close its files."""


class Stores(Protocol):
    """Every tenant's store."""

    def tenant(self, name: str) -> TenantStore:
        """A tenant's store. An unknown tenant reads as an empty one; its first write makes it."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a source is read; remembered with it, so that retry reads it the same way."""

    allow: tuple[str, ...] = ("public",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    records: bool = False


@dataclass(frozen=True)
class Parts:
    """The concrete parts, made by wiring. What is costly is made when it is first asked for."""

    stores: Stores
    make_embedder: Callable[[], Embedder]
    make_recipe: Callable[[Embedder], Recipe]
    make_chunker: Callable[[Recipe, Embedder], Chunker]
    make_generator: Callable[[str | None, EvidenceScorer], Generator]
    make_pool: Callable[[int], AbstractContextManager[ParserPool]]
    open_source: Callable[[str, SourceOptions], SourceReader]
    terms: Terms
    gate_for: Callable[[Space], GateModel]
    extractors: Callable[[], Mapping[str, str]]
    """Names of the parsers in force, with versions, by the part before the first ``/``."""
    answers: AnswerSettings = field(default_factory=AnswerSettings)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder, loaded once."""
        return self.make_embedder()

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe in force."""
        return self.make_recipe(self.embedder)

    @cached_property
    def scorer(self) -> EvidenceScorer:
        """Scores sentences for the gate and for extractive answers."""
        return EvidenceScorer(self.embedder, self.terms)


def _silent(what: str, done: int, total: int | None) -> None:
    del what, done, total


class OpenCorpus:
    """A corpus whose parts are given. ``fonte.Corpus`` is this with ``open``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stores: dict[str, TenantStore] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files of every tenant that was opened."""
        while self._stores:
            self._stores.popitem()[1].close()

    # --- writing ---------------------------------------------------------------------------------------------------

    def sync(
        self,
        *sources: str,
        tenant: str = "default",
        options: SourceOptions = SourceOptions(),  # noqa: B008 - frozen
        publish: bool = True,
        workers: int = 1,
        progress: Progress = _silent,
    ) -> SyncReport:
        """Bring the tenant's index to what the sources hold, and publish it if it passes its checks.

        Raises:
            SourceUnreadable: a source is missing. ModelError, StoreError, HomeLocked: nothing changed.
        """
        # Remembered for retry, which may run in another folder.
        specs = {one if "://" in one else os.path.abspath(os.path.expanduser(one)): options for one in sources}  # noqa: PTH100, PTH111 - a glob is no path
        return self._sync(tenant, specs, publish=publish, workers=workers, progress=progress, retry=frozenset())

    def retry(
        self, *documents: str, tenant: str = "default", workers: int = 1, progress: Progress = _silent
    ) -> SyncReport:
        """Parse again documents that failed or are partial (all, or those named), from the sources remembered.

        Raises:
            NotFound: no such document, or nothing was ever synced.
        """
        store = self._existing(tenant)
        states = [self._find(store.catalog, one) for one in documents] or [
            state for state in self.documents(tenant=tenant) if state.status not in (DocumentStatus.READY,)
        ]
        specs = {spec: _remembered(json.loads(options)) for spec, options in store.catalog.sources().items()}
        if not specs:
            raise NotFound("nothing was ever synced here", hint="run fonte sync FOLDER")
        wanted = frozenset(state.document_id for state in states)
        return self._sync(tenant, specs, publish=True, workers=workers, progress=progress, retry=wanted)

    def _sync(
        self,
        tenant: str,
        specs: dict[str, SourceOptions],
        *,
        publish: bool,
        workers: int,
        progress: Progress,
        retry: frozenset[str],
    ) -> SyncReport:
        began = time.perf_counter()
        # A wrong source must not leave a new home or a lock behind: readers are made first.
        readers = [self._parts.open_source(spec, options) for spec, options in specs.items()]
        store = self._store_of(tenant)
        catalog = store.catalog
        with catalog.writer(), self._parts.make_pool(workers) as pool:
            catalog.abandon_building()
            active = catalog.active()
            recipe = self._parts.recipe
            fault = fault_of(store.index, active) if active is not None else None
            plan = plan_sync(
                readers,
                tenant=tenant,
                catalog=catalog,
                active=active,
                same_recipe=active is not None and active.recipe == recipe and fault is None,
                retry=retry,
            )
            _remember(catalog, specs)
            if plan.nothing_to_do and active is not None:
                self._forget(store)
                states = catalog.states(active.id)
                return SyncReport(
                    active.id, True, counted(plan, states, Tally()), 0, 0, active.chunks, 0,
                    failures(plan, states), time.perf_counter() - began, plan.notes,
                )
            candidate = self._ingestor(tenant, store, recipe).build(plan, active, pool, progress)
            notes = self._publish(catalog, candidate, progress) if publish else []
            held_back = bool(notes)
            self._forget(store)
            states = catalog.states(candidate.generation.id)
            notes = [*copies(plan, states), *([f"the index was built anew: {fault}"] if fault else []), *notes]
        return SyncReport(
            generation=candidate.generation.id,
            published=publish and not held_back,
            documents=counted(plan, states, candidate.tally),
            chunks_added=candidate.tally.chunks_added,
            chunks_removed=candidate.tally.chunks_removed,
            chunks_total=candidate.generation.chunks,
            embedded_texts=candidate.tally.embedded,
            failures=failures(plan, states),
            seconds=time.perf_counter() - began,
            notes=(*plan.notes, *notes),
        )

    def _ingestor(self, tenant: str, store: TenantStore, recipe: Recipe) -> Ingestor:
        return Ingestor(
            tenant=tenant,
            catalog=store.catalog,
            index=store.index,
            cache=store.cache,
            chunker=self._parts.make_chunker(recipe, self._parts.embedder),
            embedder=self._parts.embedder,
            terms=self._parts.terms,
            recipe=recipe,
        )

    def _publish(self, catalog: Catalog, candidate: Candidate, progress: Progress) -> list[str]:
        progress("publishing", 0, None)
        try:
            publish(catalog, candidate.generation.id)
        except GateFailed as error:
            return [f"{error.message}; {error.hint}"]
        return []

    def _forget(self, store: TenantStore) -> None:
        """Remove what nobody will go back to: old generations, old candidates, what a killed sync left."""
        catalog = store.catalog
        candidates = [one for one in catalog.generations() if one.state is GenerationState.CANDIDATE]
        for one in candidates[:-KEPT_GENERATIONS]:
            catalog.update_generation(one.id, GenerationState.REJECTED, verdict="superseded by later candidates")
        catalog.forget_generations(KEPT_GENERATIONS)
        store.index.drop([one for one in catalog.generations() if one.state is not GenerationState.REJECTED])

    def publish(self, generation: str, *, tenant: str = "default", override: str | None = None) -> tuple[str, str | None]:
        """Make a generation active; (its id, the id of the one before).

        Raises:
            NotFound, GateFailed, GenerationConflict, HomeLocked
        """
        catalog = self._existing(tenant).catalog
        with catalog.writer():
            now_active, before = publish(catalog, generation, override=override)
        return now_active.id, before.id if before else None

    def rollback(self, *, tenant: str = "default") -> tuple[str, str]:
        """Go back to the generation before the active one; (its id, the id of the one left).

        Raises:
            NotFound, GenerationConflict, HomeLocked
        """
        catalog = self._existing(tenant).catalog
        with catalog.writer():
            now_active, left = rollback(catalog)
        return now_active.id, left.id

    def delete(self, *documents: str, tenant: str = "default") -> list[DocumentState]:
        """Take documents out of sight at once, in every generation.

        Raises:
            NotFound: one of them does not exist; then none is deleted.
        """
        catalog = self._existing(tenant).catalog
        states = [self._find(catalog, one) for one in documents]
        with catalog.writer():
            catalog.delete([state.document_id for state in states])
        return states

    # --- asking ----------------------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        *,
        principal: Principal,
        k: int | None = None,
        mode: Mode | None = None,
        max_distance: float | None = None,
        filters: Filters = Filters(),  # noqa: B008 - frozen
    ) -> SearchResults:
        """Ranked passages that the principal may read.

        Raises:
            InvalidQuery, ModelUnavailable, StoreError
        """
        asker = self._asker(principal, k=k, mode=mode, max_distance=max_distance)
        query = _query(text, principal, filters)
        if asker is None:
            return SearchResults(query.text, "", (), {"total": 0.0}, "")
        return asker.search(query)

    def ask(
        self,
        question: str,
        *,
        principal: Principal,
        generator: str | None = None,
        k: int | None = None,
        max_distance: float | None = None,
        filters: Filters = Filters(),  # noqa: B008 - frozen
    ) -> Answer:
        """An answer whose citations the server minted, or an abstention; either is stored.

        Raises:
            InvalidQuery, ModelUnavailable, BadModelOutput, StoreError
        """
        *_, last = self.stream(
            question, principal=principal, generator=generator, k=k, max_distance=max_distance, filters=filters
        )
        if isinstance(last, Answered | Abstained):
            return last
        raise AssertionError("a stream ends with its answer")

    def stream(
        self,
        question: str,
        *,
        principal: Principal,
        generator: str | None = None,
        k: int | None = None,
        max_distance: float | None = None,
        filters: Filters = Filters(),  # noqa: B008 - frozen
    ) -> Iterator[Citation | str | Answer]:
        """Citations, then the answer's text in pieces, last the whole answer, which is what is stored."""
        query = _query(question, principal, filters)
        asker = self._asker(principal, k=k, mode=None, max_distance=max_distance)
        if asker is None:
            yield _nothing(with_languages(query))
            return
        for item in asker.stream(query, self._parts.make_generator(generator, self._parts.scorer)):
            yield self._kept(item, principal) if isinstance(item, Answered | Abstained) else item

    def answer(self, answer_id: str, *, principal: Principal) -> str:
        """A stored answer's JSON, byte for byte, while the asker may still read all that it cites.

        Raises:
            NotFound
        """
        return self._store_of(principal.tenant).catalog.answer(answer_id, principal)

    def _asker(
        self, principal: Principal, *, k: int | None, mode: Mode | None, max_distance: float | None
    ) -> Asker | None:
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        if active is None:
            return None
        reader, embedder = self._opened(store, active)
        if active.recipe.space != embedder.space:
            raise SpaceMismatch(
                f"the index was built with {active.recipe.space.model}, the settings name {embedder.space.model}",
                hint="set [embedding] source back, or run fonte sync to build a generation with the new model",
            )
        settings = self._parts.answers
        retrieval = settings.retrieval
        retrieval = replace(
            retrieval,
            k=k or retrieval.k,
            mode=mode or retrieval.mode,
            candidates=max(retrieval.candidates, k or 0),
            max_distance=max_distance if max_distance is not None else retrieval.max_distance,
        )
        return Asker(
            reader=reader,
            catalog=store.catalog,
            embedder=embedder,
            terms=self._parts.terms,
            scorer=self._parts.scorer,
            gate=self._parts.gate_for(embedder.space),
            settings=replace(settings, retrieval=retrieval),
        )

    def _kept(self, answer: Answer, principal: Principal) -> Answer:
        """The answer, stored; where the store cannot be written (read-only, full) with a note that it was not kept."""
        store = self._store_of(principal.tenant)
        body = json.dumps(contract.answer(answer), ensure_ascii=False)
        try:
            store.catalog.save_answer(answer.answer_id, principal, now(), body, sorted(_named(answer)))
        except StoreUnavailable as error:
            note = f"this answer was not kept: {error.message}"
            return replace(answer, answer_id="", trace=replace(answer.trace, notes=(*answer.trace.notes, note)))
        return answer

    def _opened(self, store: TenantStore, active: Generation) -> tuple[IndexReader, Embedder]:
        """The index and the model; at a cold start side by side, for each takes long and waits for the disk."""
        if "embedder" in vars(self._parts):
            return store.index.open(active), self._parts.embedder
        with ThreadPoolExecutor(max_workers=1) as beside:
            pending = beside.submit(store.index.open, active)
            embedder = self._parts.embedder
            return pending.result(), embedder

    # --- looking ---------------------------------------------------------------------------------------------------

    def show(
        self,
        document: str,
        *,
        principal: Principal,
        start: int | None = None,
        end: int | None = None,
        page: int | None = None,
    ) -> tuple[Document, DocumentState, Locator]:
        """A document's canonical text and a place in it: the range, the page, or the whole.

        Raises:
            NotFound: absent or forbidden. InvalidQuery: a range or a page outside the document.
        """
        store = self._store_of(principal.tenant)
        absent = NotFound(f"there is no document {document!r}", hint="fonte documents lists what is there")
        active = store.catalog.active()
        if active is None:
            raise absent
        readable = [
            state
            for state in store.catalog.states(active.id)
            if document in (state.document_id, state.name, state.uri)
            and store.catalog.may_read(state.document_id, principal)
        ]
        if not readable:
            raise absent
        state = store.catalog.state(active.id, readable[0].document_id) or readable[0]
        found = store.catalog.document(active.id, state.document_id)
        if found is None:
            raise NotFound(f"{state.name} has no text: {state.reason or state.status.value}")
        return found, state, _place(found, start, end, page)

    def documents(self, *, tenant: str = "default", status: DocumentStatus | None = None) -> list[DocumentState]:
        """Documents of the active generation, deleted ones as such, for whoever runs the corpus."""
        store = self._store_of(tenant)
        active = store.catalog.active()
        if active is None:
            return []
        deleted = store.catalog.deleted()
        states = [
            replace(state, status=DocumentStatus.DELETED, chunks=0) if state.document_id in deleted else state
            for state in store.catalog.states(active.id)
        ]
        return [state for state in states if status is None or state.status is status]

    def document_state(self, document_id: str, *, tenant: str = "default") -> DocumentState | None:
        """One document with its ledger."""
        store = self._store_of(tenant)
        active = store.catalog.active()
        return store.catalog.state(active.id, document_id) if active else None

    def generations(self, *, tenant: str = "default") -> tuple[Generation | None, list[Generation]]:
        """The active generation and all that are kept, oldest first."""
        store = self._store_of(tenant)
        return store.catalog.active(), store.catalog.generations()

    def stale(self, *, tenant: str = "default") -> dict[str, list[str]]:
        """Documents of the active generation whose stamp is not the recipe in force: name → fields that differ."""
        extractors = self._parts.extractors()
        differs: dict[str, list[str]] = {}
        for state in self.documents(tenant=tenant):
            stamp = state.stamp
            if stamp is None or state.status not in (DocumentStatus.READY, DocumentStatus.PARTIAL):
                continue
            current = extractors.get(stamp.extractor.split("/")[0], stamp.extractor)
            wanted = stamp_of(self._parts.recipe, current)
            fields = [
                f"{name}: {getattr(stamp, name)} -> {getattr(wanted, name)}"
                for name in _STAMPED
                if getattr(stamp, name) != getattr(wanted, name)
            ]
            if fields:
                differs[state.name] = fields
        return differs

    def _existing(self, tenant: str) -> TenantStore:
        store = self._store_of(tenant)
        if store.catalog.active() is None and not store.catalog.generations():
            raise NotFound(f"nothing was ever synced for tenant {tenant!r}", hint="run fonte sync FOLDER")
        return store

    def _store_of(self, tenant: str) -> TenantStore:
        store = self._stores.get(tenant)
        if store is None:
            store = self._stores.setdefault(tenant, self._parts.stores.tenant(tenant))
        return store

    def _find(self, catalog: Catalog, document: str) -> DocumentState:
        active = catalog.active()
        states = catalog.states(active.id) if active else []
        found = [state for state in states if document in (state.document_id, state.name, state.uri)]
        if not found:
            raise NotFound(f"there is no document {document!r}", hint="fonte documents lists what is there")
        if len(found) > 1:
            raise InvalidQuery(
                f"{len(found)} documents are called {document!r}",
                hint="name it by its id: " + ", ".join(state.document_id for state in found),
            )
        return found[0]


def _named(answer: Answer) -> set[str]:
    """Every document that an answer names: all must still be readable when it is read again."""
    if isinstance(answer, Answered):
        copied = [one.duplicates for one in answer.citations]
        named = {one.document_id for one in answer.citations}
    else:
        copied = [one.duplicates for one in answer.nearest]
        named = {one.stored.chunk.document_id for one in answer.nearest}
    return named | {document for copies_of_one in copied for document, _ in copies_of_one}


def _remember(catalog: Catalog, specs: dict[str, SourceOptions]) -> None:
    known = catalog.sources()
    for spec, options in specs.items():
        plain = {
            "allow": options.allow,
            "include": options.include,
            "exclude": options.exclude,
            "records": options.records,
        }
        text = json.dumps(plain, sort_keys=True)
        if known.get(spec) != text:
            catalog.remember_source(spec, text)


def _remembered(options: dict[str, Any]) -> SourceOptions:
    return SourceOptions(
        allow=tuple(options["allow"]),
        include=tuple(options["include"]),
        exclude=tuple(options["exclude"]),
        records=bool(options["records"]),
    )


def _query(text: str, principal: Principal, filters: Filters) -> Query:
    if not text.strip():
        raise InvalidQuery("the question is empty", hint="write a question between quotes")
    return Query(text.strip(), principal, filters)


def _nothing(query: Query) -> Abstained:
    """The abstention of a tenant that has no index: the same as of one that holds nothing for the asker."""
    language = answer_language(query.languages)
    trace = Trace(id="", question=query.text, generation="")
    return Abstained(
        question=query.text, language=language, gate=NOTHING, generation="", generator="", answer_id="", trace=trace,
        prompt_tokens=0, completion_tokens=0, cost=0.0, reason=AbstentionReason.NOTHING_RETRIEVED,
        message=abstention_message(language), nearest=(),
    )


def _place(document: Document, start: int | None, end: int | None, page: int | None) -> Locator:
    length = len(document.text)
    if page is not None:
        on_page = [place for place in document.places if place.page == page]
        if not on_page:
            raise InvalidQuery(f"{document.name} has no text on page {page}", hint=f"it has {document.pages or 0} pages")
        return locate(document, on_page[0].start, on_page[-1].end)
    first, last = start or 0, length if end is None else end
    if not 0 <= first <= last <= length:
        raise InvalidQuery(
            f"{first}..{last} lies outside {document.name}", hint=f"its text has {length} characters, from 0"
        )
    return locate(document, first, last)

