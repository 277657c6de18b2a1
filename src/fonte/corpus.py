"""The public face: sync, search, ask, show, publish, rollback, delete, status. It delegates and decides little.

Every read names a principal. A question opens the active generation once and keeps to it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TypeVar

from fonte.access.uploads import UPLOADS, UploadStore
from fonte.answer import Asker, asked_query, nothing_answered, with_languages
from fonte.calibration import Fitting, Standing, fit, in_force, standing
from fonte.erasing import Erasing
from fonte.errors import InvalidQuery, NotFound, StoreError
from fonte.evaluation.golden import GoldenSet
from fonte.judging import GoldenFiles, GoldenJudge
from fonte.named import called, only_one
from fonte.parts import Parts, SourceOptions, Stores, TenantStore
from fonte.protocols import Progress
from fonte.publish import Judge, publish, rollback
from fonte.retrieve import Mode
from fonte.store_protocols import Catalog, IndexReader
from fonte.sync import Syncer, remembered
from fonte.text.expected import Expected
from fonte.text.language import QUESTION_LANGUAGES
from fonte.types import (
    Abstained,
    Answer,
    Answered,
    Citation,
    DocumentState,
    DocumentStatus,
    Filters,
    Generation,
    Principal,
    Query,
    Said,
    SearchResults,
    SyncReport,
)
from fonte.variant import asker_over
from fonte.why import Why, make_explainer

__all__ = ["OpenCorpus", "Parts", "SourceOptions", "Stores", "TenantStore"]

_Item = TypeVar("_Item")


def source_spec(source: str) -> str:
    """What a source is remembered by: its address, or its whole path."""
    return source if "://" in source else os.path.abspath(os.path.expanduser(source))  # noqa: PTH100, PTH111 - a glob is no path


def _silent(what: str, done: int, total: int | None) -> None:
    del what, done, total


class OpenCorpus(Erasing):
    """A corpus whose parts are given; ``golden`` judges candidates. ``fonte.Corpus`` is this with ``open``."""

    def __init__(self, parts: Parts, golden: GoldenFiles | None = None) -> None:
        super().__init__(parts)
        self._golden = golden
        self._lasting = False

    # --- writing ---------------------------------------------------------------------------------------------------

    def sync(
        self,
        *sources: str,
        tenant: str = "default",
        options: SourceOptions = SourceOptions(),  # noqa: B008 - frozen
        publish: bool = True,
        workers: int = 1,
        progress: Progress = _silent,
        standing: bool = False,
        held_key: str = "",
    ) -> SyncReport:
        """Bring the tenant's index to what the sources hold, and publish it if it passes its checks.

        ``standing``: run by a watch or a schedule, which after a rollback only takes rights away until a person syncs
        or publishes, and which does not remove most of a source; ``held_back`` of the report then says so.
        ``held_key``: the report's key of what such a run held back before, which it does not build again.

        Raises:
            SourceUnreadable: a source is missing. ModelError, StoreError, HomeLocked: nothing changed.
        """
        # Remembered for retry, which may run in another folder.
        specs = {source_spec(one): options for one in sources}
        store, judge = self._store_of(tenant), self._judge(tenant, progress)
        syncer = Syncer(self._parts, store, tenant, workers, progress, judge, standing, held_key)
        return syncer.sync(specs, publishing=publish)

    def resync(
        self,
        *sources: str,
        tenant: str = "default",
        publish: bool = True,
        progress: Progress = _silent,
        standing: bool = False,
        held_key: str = "",
    ) -> SyncReport:
        """Sync sources again as they were synced before: all that are remembered, or those named.

        ``standing`` and ``held_key`` as for ``sync``.

        Raises:
            NotFound: one that was never synced, or there is none. Else as ``sync``.
        """
        known = self.sources(tenant=tenant)
        strange = [one for one in sources if one not in known]
        if strange or not known:
            message = f"source {strange[0]!r} was never synced" if strange else "nothing was ever synced"
            raise NotFound(message, hint="run fonte sync FOLDER once; after that it is known")
        specs = {one: remembered(options) for one, options in known.items() if not sources or one in sources}
        store, judge = self._store_of(tenant), self._judge(tenant, progress)
        syncer = Syncer(self._parts, store, tenant, 1, progress, judge, standing, held_key)
        return syncer.sync(specs, publishing=publish)

    def check_source(self, source: str, *, tenant: str, options: SourceOptions) -> None:
        """Raises SourceUnreadable, InputError or ConfigError where a source cannot be opened."""
        self._parts.open_source(source, options, tenant)

    def narrow(self, *sources: str, tenant: str = "default") -> int:
        """Take away now what these sources (by their remembered names) let nobody read any more; of how many documents.

        Raises:
            SourceUnreadable: one is missing.
        """
        return Syncer(self._parts, self._store_of(tenant), tenant, 1, _silent).narrow(sources)

    def uploads(self, tenant: str = "default") -> UploadStore:
        """What people uploaded; synced as ``upload://``."""
        return self._parts.uploads(tenant)

    def retry(
        self,
        *documents: str,
        tenant: str = "default",
        workers: int = 1,
        progress: Progress = _silent,
        standing: bool = False,
    ) -> SyncReport:
        """Parse again documents that failed or are partial (all, or those named), from the sources remembered.

        Nothing else changes: files that came or went wait for the next sync, and deleted documents stay deleted.

        Raises:
            NotFound: no such document, a deleted one, or nothing was ever published.
        """
        store = self._existing(tenant)
        if store.catalog.active() is None:
            raise NotFound("no generation is active, so there is nothing to try again", hint="run fonte sync FOLDER")
        states = [self._find(store.catalog, one) for one in documents] or [
            state
            for state in self.documents(tenant=tenant)
            if state.status not in (DocumentStatus.READY, DocumentStatus.DELETED)
        ]
        for state in states:
            if state.status is DocumentStatus.DELETED:
                raise NotFound(f"{state.name} was deleted", hint="a sync of a source that holds it brings it back")
        if not standing:  # what was given up gets its tries anew
            store.standing.forget_tries([state.document_id for state in states])
        judge = self._judge(tenant, progress)
        return Syncer(self._parts, store, tenant, workers, progress, judge, standing).retry(states)

    def publish(
        self,
        generation: str,
        *,
        tenant: str = "default",
        override: str | None = None,
        progress: Progress = _silent,
    ) -> tuple[str, str | None]:
        """Make a generation active, where it passes its checks or there is a reason; (its id, the one before).

        Raises:
            NotFound, GateFailed, GenerationConflict, HomeLocked
        """
        catalog = self._existing(tenant).catalog
        with catalog.writer():
            now_active, before = publish(
                catalog,
                generation,
                inspect=self._parts.inspector(self._store_of(tenant)),
                override=override,
                judge=self._judge(tenant, progress),
            )
        return now_active.id, before.id if before else None

    def rollback(self, *, tenant: str = "default") -> tuple[str, str]:
        """Go back to the generation before the active one; (its id, the id of the one left).

        Raises:
            NotFound, GenerationConflict, HomeLocked. CorruptIndex: that generation is damaged.
        """
        store = self._existing(tenant)
        with store.catalog.writer():
            now_active, left = rollback(store.catalog, store.index)
        return now_active.id, left.id

    def delete(self, *documents: str, tenant: str = "default") -> list[DocumentState]:
        """Take documents out of sight at once, in every generation; a sync that runs now does not bring them back.

        Raises:
            NotFound: one of them does not exist; then none is deleted.
        """
        catalog = self._existing(tenant).catalog
        states = [self._find(catalog, one) for one in documents]
        for state in states:  # first: an upload that stayed would come back with the next sync
            if state.uri.startswith(UPLOADS):
                self.uploads(tenant).forget(state.uri)
        catalog.delete([state.document_id for state in states])
        self._drawer.forget({state.document_id for state in states})
        return states

    def calibrate(
        self,
        golden: GoldenSet,
        *,
        tenant: str = "default",
        cost_wrong: float | None = None,
        cost_abstain: float | None = None,
        progress: Progress = _silent,
    ) -> Fitting:
        """Fit the gate to a golden set's questions, and put it into force at once; costs not given are as set.

        Raises:
            NotFound: no index. InputError: too few questions of a kind. ConfigError: scikit-learn is not installed.
        """
        store, ask = self._existing(tenant), partial(self.asker, calibrated=False)
        costs = self._parts.costs.but(cost_wrong, cost_abstain)
        found = fit(golden, ask, self.documents(tenant=tenant), tenant=tenant, costs=costs, progress=progress)
        store.calibration.save(found.calibration.as_text())
        return found

    # --- asking ----------------------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        *,
        principal: Principal,
        k: int | None = None,
        mode: Mode | None = None,
        rerank: bool | None = None,
        max_distance: float | None = None,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        as_of: date | None = None,
    ) -> SearchResults:
        """Ranked passages that the principal may read; ``rerank`` None: as set, where it can be, but not with bm25.

        ``as_of``: only documents that hold on that day, by what was said of their validity.

        Raises:
            InvalidQuery, ModelUnavailable, StoreError. ConfigError: reranking was asked for and cannot be done.
        """
        query = asked_query(text, principal, filters, as_of)

        def found() -> Iterator[SearchResults]:
            asker = self.asker(principal, k=k, mode=mode, rerank=rerank, max_distance=max_distance)
            yield SearchResults(query.text, "", (), {"total": 0.0}, "") if asker is None else asker.search(query)

        return next(self._on_active(principal.tenant, found))

    def ask(
        self,
        question: str,
        *,
        principal: Principal,
        generator: str | None = None,
        k: int | None = None,
        max_distance: float | None = None,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        as_of: date | None = None,
        conversation: str | Sequence[Said] | None = None,
    ) -> Answer:
        """An answer whose citations the server minted, or an abstention.

        Either is stored, but where there is no index yet, and where the home cannot be written (a note says so).
        ``conversation`` is the id of one, or "new"; the answer's trace names it. Or it is what was said elsewhere,
        oldest first: the question is read with it, and nothing of it is kept.

        Raises:
            InvalidQuery, ModelUnavailable, BadModelOutput, StoreError. NotFound: no such conversation of this asker.
        """
        *_, last = self.stream(
            question,
            principal=principal,
            generator=generator,
            k=k,
            max_distance=max_distance,
            filters=filters,
            as_of=as_of,
            conversation=conversation,
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
        as_of: date | None = None,
        conversation: str | Sequence[Said] | None = None,
    ) -> Generator[Citation | str | Answer, None, None]:
        """Citations, then the answer's text in pieces, last the whole answer, which is what is stored."""
        named, history = self._said(conversation, principal)
        query = replace(asked_query(question, principal, filters, as_of), history=history)

        def said() -> Iterator[Citation | str | Answer]:
            asker = self.asker(principal, k=k, max_distance=max_distance)
            if asker is None:
                yield nothing_answered(with_languages(query))
                return
            for item in asker.stream(query, self._parts.make_generator(generator, asker.scorer)):
                yield self._kept(item, principal, named) if isinstance(item, Answered | Abstained) else item

        yield from self._on_active(principal.tenant, said)

    def _on_active(self, tenant: str, work: Callable[[], Iterator[_Item]]) -> Iterator[_Item]:
        """What comes of work on the active generation; begun anew where an erasure took that away meanwhile.

        Publishing leaves the generation before where it is; only an erasure removes one that is being read.
        """
        catalog, began = self._store_of(tenant).catalog, False
        while True:
            active = catalog.active()
            try:
                for item in work():
                    began = True
                    yield item
            except (NotFound, StoreError):
                now_active = catalog.active()
                if began or active is None or now_active is None or now_active.id == active.id:
                    raise
            else:
                return

    def why(
        self,
        question: str,
        expected: Expected,
        *,
        principal: Principal,
        k: int | None = None,
        mode: Mode | None = None,
        rerank: bool | None = None,
        max_distance: float | None = None,
        tell_access: bool = False,
    ) -> Why:
        """Where the expected was lost on a question's way; ``tell_access`` also tells of what the asker may not read.

        Raises NotFound where nothing was ever synced, else as ``ask``.
        """
        query = asked_query(question, principal, Filters())
        asker = self.asker(principal, k=k, mode=mode, rerank=rerank, max_distance=max_distance)
        if asker is None:
            raise NotFound(f"nothing was ever synced for tenant {principal.tenant!r}", hint="run fonte sync FOLDER")
        return make_explainer(self._parts, asker, principal, tell_access=tell_access).explain(query, expected)

    def asker(
        self,
        principal: Principal,
        *,
        k: int | None = None,
        mode: Mode | None = None,
        max_distance: float | None = None,
        rerank: bool | None = None,
        calibrated: bool = True,
    ) -> Asker | None:
        """What answers questions of the principal's tenant over its active generation; None where there is none."""
        if k is not None and k < 1:
            raise InvalidQuery(f"k is {k}", hint="ask for 1 passage or more")
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        if active is None:
            return None
        reader, parts = self._opened(store, active)
        if self._lasting:
            reader.get_ready()
        asker = asker_over(parts, store, reader, k=k, mode=mode, max_distance=max_distance, rerank=rerank)
        return in_force(asker, store.calibration.load) if calibrated else asker

    def probe(self, tenant: str) -> None:
        """Look for a word in the tenant's active generation, where it has one, without a model. Raises StoreError."""
        store = self._store_of(tenant)
        active = store.catalog.active()
        if active is not None:
            store.index.open(active).bm25(["a"], Query("a", Principal(tenant)), revoked=(), k=1)

    def warm(self) -> None:
        """Load what questions need, so that the first does not wait, nor several load it at once. Raises ModelError.

        Many questions are expected from now on: generations that are asked get ready for them in the background.
        """
        _ = self._parts.recipe, self._parts.scorer
        with_languages(Query("word", Principal()))
        for language in QUESTION_LANGUAGES:
            self._parts.terms.terms_across("word", (language,))
        with suppress(StoreError):  # whoever asks is told
            self.probe("default")
        # What was loaded so far stays: looking through it for garbage would stop a question for a tenth of a second.
        gc.collect()
        gc.freeze()
        self._lasting = True

    def _opened(self, store: TenantStore, active: Generation) -> tuple[IndexReader, Parts]:
        """The index and its model; at a cold start side by side, for each takes long and waits for the disk."""
        if "embedder" in vars(self._parts):
            return store.index.open(active), self._parts_of(store.catalog, active)
        with ThreadPoolExecutor(max_workers=1) as beside:
            pending = beside.submit(store.index.open, active)
            parts = self._parts_of(store.catalog, active)
            return pending.result(), parts

    # --- looking ---------------------------------------------------------------------------------------------------

    def calibration(self, *, tenant: str = "default") -> Standing:
        """What is known of the tenant's calibrated gate, and whether it judges."""
        store = self._store_of(tenant)
        return standing(store.calibration.load, partial(self.asker, Principal(tenant)))

    def _judge(self, tenant: str, progress: Progress) -> Judge | None:
        if self._golden is None:
            return None

        def ask(other: str) -> Asker | None:
            return self.asker(Principal(other))

        store = self._store_of(tenant)
        return GoldenJudge(self._golden, partial(self._parts_of, store.catalog), store, tenant, ask, progress)

    def _find(self, catalog: Catalog, document: str) -> DocumentState:
        active = catalog.active()
        states = catalog.states(active.id) if active else []
        return only_one(document, called(document, states))
