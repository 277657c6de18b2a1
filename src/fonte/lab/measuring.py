"""Configurations that differ in one variable, each over an index of its own recipe, judged in pairs."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Self, TypeAlias

from fonte.corpus import OpenCorpus
from fonte.errors import FonteError
from fonte.evaluating import Evaluation, TenantIndex, Wanted, evaluate, measured
from fonte.evaluation.experiments import Configuration, Experiment, Judged, judge
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.index_facts import Timings, bytes_under, timings
from fonte.lab.place import TENANTS, Place
from fonte.lab.remembering import remembering
from fonte.parts import Parts
from fonte.protocols import Embedder, Progress
from fonte.types import DocumentStatus, Principal

Make: TypeAlias = Callable[[Path, Mapping[str, object]], Parts]
"""The parts over a home, under settings by dotted key; the rights stand in ``fonte.toml`` beside the home."""
Tell: TypeAlias = Callable[[str], None]
"""Hears what is being done."""

MEASURES = ("recall@5", "mrr@10", "needle@5", "needle@1", "ndcg@10")
_HYBRID: Mapping[str, object] = {"retrieval.mode": "hybrid", "retrieval.rerank": False}
_DEFAULT: Mapping[str, object] = {**_HYBRID, "retrieval.rerank": True}
DEFAULT = "hybrid + rerank"
CONFIGURATIONS = (
    Configuration("bm25", {**_HYBRID, "retrieval.mode": "bm25"}),
    Configuration("dense", {**_HYBRID, "retrieval.mode": "dense"}),
    Configuration("hybrid", _HYBRID),
    Configuration(DEFAULT, _DEFAULT),
    Configuration("blind 512", {**_DEFAULT, "chunking.strategy": "blind", "chunking.size": 512}),
    Configuration("no headers", {**_DEFAULT, "chunking.header": False}),
)
COMPARED = {
    "retrieval.mode": (("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid")),
    "retrieval.rerank": (("hybrid", DEFAULT),),
    "chunking": (("blind 512", DEFAULT), ("no headers", DEFAULT)),
}
"""Pairs of configurations by the one variable that they differ in, (a, b): b is judged against a."""
TIMED = 20
"""Questions asked without memory, for the time of a whole answer."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One row of the table: a configuration, what came of it, and what it cost.

    ``cost`` is the generator's, over all questions, and ``seconds`` what measuring took.
    """

    configuration: Configuration
    corpus: OpenCorpus
    tenants: Mapping[str, TenantIndex]
    found: Evaluation
    cost: float
    seconds: float


@dataclass(frozen=True, slots=True)
class _Index:
    """An index that was built for the laboratory, in a home of its own."""

    home: Path
    size_bytes: int
    seconds: Mapping[str, float]
    embedded: Mapping[str, int]


class Bench:
    """Builds the index that a configuration needs, once for each recipe, and measures it.

    Every index is synced from the sources into an empty home, so that sizes and times are all of one kind. That of the
    default configuration stays at ``place.home``; the others go with the bench.
    """

    def __init__(self, make: Make, place: Place, tell: Tell, progress: Progress) -> None:
        self._make, self._place, self._tell, self._progress = make, place, tell, progress
        self._built: dict[str, _Index] = {}
        self._open: list[OpenCorpus] = []
        self._plain: Embedder | None = None
        self._embedder: Embedder | None = None
        self._beside = tempfile.TemporaryDirectory(prefix="fonte-lab-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._open:
            one.close()
        self._beside.cleanup()

    def parts(self, home: Path, settings: Mapping[str, object], *, plain: bool = False) -> Parts:
        """Parts over a home, with the encoder that is loaded once; ``plain`` without its memory."""
        made = self._make(home, settings)
        if self._plain is None or self._embedder is None:
            self._plain = made.embedder
            self._embedder = remembering(self._plain)
        embedder = self._plain if plain else self._embedder
        return replace(made, make_embedder=lambda: embedder)

    def measure(self, configuration: Configuration, golden: GoldenSet) -> Measured:
        """One row of the table.

        Raises:
            ModelError, StoreError: it could not be measured; no figure is made up for it.
        """
        made = self.parts(self._place.home, configuration.settings)
        index = self._built.get(made.recipe.id)
        if index is None:
            index = self._built[made.recipe.id] = self._build(configuration)
        made = self.parts(index.home, configuration.settings)
        corpus = OpenCorpus(made)
        self._open.append(corpus)
        tenants = {
            tenant: measured(
                corpus.asker(Principal(tenant)), seconds=index.seconds[tenant], embedded=index.embedded[tenant]
            )
            for tenant in TENANTS
        }
        self._tell(f"asking {len(golden.questions)} questions: {configuration.name}")
        began = time.perf_counter()
        wanted = Wanted(MEASURES, gate=True, generator=made.make_generator(None, made.scorer))
        found = evaluate(golden, tenants, wanted, self._progress_of(configuration.name))
        if configuration.settings.get("retrieval.rerank") and found.layers["rerank"] == "off":
            self._tell(f"{configuration.name}: nothing was reranked, for the model keeps no token vectors")
        found = replace(found, facts=replace(found.facts, size_bytes=index.size_bytes))
        cost = sum(one.answer.cost for one in found.observed.values() if one.answer is not None)
        return Measured(configuration, corpus, tenants, found, cost, time.perf_counter() - began)

    def answer_times(self, configuration: Configuration, golden: GoldenSet) -> Timings:
        """Milliseconds of a whole answer, with an encoder that remembers nothing."""
        self._tell(f"timing {min(TIMED, len(golden.questions))} answers: {configuration.name}")
        step = max(1, len(golden.questions) // TIMED)
        took = []
        with OpenCorpus(self.parts(self._place.home, configuration.settings, plain=True)) as corpus:
            for question in islice(golden.questions, 0, step * TIMED, step):
                asker = Principal(question.tenant, question.user, question.roles)
                began = time.perf_counter()
                corpus.ask(question.wordings[0], principal=asker)
                took.append((time.perf_counter() - began) * 1000)
        return timings(took)

    def _build(self, configuration: Configuration) -> _Index:
        wanted = self.parts(self._place.home, configuration.settings).recipe.id
        stays = wanted == self.parts(self._place.home, _DEFAULT).recipe.id
        home = self._place.home if stays else Path(self._beside.name) / str(len(self._built)) / "home"
        self._with_rights(home)
        self._tell(f"indexing the documents: {configuration.name}")
        made = self.parts(home, configuration.settings)
        with OpenCorpus(made) as corpus:
            reports = {
                tenant: synced(corpus, self._place, tenant, self._progress_of(f"indexing {tenant}"))
                for tenant in TENANTS
            }
        return _Index(
            home,
            bytes_under(home),
            {tenant: one[0] for tenant, one in reports.items()},
            {tenant: one[1] for tenant, one in reports.items()},
        )

    def _with_rights(self, home: Path) -> None:
        """The file beside the home that says who may read."""
        rights = home.parent / "fonte.toml"
        if not rights.exists():
            rights.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._place.folder / rights.name, rights)

    def _progress_of(self, stage: str) -> Progress:
        def progress(what: str, done: int, total: int | None) -> None:
            self._progress(f"{stage}: {what}", done, total)

        return progress


def synced(corpus: OpenCorpus, place: Place, tenant: str, progress: Progress) -> tuple[float, int]:
    """Seconds and embedded texts of a tenant's first sync.

    Raises:
        FonteError: a document was not read whole; a laboratory is complete or it is none.
    """
    report = corpus.sync(str(place.documents(tenant).resolve()), tenant=tenant, progress=progress)
    unread = [one for one in corpus.documents(tenant=tenant) if one.status is not DocumentStatus.READY]
    if unread or not report.published:
        reason = f"{unread[0].name} is {unread[0].status.value}: {unread[0].reason}" if unread else "not published"
        raise FonteError(
            f"{len(unread)} of the laboratory's documents of {tenant} were not read whole; {reason}",
            hint="run fonte doctor",
        )
    return report.seconds, report.embedded_texts


def judged(rows: Sequence[Measured], golden: Path) -> Iterator[Judged]:
    """Every variable's pairs, of those configurations that were measured."""
    named = {row.configuration.name: row for row in rows}
    for variable, pairs in COMPARED.items():
        own = tuple(pair for pair in pairs if named.keys() >= set(pair))
        if not own:
            continue
        names = dict.fromkeys(name for pair in own for name in pair)
        experiment = Experiment(
            name=f"laboratory: {variable}",
            golden=golden,
            variable=variable,
            configurations=tuple(named[name].configuration for name in names),
            pairs=own,
            measures=MEASURES,
        )
        scores = {name: named[name].found.scores for name in names}
        yield judge(experiment, scores, {name: named[name].found.facts for name in names})
