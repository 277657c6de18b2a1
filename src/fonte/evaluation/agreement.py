"""How far two judges agree: raw agreement, Cohen's kappa, and who said what where the other said what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fonte.evaluation.statistics import CONFIDENCE, Interval, wilson

_RESAMPLES = 2000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges over the same ``n`` things.

    ``kappa`` is None where both always said the same one word, so that chance alone explains all of it. Its interval is
    None there too, and where one of them always said one word: kappa is then 0 whatever the other says. ``table``
    counts by what the first said, then the second.
    """

    raw: Interval
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    table: Mapping[str, Mapping[str, int]]

    @property
    def n(self) -> int:
        """Things that both judged."""
        return self.raw.n


def agreement(pairs: Sequence[tuple[str, str]], *, seed: int = 0) -> Agreement:
    """What two judges said of the same things, (first, second) for each.

    Kappa is Cohen's (Educational and Psychological Measurement 20, 1960), its interval the percentile bootstrap's.

    Raises:
        ValueError: no pair.
    """
    if not pairs:
        raise ValueError("nobody agrees about nothing")
    names = sorted({word for pair in pairs for word in pair})
    counted = Counter(pairs)
    counts = np.array([[counted[first, second] for second in names] for first in names], dtype=np.float64)
    value = float(_kappa(counts[None])[0])
    low = high = None
    if min(np.count_nonzero(counts.sum(axis=0)), np.count_nonzero(counts.sum(axis=1))) > 1:
        drawn = np.random.default_rng(seed).multinomial(len(pairs), counts.ravel() / len(pairs), _RESAMPLES)
        kappas = _kappa(drawn.reshape(-1, len(names), len(names)).astype(np.float64))
        ends = np.nanquantile(kappas, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        low, high = (float(one) for one in ends)
    table = {
        first: {second: counted[first, second] for second in names if counted[first, second]}
        for first in names
        if any(counted[first, second] for second in names)
    }
    return Agreement(wilson(int(np.trace(counts)), len(pairs)), None if np.isnan(value) else value, low, high, table)


def _kappa(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Kappa of each table, shape (tables, words, words); not a number where chance agrees always."""
    shares = counts / counts.sum(axis=(1, 2), keepdims=True)
    observed = np.trace(shares, axis1=1, axis2=2)
    chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    free = 1 - chance > _ROUNDING
    kappas: npt.NDArray[np.float64] = np.where(free, (observed - chance) / np.where(free, 1 - chance, 1), np.nan)
    return kappas
