"""What was measured as JSON: the documents of ``fonte eval``, ``fonte compare`` and of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from fonte.evaluation.experiments import Judged
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.index_facts import IndexFacts
from fonte.evaluation.power import detectable
from fonte.evaluation.scoring import Scores
from fonte.evaluation.statistics import Comparison, Interval

Json: TypeAlias = dict[str, object]
_DIGITS = 6


def eval_json(
    golden: GoldenSet,
    scores: Scores,
    *,
    rates: Mapping[str, Interval] | None = None,
    facts: IndexFacts | None = None,
    generation: str = "",
    recipe: str = "",
) -> Json:
    """What ``fonte eval`` prints. ``queries`` counts wordings; what was not measured is null."""
    queries = [question for question, _, _ in golden.queries()]
    costs = (
        facts.as_json() if facts else dict.fromkeys(("destroyed", "truncated_chunks", "header_tokens", "timings_ms"))
    )
    return {
        "golden": {
            "name": golden.name,
            "fingerprint": golden.fingerprint,
            "queries": len(queries),
            "answerable": sum(question.answerable for question in queries),
        },
        "generation": generation or None,
        "recipe": recipe or None,
        "measures": intervals({**scores.summary(), **(rates or {})}),
        "segments": {name: intervals(figures) for name, figures in scores.by_facet().items()},
        "excluded": {name: dict(why) for name, why in scores.excluded.items()},
        "empty_queries": len(scores.empty),
        "unauthorized_hits": scores.unauthorized_hits,
    } | costs


def compare_json(a: str, b: str, measures: Mapping[str, Comparison]) -> Json:
    """What ``fonte compare`` prints: b against a."""
    return {"a": a, "b": b, "measures": {name: comparison(one) for name, one in measures.items()}}


def judged_json(judged: Judged) -> Json:
    """An experiment's table."""
    experiment = judged.experiment
    return {
        "name": experiment.name,
        "variable": experiment.variable,
        "configurations": [
            {
                "name": one.name,
                "settings": dict(one.settings),
                "measures": intervals(judged.figures[one.name]),
                "unauthorized_hits": judged.unauthorized_hits[one.name],
                "facts": judged.facts[one.name].as_json() if one.name in judged.facts else None,
            }
            for one in experiment.configurations
        ],
        "comparisons": [
            compare_json(one.a, one.b, one.measures)
            | {"differences": {key: {"a": was, "b": now} for key, (was, now) in one.differences.items()}}
            for one in judged.verdicts
        ],
    }


def intervals(figures: Mapping[str, Interval]) -> Json:
    """Value, ends and number of queries of each figure."""
    return {
        name: {"value": _short(one.value), "low": _short(one.low), "high": _short(one.high), "n": one.n}
        for name, one in figures.items()
    }


def could_show(one: Comparison) -> float | None:
    """The smallest difference that the verdict could have shown four times of five; None where it could show none.

    The verdict is the sign test's, so that what this cannot show on so few queries counts also where a graded measure
    spreads little.
    """
    by_test = detectable(one.difference.n, (one.wins + one.losses) / one.difference.n)
    return None if by_test is None or one.detectable is None else max(by_test, one.detectable)


def comparison(one: Comparison) -> Json:
    """One measure of two configurations. p-values are given whole: rounding would make small ones 0."""
    least = could_show(one)
    return {
        "a": _short(one.a),
        "b": _short(one.b),
        "difference": _short(one.difference.value),
        "low": _short(one.difference.low),
        "high": _short(one.difference.high),
        "n": one.difference.n,
        "wins": one.wins,
        "losses": one.losses,
        "p": one.p,
        "p_permutation": one.p_permutation,
        "p_adjusted": one.p_adjusted,
        "verdict": one.verdict,
        "detectable": None if least is None else _short(least),
    }


def _short(value: float) -> float:
    return round(value, _DIGITS)
