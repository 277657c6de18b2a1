"""The laboratory from end to end (document B, section 17): measured, its mistakes explained, its life simulated."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fonte.corpus import OpenCorpus
from fonte.evaluating import fingerprint_of
from fonte.evaluation.experiments import Configuration, Judged
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.index_facts import Timings
from fonte.evaluation.runs import run_of, write_qrels, write_run
from fonte.lab.measuring import DEFAULT, Bench, Make, Measured, Tell, judged, synced
from fonte.lab.mistakes import Mistake, mistakes
from fonte.lab.place import Place, lay_out
from fonte.lab.simulations import TENANT, Simulation, simulate
from fonte.lab.trespass import Trespass, cross_examine
from fonte.protocols import Progress


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything that a laboratory found. ``found`` counts mistakes of each kind, by configuration."""

    golden: GoldenSet
    documents: int
    fingerprint: str
    rows: Sequence[Measured]
    verdicts: Sequence[Judged]
    answer_times: Timings
    mistakes: Sequence[Mistake]
    found: Mapping[str, Mapping[str, int]]
    trespasses: Sequence[Trespass]
    simulations: Sequence[Simulation]
    seconds: float

    @property
    def unauthorized(self) -> int:
        """Results that their asker may not read, everywhere that was looked."""
        return sum(row.found.scores.unauthorized_hits for row in self.rows) + sum(
            one.unauthorized + one.leaks + one.betrayed for one in self.trespasses
        )

    @property
    def held(self) -> bool:
        """Whether nothing came out that should not, and every simulation went as it must."""
        return not self.unauthorized and all(one.held for one in self.simulations)


@contextmanager
def run(
    make: Make,
    place: Place,
    golden: GoldenSet,
    *,
    configurations: Sequence[Configuration],
    tell: Tell,
    progress: Progress,
) -> Iterator[Lab]:
    """Measure, explain, simulate; what is handed out can be asked on until the block ends.

    Raises:
        ModelError, StoreError, InputError: something could not be measured; no figure is made up for it.
    """
    began = time.perf_counter()
    with Bench(make, place, tell, progress) as bench:
        rows = [bench.measure(one, golden) for one in configurations]
        best = next((row for row in rows if row.configuration.name == DEFAULT), rows[-1])
        times = bench.answer_times(best.configuration, golden)
        told, found = mistakes(rows, best.configuration.name, tell)
        tell("asking what the asker may not know")
        trespassed = cross_examine(best.corpus, place, golden, progress)
        yield Lab(
            golden=golden,
            documents=sum(len(states) for one in best.tenants.values() for states in one.states.values()),
            fingerprint=fingerprint_of(golden, best.tenants),
            rows=rows,
            verdicts=list(judged(rows, place.golden)),
            answer_times=times,
            mistakes=told,
            found=found,
            trespasses=trespassed,
            simulations=_simulated(bench, best.configuration, tell, progress),
            seconds=time.perf_counter() - began,
        )


def write_runs(lab: Lab, folder: Path) -> None:
    """A TREC run of every configuration, and the judgments beside them."""
    folder.mkdir(exist_ok=True)
    for row in lab.rows:
        name = "".join(letter if letter.isalnum() else "-" for letter in row.configuration.name).replace("---", "-")
        retrieved = {query: one.retrieved for query, one in row.found.observed.items()}
        write_run(run_of(row.found.golden, retrieved, f"fonte-lab-{name}"), folder / f"{name}.run")
    write_qrels(lab.golden, folder / "qrels.txt")


def _simulated(bench: Bench, configuration: Configuration, tell: Tell, progress: Progress) -> list[Simulation]:
    """Over a laboratory of its own, for its documents are changed."""
    tell("simulating an update, deletes and a document that gives orders")
    with TemporaryDirectory(prefix="fonte-lab-") as beside:
        place = lay_out(Path(beside) / "lab")
        with OpenCorpus(bench.parts(place.home, configuration.settings)) as corpus:
            synced(corpus, place, TENANT, progress)
            return list(simulate(corpus, place))
