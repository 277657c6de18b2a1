"""The reader computes what its formulas say, whatever else is read with it, and refuses what it cannot read."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from unit.models.tiny_model import EPSILON, HEADS, HIDDEN, reference_layers, reference_states, tiny_weights

from fonte.errors import BadModelOutput, ModelNotInstalled
from fonte.models.cards import ReaderCard
from fonte.models.onnx_graph import Dense, ReaderWeights, bert_graph, reader_graph
from fonte.models.reader import OnnxReader, packaged_reader, read_weights
from fonte.models.session import open_session
from fonte.types import TokenVectors

MEAN = np.random.default_rng(9).normal(0, 0.2, HIDDEN).astype(np.float32)
CARD = ReaderCard("tiny-reader", "0" * 64, 1, 1, HEADS, EPSILON, "1" * 64, "Apache-2.0")


def _weights() -> ReaderWeights:
    random = np.random.default_rng(5)

    def array(*shape: int) -> np.ndarray:
        return random.normal(0, 0.5, shape).astype(np.float32)

    return ReaderWeights(
        segments=array(2, HIDDEN),
        near=Dense(array(HIDDEN, 2), array(HIDDEN)),
        beta=4 * array(1, HEADS),
        layers=tiny_weights(seed=11).layers[:1],
        span=Dense(array(2, HIDDEN), array(2)),
        null=Dense(array(2, HIDDEN), array(2)),
        heads=HEADS,
        epsilon=EPSILON,
    )


def _reader(weights: ReaderWeights) -> OnnxReader:
    return OnnxReader(CARD, reader_graph(weights).SerializeToString(), MEAN, threads=1)


def _tokens(seed: int, count: int, own: tuple[int, ...]) -> TokenVectors:
    states = np.random.default_rng(seed).normal(size=(count, 2 * HIDDEN)).astype(np.float32)
    offsets = tuple((at, at + 1) for at in range(len(own)))
    return TokenVectors(offsets, states[list(own), HIDDEN:], states, own)


def _expected(weights: ReaderWeights, question: TokenVectors, text: TokenVectors) -> np.ndarray:
    head = len(question.states)
    states = np.concatenate([question.states, text.states])
    vectors = states[:, HIDDEN:] - MEAN
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    second = np.arange(len(states)) >= head
    cosines = vectors @ vectors.T * (second[:, None] != second[None])
    nearest = cosines.max(axis=1)
    x = states[:, :HIDDEN] + weights.segments[second.astype(int)]
    x = x + np.stack([nearest, nearest * second], 1) @ weights.near.weight.T + weights.near.bias
    x = reference_layers(weights, x, [one[:, None, None] * cosines for one in weights.beta])
    null = x[0] @ weights.null.weight.T + weights.null.bias
    return (x @ weights.span.weight.T + weights.span.bias)[[head + at for at in text.rows]] - null


def test_the_reader_agrees_with_the_formulas_whatever_is_read_beside() -> None:
    weights = _weights()
    question = _tokens(1, 5, (1, 2, 3))
    texts = [_tokens(2, 9, (3, 4, 5, 7)), _tokens(3, 30, tuple(range(2, 29))), _tokens(4, 4, (2,))]
    together = _reader(weights).read(question, texts)
    for text, reading in zip(texts, together, strict=True):
        expected = _expected(weights, question, text)
        assert reading.starts.shape == (len(text.rows),)
        assert np.abs(reading.starts - expected[:, 0]).max() < 1e-4
        assert np.abs(reading.ends - expected[:, 1]).max() < 1e-4


def test_more_texts_than_one_batch_come_back_in_order() -> None:
    reader, question = _reader(_weights()), _tokens(1, 4, (1, 2))
    texts = [_tokens(seed, 3 + seed % 7, (1, 2)) for seed in range(30)]
    together = reader.read(question, texts)
    for text, reading in zip(texts, together, strict=True):
        (alone,) = reader.read(question, [text])
        assert np.allclose(reading.starts, alone.starts, atol=1e-4)
    assert reader.read(question, []) == []


def test_tapped_states_are_those_behind_so_many_layers() -> None:
    weights = tiny_weights()
    session = open_session("tiny", bert_graph(weights, 1).SerializeToString(), 1)
    row = [2, 9, 12, 30, 3]
    feed = {"input_ids": np.array([row]), "attention_mask": np.ones((1, 5), np.int64)}
    last, tapped = session.run(["last_hidden_state", "tapped"], feed)
    assert np.abs(tapped[0] - reference_states(replace(weights, layers=weights.layers[:1]), row)).max() < 1e-4
    assert np.abs(last[0] - reference_states(weights, row)).max() < 1e-4


def test_tokens_without_states_are_refused() -> None:
    bare = TokenVectors(((0, 1),), np.ones((1, HIDDEN), np.float32))
    with pytest.raises(ValueError, match="states"):
        _reader(_weights()).read(bare, [_tokens(2, 4, (1,))])
    with pytest.raises(ValueError, match="states"):
        _reader(_weights()).read(_tokens(2, 4, (1,)), [bare])


def test_odds_that_are_no_numbers_are_an_error() -> None:
    weights = _weights()
    broken = replace(weights, span=Dense(np.full((2, HIDDEN), np.nan, np.float32), weights.span.bias))
    with pytest.raises(BadModelOutput, match="not finite"):
        _reader(broken).read(_tokens(1, 4, (1,)), [_tokens(2, 5, (1, 2))])


def test_a_file_that_is_no_reader_says_so() -> None:
    for data in (b"", b"PK not a zip", _saved(other=np.zeros(3))):
        with pytest.raises(ModelNotInstalled, match="tiny-reader"):
            read_weights(data, CARD)


def test_a_packaged_file_that_is_another_than_its_card_names_is_refused(tmp_path) -> None:
    with pytest.raises(ModelNotInstalled, match="another version"):
        card = replace(CARD, name="multilingual-e5-small-tokens")
        packaged_reader(card, cache=tmp_path, threads=1, notify=print)
    with pytest.raises(ModelNotInstalled, match="missing"):
        packaged_reader(CARD, cache=tmp_path, threads=1, notify=print)


def _saved(**arrays: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.savez(held, **arrays)
    return held.getvalue()
