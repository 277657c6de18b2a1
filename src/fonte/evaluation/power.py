"""What a golden set could show at all: the smallest difference that its paired test would find.

A test that finds nothing says little until one knows what it could have found. The verdict is the exact sign test's,
so its power is worked out exactly: of n queries a share ψ is discordant (one configuration right, the other wrong),
the difference is δ = (wins - losses) / n, and the wins among d discordant ones are binomial with (ψ + δ) / 2ψ.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

ALPHA = 0.05
POWER = 0.8
EXACT_UP_TO = 3000
"""Queries up to which the power is exact; beyond, normal approximation (Connor, Biometrics 43, 1987)."""
_STEPS = 20
_NEGLIGIBLE = 1e-13


def sign_power(n: int, difference: float, discordant: float = 0.0, alpha: float = ALPHA) -> float:
    """Chance that the sign test over ``n`` queries finds a true ``difference``, and on the right side.

    ``discordant`` is the share of queries on which the two differ; where it is less than the difference, the
    difference itself, for that many must differ at least.

    Raises:
        ValueError: no query, or a share outside 0..1.
    """
    if n < 1 or not 0 <= difference <= 1 or not 0 <= discordant <= 1:
        raise ValueError("power needs a query, and shares in 0..1")
    share = max(discordant, difference)
    if share == 0:
        return 0.0
    if n > EXACT_UP_TO:
        return _normal_power(n, difference, share, alpha)
    weights = _binomial(np.arange(n + 1), n, share)
    win = (share + difference) / (2 * share)
    likely = np.flatnonzero(weights > _NEGLIGIBLE).tolist()
    found = math.fsum(weights[count] * _wins_enough(count, _needed_wins(count, alpha), win) for count in likely)
    return min(1.0, found)


def detectable(n: int, discordant: float = 0.0, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest difference of shares that the sign test over ``n`` queries finds with that power.

    None when it finds none, however large: below six queries nothing can be significant at 0.05.
    """
    if sign_power(n, 1.0, discordant, alpha) < power:
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if sign_power(n, middle, discordant, alpha) >= power else (middle, high)
    return high


def detectable_mean(deviation: float, n: int, *, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest difference of means that ``n`` pairs whose differences deviate so much show with that power.

    (z(1-α/2) + z(power)) · s / √n, the normal approximation for paired means.
    """
    if n < 1 or deviation < 0:
        raise ValueError("needs pairs and a deviation of at least 0")
    normal = NormalDist()
    return (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * deviation / math.sqrt(n)


def queries_needed(difference: float, discordant: float = 0.0, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Queries that a set needs so that the sign test finds a ``difference`` with that power.

    Raises:
        ValueError: a difference outside 0..1, or so small that a million queries do not do.
    """
    if not 0 < difference <= 1:
        raise ValueError("a difference lies above 0 and at most at 1")
    low, high = 0, 1
    while sign_power(high, difference, discordant, alpha) < power:
        low, high = high, 2 * high
        if high > 1 << 20:
            raise ValueError(f"no set shows a difference of {difference}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sign_power(middle, difference, discordant, alpha) >= power else (middle, high)
    return high


@lru_cache(maxsize=1 << 14)
def _needed_wins(count: int, alpha: float) -> int:
    """The fewest wins among so many discordant queries with p below alpha; one more than there are when none do."""
    # Exact, as the test itself is: twice the tail of a fair coin.
    bound = Fraction(alpha).limit_denominator(10**9) * (1 << count) / 2
    term, tail, losses = 1, 0, -1
    while losses < count and tail + term < bound:
        tail += term
        losses += 1
        term = term * (count - losses) // (losses + 1)
    return count - losses if losses >= 0 else count + 1


def _wins_enough(count: int, needed: int, win: float) -> float:
    if needed > count:
        return 0.0
    return float(_binomial(np.arange(needed, count + 1), count, win).sum())


def _binomial(successes: npt.NDArray[np.int64], n: int, share: float) -> npt.NDArray[np.float64]:
    """Probabilities of so many successes among n."""
    if share >= 1:
        return np.asarray(successes == n, dtype=np.float64)
    logs = _log_factorials(n)
    chosen = logs[n] - logs[successes] - logs[n - successes]
    logged = chosen + successes * math.log(share) + (n - successes) * math.log1p(-share)
    return np.asarray(np.exp(logged), dtype=np.float64)


@lru_cache(maxsize=1024)
def _log_factorials(n: int) -> npt.NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


def _normal_power(n: int, difference: float, share: float, alpha: float) -> float:
    normal = NormalDist()
    spread = math.sqrt(max(share - difference**2, 1e-12))
    return normal.cdf((difference * math.sqrt(n) - normal.inv_cdf(1 - alpha / 2) * math.sqrt(share)) / spread)
