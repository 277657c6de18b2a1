"""Token codes and late interaction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fonte.ranking.late import SCALE, TokenCodec, maxsim

DIM, WIDTH = 12, 5


def random_codec(seed: int = 1) -> TokenCodec:
    draw = np.random.default_rng(seed)
    columns, _ = np.linalg.qr(draw.standard_normal((DIM, WIDTH)))
    return TokenCodec(
        draw.standard_normal(DIM).astype(np.float32),
        columns.astype(np.float32),
        draw.standard_normal(WIDTH).astype(np.float32),
    )


def codes(rows: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    return rows.flatmap(lambda count: arrays(np.int8, (count, WIDTH), elements=st.integers(-SCALE, SCALE)))


def by_hand(question: np.ndarray, passage: np.ndarray, weights: np.ndarray) -> float:
    best = [max(sum(a * b for a, b in zip(asked, row)) for row in passage.tolist()) for asked in question.tolist()]
    return sum(w * b for w, b in zip(weights.tolist(), best, strict=True)) / weights.sum() / SCALE**2


def weights_of(question: np.ndarray) -> np.ndarray:
    return 0.5 + np.arange(len(question)) % 3


@given(codes(st.integers(1, 6)), st.lists(codes(st.integers(1, 9)), max_size=6))
def test_maxsim_is_the_weighted_mean_of_the_best_products(question: np.ndarray, passages: list[np.ndarray]) -> None:
    weights = weights_of(question)
    wanted = [by_hand(question, one, weights) for one in passages]
    assert maxsim(question, passages, weights) == pytest.approx(wanted, abs=1e-12)


@given(codes(st.integers(1, 6)), st.lists(codes(st.integers(1, 9)), min_size=2, max_size=6))
def test_a_score_depends_on_its_passage_alone(question: np.ndarray, passages: list[np.ndarray]) -> None:
    weights = weights_of(question)
    together = maxsim(question, passages, weights)
    assert together == [maxsim(question, [one], weights)[0] for one in passages]
    assert maxsim(question, [np.concatenate([passages[0]] * 3)], weights) == together[:1]
    assert maxsim(question, [passages[0][::-1]], weights) == together[:1]


def test_passages_longer_than_what_is_multiplied_at_once() -> None:
    draw = np.random.default_rng(3)
    question, passage = (draw.integers(-90, 91, (size, WIDTH), np.int8) for size in (4, 5000))
    passage[4999] = passage[0] = 0
    weights = weights_of(question)
    wanted = by_hand(question, passage, weights)
    assert maxsim(question, [passage], weights)[0] == pytest.approx(wanted, abs=1e-12)


def test_a_passage_without_tokens_stands_below_all_and_a_question_without_is_refused() -> None:
    question = np.full((2, WIDTH), 56, np.int8)
    none, opposite = np.zeros((0, WIDTH), np.int8), np.full((1, WIDTH), -56, np.int8)
    scores = maxsim(question, [none, opposite], weights_of(question))
    assert scores[0] == -1.0
    assert scores[0] < scores[1] < 0
    with pytest.raises(ValueError, match="without tokens"):
        maxsim(none, [question], weights_of(none))
    assert maxsim(question, [], weights_of(question)) == []


def test_codes_are_directions_from_the_mean_in_the_projection() -> None:
    codec = random_codec()
    vectors = np.random.default_rng(2).standard_normal((40, DIM)).astype(np.float32)
    made = codec.encode(vectors)
    assert (made.dtype, made.shape) == (np.int8, (40, WIDTH))
    wanted = (vectors - codec.mean) @ codec.projection
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.abs(made / SCALE - wanted).max() <= 0.5 / SCALE + 1e-6
    assert np.array_equal(codec.encode(vectors[:1]), made[:1])
    assert codec.encode(vectors[:0]).shape == (0, WIDTH)


def test_cosines_survive_the_codes() -> None:
    codec = TokenCodec(np.zeros(DIM, np.float32), np.eye(DIM, dtype=np.float32), np.zeros(DIM, np.float32))
    vectors = np.random.default_rng(5).standard_normal((30, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = codec.encode(vectors)
    found = np.array([maxsim(made[:1], [made[at : at + 1]], np.ones(1))[0] for at in range(30)])
    assert np.abs(found - vectors @ vectors[0]).max() < 0.02


def test_a_token_that_is_the_mean_matches_nothing() -> None:
    codec = random_codec()
    assert not codec.encode(codec.mean[None, :]).any()


def test_weights_grow_along_the_importance_are_never_0_and_never_run_away() -> None:
    codec = replace(random_codec(), importance=np.array([2.0, 0, 0, 0, 50.0], np.float32))
    rows = np.array([[0] * 5, [127, 0, 0, 0, 0], [-127, 0, 0, 0, 0], [0, 0, 0, 0, 127], [0, 0, 0, 0, -127]], np.int8)
    assert codec.weights(rows) == pytest.approx(np.exp([0, 2, -2, 3, -3]))
    assert codec.weights(rows[:0]).shape == (0,)


def test_an_id_is_that_of_every_number() -> None:
    codec = random_codec()
    assert codec.id == replace(codec, mean=codec.mean.copy(), projection=np.asfortranarray(codec.projection)).id
    nudged = codec.projection.copy()
    nudged[3, 2] += np.float32(1e-6)
    others = {replace(codec, projection=nudged).id, replace(codec, mean=codec.mean + 1).id, random_codec(2).id}
    others.add(replace(codec, projection=codec.projection[:, :4], importance=codec.importance[:4]).id)
    assert len(others | {codec.id}) == 5


def test_another_importance_weighs_otherwise_and_makes_the_same_codes() -> None:
    codec = random_codec()
    other = replace(codec, importance=codec.importance + 1)
    assert other.id == codec.id
    assert other.weighing != codec.weighing


@pytest.mark.parametrize("vectors", [np.zeros((2, DIM + 1)), np.zeros(DIM), np.full((1, DIM), np.nan)])
def test_what_is_no_token_vector_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ValueError, match="token vector"):
        random_codec().encode(vectors.astype(np.float32))


@pytest.mark.parametrize(
    ("mean", "projection", "importance"),
    [
        (np.zeros(3), np.zeros((4, 2)), np.zeros(2)),
        (np.zeros(4), np.zeros(4), np.zeros(2)),
        (np.zeros(4), np.full((4, 2), np.inf), np.zeros(2)),
        (np.full(4, np.nan), np.zeros((4, 2)), np.zeros(2)),
        (np.zeros(4), np.zeros((4, 2)), np.zeros(3)),
        (np.zeros(4), np.zeros((4, 2)), np.full(2, np.nan)),
    ],
)
def test_numbers_that_are_no_codec_are_refused(
    mean: np.ndarray, projection: np.ndarray, importance: np.ndarray
) -> None:
    with pytest.raises(ValueError):
        TokenCodec(*(part.astype(np.float32) for part in (mean, projection, importance)))
