"""Signs of the evidence to the probability that a question can be answered, fitted on a golden set's own questions.

A handful of small models compete (logistic regressions over few or all signs, isotonic regression over one), and
which one fits is chosen by cross-validation inside each fold of another (nested, Varma and Simon, BMC Bioinformatics 7,
2006), so that what is told of the choice was never looked at while choosing. Folds keep groups whole. What comes out is
plain numbers. scikit-learn fits; it is an extra, and imported here alone.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fonte.evaluation.risk import (
    Against,
    Bin,
    Costs,
    Flags,
    Judged,
    Kept,
    Numbers,
    OperatingPoint,
    Reliability,
    Swept,
    against,
    auroc,
    kept_threshold,
    operating_point,
    reliability,
    risk_coverage,
    sweep,
)
from fonte.evaluation.scoring import QueryKey
from fonte.evaluation.statistics import Interval

__all__ = ["Bin", "Calibrated", "Case", "Costs", "Fitted", "Kept", "Prior", "TooFew", "calibrate", "folds", "missing"]

MINIMUM = 20
"""Questions of each kind below which nothing is fitted: 20 refusals of 20 leave 16 % of false answers possible."""
FOLDS = 5
KEPT = 0.8
"""Share of answerable queries at which scores of different kinds are compared."""
_RARE = 10
"""A held sign that fewer groups show keeps the weight that it had."""
_DISTINCT = 10
"""Fewer distinct values are no scale to fit a curve over."""
_BENT = 3
"""Signs whose curve competes: the best ones alone."""
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """One query: its signs (none where nothing was retrieved) and what should have become of it.

    ``score`` is the gate's in force before, ``distance`` the nearest passage's cosine distance (None: nothing found),
    ``passages`` what was found in ranking order, ``needled`` whether the question has a needle to look for.
    """

    query: QueryKey
    group: str
    answerable: bool
    features: Mapping[str, float]
    score: float
    distance: float | None
    passages: tuple[Kept, ...] = ()
    needled: bool = False
    wordings: int = 1


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of signs beforehand.

    ``core`` are those of the gate in force; ``held`` weights stay as they are where the set shows the sign too rarely;
    ``directions`` say for which signs more can only speak for (1) or against (-1) an answer, whatever a sample says.
    """

    core: tuple[str, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)
    directions: Mapping[str, int] = field(default_factory=dict)


class TooFew(ValueError):
    """Not enough questions of a kind."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model in plain numbers: the sum of weighted signs, through the logistic function, or along ``steps``."""

    name: str
    weights: Mapping[str, float]
    intercept: float
    steps: tuple[tuple[float, float], ...] = ()

    def probabilities(self, cases: Sequence[Case]) -> Numbers:
        """Of each case that it can be answered; 0 where nothing was found."""
        total = np.array(
            [
                self.intercept
                + math.fsum(weight * case.features.get(name, 0.0) for name, weight in self.weights.items())
                for case in cases
            ]
        )
        if self.steps:
            found = np.interp(total, [at for at, _ in self.steps], [value for _, value in self.steps])
        else:
            found = 1 / (1 + np.exp(-np.clip(total, -60, 60)))
        return np.asarray(np.where([bool(case.features) for case in cases], found, 0.0), np.float64)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The model fitted on everything, and what cross-validation says of models chosen and fitted so."""

    model: Fitted
    chosen: Mapping[str, int]
    """How many of the outer folds chose each model."""
    probabilities: tuple[float, ...]
    """Cross-validated, in the order of the cases."""
    auroc: Interval
    baselines: Mapping[str, Against]
    """``best_single``, ``dense_distance`` and ``gate_before``, each beside the model."""
    best_single: str
    singles: Mapping[str, float]
    """AUROC of every sign alone, in its better direction, highest first."""
    point: OperatingPoint
    before: OperatingPoint
    """The gate in force before, at its own threshold."""
    at_kept: Mapping[str, OperatingPoint]
    """``model`` and the baselines where each answers 80 % of the answerable queries."""
    curve: tuple[tuple[float, float], ...]
    distance_curve: tuple[tuple[float, float], ...]
    reliability: Reliability
    by_distance: tuple[Swept, ...]
    by_gate: tuple[Swept, ...]


def missing(cases: Sequence[Case]) -> dict[str, int]:
    """How many more questions of a kind are needed; empty when there are enough."""
    told = {}
    for name, can in (("answerable", True), ("unanswerable", False)):
        questions = {case.query[0] for case in cases if case.answerable is can}
        if len(questions) < MINIMUM:
            told[name] = MINIMUM - len(questions)
    return told


def calibrate(
    cases: Sequence[Case], prior: Prior, costs: Costs, *, threshold_before: float, seed: int = 0
) -> Calibrated:
    """The gate for these questions, and how good it is on questions of groups that it never saw.

    Raises:
        TooFew: fewer than ``MINIMUM`` questions that can be answered, or that cannot. ImportError: no scikit-learn.
    """
    if lacking := missing(cases):
        raise TooFew(" and ".join(f"{number} more {name} questions" for name, number in lacking.items()))
    probabilities = np.zeros(len(cases))
    chosen: Counter[str] = Counter()
    for train, test in folds(cases, seed):
        model = select([cases[at] for at in train], prior, seed + 1)
        chosen[model.name] += 1
        probabilities[test] = model.probabilities([cases[at] for at in test])
    kinds, groups = [case.answerable for case in cases], [case.group for case in cases]
    judged = Judged.of(probabilities.tolist(), kinds, groups)
    alone = _singles(cases)
    best = next(iter(alone))
    others = {
        "best_single": Judged.of(alone[best][1], kinds, groups),
        "dense_distance": Judged.of([_nearness(case) for case in cases], kinds, groups),
        "gate_before": Judged.of([case.score for case in cases], kinds, groups),
    }
    everyone = {"model": judged} | others
    return Calibrated(
        model=select(cases, prior, seed + 1),
        chosen=dict(chosen.most_common()),
        probabilities=tuple(probabilities.tolist()),
        auroc=auroc(judged),
        baselines={name: against(judged, other, seed=seed) for name, other in others.items()},
        best_single=best,
        singles={name: value for name, (value, _) in alone.items()},
        point=operating_point(judged, costs.threshold, costs),
        before=operating_point(others["gate_before"], threshold_before, costs),
        at_kept={name: operating_point(one, kept_threshold(one, KEPT), costs) for name, one in everyone.items()},
        curve=tuple(risk_coverage(judged)),
        distance_curve=tuple(risk_coverage(others["dense_distance"])),
        reliability=reliability(judged),
        by_distance=_swept(cases, None),
        by_gate=_swept(cases, probabilities.tolist()),
    )


def _nearness(case: Case) -> float:
    """The plain dense distance turned round; what found nothing lies as far as can be."""
    return -2.0 if case.distance is None else -case.distance


def _singles(cases: Sequence[Case]) -> dict[str, tuple[float, list[float]]]:
    """AUROC of every sign alone with its scores, highest first; nothing retrieved is the least of all.

    The direction is the better one over all queries, which flatters these baselines, never the model.
    """
    kinds, groups = [case.answerable for case in cases], [case.group for case in cases]
    found = {}
    for name in sorted({name for case in cases for name in case.features}):
        both = []
        for side in (1, -1):
            known = [side * case.features[name] for case in cases if case.features]
            least = min(known) - 1
            scores = [side * case.features[name] if case.features else least for case in cases]
            judged = Judged.of(scores, kinds, groups)
            area = _area(judged.scores[judged.answerable], judged.scores[~judged.answerable])
            both.append((area, scores))
        found[name] = max(both, key=lambda one: one[0])
    return dict(sorted(found.items(), key=lambda item: (-item[1][0], item[0])))


def _area(yes: Numbers, no: Numbers) -> float:
    """AUROC without its interval, of the scores of what can be answered and of what cannot."""
    ordered = np.sort(no)
    beaten = np.searchsorted(ordered, yes, "left") + np.searchsorted(ordered, yes, "right")
    return float(beaten.mean() / (2 * len(no)))


def _swept(cases: Sequence[Case], scores: Sequence[float] | None) -> tuple[Swept, ...]:
    """Thresholds from nothing refused to nearly everything, where this set's answerable questions lie."""
    values = [case.distance for case in cases] if scores is None else scores
    own = [value for case, value in zip(cases, values, strict=True) if case.answerable and value is not None]
    if not own:
        return ()
    shares = np.linspace(1, 0.4, 7) if scores is None else np.linspace(0, 0.6, 7)
    cut = dict.fromkeys(round(float(value), 3) for value in np.quantile(own, shares))
    return tuple(
        sweep(
            [case.passages for case in cases],
            [case.answerable for case in cases],
            [case.needled for case in cases],
            [case.group for case in cases],
            scores,
            [None, *cut],
        )
    )


# --- folds and models -------------------------------------------------------------------------------------------------


def folds(cases: Sequence[Case], seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Positions to fit on and to judge on; no group stands in both, and both kinds of question in each."""
    from sklearn.model_selection import StratifiedGroupKFold

    kinds = [case.answerable for case in cases]
    groups = [case.group for case in cases]
    fewest = min(
        len({group for group, can in zip(groups, kinds, strict=True) if can is kind}) for kind in (True, False)
    )
    split = StratifiedGroupKFold(n_splits=max(2, min(FOLDS, fewest)), shuffle=True, random_state=seed)
    for train, test in split.split(np.zeros(len(cases)), kinds, groups):
        yield train.tolist(), test.tolist()


_Fit = Callable[[Sequence[Case]], Fitted]


def select(cases: Sequence[Case], prior: Prior, seed: int) -> Fitted:
    """The model with the least cross-validated log loss, fitted on all the cases."""
    seen = [case for case in cases if case.features]
    candidates = list(_candidates(seen, prior))
    losses = np.zeros(len(candidates))
    for train, test in folds(seen, seed):
        fitting, judging = [seen[at] for at in train], [seen[at] for at in test]
        for number, fit in enumerate(candidates):
            losses[number] += _loss(fit(fitting), judging)
    return candidates[int(np.argmin(losses))](seen)


def _loss(model: Fitted, cases: Sequence[Case]) -> float:
    """Log loss, every question counting once however many wordings it has."""
    said = np.clip(model.probabilities(cases), _EDGE, 1 - _EDGE)
    truth = np.array([case.answerable for case in cases])
    return float((_weights(cases) * -np.log(np.where(truth, said, 1 - said))).sum())


def _weights(cases: Sequence[Case]) -> Numbers:
    return np.array([1 / case.wordings for case in cases])


def _candidates(cases: Sequence[Case], prior: Prior) -> Iterator[_Fit]:
    """The models that compete, smallest first."""
    names = sorted({name for case in cases for name in case.features})
    rare = {
        name: weight
        for name, weight in prior.held.items()
        if name in names and len({case.group for case in cases if case.features[name]}) < _RARE
    }
    free = [name for name in names if name not in rare and len({case.features[name] for case in cases}) > 1]
    scales = [name for name in free if len({case.features[name] for case in cases}) >= _DISTINCT]
    core = [name for name in free if name in prior.core]
    for signs, strengths, label in ((core, (0.1, 1.0), "core"), (free, (0.03, 0.1, 1.0), "all")):
        for strength in strengths if signs else ():
            yield _logistic(signs, strength, rare, prior, f"logistic over {label} signs, C {strength:g}")
    for name in sorted(scales, key=lambda one: -_order(cases, one, prior.directions.get(one, 1)))[:_BENT]:
        yield _isotonic(name, rare, prior.directions.get(name, 1))


def _order(cases: Sequence[Case], name: str, direction: int) -> float:
    """AUROC of one sign in the direction that it should have."""
    yes = np.array([direction * case.features[name] for case in cases if case.answerable])
    no = np.array([direction * case.features[name] for case in cases if not case.answerable])
    return _area(yes, no) if len(yes) and len(no) else 0.5


def _logistic(signs: Sequence[str], strength: float, rare: Mapping[str, float], prior: Prior, name: str) -> _Fit:
    """Logistic regression with an L2 penalty on standardised signs; weights in the signs' own units.

    A sign whose weight comes out against what is known of it is left out and the rest fitted anew.
    """

    def fit(cases: Sequence[Case]) -> Fitted:
        plain = [case for case in cases if not any(case.features[one] for one in rare)] or list(cases)
        left = list(signs)
        weights: dict[str, float] = {}
        intercept = 0.0
        while True:
            weights, intercept = _regression(plain, left, strength)
            wrong = [one for one, weight in weights.items() if weight * prior.directions.get(one, 0) < 0]
            if not wrong:
                return Fitted(name, weights | dict(rare), intercept)
            left = [one for one in left if one not in wrong]

    return fit


def _regression(cases: Sequence[Case], signs: Sequence[str], strength: float) -> tuple[dict[str, float], float]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    truth: Flags = np.array([case.answerable for case in cases])
    share = float(np.clip(np.average(truth, weights=_weights(cases)), _EDGE, 1 - _EDGE))
    if not signs or truth.all() or not truth.any():
        return {}, math.log(share / (1 - share))
    values = np.array([[case.features[name] for name in signs] for case in cases])
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread < _EDGE] = 1.0
    model = LogisticRegression(C=strength, max_iter=500)
    with warnings.catch_warnings():
        # A fit that stops short of its optimum is judged like every other: by what it says of unseen groups.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((values - mean) / spread, truth, sample_weight=_weights(cases))
    weights = model.coef_[0] / spread
    return dict(zip(signs, map(float, weights), strict=True)), float(model.intercept_[0] - weights @ mean)


def _isotonic(sign: str, rare: Mapping[str, float], direction: int) -> _Fit:
    """Isotonic regression over one sign; a rare sign at its full weight leads below the lowest step."""

    def fit(cases: Sequence[Case]) -> Fitted:
        from sklearn.isotonic import IsotonicRegression

        plain = [case for case in cases if not any(case.features[one] for one in rare)] or list(cases)
        values = np.array([direction * case.features[sign] for case in plain])
        truth = np.array([float(case.answerable) for case in plain])
        # No sample makes sure: the ends stay as far from 0 and 1 as its size allows.
        edge = 1 / (len(plain) + 2)
        model = IsotonicRegression(y_min=edge, y_max=1 - edge).fit(values, truth, sample_weight=_weights(plain))
        steps = tuple(zip(map(float, model.X_thresholds_), map(float, model.y_thresholds_), strict=True))
        span = max(float(np.ptp(values)), _EDGE)
        weights = {sign: float(direction)} | {one: weight * span for one, weight in rare.items()}
        return Fitted(f"isotonic over {sign}", weights, 0.0, steps)

    return fit
