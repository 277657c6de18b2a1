"""What whoever runs a corpus sees of it and of its documents: states, ledgers, copies, samples, generations.

Nobody's rights are asked here, but by ``readable``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Self

from fonte import contract
from fonte.access.standing import StandingStore
from fonte.differing import GenerationDiff, differences
from fonte.errors import InputError, ModelError, NotFound, SpaceMismatch, StoreError
from fonte.evaluation.html.sample_page import Judged
from fonte.ingest import staleness
from fonte.listing import copies_of, outliers, with_full_ledgers, with_ledgers, with_live_roles
from fonte.named import called
from fonte.parts import Parts, TenantStore
from fonte.sampled import Sampler, draw
from fonte.store_protocols import Catalog, IndexReader
from fonte.sync import check_model
from fonte.types import (
    Acl,
    CorpusStatus,
    DocumentState,
    DocumentStatus,
    Generation,
    GenerationState,
    Hold,
    Principal,
)


class Overseen:
    """A corpus to be looked after: the stores of its tenants, and what stands in them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stores: dict[str, TenantStore] = {}
        self._loading = Lock()
        self._others: dict[str, Parts] = {}
        """With the models of generations that were built by other settings, by space."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files of every tenant that was opened."""
        while self._stores:
            self._stores.popitem()[1].close()

    def opened(self) -> tuple[str, ...]:
        """Tenants that were asked for until now."""
        return tuple(self._stores)

    def documents(
        self, *, tenant: str = "default", status: DocumentStatus | None = None, ledgers: bool = False
    ) -> list[DocumentState]:
        """Documents of the active generation, deleted ones as such, for whoever runs the corpus.

        Their roles are those that may read them now, which may be fewer than were indexed. Their ledgers come along
        where they are asked for.
        """
        catalog = self._store_of(tenant).catalog
        active = catalog.active()
        if active is None:
            return []
        states = [state for state in catalog.states(active.id) if status is None or state.status is status]
        return with_live_roles(catalog, with_ledgers(catalog, active.id, states) if ledgers else states)

    def readable(self, principal: Principal, *, document: str | None = None) -> list[DocumentState]:
        """Documents of the active generation that the principal may read, with their ledgers: all, or those so called.

        Their roles are those that the principal holds: who else may read is nobody's business.
        """
        catalog = self._store_of(principal.tenant).catalog
        active = catalog.active()
        if active is None:
            return []
        known = catalog.states(active.id)
        wanted = known if document is None else called(document, known)
        seen = [one for one in with_live_roles(catalog, wanted) if one.acl.admits(principal)]
        held = principal.held_roles
        return [
            replace(one, acl=Acl(one.acl.roles & held))
            for one in with_ledgers(catalog, active.id, seen)
            if one.status is not DocumentStatus.DELETED
        ]

    def full_ledgers(self, states: Sequence[DocumentState], *, tenant: str = "default") -> list[DocumentState]:
        """The same with what the index holds in their ledgers: a stage more, read out of the index."""
        store = self._store_of(tenant)
        active = store.catalog.active()
        if active is None:
            return list(states)
        return with_full_ledgers(store.catalog, store.index.open(active), states)

    def sample(
        self, count: int, *, tenant: str = "default", seed: int = 0, status: DocumentStatus | None = None
    ) -> list[Judged]:
        """Documents drawn over formats and states, what was read of them beside their pages or their sources.

        For whoever runs the corpus: nobody's rights are asked.
        """
        store = self._store_of(tenant)
        active = store.catalog.active()
        drawn = draw(self.documents(tenant=tenant, status=status, ledgers=True), count, seed)
        return list(Sampler(self._parts, store, tenant, active.id, seed).show(drawn)) if active is not None else []

    def document_state(self, document_id: str, *, tenant: str = "default") -> DocumentState | None:
        """One document with its ledger."""
        store = self._store_of(tenant)
        active = store.catalog.active()
        return store.catalog.state(active.id, document_id) if active else None

    def generations(self, *, tenant: str = "default") -> tuple[Generation | None, list[Generation]]:
        """The active generation and all that are kept, oldest first."""
        store = self._store_of(tenant)
        return store.catalog.active(), store.catalog.generations()

    def held(self, *, tenant: str = "default") -> Hold | None:
        """The rollback that nobody has answered yet: nothing is published by itself then."""
        return self._store_of(tenant).catalog.held()

    def verdict(self, generation: str, *, tenant: str = "default") -> str:
        """What was said when somebody last tried to publish a generation; empty where nobody did. Raises NotFound."""
        return self._store_of(tenant).catalog.generation(generation).verdict or ""

    def sources(self, *, tenant: str = "default") -> Mapping[str, str]:
        """Every source that was synced, as it was named, with its options as JSON."""
        return self._store_of(tenant).catalog.sources()

    def standing(self, tenant: str = "default") -> StandingStore:
        """What is kept of the tenant's sources that are looked after: leases, passes, tries."""
        return self._store_of(tenant).standing

    def judgments(self, *, tenant: str = "default") -> dict[str, contract.Json]:
        """What generations were judged by on a golden set, by id; those that were not judged are left out."""
        return {name: json.loads(text) for name, text in self._store_of(tenant).catalog.reports().items()}

    def diff(self, a: str, b: str, *, tenant: str = "default") -> GenerationDiff:
        """What generation ``b`` is beside ``a``. Raises NotFound."""
        catalog, judged = self._store_of(tenant).catalog, self.judgments(tenant=tenant)
        return differences(
            catalog.generation(a),
            catalog.generation(b),
            (catalog.states(a), catalog.states(b)),
            (judged.get(a), judged.get(b)),
        )

    def checks(self, *, tenant: str = "default") -> dict[str, contract.Json]:
        """What the data checks of generations found, by id; of one that nobody tried to publish there is nothing."""
        return {name: json.loads(text) for name, text in self._store_of(tenant).catalog.checks().items()}

    def status(self, *, tenant: str = "default") -> CorpusStatus:
        """What is there, and what is stale and why, for whoever runs the corpus.

        It works without the model too; what is stale is then not known.
        """
        active, known = self.generations(tenant=tenant)
        reader = self._reader(tenant, active)
        states = self.documents(tenant=tenant, ledgers=True)
        stale, unknown, code_bytes = None, "", None
        try:
            differs = staleness(states, self._parts.recipe, self._parts.extractors()) if states else {}
            stale = tuple((one, tuple(differs[one.document_id])) for one in states if one.document_id in differs)
            code_bytes = _code_bytes(active, states, self._parts.embedder.tokenizer.overhead) if active else 0
        except ModelError as error:
            unknown = error.message
        candidates = tuple(one.id for one in known if one.state is GenerationState.CANDIDATE)
        counts = Counter(one.status.value for one in states)
        by_id = {one.document_id: one for one in states}
        copies = tuple((by_id[one.key], by_id[one.of], one.similarity) for one in copies_of(states).values())
        odd = tuple((by_id[name], reasons) for name, reasons in outliers(states).items())
        return CorpusStatus(
            tenant,
            active,
            candidates,
            dict(sorted(counts.items())),
            stale,
            unknown,
            copies,
            odd=odd,
            token_code_bytes=code_bytes,
            approximate=reader.approximate if reader else None,
            word_search=reader.word_search if reader else None,
            held=self.held(tenant=tenant),
        )

    def _reader(self, tenant: str, active: Generation | None) -> IndexReader | None:
        if active is None:
            return None
        try:
            return self._store_of(tenant).index.open(active)
        except StoreError:
            return None

    def check_model(self, *, tenant: str = "default") -> None:
        """Whether the settings still name the index's model; for what syncs without a person, as a server does.

        Raises:
            SpaceMismatch: the index has moved on to another model since, and a sync by these settings would undo that.
        """
        catalog = self._store_of(tenant).catalog
        check_model(catalog, catalog.active(), self._parts.embedder.space)

    def _parts_of(self, catalog: Catalog, generation: Generation) -> Parts:
        """The parts with the model that a generation was built with: that of the settings, or the one before or after.

        Raises:
            SpaceMismatch: that model is not known here, or is another one by now. ModelError, ConfigError
        """
        space, own = generation.recipe.space, self._parts
        if space.id == own.embedder.space.id:
            return own
        with self._loading:
            found = self._others.get(space.id)
            if found is None:
                told = catalog.model(space.id)
                made = own.embedder_from(told) if told is not None else None
                if made is None or made.space.id != space.id:
                    raise SpaceMismatch(
                        f"the index was built with {space.model}, the settings name {own.embedder.space.model}",
                        hint="set [embedding] source back, or run fonte sync to build a generation with the new model",
                    )
                found = self._others[space.id] = replace(own, make_embedder=lambda: made)
            return found

    def _existing(self, tenant: str) -> TenantStore:
        store = self._store_of(tenant)
        if store.catalog.active() is None and not store.catalog.generations():
            raise NotFound(f"nothing was ever synced for tenant {tenant!r}", hint="run fonte sync FOLDER")
        return store

    def _store_of(self, tenant: str) -> TenantStore:
        if not tenant.strip() or "\0" in tenant:
            raise InputError("a tenant needs a name", hint="name one with --tenant, or leave it out")
        store = self._stores.get(tenant)
        if store is None:
            store = self._stores.setdefault(tenant, self._parts.stores.tenant(tenant))
        return store


def _code_bytes(active: Generation, states: Sequence[DocumentState], overhead: int) -> int:
    """What token codes take in the index: a byte a number, of every token that is a text's own."""
    tokens = sum(one.ledger.embedded_tokens - one.chunks * overhead for one in states if one.ledger is not None)
    return active.recipe.space.code_width * max(0, tokens)
