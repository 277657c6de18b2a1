"""How sure a measure is, and whether two configurations differ: intervals, paired tests, correction for many.

Everything is exact or seeded: the same input gives the same output on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Verdict: TypeAlias = Literal["better", "worse", "cannot_tell"]

CONFIDENCE = 0.95
RESAMPLES = 10_000
_BATCH = 1 << 22
"""Random numbers drawn at once, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its confidence interval, over ``n`` questions."""

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Score interval of a proportion (Wilson, JASA 22, 1927): honest also for few questions and near 0 and 1."""
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"not a proportion: {successes} of {n}")
    z = _quantile(confidence)
    share = successes / n
    scale = 1 + z * z / n
    center = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, center - half)
    high = 1.0 if successes == n else min(1.0, center + half)
    return Interval(share, low, high, n)


def bootstrap_mean(
    values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> Interval:
    """Percentile bootstrap of a mean (Efron and Tibshirani, 1993, chapter 13), for graded measures such as nDCG."""
    data = _finite(values)
    _quantile(confidence)
    generator = np.random.default_rng(seed)
    means = [
        data[generator.integers(0, len(data), (count, len(data)))].mean(axis=1)
        for count in _batches(resamples, len(data))
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(math.fsum(data) / len(data), float(low), float(high), len(data))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact sign test on the discordant pairs: the binomial test of ``wins`` in ``wins + losses`` at 1/2.

    For yes-or-no measures this is McNemar's exact test. No discordant pair tells nothing: p = 1.
    """
    if wins < 0 or losses < 0:
        raise ValueError("wins and losses are counts")
    n = wins + losses
    tail = term = 1
    for count in range(min(wins, losses)):
        term = term * (n - count) // (count + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << n))


def permutation_test(differences: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> float:
    """Two-sided paired permutation test of a mean difference (Fisher's sign flips; Smucker et al., CIKM 2007).

    Exact when there are no more sign patterns than ``resamples``, else sampled with the observed pattern counted in.
    """
    data = _finite(differences)
    # Sums in another order differ in the last bits, which must not turn a tie into a smaller value.
    observed = abs(math.fsum(data)) - 1e-12 * math.fsum(np.abs(data))
    if 1 << len(data) <= resamples:
        bits = np.arange(1 << len(data))[:, None] >> np.arange(len(data)) & 1
        extreme = int(np.count_nonzero(np.abs((1 - 2 * bits) @ data) >= observed))
        return extreme / len(bits)
    generator = np.random.default_rng(seed)
    extreme = 1
    for count in _batches(resamples, len(data)):
        signs = generator.integers(0, 2, (count, len(data))) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ data) >= observed))
    return extreme / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order (Holm, Scand. J. Statist. 6, 1979): never below the raw ones."""
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies in 0..1")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = running
    return adjusted


@dataclass(frozen=True, slots=True)
class Comparison:
    """Configuration ``b`` against ``a`` on the same questions: ``difference`` is the mean of b − a with its interval.

    ``wins`` counts questions where b is above a. ``p`` is the exact sign test's, ``p_permutation`` the mean's.
    """

    a: float
    b: float
    difference: Interval
    wins: int
    losses: int
    p: float
    p_permutation: float
    verdict: Verdict


def compare(a: Sequence[float], b: Sequence[float], *, seed: int = 0, alpha: float = 1 - CONFIDENCE) -> Comparison:
    """Paired comparison of one measure, question by question in the same order.

    The verdict is the sign test's at ``alpha``: "better" when b won significantly more questions than it lost.
    """
    if len(a) != len(b):
        raise ValueError(f"not paired: {len(a)} and {len(b)} questions")
    differences = _finite(b) - _finite(a)
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    p = sign_test(wins, losses)
    verdict: Verdict = "cannot_tell"
    if p < alpha:
        verdict = "better" if wins > losses else "worse"
    return Comparison(
        a=math.fsum(a) / len(a),
        b=math.fsum(b) / len(b),
        difference=bootstrap_mean(differences.tolist(), seed=seed),
        wins=wins,
        losses=losses,
        p=p,
        p_permutation=permutation_test(differences.tolist(), seed=seed),
        verdict=verdict,
    )


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _finite(values: Sequence[float]) -> npt.NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not data.size or not np.isfinite(data).all():
        raise ValueError("needs at least one value, and only finite ones")
    return data


def _batches(resamples: int, width: int) -> list[int]:
    if resamples < 1:
        raise ValueError("needs at least one resample")
    size = max(1, _BATCH // width)
    return [min(size, resamples - start) for start in range(0, resamples, size)]
