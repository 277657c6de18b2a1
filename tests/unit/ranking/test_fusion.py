"""Fusion by ranks and by scores."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.ranking.fusion import Method, fuse
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


def test_of_equals_the_one_that_only_a_leg_behind_found_comes_last() -> None:
    legs = {"bm25": leg("z", "y"), "across": leg("a", "b")}

    def applies(chunk: str, name: str) -> bool:
        return (name == "across") == (chunk in "ab")

    def order(behind: frozenset[str]) -> list[str]:
        return [hit.chunk_id for hit in fuse(legs, applicable=applies, behind=behind)]

    assert order(frozenset()) == ["a", "z", "b", "y"]
    assert order(frozenset({"across"})) == ["z", "a", "y", "b"]


RANKINGS = st.lists(st.permutations(list("abcdefg")).map(lambda order: order[:5]), min_size=3, max_size=3)


METHODS: tuple[Method, ...] = ("rrf", "minmax", "theoretical", "deviations")


@given(RANKINGS, st.sampled_from(METHODS))
def test_the_order_of_legs_does_not_matter(orders: list[list[str]], method: Method) -> None:
    results = [
        fuse({str(name): leg(*order) for name, order in enumerate(shuffled)}, method=method)
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


def scored(**scores: float) -> list[Hit]:
    return [Hit(chunk, "d" + chunk, score) for chunk, score in sorted(scores.items(), key=lambda one: -one[1])]


BY_SCORE = {"bm25": scored(a=12.0, b=6.0, c=2.0), "dense": scored(c=0.9, a=0.85, d=0.8)}


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("minmax", {"a": 1.0 + 0.5, "b": 0.4, "c": 0.0 + 1.0, "d": 0.0}),
        ("theoretical", {"a": 1.0 + 1.85 / 1.9, "b": 0.5, "c": 2 / 12 + 1.0, "d": 1.8 / 1.9}),
    ],
)
def test_scores_are_brought_to_one_scale_and_added(method: Method, wanted: dict[str, float]) -> None:
    fused = fuse(BY_SCORE, method=method, least={"dense": -1.0})
    assert {hit.chunk_id: hit.score for hit in fused} == pytest.approx(wanted)
    assert all((hit.rrf, hit.fused) == (None, hit.score) for hit in fused)


def test_deviations_put_the_mean_of_a_leg_at_a_half() -> None:
    fused = {hit.chunk_id: hit.score for hit in fuse({"x": scored(a=3.0, b=2.0, c=1.0)}, method="deviations")}
    assert fused["b"] == pytest.approx(0.5)
    assert fused["a"] + fused["c"] == pytest.approx(1.0)
    far = fuse({"x": scored(a=1000.0, **{f"z{at}": 0.0 for at in range(40)})}, method="deviations")
    assert far[0].score == 1.0, "beyond three deviations all is 1"


@given(st.sampled_from(METHODS), st.floats(0.1, 100), st.floats(-50, 50))
def test_a_legs_own_scale_changes_nothing_but_where_the_least_is_known(method: Method, by: float, plus: float) -> None:
    plus = 0.0 if method == "theoretical" else plus
    moved = {
        **BY_SCORE,
        "bm25": [Hit(one.chunk_id, one.document_id, one.score * by + plus) for one in BY_SCORE["bm25"]],
    }
    least = {"dense": -1.0}
    assert {hit.chunk_id: hit.score for hit in fuse(moved, method=method, least=least)} == pytest.approx(
        {hit.chunk_id: hit.score for hit in fuse(BY_SCORE, method=method, least=least)}, abs=1e-6
    )


def test_equal_scores_and_lone_hits_count_whole() -> None:
    for method in METHODS[1:]:
        assert [hit.score for hit in fuse({"x": scored(a=5.0, b=5.0)}, method=method)] == [1.0, 1.0]
        assert [hit.score for hit in fuse({"x": scored(a=5.0), "y": []}, method=method)] == [1.0]


@pytest.mark.parametrize("method", METHODS)
def test_weights_tell_which_leg_is_believed(method: Method) -> None:
    legs = {"bm25": scored(a=2.0, b=1.0), "dense": scored(b=0.9, a=0.1)}
    assert fuse(legs, method=method, weights={"bm25": 1.6, "dense": 0.4})[0].chunk_id == "a"
    assert fuse(legs, method=method, weights={"bm25": 0.4, "dense": 1.6})[0].chunk_id == "b"
    with pytest.raises(ValueError, match="weight"):
        fuse(legs, method=method, weights={"bm25": 0.0})


@pytest.mark.parametrize("method", METHODS)
def test_a_leg_that_does_not_apply_counts_as_if_it_agreed_with_the_others(method: Method) -> None:
    legs = {"bm25": scored(it=9.0, too=8.0), "dense": scored(en=0.9, it=0.5)}
    fair = fuse(legs, method=method, applicable=lambda chunk, name: name != "bm25" or chunk != "en")
    alone = fuse({"dense": legs["dense"]}, method=method)
    assert {hit.chunk_id: hit.score for hit in fair}["en"] == pytest.approx(2 * alone[0].score)
