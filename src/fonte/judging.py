"""A candidate on the golden set that is configured, beside the active generation: pass, fail, or cannot tell.

Two judgments (spec 5.3): the candidate's figures against the floors, where a file of them is configured, and, where a
generation is active, both of them on the same queries, so that no more is lost than the margin. What cannot be
measured cannot be told, and is never a pass. Rights are those that publishing would leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fonte.answer import Asker, now
from fonte.calibration import in_force
from fonte.errors import FonteError, InputError
from fonte.evaluating import Evaluation, Tenants, Wanted, evaluate, fingerprint_of, measured
from fonte.evaluation.floors import (
    DEFAULT_MARGIN,
    Floors,
    FloorVerdict,
    Outcome,
    judge_floors,
    judge_pairs,
    load_floors,
    smallest_margin,
)
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.report import intervals
from fonte.evaluation.scoring import QueryKey, Scores, parse_measure
from fonte.parts import Parts, TenantStore
from fonte.protocols import Progress
from fonte.publish import Judgment
from fonte.store_protocols import Catalog
from fonte.types import Generation
from fonte.variant import asker_over

_GATE_RATES = frozenset({"abstention_correctness", "bluff_rate", "false_retrieval_rate"})
"""Measured without a generator too; other rates need answers."""
_SHOWN = 3
"""Reasons told in a line; the report has all."""


@dataclass(frozen=True, slots=True)
class GoldenFiles:
    """The golden set that judges candidates, and its floors where they are kept."""

    path: Path
    floors: Path | None = None


@dataclass(frozen=True, slots=True)
class GoldenJudge:
    """Judges candidates of one tenant; a ``publish.Judge``. Files are read anew for each of them.

    ``ask`` gives what answers over another tenant's active generation: floors are of the whole set. ``parts_of`` gives
    the parts with a generation's own model: the candidate's may be another than the active one's.
    """

    files: GoldenFiles
    parts_of: Callable[[Generation], Parts]
    store: TenantStore
    tenant: str
    ask: Callable[[str], Asker | None]
    progress: Progress

    def __call__(self, candidate: Generation, active: Generation | None) -> Judgment:
        """What the set says. A fault on the way (a file that is gone, a model that is down) is a cannot tell."""
        try:
            return self._judged(candidate, active)
        except FonteError as error:
            report = {"outcome": "cannot_tell", "reasons": [error.message], "judged_at": now().isoformat()}
            return Judgment("cannot_tell", f"it could not be judged: {error.message}", report)

    def _judged(self, candidate: Generation, active: Generation | None) -> Judgment:
        golden = load_golden(self.files.path)
        floors = load_floors(self.files.floors) if self.files.floors is not None else None
        own = tuple(one for one in golden.questions if one.tenant == self.tenant)
        if not own or (floors is None and active is None):
            why = f"asks nothing of {self.tenant}" if not own else "has no floors, and nothing was active to compare"
            told = f"not judged: golden set {golden.name} {why}"
            return Judgment(None, told, {"outcome": None, "reasons": [told], "judged_at": now().isoformat()})
        part = replace(golden, questions=own, origin=golden.fingerprint)
        lost = _pair_floors(part, floors)
        asked = part if floors is None else golden
        tenants = self._tenants(asked, candidate, active)
        wanted = wanted_by(tuple(lost.floors), floors)
        if wanted.generator is None and _needs_answers(floors):
            parts = self.parts_of(candidate)
            wanted = replace(wanted, generator=parts.make_generator(None, parts.scorer))
        after = evaluate(asked, tenants, wanted, self.progress)
        fingerprint = fingerprint_of(asked, tenants)
        figures = {**after.scores.summary(), **after.rates}
        kept = judge_floors(floors, figures, fingerprint) if floors is not None else None
        before, pairs = None, None
        if active is not None:
            before = self._before(part, active, wanted.measures)
            pairs = judge_pairs(lost, *_paired(before, after.scores, tuple(lost.floors), part))
        found = _Found(golden, fingerprint, candidate, active, after, before, kept, pairs, lost)
        return found.judgment()

    def _before(self, golden: GoldenSet, active: Generation, names: tuple[str, ...]) -> Scores:
        """The active generation's scores, asked as deep as the candidate; none where it has no such document."""
        there = measured(self._asker(active, self.store.catalog))
        documents = {name for question in golden.questions for name in question.relevance}
        if documents.isdisjoint(there.states):
            return Scores({}, {}, {}, (), 0)
        return evaluate(golden, {self.tenant: there}, Wanted(names), self.progress).scores

    def _tenants(self, golden: GoldenSet, candidate: Generation, active: Generation | None) -> Tenants:
        """The candidate as it would be published, and the other tenants of the set as they are."""
        catalog = self.store.catalog.as_published(candidate.id, expected=active.id if active else None)
        named = dict.fromkeys(question.tenant for question in golden.questions)
        return {
            tenant: measured(self._asker(candidate, catalog) if tenant == self.tenant else self.ask(tenant))
            for tenant in named
        }

    def _asker(self, generation: Generation, catalog: Catalog) -> Asker:
        """What would answer over a generation; the gate is the calibrated one where that still fits."""
        asker = asker_over(self.parts_of(generation), self.store, self.store.index.open(generation))
        return in_force(replace(asker, catalog=catalog), self.store.calibration.load)


def wanted_by(names: Sequence[str], floors: Floors | None) -> Wanted:
    """These measures and those of a floors file, whatever their k; the gate where a floor is of one of its rates.

    Raises:
        InputError: the file names a measure that there is not.
    """
    if floors is None:
        return Wanted(tuple(names))
    bounds = (*floors.floors, *floors.ceilings)
    ranked = [name for name in bounds if "@" in name and name != "c@1"]
    for name in ranked:
        try:
            parse_measure(name)
        except ValueError as error:
            raise InputError(f"the floors name {name}: {error}", hint="correct the floors file") from error
    return Wanted(tuple(dict.fromkeys((*names, *ranked))), gate=any(name in _GATE_RATES for name in bounds))


def _needs_answers(floors: Floors | None) -> bool:
    bounds = (*floors.floors, *floors.ceilings) if floors is not None else ()
    return any(name not in _GATE_RATES and ("@" not in name or name == "c@1") for name in bounds)


def _pair_floors(golden: GoldenSet, floors: Floors | None) -> Floors:
    """What must not be lost: the ranked measures that have floors, else the one that decides, by the margin."""
    ranked = {name: 0.0 for name in (floors.floors if floors is not None else ()) if "@" in name and name != "c@1"}
    needled = any(question.needles for question in golden.questions)
    decisive = {"needle@5" if needled else "recall@5": 0.0}
    margin = floors.margin if floors is not None else DEFAULT_MARGIN
    return Floors(golden.fingerprint, ranked or decisive, margin=margin)


def _paired(before: Scores, after: Scores, names: Sequence[str], part: GoldenSet) -> tuple[Scores, Scores]:
    """Both on the queries that one of them defines.

    Where an asker has no relevant document left (or had none before), the query counts 0: a document that is gone is a
    loss, and not a question less.
    """
    own = [(question.id, number) for question, number, _ in part.queries()]

    def filled(scores: Scores) -> Iterator[tuple[str, dict[QueryKey, float]]]:
        for name in names:
            defined = before.values.get(name, {}).keys() | after.values.get(name, {}).keys()
            mine = scores.values.get(name, {})
            yield name, {query: mine.get(query, 0.0) for query in own if query in defined}

    return replace(before, values=dict(filled(before))), replace(after, values=dict(filled(after)))


@dataclass(frozen=True, slots=True)
class _Found:
    """All that was measured of a candidate, to be put into words and into the report."""

    golden: GoldenSet
    fingerprint: str
    candidate: Generation
    active: Generation | None
    after: Evaluation
    before: Scores | None
    floors: FloorVerdict | None
    pairs: FloorVerdict | None
    lost: Floors

    def judgment(self) -> Judgment:
        """Fail where one part fails, pass where all pass."""
        verdicts = [one for one in (self.floors, self.pairs) if one is not None]
        reasons = [reason for one in verdicts for reason in one.reasons]
        outcomes = {one.outcome for one in verdicts}
        hits = self.after.scores.unauthorized_hits
        if hits:
            reasons.insert(0, f"{hits} results were shown to askers who may not read them")
        outcome: Outcome = "fail" if hits or "fail" in outcomes else "pass" if outcomes == {"pass"} else "cannot_tell"
        return Judgment(outcome, self._words(outcome, reasons), self._report(outcome, reasons))

    def _words(self, outcome: Outcome, reasons: Sequence[str]) -> str:
        name = f"golden set {self.golden.name}"
        if outcome == "pass":
            parts = [] if self.floors is None else [f"{len(self.floors.lines)} floors kept"]
            if self.pairs is not None:
                parts.append(f"less than {self.lost.margin:g} lost of {', '.join(self.lost.floors)}")
            return f"{name} passes it: {'; '.join(parts)}"
        shown = list(reasons[:_SHOWN])
        if len(reasons) > _SHOWN:
            shown.append(f"and {len(reasons) - _SHOWN} more")
        if outcome == "cannot_tell" and (least := self._least()) > self.lost.margin:
            shown.append(f"so few questions can only rule out a loss of {least:g}, which a floors file may allow")
        return f"{name} {'fails it' if outcome == 'fail' else 'cannot tell'}: {'; '.join(shown)}"

    def _least(self) -> float:
        """The smallest margin that the paired questions could show; 0 where there are none."""
        if self.pairs is None:
            return 0.0
        questions = {query[0] for name in self.lost.floors for query in self.after.scores.values.get(name, ())}
        return smallest_margin(len(questions)) if questions else 0.0

    def _report(self, outcome: Outcome, reasons: Sequence[str]) -> Mapping[str, object]:
        before = None if self.before is None else intervals(self.before.summary())
        return {
            "outcome": outcome,
            "reasons": list(reasons),
            "golden": {
                "name": self.golden.name,
                "fingerprint": self.golden.fingerprint,
                "queries": sum(len(question.wordings) for question in self.golden.questions),
            },
            "corpus_fingerprint": self.fingerprint,
            "against": self.active.id if self.active is not None else None,
            "floors": None if self.floors is None else self.floors.as_json(),
            "pairs": None if self.pairs is None else self.pairs.as_json(),
            "measures": intervals({**self.after.scores.summary(), **self.after.rates}),
            "before": before,
            "unauthorized_hits": self.after.scores.unauthorized_hits,
            "golden_faults": [{"line": one.line, "id": one.question, "code": one.code} for one in self.after.faults],
            "judged_at": now().isoformat(),
        }
