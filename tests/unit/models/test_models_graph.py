"""The graph that we build computes what the paper says, and is kept on disk whole or not at all."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from unit.models.tiny_model import reference_states, tiny_tensors, tiny_weights

from fonte.errors import BadModelOutput
from fonte.models import graph_cache
from fonte.models.bert_files import bert_weights
from fonte.models.graph_cache import cached_graph, default_cache
from fonte.models.onnx_graph import Quantized, bert_graph
from fonte.models.session import open_session


def _states(weights, rows):
    session = open_session("tiny", bert_graph(weights).SerializeToString(), 1)
    longest = max(map(len, rows))
    ids = np.array([row + [0] * (longest - len(row)) for row in rows])
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def test_the_graph_agrees_with_the_formulas_and_padding_changes_nothing():
    weights = tiny_weights()
    rows = [[2, 9, 12, 30, 3], [2, 40, 3], [2, *range(5, 60), 3]]
    states = _states(weights, rows)
    for row, state in zip(rows, states):
        assert np.abs(state[: len(row)] - reference_states(weights, row)).max() < 1e-4


def test_four_bit_words_give_exactly_what_their_floats_give():
    random = np.random.default_rng(3)
    weights = tiny_weights()
    count, hidden = weights.words.shape
    words = Quantized(
        random.integers(0, 16, (count, hidden), dtype=np.uint8), random.random((count, 1), dtype=np.float32), 32, 8
    )
    rows = [[2, 9, 12, 30, 3], [2, 40, 3]]
    packed = _states(replace(weights, words=words), rows)
    assert np.array_equal(packed, _states(replace(weights, words=words.floats()), rows))


def test_weights_are_found_below_a_prefix_and_a_missing_one_is_told():
    tensors = {f"bert.{name}": tensor for name, tensor in tiny_tensors().items()}
    assert len(bert_weights(tensors, heads=4, epsilon=1e-12).layers) == 2
    del tensors["bert.encoder.layer.1.attention.self.key.bias"]
    with pytest.raises(BadModelOutput, match=r"encoder\.layer\.1\.attention\.self\.key\.bias"):
        bert_weights(tensors, heads=4, epsilon=1e-12)
    with pytest.raises(BadModelOutput):
        bert_weights({}, heads=4, epsilon=1e-12)


def _never(line: str) -> None:
    pytest.fail(f"nothing was to be told: {line}")


def test_a_graph_is_built_once_and_a_damaged_one_again(tmp_path):
    built = []

    def build():
        built.append(1)
        return b"graph" * 1000

    first = cached_graph("one", build, folder=tmp_path / "cache", notify=_never)
    assert isinstance(first, Path)
    assert cached_graph("one", build, folder=tmp_path / "cache", notify=_never) == first
    assert len(built) == 1
    first.write_bytes(first.read_bytes()[:-1])
    assert cached_graph("one", build, folder=tmp_path / "cache", notify=_never).read_bytes() == b"graph" * 1000
    assert len(built) == 2
    first.with_suffix(".sha256").unlink()
    cached_graph("one", build, folder=tmp_path / "cache", notify=_never)
    assert len(built) == 3


def test_several_builders_at_once_leave_one_whole_graph(tmp_path):
    with ThreadPoolExecutor(6) as pool:
        paths = list(
            pool.map(lambda _: cached_graph("one", lambda: b"x" * 100_000, folder=tmp_path, notify=_never), range(12))
        )
    assert {path.read_bytes() for path in paths} == {b"x" * 100_000}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one.onnx", "one.sha256"]


def test_a_cache_that_cannot_be_written_is_told_and_the_graph_still_comes(tmp_path):
    (tmp_path / "file").write_text("in the way")
    told: list[str] = []
    data = cached_graph("one", lambda: b"graph", folder=tmp_path / "file" / "cache", notify=told.append)
    assert data == b"graph"
    assert len(told) == 1
    assert "cannot be written" in told[0]


def test_a_full_disk_leaves_no_piece_behind(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(graph_cache.os, "fsync", full)
    told: list[str] = []
    assert cached_graph("one", lambda: b"graph", folder=tmp_path, notify=told.append) == b"graph"
    assert "No space left" in told[0]
    assert list(tmp_path.iterdir()) == []


def test_the_cache_lies_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("FONTE_CACHE", raising=False)
    assert default_cache() == tmp_path / "xdg" / "fonte"
    monkeypatch.setenv("FONTE_CACHE", str(tmp_path / "own"))
    assert default_cache() == tmp_path / "own"
    monkeypatch.delenv("FONTE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == Path.home() / ".cache" / "fonte"
