"""Weights of the default gate and of sentence scores, fitted on what gate_features.py wrote.

    .venv/bin/python evaluation/fit_gate.py evaluation/results/gate-features.jsonl

Fitted on the handbook's first golden set (handbook.yaml), never on the second (handbook-2.yaml). Every kind of question
of a set weighs the same in all, answerable ones as much as all unanswerable ones of their set; ``twisted`` questions
are reported and not fitted on, since signs of this kind cannot see them. Cross-validated over articles.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from fonte.types import sha256_hex

SIGNS = ("sentence", "similarity", "comparable", "code_missing", "quoted")
"""Chosen among all signs by the cross-validated order on the first golden set; others added nothing to them."""
GOOD_SIGNS = frozenset({"sentence", "similarity"})
OWN = "handbook"
"""A corpus of many kinds of documents in two languages, as users have: it weighs as much as all other sets together."""
PENALTY = 1.0
FOLDS = 5
# A code that no passage holds, or words that are only quoted, are rare among the questions fitted on: their weights are
# set, not fitted, so that either alone turns an ordinary score into a refusal.
SET_WEIGHTS = {"code_missing": -4.0, "quoted": -4.0}

Matrix = npt.NDArray[np.float64]


def fit(signs: Matrix, answerable: Matrix, weight: Matrix, free: Sequence[str]) -> tuple[Matrix, float]:
    """Weights and intercept of a logistic regression with an L2 penalty, in the signs' own units."""
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    scaled = (signs - mean) / spread
    side = 2 * answerable - 1

    def loss(values: Matrix) -> tuple[float, Matrix]:
        total = scaled @ values[:-1] + values[-1]
        error = -side * weight / (1 + np.exp(side * total))
        value = float((weight * np.logaddexp(0, -side * total)).sum() + PENALTY * (values[:-1] ** 2).sum() / 2)
        return value, np.append(scaled.T @ error + PENALTY * values[:-1], error.sum())

    # More of a good sign must never count against an answer, whatever a small sample says.
    bounds = [(0, None) if name in GOOD_SIGNS else (None, None) for name in free] + [(None, None)]
    values = minimize(loss, np.zeros(signs.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = values[:-1] / spread
    return weights, float(values[-1] - weights @ mean)


def auroc(positive: Matrix, negative: Matrix) -> float:
    """Share of pairs in the right order."""
    higher = (positive[:, None] > negative[None]).mean() + 0.5 * (positive[:, None] == negative[None]).mean()
    return float(higher)


def weigh(rows: Sequence[dict[str, Any]]) -> Matrix:
    """Weights of the rows, adding up to their number."""
    count = Counter((row["set"], row["kind"]) for row in rows)
    kinds: dict[str, set[str]] = defaultdict(set)
    for name, kind in count:
        if kind != "answerable":
            kinds[name].add(kind)
    others = len({row["set"] for row in rows} - {OWN})
    raw = np.array(
        [
            (others if row["set"] == OWN else 1.0)
            * (1.0 if row["kind"] == "answerable" else 1.0 / len(kinds[row["set"]]))
            / count[row["set"], row["kind"]]
            for row in rows
        ]
    )
    return np.asarray(raw * len(rows) / raw.sum())


def scores(rows: Sequence[dict[str, Any]], free: Sequence[str]) -> tuple[Matrix, dict[str, float], float]:
    """Cross-validated scores, and the weights and intercept of a fit on everything."""
    signs = np.array([[row["features"][name] for name in free] for row in rows])
    given = np.array([sum(SET_WEIGHTS[name] * row["features"][name] for name in SET_WEIGHTS) for row in rows])
    answerable = np.array([float(row["kind"] == "answerable") for row in rows])
    weight = weigh(rows)
    fold = np.array([int(sha256_hex(f"{row['set']} {row['article']}")[:8], 16) % FOLDS for row in rows])
    found = np.zeros(len(rows))
    for number in range(FOLDS):
        train, test = fold != number, fold == number
        weights, intercept = fit(signs[train], answerable[train], weight[train], free)
        found[test] = signs[test] @ weights + intercept + given[test]
    weights, intercept = fit(signs, answerable, weight, free)
    return found, dict(zip(free, weights.tolist(), strict=True)) | SET_WEIGHTS, intercept


def report(rows: Sequence[dict[str, Any]], found: Matrix, threshold: float) -> None:
    """Shares answered and refused for each set and kind, and AUROC against the set's answerable questions."""
    groups: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, score in zip(rows, found, strict=True):
        groups[row["set"]][row["kind"]].append(score)
    for name, kinds in sorted(groups.items()):
        right = np.array(kinds["answerable"])
        print(f"{name}: {len(right)} answerable, answered {(right >= threshold).mean():.3f}")
        for kind, values in sorted(kinds.items()):
            wrong = np.array(values)
            if kind != "answerable":
                refused = (wrong < threshold).mean()
                print(f"    {kind}: n {len(wrong)}, refused {refused:.3f}, AUROC {auroc(right, wrong):.3f}")


def main() -> int:
    """Fit and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--threshold", type=float, default=0.0, help="on the score before the logistic function")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.features.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["features"]]
    fitted = [row for row in rows if row["kind"] != "twisted"]
    free = [name for name in SIGNS if name not in SET_WEIGHTS]
    found, weights, intercept = scores(fitted, free)
    print(f"{len(fitted)} questions; cross-validated over articles:")
    report(fitted, found, options.threshold)
    twisted = [row for row in rows if row["kind"] == "twisted"]
    if twisted:
        values = np.array([sum(weights[n] * row["features"][n] for n in weights) + intercept for row in twisted])
        print(f"twisted (not fitted on): n {len(twisted)}, refused {(values < options.threshold).mean():.3f}")
    print(json.dumps({"weights": {name: round(w, 3) for name, w in weights.items()}, "intercept": round(intercept, 3)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
