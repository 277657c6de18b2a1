"""What a laboratory found, as JSON and as the rows of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from fonte.contract import Json
from fonte.evaluation.report import intervals, judged_json
from fonte.evaluation.statistics import Interval
from fonte.lab.measuring import Measured
from fonte.lab.mistakes import KINDS, Mistake, lost_layers
from fonte.lab.run import Lab
from fonte.why import Why

COLUMNS = {
    "recall@5": "recall@5",
    "mrr@10": "mrr@10",
    "needle@5": "needle@5",
    "false_retrieval_rate": "false retrieval",
    "abstention_correctness": "abstention",
    "answer_correctness": "right answers",
    "citation_precision": "citation precision",
    "citation_recall": "citation recall",
    "faithfulness": "faithfulness",
}
"""Measures of the table, with their headings."""


def lab_json(lab: Lab) -> Json:
    """The whole document."""
    golden = lab.golden
    return {
        "golden": {"name": golden.name, "fingerprint": golden.fingerprint, "questions": len(golden.questions)},
        "corpus": {"documents": lab.documents, "fingerprint": lab.fingerprint},
        "configurations": [_row_json(row) for row in lab.rows],
        "experiments": [judged_json(one) for one in lab.verdicts],
        "answer_ms": {"p50": lab.answer_times.p50, "p95": lab.answer_times.p95, "n": lab.answer_times.n},
        "mistakes": {"counts": {name: dict(kinds) for name, kinds in lab.found.items()}}
        | {"lost_at": lost_layers(lab.mistakes), "told": [_mistake_json(one) for one in lab.mistakes]},
        "trespasses": [asdict(one) | {"held": one.held} for one in lab.trespasses],
        "simulations": [asdict(one) | {"held": one.held} for one in lab.simulations],
        "unauthorized": lab.unauthorized,
        "held": lab.held,
        "seconds": round(lab.seconds, 1),
    }


def figures(row: Measured) -> dict[str, Interval]:
    """Every figure of a configuration."""
    return {**row.found.scores.summary(), **row.found.rates}


def tables(lab: Lab) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Headings and rows: measures with their intervals, costs; narrow enough to be read."""
    known = list(COLUMNS)
    half = len(known) // 2
    for names in (known[:half], known[half:]):
        headings = [COLUMNS.get(name, name) for name in names]
        yield ("configuration", *headings), [(row.configuration.name, *_cells(row, names)) for row in lab.rows]
    yield ("configuration", *_COSTS), [(row.configuration.name, *_costs(row)) for row in lab.rows]


def _cells(row: Measured, names: Sequence[str]) -> Iterator[str]:
    own = figures(row)
    for name in names:
        yield _interval(own[name]) if name in own else "none"


def _interval(one: Interval) -> str:
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"


_COSTS = ("unauthorized", "p50 ms", "p95 ms", "cost", "chunks", "destroyed", "index MiB", "index s")


def _costs(row: Measured) -> Iterator[str]:
    """What came out that should not, and what it took."""
    facts, timings = row.found.facts, row.found.facts.timings
    yield str(row.found.scores.unauthorized_hits)
    yield f"{timings.p50:.0f}" if timings else "none"
    yield f"{timings.p95:.0f}" if timings else "none"
    yield f"{row.cost:.2f}"
    yield str(facts.chunks)
    yield f"{len(facts.lost.split) + len(facts.lost.beyond_window)}/{facts.lost.needles}"
    yield f"{(facts.size_bytes or 0) / 2**20:.1f}"
    yield f"{facts.build_seconds or 0:.1f}"


def _row_json(row: Measured) -> Json:
    return {
        "name": row.configuration.name,
        "settings": dict(row.configuration.settings),
        # Null where there was nothing to measure: no citation where nothing was answered.
        "measures": dict.fromkeys(COLUMNS) | intervals(figures(row)),
        "unauthorized_hits": row.found.scores.unauthorized_hits,
        "layers": dict(row.found.layers),
        "cost": row.cost,
        "seconds": round(row.seconds, 1),
    } | row.found.facts.as_json()


def _mistake_json(one: Mistake) -> Json:
    return {
        "configuration": one.configuration,
        "question": one.question.id,
        "words": one.question.wordings[0],
        "segment": one.question.segment,
        "kind": one.kind,
        "about": KINDS[one.kind],
        "answer": one.answer,
        "gate": one.gate,
        "threshold": one.threshold,
        "cited": list(one.cited),
        "expected": one.needle.text if one.needle is not None else None,
        "document": one.needle.document if one.needle is not None else None,
        "why": _why_json(one.why) if one.why is not None else None,
    }


def _why_json(why: Why) -> Mapping[str, object]:
    return {
        "lost_at": why.lost_at,
        "reason": why.reason,
        "next": why.next or None,
        "counterfactual": asdict(why.counterfactual) if why.counterfactual is not None else None,
        "layers": [asdict(layer) for layer in why.layers],
    }
