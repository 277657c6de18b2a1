"""Token codes and late interaction."""

from __future__ import annotations

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
    return TokenCodec(draw.standard_normal(DIM).astype(np.float32), columns.astype(np.float32))


def codes(rows: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    return rows.flatmap(lambda count: arrays(np.int8, (count, WIDTH), elements=st.integers(-SCALE, SCALE)))


def by_hand(question: np.ndarray, passage: np.ndarray) -> float:
    best = [max(sum(a * b for a, b in zip(asked, row)) for row in passage.tolist()) for asked in question.tolist()]
    return sum(best) / len(best) / SCALE**2


@given(codes(st.integers(1, 6)), st.lists(codes(st.integers(1, 9)), max_size=6))
def test_maxsim_is_the_mean_of_the_best_products(question: np.ndarray, passages: list[np.ndarray]) -> None:
    assert maxsim(question, passages) == pytest.approx([by_hand(question, one) for one in passages], abs=1e-12)


@given(codes(st.integers(1, 6)), st.lists(codes(st.integers(1, 9)), min_size=2, max_size=6))
def test_a_score_depends_on_its_passage_alone(question: np.ndarray, passages: list[np.ndarray]) -> None:
    together = maxsim(question, passages)
    assert together == [maxsim(question, [one])[0] for one in passages]
    assert maxsim(question, [np.concatenate([passages[0]] * 3)]) == together[:1]
    assert maxsim(question, [passages[0][::-1]]) == together[:1]


def test_passages_longer_than_what_is_multiplied_at_once() -> None:
    draw = np.random.default_rng(3)
    question, passage = (draw.integers(-90, 91, (size, WIDTH), np.int8) for size in (4, 5000))
    passage[4999] = passage[0] = 0
    assert maxsim(question, [passage])[0] == pytest.approx(by_hand(question, passage), abs=1e-12)


def test_a_passage_without_tokens_stands_below_all_and_a_question_without_is_refused() -> None:
    question = np.full((2, WIDTH), 56, np.int8)
    none, opposite = np.zeros((0, WIDTH), np.int8), np.full((1, WIDTH), -56, np.int8)
    scores = maxsim(question, [none, opposite])
    assert scores[0] == -1.0
    assert scores[0] < scores[1] < 0
    with pytest.raises(ValueError, match="without tokens"):
        maxsim(none, [question])
    assert maxsim(question, []) == []


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
    codec = TokenCodec(np.zeros(DIM, np.float32), np.eye(DIM, dtype=np.float32))
    vectors = np.random.default_rng(5).standard_normal((30, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = codec.encode(vectors)
    found = np.array([maxsim(made[:1], [made[at : at + 1]])[0] for at in range(30)])
    assert np.abs(found - vectors @ vectors[0]).max() < 0.02


def test_a_token_that_is_the_mean_matches_nothing() -> None:
    codec = random_codec()
    assert not codec.encode(codec.mean[None, :]).any()


def test_an_id_is_that_of_every_number() -> None:
    codec = random_codec()
    assert codec.id == TokenCodec(codec.mean.copy(), np.asfortranarray(codec.projection)).id
    nudged = codec.projection.copy()
    nudged[3, 2] += np.float32(1e-6)
    others = {TokenCodec(codec.mean, nudged).id, TokenCodec(codec.mean + 1, codec.projection).id, random_codec(2).id}
    others.add(TokenCodec(codec.mean, codec.projection[:, :4]).id)
    assert len(others | {codec.id}) == 5


@pytest.mark.parametrize("vectors", [np.zeros((2, DIM + 1)), np.zeros(DIM), np.full((1, DIM), np.nan)])
def test_what_is_no_token_vector_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ValueError, match="token vector"):
        random_codec().encode(vectors.astype(np.float32))


@pytest.mark.parametrize(
    ("mean", "projection"),
    [
        (np.zeros(3), np.zeros((4, 2))),
        (np.zeros(4), np.zeros(4)),
        (np.zeros(4), np.full((4, 2), np.inf)),
        (np.full(4, np.nan), np.zeros((4, 2))),
    ],
)
def test_numbers_that_are_no_codec_are_refused(mean: np.ndarray, projection: np.ndarray) -> None:
    with pytest.raises(ValueError):
        TokenCodec(mean.astype(np.float32), projection.astype(np.float32))
