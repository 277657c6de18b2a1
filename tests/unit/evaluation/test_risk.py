"""Order, risk and coverage, costs and reliability, each against a plain computation or a known value."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from fonte.evaluation.risk import (
    Costs,
    Judged,
    Kept,
    against,
    auroc,
    kept_threshold,
    operating_point,
    reliability,
    risk_coverage,
    sweep,
)


def judged(scores: list[float], kinds: list[bool], groups: list[str] | None = None) -> Judged:
    return Judged.of(scores, kinds, groups or [str(at) for at in range(len(scores))])


def drawn(n: int, gap: float, seed: int, wordings: int = 2) -> tuple[list[float], list[bool], list[str]]:
    source = random.Random(seed)
    scores, kinds, groups = [], [], []
    for question in range(n):
        own = source.gauss(gap if question % 2 else 0.0, 1.0)
        for _ in range(wordings):
            scores.append(own + source.gauss(0, 0.1))
            kinds.append(bool(question % 2))
            groups.append(f"q{question}")
    return scores, kinds, groups


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40))
def test_auroc_equals_mann_whitneys_u(rows: list[tuple[int, bool]]) -> None:
    kinds = [kind for _, kind in rows]
    if all(kinds) or not any(kinds):
        with pytest.raises(ValueError, match="queries that cannot"):
            judged([float(value) for value, _ in rows], kinds)
        return
    yes, no = [value for value, kind in rows if kind], [value for value, kind in rows if not kind]
    value = auroc(judged([float(value) for value, _ in rows], kinds)).value
    assert value == pytest.approx(mannwhitneyu(yes, no).statistic / (len(yes) * len(no)), abs=1e-12)


def test_the_interval_of_auroc_holds_it_and_draws_whole_questions() -> None:
    scores, kinds, groups = drawn(60, 1.0, 1)
    whole, single = auroc(judged(scores, kinds, groups)), auroc(judged(scores, kinds))
    assert whole.low < whole.value < whole.high
    assert whole.value == single.value
    # Two wordings of a question say nearly the same: taken for two questions they would look surer than they are.
    assert whole.high - whole.low > 1.2 * (single.high - single.low)


def test_two_equal_scores_cannot_be_told_apart_and_a_far_better_one_can() -> None:
    scores, kinds, groups = drawn(80, 2.0, 2)
    good = judged(scores, kinds, groups)
    same = against(good, judged([10 * score for score in scores], kinds, groups))
    assert (same.difference.value, same.p) == (0.0, 1.0)
    noise = random.Random(3)
    blind = against(good, judged([noise.random() for _ in scores], kinds, groups))
    assert blind.difference.low > 0.2
    assert blind.p < 0.002
    assert against(good, judged([noise.random() for _ in scores], kinds, groups), seed=5).p < 0.002


def test_the_permutation_test_equals_its_exact_form_where_all_swaps_can_be_tried() -> None:
    scores, kinds, groups = drawn(8, 1.0, 4, wordings=1)
    other, _, _ = drawn(8, 0.5, 9, wordings=1)

    def ranks(values: list[float]) -> list[int]:
        return [sorted(values).index(value) for value in values]

    def area(values: list[int]) -> float:
        pairs = [(a, b) for a, yes in zip(values, kinds) if yes for b, no in zip(values, kinds) if not no]
        return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)

    first, second = ranks(scores), ranks(other)
    observed = abs(area(first) - area(second))
    hits = 0
    for flips in product((False, True), repeat=8):
        one = [b if flip else a for a, b, flip in zip(first, second, flips)]
        two = [a if flip else b for a, b, flip in zip(first, second, flips)]
        hits += abs(area(one) - area(two)) >= observed - 1e-12
    found = against(judged(scores, kinds, groups), judged(other, kinds, groups), resamples=20_000)
    assert found.p == pytest.approx(hits / 256, abs=0.015)


def test_the_permutation_test_is_right_about_chance() -> None:
    """Of two scores that are equally good, few differ at 5 %."""
    found = []
    for seed in range(60):
        source = random.Random(seed)
        kinds = [bool(at % 2) for at in range(60)]
        a, b = ([source.gauss(float(kind), 1) for kind in kinds] for _ in range(2))
        found.append(against(judged(a, kinds), judged(b, kinds), resamples=300).p)
    assert sum(p < 0.05 for p in found) <= 8


def test_the_threshold_is_where_both_mistakes_cost_the_same() -> None:
    assert Costs().threshold == 0.5
    assert Costs(3, 1).threshold == 0.75
    assert Costs(2, 1).but(None, 6) == Costs(2, 6)
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="above 0"):
            Costs(wrong, 1)


def test_an_operating_point_counts_what_was_answered() -> None:
    found = operating_point(judged([0.9, 0.8, 0.4, 0.7, 0.2], [True, True, True, False, False]), 0.5, Costs(3, 1))
    assert (found.coverage.value, found.answered.value) == (pytest.approx(3 / 5), pytest.approx(2 / 3))
    assert (found.false_answer_rate.value, found.cost.value) == (0.5, pytest.approx((3 + 1) / 5))
    assert found.risk is not None
    assert found.risk.value == pytest.approx(1 / 3)
    nothing = operating_point(judged([0.1, 0.1], [True, False]), 0.5, Costs())
    assert nothing.risk is None
    # Nothing answered of one is no proof that nothing ever will be.
    assert nothing.false_answer_rate.high > 0.7


def test_risk_and_coverage_at_every_threshold() -> None:
    curve = risk_coverage(judged([0.9, 0.8, 0.8, 0.1], [True, False, True, False]))
    assert curve == [(0.25, 0.0), (0.75, pytest.approx(1 / 3)), (1.0, 0.5)]
    long = risk_coverage(judged(list(np.linspace(0, 1, 999)), [bool(at % 3) for at in range(999)]))
    assert len(long) <= 100
    assert long[-1] == (1.0, pytest.approx(1 / 3))
    assert [coverage for coverage, _ in long] == sorted({coverage for coverage, _ in long})


@pytest.mark.parametrize(("kept", "threshold"), [(0.8, 2.0), (1.0, 1.0), (0.2, 5.0), (0.81, 1.0)])
def test_the_highest_threshold_that_keeps_a_share(kept: float, threshold: float) -> None:
    scores = [5.0, 4.0, 3.0, 2.0, 1.0, 9.0]
    assert kept_threshold(judged(scores, [True] * 5 + [False]), kept) == threshold


def test_reliability_of_what_is_said_truly_and_of_what_is_not() -> None:
    source = random.Random(7)
    said = [source.random() for _ in range(4000)]
    kinds = [source.random() < one for one in said]
    true = reliability(judged(said, kinds))
    assert true.calibration_error < 0.03
    assert true.brier < true.brier_of_share
    assert sum(one.found.n for one in true.bins) == 4000
    assert all(one.found.low - 0.02 <= one.said <= one.found.high + 0.02 for one in true.bins)
    assert reliability(judged([one**4 for one in said], kinds)).calibration_error > 0.2


def test_document_as_table_right_passages_answers_and_bluffs() -> None:
    passages = [
        [Kept(0.4, False), Kept(0.6, True)],
        [Kept(0.3, False)] * 4 + [Kept(0.2, True)],
        [Kept(0.5, False)],
        [],
    ]
    kinds = [True, True, False, False]
    rows = sweep(passages, kinds, [True, True, False, False], "abcd", None, [None, 0.5, 0.25])
    assert [(row.answered, row.bluffs) for row in rows] == [(2, 1), (2, 1), (1, 0)]
    assert [row.recall.value if row.recall else None for row in rows] == [0.5, 0.0, 0.5]
    assert (rows[0].answerable, rows[0].unanswerable) == (2, 2)
    gated = sweep(passages, kinds, [True, True, False, False], "abcd", [0.9, 0.1, 0.8, 0.0], [None, 0.85])
    assert [(row.answered, row.bluffs) for row in gated] == [(2, 1), (1, 0)]
    assert [row.recall.value if row.recall else None for row in gated] == [0.5, 0.5]
    assert sweep(passages, kinds, [False] * 4, "abcd", None, [None])[0].recall is None


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        judged([0.1], [True, False], ["a", "b"])
    with pytest.raises(ValueError, match="not a number"):
        judged([math.nan, 0.1], [True, False])
