"""What a score that decides between answering and refusing is worth: order, risk and coverage, cost, reliability.

A query is one wording; ``answerable`` says whether it should be answered, and it is answered where its score is at
least the threshold. Intervals and tests draw or swap whole groups (a document's or a question's queries): wordings of
one question are not independent. Everything is seeded.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fonte.evaluation.statistics import CONFIDENCE, Interval, bootstrap_mean, wilson

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

RESAMPLES = 2000
MOST_POINTS = 100
"""Points of a curve that is told."""
_CELLS = 1 << 22
"""Numbers held at once, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores of queries in one order, with what should have become of each, and the group that each belongs to."""

    scores: Numbers
    answerable: Flags
    groups: npt.NDArray[np.int64]

    @classmethod
    def of(cls, scores: Sequence[float], answerable: Sequence[bool], groups: Sequence[Hashable]) -> Judged:
        """Out of plain sequences of one length.

        Raises:
            ValueError: lengths differ, a score is no number, or all queries are of one kind.
        """
        places: dict[Hashable, int] = {}
        index = np.array([places.setdefault(group, len(places)) for group in groups], np.int64)
        found = cls(np.asarray(scores, np.float64), np.asarray(answerable, np.bool_), index)
        if not len(found.scores) == len(found.answerable) == len(index):
            raise ValueError("scores, kinds and groups differ in number")
        if np.isnan(found.scores).any():
            raise ValueError("a score is not a number")
        if found.answerable.all() or not found.answerable.any():
            raise ValueError("needs queries that can be answered and queries that cannot")
        return found

    @property
    def count(self) -> int:
        """Groups."""
        return int(self.groups.max()) + 1


@dataclass(frozen=True, slots=True)
class Against:
    """One score's AUROC beside another's on the same queries: the difference, its interval, and a permutation test."""

    value: Interval
    difference: Interval
    p: float


def auroc(judged: Judged) -> Interval:
    """Share of pairs (answerable, unanswerable) in the right order, ties half; interval by bootstrap over groups."""
    drawn = _auroc_drawn(judged, _draws(judged.count, 0))
    return _between(_auroc(judged.scores, judged.answerable), drawn, len(judged.scores))


def against(one: Judged, other: Judged, *, seed: int = 0, resamples: int = RESAMPLES) -> Against:
    """AUROC of ``other``, and by how much ``one`` is above it.

    Both are turned into ranks first; under the null hypothesis a group's ranks under the one score could as well be
    its ranks under the other (Bandos, Rockette and Gur, Statistics in Medicine 24, 2005, with whole groups swapped).
    """
    draws = _draws(one.count, 0)
    difference = _auroc_drawn(one, draws) - _auroc_drawn(other, draws)
    observed = _auroc(one.scores, one.answerable) - _auroc(other.scores, other.answerable)
    # Twice the mid-rank is a whole number: equal ranks stay equal.
    first, second = _doubled_ranks(one.scores), _doubled_ranks(other.scores)
    generator = np.random.default_rng(seed)
    extreme, size = 1, max(1, _CELLS // (4 * len(first)))
    for begun in range(0, resamples, size):
        flips = generator.integers(0, 2, (min(size, resamples - begun), one.count), dtype=np.int8)[:, one.groups] == 1
        swapped = _auroc_rows(np.where(flips, second, first), one.answerable)
        swapped -= _auroc_rows(np.where(flips, first, second), one.answerable)
        extreme += int(np.count_nonzero(np.abs(swapped) >= abs(observed) - 1e-12))
    return Against(auroc(other), _between(observed, difference, len(first)), extreme / (resamples + 1))


def _auroc(scores: Numbers, answerable: Flags) -> float:
    return float(_auroc_rows(_doubled_ranks(scores)[None], answerable)[0])


def _doubled_ranks(scores: Numbers) -> npt.NDArray[np.int64]:
    """Twice the mid-rank of each score, from 2."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1)[inverse], np.int64)


def _auroc_rows(ranks: npt.NDArray[np.int64], answerable: Flags) -> Numbers:
    """AUROC of every row of whole numbers from 0 to twice its length."""
    rows, n = ranks.shape
    width = 2 * n + 1
    flat = ranks[:, ~answerable] + width * np.arange(rows)[:, None]
    below = np.bincount(flat.ravel(), minlength=rows * width).reshape(rows, width)
    beaten = np.cumsum(below, axis=1) - below / 2
    pairs = int(answerable.sum()) * int((~answerable).sum())
    return np.asarray(np.take_along_axis(beaten, ranks[:, answerable], axis=1).sum(axis=1) / pairs)


def _draws(groups: int, seed: int) -> Numbers:
    """How often each group is drawn, of as many draws as there are groups: one row for each resample."""
    generator = np.random.default_rng(seed)
    return np.asarray(generator.multinomial(groups, np.full(groups, 1 / groups), RESAMPLES), np.float64)


def _auroc_drawn(judged: Judged, draws: Numbers) -> Numbers:
    """AUROC of every resample; not a number where one has queries of one kind only."""
    values, inverse = np.unique(judged.scores, return_inverse=True)
    drawn = np.empty(len(draws))
    size = max(1, _CELLS // max(len(values), judged.count))
    # Queries of each group at each distinct score.
    yes = np.zeros((judged.count, len(values)))
    no = np.zeros((judged.count, len(values)))
    np.add.at(yes, (judged.groups[judged.answerable], inverse[judged.answerable]), 1)
    np.add.at(no, (judged.groups[~judged.answerable], inverse[~judged.answerable]), 1)
    for begun in range(0, len(draws), size):
        some = draws[begun : begun + size]
        good, bad = some @ yes, some @ no
        beaten = np.cumsum(bad, axis=1) - bad / 2
        pairs = good.sum(axis=1) * bad.sum(axis=1)
        with np.errstate(invalid="ignore"):
            drawn[begun : begun + size] = (good * beaten).sum(axis=1) / pairs
    return drawn


def _between(value: float, drawn: Numbers, n: int) -> Interval:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return Interval(value, float(low), float(high), n)


# --- where the threshold stands ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Costs:
    """What an answer to an unanswerable question costs, and what a refusal of an answerable one."""

    wrong: float = 1.0
    abstain: float = 1.0

    def __post_init__(self) -> None:
        if not all(math.isfinite(one) and one > 0 for one in (self.wrong, self.abstain)):
            raise ValueError("a cost is a number above 0")

    def but(self, wrong: float | None, abstain: float | None) -> Costs:
        """The same with what is given in its place."""
        return Costs(self.wrong if wrong is None else wrong, self.abstain if abstain is None else abstain)

    @property
    def threshold(self) -> float:
        """The probability from which an answer costs less than a refusal: wrong / (wrong + abstain).

        (1 - p) wrong <= p abstain (Chow, IEEE Trans. Information Theory 16, 1970).
        """
        return self.wrong / (self.wrong + self.abstain)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What becomes of queries at one threshold.

    ``coverage``: share of all queries that are answered; ``risk``: share of the answered that nothing answers (None
    where none is answered); ``answered``: share of answerable queries that are answered; ``false_answer_rate``: share
    of unanswerable ones; ``cost``: mean cost of a query.
    """

    threshold: float
    coverage: Interval
    risk: Interval | None
    answered: Interval
    false_answer_rate: Interval
    cost: Interval


def operating_point(judged: Judged, threshold: float, costs: Costs) -> OperatingPoint:
    """Shares and costs at ``threshold``, with intervals."""
    answered = judged.scores >= threshold
    price = np.where(
        answered, np.where(judged.answerable, 0.0, costs.wrong), np.where(judged.answerable, costs.abstain, 0.0)
    )
    groups = judged.groups
    return OperatingPoint(
        threshold,
        _share(answered, groups),
        _share(~judged.answerable[answered], groups[answered]) if answered.any() else None,
        _share(answered[judged.answerable], groups[judged.answerable]),
        _share(answered[~judged.answerable], groups[~judged.answerable]),
        bootstrap_mean(price.tolist(), groups=groups.tolist(), resamples=RESAMPLES),
    )


def _share(values: Flags, groups: npt.NDArray[np.int64]) -> Interval:
    """A share with its interval over groups; where all are of one kind Wilson's, each group counted once."""
    if values.all() or not values.any():
        distinct = len(np.unique(groups))
        sure = wilson(distinct if values.any() else 0, distinct)
        return Interval(sure.value, sure.low, sure.high, len(values))
    return bootstrap_mean(values.astype(float).tolist(), groups=groups.tolist(), resamples=RESAMPLES)


def kept_threshold(judged: Judged, kept: float) -> float:
    """The highest threshold that answers at least the share ``kept`` of the answerable queries."""
    ordered = np.sort(judged.scores[judged.answerable])[::-1]
    return float(ordered[math.ceil(kept * len(ordered) - 1e-9) - 1])


def risk_coverage(judged: Judged) -> list[tuple[float, float]]:
    """(coverage, risk) at every threshold that changes something, coverage rising; at most some hundred points.

    Coverage is the share of queries that are answered, risk the share of those that nothing answers (El-Yaniv and
    Wiener, JMLR 11, 2010).
    """
    order = np.argsort(-judged.scores, kind="stable")
    sorted_scores = judged.scores[order]
    wrong = np.cumsum(~judged.answerable[order])
    last = np.append(np.flatnonzero(np.diff(sorted_scores) != 0), len(order) - 1)
    if len(last) > MOST_POINTS:
        last = last[np.unique(np.linspace(0, len(last) - 1, MOST_POINTS).round().astype(int))]
    return [(float((at + 1) / len(order)), float(wrong[at] / (at + 1))) for at in last]


# --- whether a probability means what it says -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bin:
    """Queries of like probability: what was said of them in the mean, and what share could be answered."""

    said: float
    found: Interval


@dataclass(frozen=True, slots=True)
class Reliability:
    """How near probabilities are to the truth, in bins of equal numbers of queries and by two figures.

    ``brier`` is Brier's score (Monthly Weather Review 78, 1950), ``brier_of_share`` that of always saying the share of
    answerable queries; ``calibration_error`` the mean distance between what was said and what was found in the bins.
    """

    bins: tuple[Bin, ...]
    brier: float
    brier_of_share: float
    calibration_error: float


def reliability(judged: Judged, *, bins: int = 5) -> Reliability:
    """How reliable scores in 0..1 are as probabilities that the question can be answered."""
    truth = judged.answerable.astype(float)
    parts = [part for part in np.array_split(np.argsort(judged.scores, kind="stable"), bins) if len(part)]
    told = tuple(
        Bin(float(judged.scores[part].mean()), _share(judged.answerable[part], judged.groups[part])) for part in parts
    )
    error = math.fsum(abs(one.said - one.found.value) * one.found.n for one in told) / len(truth)
    share = float(truth.mean())
    return Reliability(told, float(((judged.scores - truth) ** 2).mean()), share * (1 - share), error)


# --- document A's table -----------------------------------------------------------------------------------------------

IN_CONTEXT = 4
"""Passages that document A's gate keeps."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A passage in ranking order: its cosine distance (None: unknown) and whether it holds one of the needles whole."""

    distance: float | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Swept:
    """One threshold: right passages among the first four kept, answerable queries answered, unanswerable ones too."""

    threshold: float | None
    recall: Interval | None
    answered: int
    answerable: int
    bluffs: int
    unanswerable: int


def sweep(
    passages: Sequence[Sequence[Kept]],
    answerable: Sequence[bool],
    needled: Sequence[bool],
    groups: Sequence[Hashable],
    scores: Sequence[float] | None,
    thresholds: Sequence[float | None],
) -> list[Swept]:
    """Document A's table: at most four passages are kept of each query.

    Without ``scores`` a threshold is a cosine distance, and a passage beyond it is not kept; with them it is a score,
    and a query below it keeps nothing. None keeps whatever was found. R@4 is over answerable queries that have a
    needle, answered or not.
    """
    rows = []
    for threshold in thresholds:
        answered, right = [], []
        for at, found in enumerate(passages):
            shown = [one for one in found if threshold is None or scores is not None or _near(one, threshold)]
            if scores is not None and threshold is not None and scores[at] < threshold:
                shown = []
            answered.append(bool(shown))
            right.append(any(one.holds for one in shown[:IN_CONTEXT]))
        asked = [at for at, can in enumerate(answerable) if can and needled[at]]
        hits = np.array([right[at] for at in asked], np.bool_)
        places: dict[Hashable, int] = {}
        own = np.array([places.setdefault(groups[at], len(places)) for at in asked], np.int64)
        rows.append(
            Swept(
                threshold,
                _share(hits, own) if asked else None,
                sum(yes and can for yes, can in zip(answered, answerable, strict=True)),
                sum(answerable),
                sum(yes and not can for yes, can in zip(answered, answerable, strict=True)),
                len(answerable) - sum(answerable),
            )
        )
    return rows


def _near(one: Kept, threshold: float) -> bool:
    return one.distance is not None and one.distance <= threshold
