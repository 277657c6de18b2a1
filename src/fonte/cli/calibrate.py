"""fonte calibrate: the gate fitted to a golden set, and how good it is on questions that it never saw."""

from __future__ import annotations

import argparse
from pathlib import Path

from fonte.calibration import Fitting
from fonte.cli.evaluate import write
from fonte.cli.golden import documents_of
from fonte.cli.opening import corpus
from fonte.cli.output import Output
from fonte.contract import Json
from fonte.evaluation.calibrating import KEPT
from fonte.evaluation.golden import GoldenSet, anchored
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.html import plots
from fonte.evaluation.html.calibration_page import (
    NAMES,
    Shown,
    calibration_page,
    compared,
    interval,
    point_row,
    swept_row,
)
from fonte.evaluation.report import intervals
from fonte.evaluation.risk import OperatingPoint, Reliability, Swept
from fonte.evaluation.statistics import Interval
from fonte.wiring import Corpus


def calibrate(options: argparse.Namespace, output: Output) -> int:
    """Fit, store, tell."""
    golden = load_golden(Path(options.file))
    if options.report:
        plots.require()
    with corpus(options) as opened, output.progress() as progress:
        found = opened.calibrate(
            _placed(golden, opened, options.tenant),
            tenant=options.tenant,
            cost_wrong=options.cost_wrong,
            cost_abstain=options.cost_abstain,
            progress=progress,
        )
    if options.report:
        write(Path(options.report), calibration_page(_page(found, golden)))
    for why, number in found.left_out.items():
        output.note(f"left out: {number} questions: {why}")
    for name, one in found.figures.baselines.items():
        if one.difference.high < 0:
            words = "write more questions, of more documents, before you trust it"
            output.note(f"on questions that it never saw the gate is worse than the {NAMES[name]}: {words}")
    if output.json_mode:
        output.json(fitting_json(found))
    else:
        _told(found, output)
    return 0


def _page(found: Fitting, golden: GoldenSet) -> Shown:
    figures, kept = found.figures, found.calibration
    groups = len({case.group for case in found.cases})
    told = {
        "golden set": f"{kept.golden}, {kept.fingerprint}",
        "queries": f"{figures.auroc.n}, cross-validated over {groups} {found.grouped_by}s",
        "left out": ", ".join(f"{number} {why}" for why, number in found.left_out.items()) or "nothing",
        "generation": kept.generation,
        "model": figures.model.name,
        "costs": f"a wrong answer {found.costs.wrong:g}, a refusal {found.costs.abstain:g}",
        "stamp": kept.gate.stamp,
    }
    words = {(question.id, number): words for question, number, words in golden.queries()}
    return Shown(kept.golden, told, figures, found.cases, words)


def _placed(golden: GoldenSet, opened: Corpus, tenant: str) -> GoldenSet:
    """The set with its needles found in the canonical texts of the index."""
    return anchored(golden, {document.name: document.text for document in documents_of(opened, tenant)})[0]


# --- for programs -----------------------------------------------------------------------------------------------------


def fitting_json(found: Fitting) -> Json:
    """What ``calibrate --json`` prints. Every figure but ``model`` is cross-validated over ``grouped_by``."""
    figures, calibration = found.figures, found.calibration
    kinds = [case.answerable for case in found.cases]
    questions = {case.query[0]: case.answerable for case in found.cases}
    best = figures.baselines["best_single"].value
    return {
        "n_answerable": sum(kinds),
        "n_unanswerable": len(kinds) - sum(kinds),
        "questions": {"answerable": sum(questions.values()), "unanswerable": len(questions) - sum(questions.values())},
        "left_out": dict(found.left_out),
        "grouped_by": found.grouped_by,
        "groups": len({case.group for case in found.cases}),
        "auroc": _interval(figures.auroc),
        "baseline_auroc": round(best.value, 6),
        "best_single": figures.best_single,
        "baselines": {
            name: {
                "auroc": _interval(one.value),
                "difference": _interval(one.difference),
                "p": one.p,
            }
            for name, one in figures.baselines.items()
        },
        "singles": {name: round(value, 6) for name, value in figures.singles.items()},
        "costs": {"wrong": found.costs.wrong, "abstain": found.costs.abstain},
        "operating_point": _point(figures.point),
        "gate_before": _point(figures.before),
        "at_80_answered": {name: _point(one) for name, one in figures.at_kept.items()},
        "curve": [[round(coverage, 6), round(risk, 6)] for coverage, risk in figures.curve],
        "distance_curve": [[round(coverage, 6), round(risk, 6)] for coverage, risk in figures.distance_curve],
        "reliability": _reliability(figures.reliability),
        "thresholds": {
            "distance": [_swept(one) for one in figures.by_distance],
            "probability": [_swept(one) for one in figures.by_gate],
        },
        "model": {
            "name": figures.model.name,
            "weights": dict(figures.model.weights),
            "intercept": figures.model.intercept,
            "steps": [list(step) for step in figures.model.steps],
            "chosen_in_folds": dict(figures.chosen),
        },
        "golden": {"name": calibration.golden, "fingerprint": calibration.fingerprint},
        "generation": calibration.generation,
        "conditions": dict(calibration.conditions),
        "stamp": calibration.gate.stamp,
    }


def _interval(one: Interval) -> object:
    return intervals({"": one})[""]


def _reliability(one: Reliability) -> Json:
    return {
        "bins": [{"said": round(each.said, 6), "found": _interval(each.found)} for each in one.bins],
        "brier": round(one.brier, 6),
        "brier_of_share": round(one.brier_of_share, 6),
        "calibration_error": round(one.calibration_error, 6),
    }


def _point(one: OperatingPoint) -> Json:
    """Values beside each other, their ends under ``intervals``."""
    figures = {
        "coverage": one.coverage,
        "risk": one.risk,
        "answered": one.answered,
        "false_answer_rate": one.false_answer_rate,
        "cost": one.cost,
    }
    told: Json = {"threshold": round(one.threshold, 6)}
    told |= {name: None if figure is None else round(figure.value, 6) for name, figure in figures.items()}
    known = {name: figure for name, figure in figures.items() if figure is not None}
    return told | {"intervals": {name: [round(figure.low, 6), round(figure.high, 6)] for name, figure in known.items()}}


def _swept(one: Swept) -> Json:
    return {
        "threshold": one.threshold,
        "recall@4": None if one.recall is None else _interval(one.recall),
        "answered": one.answered,
        "answerable": one.answerable,
        "bluffs": one.bluffs,
        "unanswerable": one.unanswerable,
    }


# --- for people -------------------------------------------------------------------------------------------------------


def _told(found: Fitting, output: Output) -> None:
    figures, calibration = found.figures, found.calibration
    can = sum(case.answerable for case in found.cases)
    groups = len({case.group for case in found.cases})
    output.line(
        f"{calibration.golden}: {can} queries that can be answered, {len(found.cases) - can} that cannot;"
        f" cross-validated over {groups} {found.grouped_by}s"
    )
    output.line(f"chosen: {figures.model.name}; best single sign: {figures.best_single}")
    output.line()
    kept = f"FALSE ANSWERS AT {KEPT:.0%} ANSWERED"
    output.table(("", "AUROC", kept, "GATE BETTER BY", "P"), list(compared(figures)))
    output.line()
    rows = [point_row("calibrated", figures.point), point_row("before", figures.before)]
    output.table(("GATE", "THRESHOLD", "ANSWERED", "FALSE ANSWERS", "COVERAGE", "RISK", "COST"), rows)
    output.line()
    output.table(
        ("PROBABILITY SAID", "FOUND", "QUERIES"),
        [[f"{one.said:.2f}", interval(one.found), str(one.found.n)] for one in figures.reliability.bins],
    )
    for title, swept in (("DISTANCE", figures.by_distance), ("PROBABILITY", figures.by_gate)):
        output.line()
        output.table((title, "R@4", "ANSWERED", "BLUFFS"), [swept_row(one) for one in swept])
    output.line()
    output.line(
        f"in force: an answer from probability {calibration.gate.threshold:.3f}"
        f" (a wrong answer costs {found.costs.wrong:g}, a refusal {found.costs.abstain:g});"
        f" stamp {calibration.gate.stamp}"
    )
