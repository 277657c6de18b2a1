"""BM25 from memory equals BM25 of every row looked at, also where terms are left out because they change nothing."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from fonte.stores import postings as module
from fonte.stores.postings import Collector, Dictionary, Postings

WORDS = [f"{language}:w{at}" for at in range(150) for language in ("it", "en")] + ["perché", "東京", "\U0001f600", "a"]
WEIGHTS = [1 / (at + 1) for at in range(len(WORDS))]


def collected(rows: Sequence[Sequence[str]], parts: int = 7) -> Postings:
    collector, step = Collector(), max(1, len(rows) // parts)
    for start in range(0, len(rows), step):
        collector.add(pa.array([" ".join(one) for one in rows[start : start + step]], pa.utf8()))
    return collector.done()


def drawn(chance: random.Random, size: int) -> list[list[str]]:
    return [chance.choices(WORDS, WEIGHTS, k=chance.choice([0, 1, 5, 30, 60])) for _ in range(size)]


def expected(rows: Sequence[Sequence[str]], terms: Sequence[str], mask: np.ndarray) -> dict[int, float]:
    """The formula, row by row."""
    counts = [Counter(one) for one in rows]
    size, total = sum(map(bool, rows)), sum(map(len, rows))
    scores = {}
    for row in np.flatnonzero(mask).tolist():
        score = 0.0
        for term in set(terms) & counts[row].keys():
            frequency = sum(term in one for one in counts)
            norm = 1.2 * (0.25 + 0.75 * len(rows[row]) / (total / size))
            idf = math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
            score += idf * counts[row][term] * 2.2 / (counts[row][term] + norm)
        if score:
            scores[row] = score
    return scores


@pytest.mark.parametrize("seed", range(4))
def test_the_best_are_those_of_the_formula(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    left_out = 0
    completed = Postings._completed

    def counted(self: Postings, *given: object) -> object:
        nonlocal left_out
        left_out += 1
        return completed(self, *given)

    monkeypatch.setattr(module, "_AT_ONCE", 50)
    monkeypatch.setattr(Postings, "_completed", counted)
    rows = drawn(chance, 400)
    made = collected(rows)
    for _ in range(60):
        terms = list(dict.fromkeys([*chance.choices(WORDS, WEIGHTS, k=4), *chance.sample(WORDS, 3), "absent"]))
        mask = np.array([chance.random() < chance.choice([0.05, 0.5, 1.0]) for _ in rows])
        every = expected(rows, terms, mask)
        for k in (1, 5, 1000):
            found, scores = made.best(terms, mask, k)
            assert len(set(found.tolist())) == len(found)
            assert dict(zip(found.tolist(), scores.tolist())) == pytest.approx(
                {row: every[row] for row in found.tolist()}
            )
            least = sorted(every.values(), reverse=True)[:k][-1] if every else math.inf
            sure = {row for row, score in every.items() if score > least * (1 + 1e-5)}
            assert sure <= set(found.tolist())
            assert len(found) >= min(k, len(every))
            assert all(every[row] >= least * (1 - 1e-5) for row in found.tolist())
    assert left_out > 10


def test_equal_rows_tie_and_all_that_tie_come() -> None:
    made = collected([["a", "b", "b"]] * 50 + [["a", "c", "c"]] * 50)
    found, scores = made.best(["a", "b"], np.ones(100, np.bool_), 3)
    assert sorted(found.tolist()) == list(range(50))
    assert len(set(scores.tolist())) == 1


def test_rows_in_which_a_term_stands_are_counted_once_and_long_rows_too() -> None:
    made = collected([["a"] * 300, ["a", "b"], [], ["b"] * 70_000], parts=4)
    assert made.of(["a", "b", "absent", ""]) == {"a": 2, "b": 2}
    found, scores = made.best(["a"], np.ones(4, np.bool_), 4)
    every = expected([["a"] * 300, ["a", "b"], [], ["b"] * 70_000], ["a"], np.ones(4, np.bool_))
    assert dict(zip(found.tolist(), scores.tolist())) == pytest.approx(every)


@pytest.mark.parametrize("rows", [[], [[], []]])
def test_nothing_is_found_where_nothing_is(rows: list[list[str]]) -> None:
    made = collected(rows)
    found, scores = made.best(["a", ""], np.ones(len(rows), np.bool_), 5)
    assert (found.tolist(), scores.tolist(), made.of(["a", ""])) == ([], [], {})


def test_nobody_reads_what_the_mask_leaves_out() -> None:
    made = collected([["a"], ["a"]])
    assert made.best(["a"], np.zeros(2, np.bool_), 5)[0].tolist() == []
    assert made.best(["a"], np.array([False, True]), 5)[0].tolist() == [1]


def test_terms_are_found_whatever_their_letters() -> None:
    terms = sorted(one.encode() for one in WORDS)
    known = Dictionary(terms)
    assert [known.find(one.decode()) for one in terms] == list(range(len(terms)))
    assert [known.find(one) for one in ("", "it", "it:w", "zzz", "\U0001f601", "\ud800")] == [None] * 6
    assert Dictionary([]).find("a") is None


def test_what_postings_will_take_is_known_while_they_are_collected() -> None:
    chance = random.Random(1)
    collector = Collector()
    for _ in range(10):
        collector.add(pa.array([" ".join(one) for one in drawn(chance, 500)]))
    told = collector.nbytes
    assert 0.8 < told / collector.done().nbytes < 1.25
