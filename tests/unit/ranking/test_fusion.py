"""Reciprocal rank fusion."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.ranking.fusion import fuse
from fonte.types import Hit, Ranking


def leg(*chunks: str, **scores: float) -> list[Hit]:
    return [Hit(chunk, "d" + chunk, 1.0 / rank, **scores) for rank, chunk in enumerate(chunks, start=1)]


def test_the_formula_and_the_scores_that_travel_along() -> None:
    fused = fuse({"bm25": leg("a", "b", bm25=7.0), "dense": leg("b", "c", dense_distance=0.2)})
    assert [hit.chunk_id for hit in fused] == ["b", "a", "c"]
    assert fused[0].score == fused[0].rrf == pytest.approx(1 / 62 + 1 / 61)
    assert (fused[0].bm25, fused[0].dense_distance) == (7.0, 0.2)
    assert (fused[1].bm25, fused[1].dense_distance) == (7.0, None)


def test_ties_stand_by_id() -> None:
    assert [hit.chunk_id for hit in fuse({"x": leg("b", "a"), "y": leg("a", "b")})] == ["a", "b"]


RANKINGS = st.lists(st.permutations(list("abcdefg")).map(lambda order: order[:5]), min_size=3, max_size=3)


@given(RANKINGS)
def test_the_order_of_legs_does_not_matter(orders: list[list[str]]) -> None:
    results = [
        fuse({str(name): leg(*order) for name, order in enumerate(shuffled)})
        for shuffled in itertools.permutations(orders)
    ]
    assert all(
        [(hit.chunk_id, hit.score) for hit in one] == [(hit.chunk_id, hit.score) for hit in results[0]]
        for one in results
    )
    Ranking("fusion", tuple(results[0]))


def test_a_leg_that_cannot_find_a_chunk_does_not_count_against_it() -> None:
    legs = {"bm25": leg("it1", "it2"), "dense": leg("en1", "it1", "it2")}
    plain = fuse(legs)
    fair = fuse(legs, applicable=lambda chunk, name: name != "bm25" or chunk.startswith("it"))
    assert [hit.chunk_id for hit in plain] == ["it1", "it2", "en1"]
    assert [hit.chunk_id for hit in fair] == ["en1", "it1", "it2"]
    assert fair[0].score == pytest.approx(2 / 61)


def test_an_identifier_found_across_languages_never_lowers_a_chunk() -> None:
    legs = {"bm25": leg("x", "en"), "dense": leg("en")}
    fair = {
        hit.chunk_id: hit.score for hit in fuse(legs, applicable=lambda chunk, name: name != "bm25" or chunk != "en")
    }
    assert fair["en"] == pytest.approx(2 / 61)
    only = fuse({"bm25": leg("en"), "dense": []}, applicable=lambda chunk, name: name == "dense")
    assert only[0].score == pytest.approx(1 / 61)


def test_an_empty_leg_contributes_nothing_case_61() -> None:
    assert fuse({"bm25": [], "dense": leg("a")})[0].score == pytest.approx(1 / 61)
    assert fuse({}) == []


def test_a_negative_constant_is_refused() -> None:
    with pytest.raises(ValueError):
        fuse({}, rank_constant=-1)
