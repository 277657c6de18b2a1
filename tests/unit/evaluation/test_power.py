from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fonte.evaluation import power
from fonte.evaluation.power import detectable, detectable_mean, queries_needed, sign_power
from fonte.evaluation.statistics import bootstrap_mean, compare, compare_all, permutation_test, sign_test, wilson


def test_wilson_of_64_at_one_half_is_about_twelve_points_wide_each_way() -> None:
    interval = wilson(32, 64)
    assert interval.high - 0.5 == pytest.approx(0.12, abs=0.003)
    assert 0.5 - interval.low == pytest.approx(0.12, abs=0.003)


@pytest.mark.parametrize(
    ("n", "difference", "discordant"), [(10, 0.6, 0.6), (30, 0.3, 0.3), (64, 0.15, 0.2), (64, 0.1, 0)]
)
def test_power_equals_its_definition_by_scipy(n: int, difference: float, discordant: float) -> None:
    share = max(difference, discordant)
    win = (share + difference) / 2 / share
    expected = sum(
        stats.binom.pmf(count, n, share) * stats.binom.pmf(wins, count, win)
        for count in range(n + 1)
        for wins in range(count + 1)
        if 2 * wins > count and sign_test(wins, count - wins) < 0.05
    )
    assert sign_power(n, difference, discordant) == pytest.approx(expected, abs=1e-9)


def test_power_equals_simulation() -> None:
    generator = np.random.default_rng(1)
    drawn = generator.multinomial(64, [0.2, 0.05, 0.75], 3000)
    found = np.mean([sign_test(int(wins), int(losses)) < 0.05 and wins > losses for wins, losses, _ in drawn])
    assert sign_power(64, 0.15, 0.25) == pytest.approx(found, abs=0.03)


def test_small_sets_show_little_and_below_six_queries_nothing() -> None:
    assert detectable(5) is None
    ten, sixty_four = detectable(10), detectable(64)
    assert ten is not None
    assert sixty_four is not None
    assert 0.6 < ten < 0.75
    assert 0.1 < sixty_four < 0.15
    assert sign_power(64, sixty_four) == pytest.approx(0.8, abs=0.001)
    more_noise = detectable(64, 0.4)
    assert more_noise is not None
    assert more_noise > sixty_four


def test_large_sets_go_over_to_the_approximation_without_a_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = sign_power(600, 0.04, 0.1)
    monkeypatch.setattr(power, "EXACT_UP_TO", 500)
    assert sign_power(600, 0.04, 0.1) == pytest.approx(exact, abs=0.02)


def test_queries_needed_are_enough_and_hardly_more() -> None:
    n = queries_needed(0.1, 0.2)
    assert sign_power(n, 0.1, 0.2) >= 0.8 > sign_power(n - 8, 0.1, 0.2)
    with pytest.raises(ValueError, match="no set"):
        queries_needed(1e-5, 0.5)


def test_detectable_mean_is_the_textbook_formula() -> None:
    assert detectable_mean(0.5, 100) == pytest.approx((1.959964 + 0.841621) * 0.05, abs=1e-6)


@pytest.mark.parametrize(("n", "difference", "discordant"), [(0, 0.1, 0), (5, 1.1, 0), (5, 0.1, -1)])
def test_impossible_questions_are_refused(n: int, difference: float, discordant: float) -> None:
    with pytest.raises(ValueError, match="power needs"):
        sign_power(n, difference, discordant)


# --- wordings of one question are not questions of their own ---------------------------------------------------------


def test_wordings_of_one_question_do_not_make_a_mean_surer() -> None:
    values = np.random.default_rng(2).random(40).tolist()
    once = bootstrap_mean(values)
    twice = [value for value in values for _ in range(2)]
    groups = [number for number in range(40) for _ in range(2)]
    grouped, naive = bootstrap_mean(twice, groups=groups), bootstrap_mean(twice)
    assert grouped.n == 80
    assert grouped.high - grouped.low == pytest.approx(once.high - once.low, rel=0.05)
    assert naive.high - naive.low < 0.8 * (grouped.high - grouped.low)


def test_signs_of_one_question_flip_together() -> None:
    values = [0.3, 0.1, 0.2, 0.4]
    twice = [value for value in values for _ in range(2)]
    groups = [number for number in range(4) for _ in range(2)]
    assert permutation_test(twice, groups=groups) == permutation_test(values) == 2 / 16
    with pytest.raises(ValueError, match="groups of"):
        permutation_test(values, groups=[1])


def test_a_verdict_needs_the_mean_to_agree() -> None:
    # Twelve small wins and three large losses: the sign test alone would say better.
    a, b = [0.5] * 15, [0.51] * 12 + [0.0] * 3
    found = compare(a, b)
    assert found.p < 0.05
    assert found.difference.value < 0
    assert found.verdict == "cannot_tell"


def test_graded_measures_have_a_detectable_mean() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random(50).tolist(), generator.random(50).tolist()
    deviation = np.std(np.array(b) - np.array(a), ddof=1)
    assert compare(a, b).detectable == pytest.approx(detectable_mean(float(deviation), 50))


def test_many_comparisons_are_corrected_together() -> None:
    six = ([0.0] * 6, [1.0] * 6)
    assert compare(*six).verdict == "better"
    found = compare_all({"x": six, "y": six})
    assert {one.verdict for one in found.values()} == {"cannot_tell"}
    assert found["x"].p_adjusted == pytest.approx(4 / 64)
