"""A sync from end to end: sources compared, a candidate built and published, and what is no longer needed removed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fonte.checks import ENOUGH_TO_JUDGE
from fonte.embedding import vector_key
from fonte.errors import ConfigError, CorruptIndex, GateFailed, InputError, SpaceMismatch, StoreUnavailable
from fonte.ingest import Candidate, Ingestor
from fonte.outcome import copies, counted, failures, moves
from fonte.parts import Parts, SourceOptions, TenantStore
from fonte.plan import Plan, Tally, fault_of, plan_sync
from fonte.protocols import Progress, SourceReader
from fonte.publish import Judge, publish, told_hold
from fonte.store_protocols import Catalog
from fonte.types import DocumentState, Generation, GenerationState, Hold, Recipe, Space, SyncReport

KEPT_GENERATIONS = 3
MOST_UNUSED = 2
"""How many vectors are remembered for each chunk of the kept generations before the others are forgotten."""


@dataclass(frozen=True, slots=True)
class Syncer:
    """Syncs of one tenant."""

    parts: Parts
    store: TenantStore
    tenant: str
    workers: int
    progress: Progress
    judge: Judge | None = None
    standing: bool = False
    """Run by a watch or a schedule: it only takes rights away while a rollback holds, and removes no whole source.

    A person's run lifts the hold, unless its candidate is held back itself.
    """
    held_key: str = ""
    """Of a plan that was held back before: a standing run does not build it again."""

    def sync(self, specs: Mapping[str, SourceOptions], *, publishing: bool) -> SyncReport:
        """Bring the index to what the sources hold.

        Raises:
            SourceUnreadable: a source is missing. ModelError, StoreError, HomeLocked: nothing changed.
        """
        # A wrong source must not leave a new home or a lock behind: readers are made first.
        readers = [self.parts.open_source(spec, options, self.tenant) for spec, options in specs.items()]
        return self._run(readers, specs, publishing=publishing)

    def retry(self, states: Sequence[DocumentState]) -> SyncReport:
        """Parse these documents again, from the remembered sources that they came from, and change nothing else.

        A source that is not there any more is told against its documents.
        """
        wanted = {state.document_id: state for state in states}
        roots = {state.source_root for state in states}
        readers: list[SourceReader] = []
        missing: list[str] = []
        for spec, options in self.store.catalog.sources().items() if wanted else ():
            try:
                reader = self.parts.open_source(spec, remembered(options), self.tenant)
            except (InputError, ConfigError) as error:
                missing.append(error.message)
                continue
            if reader.root in roots:
                readers.append(reader)
        there = {reader.root for reader in readers}
        why = "; ".join(missing) or "its source was never remembered"
        lost = {one.document_id: why for one in states if one.source_root not in there}
        return self._run(readers, {}, publishing=True, retry=frozenset(wanted), lost=lost)

    def _run(
        self,
        readers: Sequence[SourceReader],
        specs: Mapping[str, SourceOptions],
        *,
        publishing: bool,
        retry: frozenset[str] | None = None,
        lost: Mapping[str, str] | None = None,
    ) -> SyncReport:
        began = time.perf_counter()
        catalog, recipe = self.store.catalog, self.parts.recipe
        with catalog.writer(), self.parts.make_pool(self.workers) as pool:
            active = catalog.active()
            catalog.abandon_building()
            fault = fault_of(self.store.index, active) if active is not None else None
            plan = plan_sync(
                readers,
                tenant=self.tenant,
                catalog=catalog,
                active=active,
                same_recipe=active is not None and active.recipe == recipe and fault is None,
                extractors=self.parts.extractors,
                retry=retry,
                lost=lost,
            )
            if self.standing:
                catalog.narrow_all(plan.narrowed)  # less may be read at once, whatever holds the rest back
                check_model(catalog, active, recipe.space)
            if catalog.model(recipe.space.id) != self.parts.embedding:
                catalog.remember_model(recipe.space.id, self.parts.embedding)
            plan = replace(plan, notes=(*_remember(catalog, specs), *plan.notes))
            key = plan.key(active.id if active is not None else "")
            why = self._held(plan, catalog.held(), key) if self.standing and active is not None else None
            if why is not None and active is not None:
                return replace(_nothing(active, began), held_back=why, key=key)
            if plan.nothing_to_do and active is not None:
                self._settle(answered=publishing)
                return _unchanged(plan, active, list(plan.known.values()), began)
            candidate = self._ingestor(recipe).build(plan, active, pool, self.progress)
            held_back = self._publish(catalog, candidate) if publishing else None
            self._settle(answered=publishing and held_back is None)
            if candidate.tally.embedded:
                self._forget_vectors()
            states = catalog.states(candidate.generation.id)
        report = _built(plan, candidate, states, fault, began)
        return replace(report, published=publishing and held_back is None, held_back=held_back, key=key)

    def _settle(self, *, answered: bool) -> None:
        """A sync came to its end: a person's that published answers a rollback, and what is no longer needed goes."""
        if answered and not self.standing:
            self.store.catalog.release()
        self._forget()

    def narrow(self, specs: Iterable[str]) -> int:
        """Take away now the rights that these sources, read as remembered, do not give any more; of how many documents.

        For changes that come while a sync is at work: what it builds is cut down too, when it is published.

        Raises:
            SourceUnreadable: a source is missing.
        """
        catalog, known = self.store.catalog, self.store.catalog.sources()
        readers = [
            self.parts.open_source(one, remembered(known[one]), self.tenant)
            for one in dict.fromkeys(specs)
            if one in known
        ]
        plan = plan_sync(readers, tenant=self.tenant, catalog=catalog, active=catalog.active(), same_recipe=True)
        if plan.narrowed:
            catalog.narrow_all(plan.narrowed)
        return len(plan.narrowed)

    def _held(self, plan: Plan, hold: Hold | None, key: str) -> tuple[str, str] | None:
        """Why a sync without a person does not go on with its plan, and what to do; None where it does."""
        if hold is not None:
            return told_hold(hold)
        root = plan.vanished(ENOUGH_TO_JUDGE)
        if root is not None:
            return (
                f"most or all documents of {root} are gone (is a folder unmounted?): nothing was removed",
                "bring it back, or run fonte sync if they are meant to be gone",
            )
        return ("held back as before", "") if key == self.held_key else None

    def _ingestor(self, recipe: Recipe) -> Ingestor:
        return Ingestor(
            tenant=self.tenant,
            catalog=self.store.catalog,
            index=self.store.index,
            cache=self.store.cache,
            chunker=self.parts.make_chunker(recipe, self.parts.embedder),
            embedder=self.parts.embedder,
            terms=self.parts.terms,
            recipe=recipe,
        )

    def _publish(self, catalog: Catalog, candidate: Candidate) -> tuple[str, str] | None:
        self.progress("publishing", 0, None)
        try:
            publish(catalog, candidate.generation.id, inspect=self.parts.inspector(self.store), judge=self.judge)
        except GateFailed as error:
            return error.message, error.hint
        return None

    def _forget(self) -> None:
        """Remove what nobody will go back to: old generations, old candidates, what a killed sync left.

        What somebody reads at this moment stays whole, its texts as well as its table, until a later sync.
        """
        catalog = self.store.catalog
        candidates = [one for one in catalog.generations() if one.state is GenerationState.CANDIDATE]
        for one in candidates[:-KEPT_GENERATIONS]:
            catalog.update_generation(one.id, GenerationState.REJECTED, verdict="superseded by later candidates")
        old = {GenerationState.RETIRED, GenerationState.REJECTED}
        in_use = self.store.index.in_use([one for one in catalog.generations() if one.state in old])
        catalog.forget_generations(KEPT_GENERATIONS, but={one.id for one in in_use})
        self.store.index.drop(_kept(catalog))

    def _forget_vectors(self) -> None:
        """Forget vectors that no kept generation uses, once there are many more than these need."""
        kept, cache = _kept(self.store.catalog), self.store.cache
        if cache.count() <= MOST_UNUSED * sum(one.chunks for one in kept):
            return
        used: dict[str, set[str]] = {}
        try:
            for one in kept:
                texts = self.store.index.open(one).texts()
                used.setdefault(one.recipe.space.key, set()).update(vector_key(text) for text in texts)
            cache.prune(used)
        except (CorruptIndex, StoreUnavailable):
            # The sync itself is done: what cannot be read or tidied now waits for the next one.
            return


def _kept(catalog: Catalog) -> list[Generation]:
    return [one for one in catalog.generations() if one.state is not GenerationState.REJECTED]


def _nothing(active: Generation, began: float) -> SyncReport:
    return SyncReport(
        generation=active.id,
        published=False,
        documents={},
        chunks_added=0,
        chunks_removed=0,
        chunks_total=active.chunks,
        embedded_texts=0,
        failures=(),
        seconds=time.perf_counter() - began,
        changed=False,
    )


def _built(
    plan: Plan, candidate: Candidate, states: Sequence[DocumentState], fault: str | None, began: float
) -> SyncReport:
    """What was done, of a candidate that is not published yet."""
    anew = [f"the index was built anew: {fault}"] if fault else []
    return SyncReport(
        generation=candidate.generation.id,
        published=False,
        documents=counted(plan, states, candidate.tally),
        chunks_added=candidate.tally.chunks_added,
        chunks_removed=candidate.tally.chunks_removed,
        chunks_total=candidate.generation.chunks,
        embedded_texts=candidate.tally.embedded,
        failures=failures(plan, states),
        seconds=time.perf_counter() - began,
        notes=(*plan.notes, *moves(plan), *copies(plan, states), *anew),
        moved=tuple((state.name, source.name) for state, source in plan.renamed),
    )


def _unchanged(plan: Plan, active: Generation, states: Sequence[DocumentState], began: float) -> SyncReport:
    return SyncReport(
        generation=active.id,
        published=True,
        documents=counted(plan, states, Tally()),
        chunks_added=0,
        chunks_removed=0,
        chunks_total=active.chunks,
        embedded_texts=0,
        failures=failures(plan, states),
        seconds=time.perf_counter() - began,
        notes=plan.notes,
        changed=False,
    )


def _remember(catalog: Catalog, specs: Mapping[str, SourceOptions]) -> list[str]:
    """Keep how sources are read; a note for each that was read in another way before: options are not added up."""
    known, notes = catalog.sources(), []
    for spec, options in specs.items():
        plain = {
            "allow": options.allow,
            "include": options.include,
            "exclude": options.exclude,
            "records": options.records,
        }
        text = json.dumps(plain, sort_keys=True)
        if known.get(spec) == text:
            continue
        catalog.remember_source(spec, text)
        if spec in known:
            before, now = _as_typed(remembered(known[spec])), _as_typed(options)
            notes.append(f"{spec} was synced with {before} before, with {now} now: options count for one sync each")
    return notes


def _as_typed(options: SourceOptions) -> str:
    """The options as one types them."""
    typed = [f"--allow {','.join(options.allow) or 'nobody'}"]
    typed += [f"--include {glob}" for glob in options.include] + [f"--exclude {glob}" for glob in options.exclude]
    return " ".join([*typed, *(["--records"] if options.records else [])])


def check_model(catalog: Catalog, active: Generation | None, own: Space) -> None:
    """For what syncs without a person: whether the settings still name the index's model.

    Raises:
        SpaceMismatch: the index has moved on to another one since, and a sync by these settings would undo that.
    """
    if active is not None and active.recipe.space.id != own.id and catalog.left(own.id):
        raise SpaceMismatch(
            f"the index has moved on from {own.model} to {active.recipe.space.model}",
            hint="set [embedding] source to the new model and start this process again",
        )


def is_elsewhere(spec: str) -> bool:
    """Whether a source is not on this machine, by its name."""
    return ("://" in spec and not spec.startswith("file:")) or spec.endswith(".urls")


def remembered(options: str) -> SourceOptions:
    """The options that were remembered with a source, out of their JSON."""
    plain: dict[str, Any] = json.loads(options)
    return SourceOptions(
        allow=tuple(plain["allow"]),
        include=tuple(plain["include"]),
        exclude=tuple(plain["exclude"]),
        records=bool(plain["records"]),
    )
