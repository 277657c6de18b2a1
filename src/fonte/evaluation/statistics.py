"""How sure a measure is, and whether two configurations differ: intervals, paired tests, correction for many.

Everything is exact or seeded: the same input gives the same output on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fonte.evaluation.power import detectable, detectable_mean

Verdict: TypeAlias = Literal["better", "worse", "cannot_tell"]

CONFIDENCE = 0.95
RESAMPLES = 10_000
_ALPHA = round(1 - CONFIDENCE, 10)
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
    values: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Percentile bootstrap of a mean (Efron and Tibshirani, 1993, chapter 13), for graded measures such as nDCG.

    With ``groups`` whole groups are drawn (Davison and Hinkley, 1997, section 3.8): two wordings of one question are
    not two questions.
    """
    data = _finite(values)
    _quantile(confidence)
    sums, sizes = _grouped(data, groups)
    generator = np.random.default_rng(seed)
    means = []
    for count in _batches(resamples, len(sums)):
        drawn = generator.integers(0, len(sums), (count, len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(math.fsum(data) / len(data), float(low), float(high), len(data))


def interval_of(values: Sequence[float], *, groups: Sequence[Hashable] | None = None, seed: int = 0) -> Interval:
    """The interval that fits: Wilson's where every value is 0 or 1, else the bootstrap's over ``groups``.

    Wilson's counts every query, as document A does.
    """
    if values and all(value in (0, 1) for value in values):
        return wilson(int(sum(values)), len(values))
    return bootstrap_mean(values, groups=groups, seed=seed)


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


def permutation_test(
    differences: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> float:
    """Two-sided paired permutation test of a mean difference (Fisher's sign flips; Smucker et al., CIKM 2007).

    Exact when there are no more sign patterns than ``resamples``, else sampled with the observed pattern counted in.
    With ``groups`` the differences of a group change their sign together.
    """
    data, _ = _grouped(_finite(differences), groups)
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
    """Configuration ``b`` against ``a`` on the same queries: ``difference`` is the mean of b - a with its interval.

    ``wins`` counts queries where b is above a. ``p`` is the exact sign test's, ``p_permutation`` the mean's,
    ``p_adjusted`` the sign test's after Holm when several comparisons were made. ``detectable`` is the smallest
    difference that this many queries would have shown four times of five; None when they could show none.
    """

    a: float
    b: float
    difference: Interval
    wins: int
    losses: int
    p: float
    p_permutation: float
    p_adjusted: float
    verdict: Verdict
    detectable: float | None


def compare(
    a: Sequence[float],
    b: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    alpha: float = _ALPHA,
) -> Comparison:
    """Paired comparison of one measure, query by query in the same order; ``groups`` names each query's question.

    The verdict is the sign test's at ``alpha``: "better" when b won significantly more queries than it lost, and its
    mean is higher too.

    Raises:
        ValueError: not the same number of queries, or none.
    """
    if len(a) != len(b):
        raise ValueError(f"not paired: {len(a)} and {len(b)} queries")
    if not len(a):
        raise ValueError("no query to compare")
    listed = [after - before for before, after in zip(a, b, strict=True)]
    differences = np.asarray(listed, dtype=np.float64)
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    p = sign_test(wins, losses)
    difference = bootstrap_mean(listed, groups=groups, seed=seed)
    return Comparison(
        a=math.fsum(a) / len(a),
        b=math.fsum(b) / len(b),
        difference=difference,
        wins=wins,
        losses=losses,
        p=p,
        p_permutation=permutation_test(listed, groups=groups, seed=seed),
        p_adjusted=p,
        verdict=_verdict(p, wins - losses, difference.value, alpha),
        detectable=_detectable(a, b, differences.std(ddof=1) if len(a) > 1 else 0.0, alpha),
    )


def compare_all(
    pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    groups: Mapping[str, Sequence[Hashable]] | None = None,
    seed: int = 0,
    alpha: float = _ALPHA,
) -> dict[str, Comparison]:
    """Several comparisons by name, each verdict after Holm's correction for all of them."""
    found = {
        name: compare(a, b, groups=groups[name] if groups else None, seed=seed, alpha=alpha)
        for name, (a, b) in pairs.items()
    }
    adjusted = holm([one.p for one in found.values()])
    return {
        name: replace(one, p_adjusted=p, verdict=_verdict(p, one.wins - one.losses, one.difference.value, alpha))
        for (name, one), p in zip(found.items(), adjusted, strict=True)
    }


def _verdict(p: float, balance: int, difference: float, alpha: float) -> Verdict:
    if p >= alpha or balance * difference <= 0:
        return "cannot_tell"
    return "better" if balance > 0 else "worse"


def _detectable(a: Sequence[float], b: Sequence[float], deviation: float, alpha: float) -> float | None:
    """Exact for shares of yes and no, by the deviation of the differences for graded measures."""
    discordant = sum(before != after for before, after in zip(a, b, strict=True)) / len(a)
    if deviation == 0 or all(value in (0, 1) for value in (*a, *b)):
        return detectable(len(a), discordant, alpha=alpha)
    return detectable_mean(float(deviation), len(a), alpha=alpha)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _grouped(
    data: npt.NDArray[np.float64], groups: Sequence[Hashable] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sum and size of every group, in the order of their first values; without groups every value is its own."""
    if groups is None:
        return data, np.ones_like(data)
    if len(groups) != len(data):
        raise ValueError(f"{len(data)} values, but groups of {len(groups)}")
    places: dict[Hashable, int] = {}
    index: npt.NDArray[np.int64] = np.array([places.setdefault(group, len(places)) for group in groups])
    sums, sizes = np.bincount(index, weights=data), np.bincount(index)
    return np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)


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
