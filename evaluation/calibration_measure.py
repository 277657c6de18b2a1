"""Feature tables to figures: nested cross-validation over articles, ablations, and one column more or less.

A line is one set's answerable questions against one kind of unanswerable ones, with a model of its own. What is told
of models that calibration would choose comes from fonte.evaluation.calibrating. Ablations compare sets of signs, not
choices of models: one logistic regression with one penalty for all, on the same folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from calibration_sets import ABSENT, ANSWERABLE, NEAR_MISS, SAME_ARTICLE, TWISTED
from calibration_signs import DIRECTIONS as PROPOSED_DIRECTIONS
from calibration_signs import PRESENT, PROPOSED

from fonte.evaluation.calibrating import KEPT, Calibrated, Case, Costs, Prior, calibrate, folds, missing, select
from fonte.evaluation.risk import Judged, against, auroc, kept_threshold, operating_point
from fonte.evaluation.statistics import Interval
from fonte.gate import DEFAULT_GATE, DIRECTIONS, HELD_SIGNS

Row = Mapping[str, Any]
Pair = tuple[Row, Mapping[str, float]]
"""What was kept of a question, and all its signs."""
PENALTY = 0.1
"""C of the regressions that ablations compare."""
SEED = 0
PRESENT_SIGNS = tuple(name for names in PRESENT.values() for name in names)
PRIOR = Prior(
    tuple(DEFAULT_GATE.weights),
    {name: DEFAULT_GATE.weights[name] for name in HELD_SIGNS},
    {**DIRECTIONS, **PROPOSED_DIRECTIONS},
)


@dataclass(frozen=True)
class Line:
    """A set, the kind of unanswerable questions, and its cases with all signs."""

    set: str
    kind: str
    cases: tuple[Case, ...]
    note: str = ""

    @property
    def answerable(self) -> int:
        """Questions that can be answered."""
        return sum(case.answerable for case in self.cases)

    @property
    def groups(self) -> int:
        """Articles (or passages) that folds keep whole."""
        return len({case.group for case in self.cases})


def case_of(row: Row, signs: Mapping[str, float], *, by_passage: bool = False) -> Case:
    """A question as calibration sees it; its group is its article, in whichever language, or its passage."""
    group = SAME_ARTICLE.get(row["article"], row["article"])
    if by_passage:
        group = f"{group} {' '.join(row['gold'])}"
    score = DEFAULT_GATE.judge(signs).score if signs else 0.0
    return Case((row["key"], 0), group, row["kind"] == ANSWERABLE, signs, score, row["distance"])


def lines(
    tables: Mapping[str, Sequence[tuple[Row, Mapping[str, float]]]], *, by_passage: bool = False
) -> Iterator[Line]:
    """Every set and kind, the sets of one kind together, and of near misses those without a gold answer in sight.

    An absent question is dropped where a gold answer stands in BM25's first twenty.
    """
    together: dict[str, list[list[Case]]] = {ABSENT: [], NEAR_MISS: [], TWISTED: []}
    for name, table in tables.items():
        kinds = dict.fromkeys(row["kind"] for row, _ in table if row["kind"] != ANSWERABLE)
        plain = [case_of(*pair, by_passage=by_passage) for pair in table if pair[0]["kind"] == ANSWERABLE]
        own = [kind for kind in kinds if kind.startswith("own ")]
        for kind in [one for one in kinds if one not in own]:
            rows = [pair for pair in table if pair[0]["kind"] == kind]
            if kind == ABSENT:
                rows = [pair for pair in rows if not pair[0]["found_by_bm25"]]
            cases = [case_of(*pair, by_passage=by_passage) for pair in rows]
            yield Line(name, kind, (*plain, *cases))
            if kind in together:
                together[kind].append([*plain, *cases])
            if kind == NEAR_MISS:
                clean = [case_of(*pair, by_passage=by_passage) for pair in rows if not sighted(pair[0])]
                yield Line(name, kind, (*plain, *clean), "no gold answer in sight")
        if own:
            cases = [case_of(*pair, by_passage=by_passage) for pair in table if pair[0]["kind"] in own]
            yield Line(name, "its own", (*plain, *cases))
    for kind, some in together.items():
        if len(some) > 1:
            yield Line("all", kind, tuple(case for cases in some for case in cases))


def sighted(row: Row) -> bool:
    """Whether a gold answer still stands in what was found."""
    return bool(row["found_by_bm25"] or row["shown"])


# --- figures ----------------------------------------------------------------------------------------------------------


def only(cases: Iterable[Case], signs: Iterable[str]) -> list[Case]:
    """The cases with these signs alone."""
    kept = frozenset(signs)
    return [
        replace(case, features={name: value for name, value in case.features.items() if name in kept}) for case in cases
    ]


def judged(scores: Sequence[float], cases: Sequence[Case]) -> Judged:
    """Scores beside what should have become of the cases."""
    return Judged.of(scores, [case.answerable for case in cases], [case.group for case in cases])


def figures(one: Judged) -> dict[str, Any]:
    """AUROC, and false answers where 80 % of the answerable questions are answered."""
    point = operating_point(one, kept_threshold(one, KEPT), Costs())
    return {"auroc": told(auroc(one)), "false_answers_at_80": told(point.false_answer_rate)}


def told(one: Interval) -> dict[str, float]:
    """Value, ends and number."""
    return {"value": round(one.value, 4), "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n}


def beside(one: Judged, other: Judged) -> dict[str, Any]:
    """``other``'s figures, and by how much ``one``'s AUROC is above, with the p of a paired permutation test."""
    found = against(one, other, seed=SEED)
    return {**figures(other), "difference": told(found.difference), "p": found.p}


def chosen(line: Line) -> Calibrated | None:
    """What calibration makes of a line with the gate's present signs; None where it has too few questions."""
    cases = only(line.cases, PRESENT_SIGNS)
    return None if missing(cases) else calibrate(cases, PRIOR, Costs(), threshold_before=DEFAULT_GATE.threshold)


def nested(cases: Sequence[Case]) -> list[float]:
    """Probabilities by models that were chosen and fitted on other articles, as ``calibrate`` does it."""
    found = np.zeros(len(cases))
    for train, test in folds(cases, SEED):
        model = select([cases[at] for at in train], PRIOR, SEED + 1)
        found[test] = model.probabilities([cases[at] for at in test])
    return [float(one) for one in found]


def regressed(cases: Sequence[Case]) -> list[float]:
    """Log odds by one logistic regression over all the signs that the cases have, fitted on other articles."""
    from sklearn.linear_model import LogisticRegression

    names = sorted({name for case in cases for name in case.features})
    values = np.array([[case.features.get(name, 0.0) for name in names] for case in cases])
    answerable = np.array([case.answerable for case in cases])
    empty = np.array([not case.features for case in cases])
    found = np.zeros(len(cases))
    for train, test in folds(cases, SEED):
        fitted = [at for at in train if not empty[at]]
        mean, spread = values[fitted].mean(axis=0), values[fitted].std(axis=0)
        spread[spread < 1e-6] = np.inf  # noqa: PLR2004 - a sign that never changes says nothing
        model = LogisticRegression(C=PENALTY, max_iter=300, class_weight="balanced")
        model.fit((values[fitted] - mean) / spread, answerable[fitted])
        found[test] = model.decision_function((values[test] - mean) / spread)
    found[empty] = found.min() - 1
    return [float(one) for one in found]


def ablation(line: Line) -> dict[str, Any]:
    """Every family left out of the present signs, each alone, and each proposed one added; then all proposed."""
    present = {name: signs for name, signs in PRESENT.items() if _varies(line.cases, signs)}
    signs = [one for names in present.values() for one in names]
    whole = judged(regressed(only(line.cases, signs)), line.cases)
    found: dict[str, Any] = {"whole": figures(whole), "without": {}, "alone": {}, "with": {}}
    for name, own in present.items():
        rest = judged(regressed(only(line.cases, [one for one in signs if one not in own])), line.cases)
        found["without"][name] = beside(whole, rest)
        found["alone"][name] = figures(judged(regressed(only(line.cases, own)), line.cases))
    added = [*PROPOSED.items(), ("all of them", tuple(one for names in PROPOSED.values() for one in names))]
    for name, own in added:
        more = judged(regressed(only(line.cases, [*signs, *own])), line.cases)
        found["with"][name] = figures(more) | {key: beside(more, whole)[key] for key in ("difference", "p")}
    return found


def column(line: Line, names: Sequence[str]) -> dict[str, Any]:
    """What signs add to the present ones, in models that calibration would choose: with, without, alone, paired."""
    plain = [one for one in PRESENT_SIGNS if one not in names]
    without = judged(nested(only(line.cases, plain)), line.cases)
    with_them = judged(nested(only(line.cases, [*plain, *names])), line.cases)
    return {
        "with": figures(with_them),
        "without": beside(with_them, without),
        "alone": {
            name: figures(judged([case.features.get(name, -1e9) for case in line.cases], line.cases)) for name in names
        },
    }


def _varies(cases: Sequence[Case], names: Sequence[str]) -> bool:
    return any(len({case.features[name] for case in cases if name in case.features}) > 1 for name in names)
