"""Postings as PostgreSQL keeps them, and the score that is made of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.stores.postgres.bm25 import best, scored
from fonte.stores.postgres.index_table import storable
from fonte.stores.postgres.index_upkeep import uneven
from fonte.stores.postgres.packing import MOST, Collected, joined, key_of, packed, unpacked

terms = st.lists(st.sampled_from(["a", "b", "it:casa", "é", "x" * 40]), max_size=12)


@given(st.lists(st.lists(terms, max_size=5), max_size=4))
def test_what_is_collected_is_what_stands_in_the_chunks(batches: list[list[list[str]]]) -> None:
    collected, wanted, number = Collected(), {}, 3
    for batch in batches:
        different = collected.add(number, batch)
        assert different == [len(set(one)) for one in batch]
        for one in batch:
            for term, often in Counter(one).items():
                wanted.setdefault(key_of(term), []).append((number, often))
            number += 1
    assert collected.size == sum(map(len, wanted.values()))
    found = {}
    for key, body in collected.take():
        numbers, counts = unpacked(body)
        found[key] = list(zip(numbers.tolist(), counts.tolist(), strict=True))
    assert found == wanted
    assert collected.size == 0
    assert list(collected.take()) == []


def test_a_term_that_stands_more_often_than_can_be_kept_counts_as_often_as_can_be() -> None:
    collected = Collected()
    collected.add(1, [["a"] * (MOST + 5)])
    ((_, body),) = collected.take()
    assert unpacked(body)[1].tolist() == [MOST]


def test_postings_that_were_cut_are_refused() -> None:
    body = packed(np.array([1, 9]), np.array([1, 2], np.uint16))
    with pytest.raises(ValueError, match="damaged"):
        unpacked(body[:-1])


def test_postings_of_several_blocks_are_one_list_in_order() -> None:
    numbers, counts = joined([(np.array([5, 9]), np.array([1, 2])), (np.array([2, 7]), np.array([3, 4]))])
    assert numbers.tolist() == [2, 5, 7, 9]
    assert counts.tolist() == [3, 1, 4, 2]


@given(st.lists(st.integers(1, 10_000), max_size=12))
def test_blocks_that_are_bound_leave_each_twice_the_next(sizes: list[int]) -> None:
    start = uneven(sizes)
    assert start <= len(sizes)
    assert start != len(sizes) - 1, "one block alone is not bound"
    left = [*sizes[:start], *([sum(sizes[start:])] if start < len(sizes) else [])]
    assert all(first >= 2 * second for first, second in pairwise(left))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=30), st.integers(1, 10), st.data())
def test_the_best_are_those_above_the_kth_score_and_all_that_tie_with_it(
    scores: list[float], k: int, data: st.DataObject
) -> None:
    admitted = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    sure, tied = best(np.array(scores, np.float32), np.array(admitted), k)
    some = sorted((score for score, may in zip(scores, admitted, strict=True) if may and score), reverse=True)
    given_back = [*sure.tolist(), *tied.tolist()]
    assert len(set(given_back)) == len(given_back)
    assert all(admitted[row] for row in given_back)
    floor = some[k - 1] if len(some) > k else 0.0
    assert sorted((scores[row] for row in given_back), reverse=True) == [one for one in some if one >= floor]
    assert len(sure) <= k


def test_chunks_without_terms_take_no_part() -> None:
    lengths = np.array([2, 0, 2], np.uint32)
    rows, counts = np.array([0], np.int32), np.array([1], np.uint16)
    assert scored([(rows, counts)], lengths)[0] == pytest.approx(np.log(1 + 1.5 / 1.5))
    assert scored([], np.zeros(2, np.uint32)).tolist() == [0.0, 0.0]


def test_what_no_column_can_hold_equals_nothing() -> None:
    assert storable(["b", "a\0", "a", "\ud800", "b"]) == ["a", "b"]
