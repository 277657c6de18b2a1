"""How well calibrated gates tell what can be answered from what cannot, on what gate_features.py wrote.

    .venv/bin/python evaluation/run_calibration.py evaluation/results/gate-features.jsonl --out evaluation/results

For every set and every kind of unanswerable question, and for all kinds of a set at once: AUROC and false answers where
80 % of the answerable questions are answered, cross-validated over articles, beside the best single sign, the plain
distance and the default gate, with paired permutation tests over articles. One model is fitted for each line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fonte.evaluation.calibrating import Calibrated, Case, Costs, Prior, calibrate, missing
from fonte.evaluation.statistics import Interval, holm
from fonte.gate import DEFAULT_GATE, DIRECTIONS, HELD_SIGNS

NAMES = {"best_single": "best single sign", "dense_distance": "plain distance", "gate_before": "default gate"}


def case(number: int, row: dict[str, Any]) -> Case:
    """A question as calibration sees it."""
    signs = {name: float(value) for name, value in row["features"].items()}
    distance = row.get("distance")
    if distance is None and signs:
        # Written before distances were: the same where questions and passages share a language.
        distance = 1 - signs["similarity"]
    score = DEFAULT_GATE.judge(signs).score if signs else 0.0
    group = f"{row['set']} {row['article']}"
    return Case((f"{row['set']} {number}", 0), group, row["kind"] == "answerable", signs, score, distance)


def tables(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, list[Case]]]:
    """Set, kind, and the cases: all answerable questions of the set against those of one kind, or of all kinds."""
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        kinds = [kind for kind in dict.fromkeys(row["kind"] for row in own) if kind != "answerable"]
        for kind in [*kinds, *(["all"] if len(kinds) > 1 else [])]:
            wanted = {"answerable", *(kinds if kind == "all" else [kind])}
            yield name, kind, [case(number, row) for number, row in enumerate(own) if row["kind"] in wanted]


def shown(one: Interval) -> str:
    """A figure and its ends."""
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def as_json(found: Calibrated) -> dict[str, Any]:
    """A line's figures."""
    return {
        "model": found.model.name,
        "auroc": vars_of(found.auroc),
        "false_answers_at_80": {name: vars_of(one.false_answer_rate) for name, one in found.at_kept.items()},
        "best_single": found.best_single,
        "baselines": {
            name: {"auroc": vars_of(one.value), "difference": vars_of(one.difference), "p": one.p}
            for name, one in found.baselines.items()
        },
        "singles": dict(found.singles),
    }


def vars_of(one: Interval) -> dict[str, float]:
    """Value, ends and number."""
    return {"value": round(one.value, 4), "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n}


def main() -> int:
    """Print one table and write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.features.read_text(encoding="utf-8").splitlines()]
    prior = Prior(tuple(DEFAULT_GATE.weights), {name: DEFAULT_GATE.weights[name] for name in HELD_SIGNS}, DIRECTIONS)
    lines = []
    print("| set | unanswerable | n | model | AUROC | false answers at 80 % | against | AUROC | at 80 % | p |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, kind, cases in tables(rows):
        if missing(cases):
            print(f"{name}, {kind}: too few questions: {missing(cases)}", file=sys.stderr)
            continue
        found = calibrate(cases, prior, Costs(), threshold_before=DEFAULT_GATE.threshold)
        lines.append({"set": name, "kind": kind, "n": len(cases)} | as_json(found))
        own = f"{shown(found.auroc)} | {shown(found.at_kept['model'].false_answer_rate)}"
        for other, one in found.baselines.items():
            rate = found.at_kept[other].false_answer_rate
            label = f"{NAMES[other]} ({found.best_single})" if other == "best_single" else NAMES[other]
            start = f"| {name} | {kind} | {len(cases)} | {found.model.name} | {own}"
            print(f"{start} | {label} | {shown(one.value)} | {shown(rate)} | {one.p:.2g} |")
    adjusted = holm([line["baselines"]["dense_distance"]["p"] for line in lines])
    for line, p in zip(lines, adjusted, strict=True):
        line["p_against_distance_after_holm"] = p
        print(f"{line['set']}, {line['kind']}: against plain distance after Holm p = {p:.2g}")
    if options.out is not None:
        place = options.out / "calibration.json"
        place.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
