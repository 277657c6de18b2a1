from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fonte.evaluation import statistics


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_scipy(counts: tuple[int, int]) -> None:
    successes, n = counts
    ours = statistics.wilson(successes, n)
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=1e-12)
    assert ours.low <= ours.value <= ours.high


def test_wilson_gives_the_intervals_of_document_a() -> None:
    a, e = statistics.wilson(38, 64), statistics.wilson(53, 64)
    assert (round(a.low, 3), round(a.high, 3)) == (0.471, 0.705)
    assert (round(e.low, 3), round(e.high, 3)) == (0.718, 0.901)


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a proportion"):
        statistics.wilson(successes, n)


@given(st.integers(0, 200), st.integers(0, 200))
def test_sign_test_equals_scipy(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert statistics.sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("wins", "losses", "p"), [(18, 3, 0.0015), (12, 2, 0.0129), (8, 6, 0.79), (10, 3, 0.09)])
def test_sign_test_gives_the_figures_of_document_a(wins: int, losses: int, p: float) -> None:
    assert statistics.sign_test(wins, losses) == pytest.approx(p, abs=0.005 if p > 0.05 else 5e-5)


def test_sign_test_does_not_overflow() -> None:
    assert statistics.sign_test(3000, 3000) == 1.0
    assert 0 < statistics.sign_test(2900, 3100) < 0.02


def test_bootstrap_is_seeded_and_near_scipy() -> None:
    values = np.random.default_rng(7).beta(2, 1, 120).tolist()
    ours = statistics.bootstrap_mean(values, seed=1)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=3).confidence_interval
    assert ours.value == pytest.approx(np.mean(values))
    assert ours.low == pytest.approx(theirs.low, abs=0.004)
    assert ours.high == pytest.approx(theirs.high, abs=0.004)
    assert ours == statistics.bootstrap_mean(values, seed=1)
    assert ours != statistics.bootstrap_mean(values, seed=2)


def test_bootstrap_draws_in_batches_of_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_BATCH", 1000)
    interval = statistics.bootstrap_mean([0.0, 1.0] * 50, resamples=2000)
    assert interval.low == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf"), 1.0]])
def test_bootstrap_refuses_nothing_and_nonsense(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        statistics.bootstrap_mean(values)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=9))
def test_exact_permutation_test_equals_scipy(differences: list[float]) -> None:
    zeros = np.zeros(len(differences))
    theirs = stats.permutation_test(
        (differences, zeros), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True
    )
    assert statistics.permutation_test(differences) == pytest.approx(min(1.0, theirs.pvalue), abs=1e-12)


def test_sampled_permutation_test_is_seeded_near_exact_and_never_zero() -> None:
    generator = np.random.default_rng(5)
    differences = generator.normal(0.25, 1, 60).tolist()
    p = statistics.permutation_test(differences)
    t = stats.ttest_1samp(differences, 0).pvalue
    assert p == pytest.approx(t, abs=0.02)
    assert p == statistics.permutation_test(differences)
    assert statistics.permutation_test([1.0] * 80) == pytest.approx(1 / 10_001)


def test_holm_against_a_worked_example() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == []
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    adjusted = statistics.holm(p_values)
    rejected: set[int] = set()
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] * (len(p_values) - place) > 0.05:
            break
        rejected.add(index)
    assert {i for i, p in enumerate(adjusted) if p <= 0.05} == rejected
    assert all(low <= high for low, high in zip(p_values, adjusted, strict=True))


def test_holm_refuses_what_is_no_p_value() -> None:
    with pytest.raises(ValueError, match="lies in"):
        statistics.holm([1.5])


def test_comparison_says_better_worse_or_cannot_tell() -> None:
    a = [0.0] * 40
    better = statistics.compare(a, [1.0] * 18 + [0.0] * 22)
    assert (better.verdict, better.wins, better.losses) == ("better", 18, 0)
    assert better.difference.value == pytest.approx(18 / 40)
    assert better.difference.low > 0
    assert better.p < 0.001
    assert better.p_permutation < 0.001
    assert statistics.compare([1.0] * 18 + [0.0] * 22, a).verdict == "worse"
    few = statistics.compare(a, [1.0] * 3 + [0.0] * 37)
    assert (few.verdict, few.p) == ("cannot_tell", 0.25)


def test_comparison_needs_the_same_questions() -> None:
    with pytest.raises(ValueError, match="not paired"):
        statistics.compare([1.0], [1.0, 0.0])


def test_a_confidence_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        statistics.wilson(1, 2, confidence=1.0)
    assert math.isclose(statistics.wilson(1, 2, confidence=0.5).value, 0.5)
