"""Our measures and statistics against ir_measures (trec_eval) and scipy on 1,000 random runs, to 1e-9."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from fonte.evaluation import runs, statistics
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.scoring import QueryKey, Scores, score

RUNS = 1000
CUTS = (1, 3, 5, 10, 20)
NAMES = [f"{kind}@{k}" for kind in ("recall", "precision", "hit", "mrr", "ndcg") for k in CUTS]


def made() -> tuple[GoldenSet, dict[QueryKey, list[Retrieved]]]:
    """A thousand questions with graded documents, and for each a ranking of chunks; some got nothing."""
    generator = np.random.default_rng(20)
    names = [f"d{number}" for number in range(40)]
    questions = []
    found: dict[QueryKey, list[Retrieved]] = {}
    for number in range(RUNS):
        relevant = generator.choice(names, generator.integers(1, 12), replace=False)
        grades = {str(name): int(generator.integers(1, 5)) for name in relevant}
        questions.append(Question(f"q{number}", ("w",), relevance=grades))
        # With repetition: a document's second chunk must not count again.
        ranked = generator.choice(names, generator.integers(0, 45))
        found[f"q{number}", 0] = [Retrieved(str(name), 0, 1, "x") for name in ranked]
    return GoldenSet("g", tuple(questions)), found


GOLDEN, FOUND = made()


@pytest.fixture(scope="module")
def scores() -> Scores:
    """Ours."""
    return score(GOLDEN, FOUND, NAMES)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """ir_measures' values by measure and query, out of the files that we write."""
    ir_measures = pytest.importorskip("ir_measures", reason="trec_eval has no wheel for this machine")
    from ir_measures import RR, P, R, Success, nDCG

    folder: Path = tmp_path_factory.mktemp("runs")
    runs.write_run(runs.run_of(GOLDEN, FOUND, "ours"), folder / "run.txt")
    runs.write_qrels(GOLDEN, folder / "qrels.txt")
    kinds = {"recall": R, "precision": P, "hit": Success, "mrr": RR, "ndcg": nDCG}
    wanted = {str(kind @ k): f"{name}@{k}" for name, kind in kinds.items() for k in CUTS}
    calculated = ir_measures.iter_calc(
        [kind @ k for kind in kinds.values() for k in CUTS],
        list(ir_measures.read_trec_qrels(str(folder / "qrels.txt"))),
        list(ir_measures.read_trec_run(str(folder / "run.txt"))),
    )
    return {(wanted[str(one.measure)], one.query_id): one.value for one in calculated}


def test_every_measure_of_every_query_equals_trec_eval(scores: Scores, theirs: dict[tuple[str, str], float]) -> None:
    empty = {query for query, _ in scores.empty}
    assert 5 < len(empty) < 100
    compared = 0
    for name, by_query in scores.values.items():
        assert len(by_query) == RUNS
        for (query, _), value in by_query.items():
            if query in empty:
                assert value == 0
                assert theirs.get((name, query), 0.0) == 0
                continue
            assert value == pytest.approx(theirs[name, query], abs=1e-9), (name, query)
            compared += 1
    assert compared == len(NAMES) * (RUNS - len(empty))


def test_means_count_the_queries_that_got_nothing(scores: Scores, theirs: dict[tuple[str, str], float]) -> None:
    few = replace(scores, values={name: by_query for name, by_query in scores.values.items() if name.endswith("@5")})
    for name, interval in few.summary().items():
        expected = sum(value for (measure, _), value in theirs.items() if measure == name) / RUNS
        assert interval.value == pytest.approx(expected, abs=1e-9)
        assert interval.n == RUNS


def test_intervals_and_paired_tests_equal_scipy_on_a_thousand_runs() -> None:
    generator = np.random.default_rng(21)
    for _ in range(RUNS):
        n = int(generator.integers(1, 300))
        right = int(generator.integers(0, n + 1))
        ours = statistics.wilson(right, n)
        interval = stats.binomtest(right, n).proportion_ci(method="wilson")
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
        wins, losses = (int(count) for count in generator.integers(0, 150, 2))
        if wins + losses:
            assert statistics.sign_test(wins, losses) == pytest.approx(
                stats.binomtest(wins, wins + losses).pvalue, abs=1e-9
            )
        p_values = generator.random(int(generator.integers(1, 9))) ** 3
        # Holm's procedure out of scipy's parts is not there; its adjustment is checked by the definition.
        order = np.argsort(p_values)
        stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
        assert np.array(statistics.holm(p_values.tolist()))[order] == pytest.approx(np.minimum(1, stepped), abs=1e-9)


def test_exact_permutation_tests_equal_scipy_on_a_thousand_runs() -> None:
    generator = np.random.default_rng(22)
    for _ in range(RUNS):
        n = int(generator.integers(2, 9))
        # Binary fractions: where sums are not exact, scipy takes some ties for differences.
        differences = generator.choice([-1, -0.5, 0, 0.25, 0.5, 1], n) + generator.choice([0, 2**-10], n)
        expected = stats.permutation_test(
            (differences, np.zeros(n)),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
        ).pvalue
        assert statistics.permutation_test(differences.tolist()) == pytest.approx(min(1.0, expected), abs=1e-9)


def test_permutation_tests_equal_exact_arithmetic_where_floats_are_not_exact() -> None:
    generator = np.random.default_rng(24)
    for _ in range(200):
        differences = [round(float(value), 2) for value in generator.choice([-0.3, -0.1, 0.1, 0.2, 0.7], 7)]
        exact = [Fraction(str(value)) for value in differences]
        sums = [abs(sum(s * d for s, d in zip(signs, exact, strict=True))) for signs in product((1, -1), repeat=7)]
        expected = Fraction(sum(one >= abs(sum(exact)) for one in sums), len(sums))
        assert statistics.permutation_test(differences) == pytest.approx(float(expected), abs=1e-12)


def test_the_bootstrap_is_near_scipys_on_random_runs() -> None:
    generator = np.random.default_rng(23)
    for seed in range(10):
        values = generator.beta(2, 1, int(generator.integers(20, 200))).tolist()
        ours = statistics.bootstrap_mean(values, seed=seed)
        theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5_000, rng=seed)
        width = ours.high - ours.low
        assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
        assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)
