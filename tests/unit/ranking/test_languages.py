"""Distances compared within languages."""

from __future__ import annotations

import numpy as np
import pytest

from fonte.ranking.languages import centered, shifts
from fonte.types import Hit


def _hit(name: str, score: float) -> Hit:
    return Hit(name, "d", score, dense_distance=1 - score)


def test_one_language_keeps_its_order_and_its_scores() -> None:
    question = np.array([1.0, 0.0], dtype=np.float32)
    centroids = {"en": (np.array([0.6, 0.3], dtype=np.float32), 100)}
    ranked = centered({"en": [_hit("a", 0.9), _hit("b", 0.5)]}, shifts(question, centroids))
    assert [(hit.chunk_id, hit.score) for hit in ranked] == [("a", 0.9), ("b", 0.5)]


def test_a_passage_that_stands_out_of_its_language_comes_before_a_nearer_one_that_does_not() -> None:
    question = np.array([1.0, 0.0], dtype=np.float32)
    centroids = {
        "it": (np.array([0.85, 0.0], dtype=np.float32), 500),
        "en": (np.array([0.70, 0.0], dtype=np.float32), 500),
    }
    ranked = centered({"it": [_hit("i", 0.87)], "en": [_hit("e", 0.82)]}, shifts(question, centroids))
    assert [hit.chunk_id for hit in ranked] == ["e", "i"]
    assert ranked[0].dense_distance == pytest.approx(0.18), "the distance stays what it is"


def test_few_passages_say_little_about_a_language() -> None:
    question = np.array([1.0, 0.0], dtype=np.float32)
    many = shifts(question, {"it": (np.array([0.9, 0]), 1000), "en": (np.array([0.5, 0]), 1000)})
    few = shifts(question, {"it": (np.array([0.9, 0]), 1000), "en": (np.array([0.5, 0]), 1)})
    assert many["en"] == pytest.approx(0.2, abs=0.01)
    assert 0 < few["en"] < 0.03


def test_an_index_without_chunks_moves_nothing() -> None:
    assert shifts(np.array([1.0, 0.0], dtype=np.float32), {}) == {}
    assert centered({}, {}) == []
