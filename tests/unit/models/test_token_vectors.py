"""Token vectors of the packaged encoders: whose characters they are, and that they are what is pooled."""

from __future__ import annotations

import numpy as np
import pytest

from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.registry import make_embedder
from fonte.protocols import TokenEmbedder


@pytest.fixture(scope="module", params=["package:all-MiniLM-L6-v2", "package:multilingual-e5-small"])
def embedder(request: pytest.FixtureRequest) -> OnnxEmbedder:
    made = make_embedder(request.param)
    assert isinstance(made, OnnxEmbedder)
    return made


def test_local_encoders_show_their_tokens(embedder: OnnxEmbedder) -> None:
    assert isinstance(embedder, TokenEmbedder)
    assert embedder.shows_tokens


def test_tokens_are_the_texts_own_and_unit_vectors(embedder: OnnxEmbedder) -> None:
    text = "La città è bella.\nThe pump P-11 runs at 40 bar, naïve?"
    (tokens,) = embedder.passage_tokens([text])
    assert len(tokens.offsets) == len(tokens.vectors)
    assert np.allclose(np.linalg.norm(tokens.vectors, axis=1), 1.0, atol=1e-3)
    covered = "".join(text[start:end] for start, end in tokens.offsets)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(0 <= start <= end <= len(text) for start, end in tokens.offsets)


def test_a_batch_changes_nothing(embedder: OnnxEmbedder) -> None:
    texts = ["One short text.", "A rather longer text, with more words than the first has, and then some more."]
    together = embedder.passage_tokens(texts)
    for text, one in zip(texts, together, strict=True):
        (alone,) = embedder.passage_tokens([text])
        assert alone.offsets == one.offsets
        assert np.allclose(alone.vectors, one.vectors, atol=1e-5)


def test_a_question_beyond_the_window_keeps_its_head(embedder: OnnxEmbedder) -> None:
    tokens = embedder.question_tokens("word " * 2000)
    assert tokens.offsets[0] == (0, 4)
    assert len(tokens.offsets) <= embedder.space.window


def test_an_empty_text_is_refused(embedder: OnnxEmbedder) -> None:
    with pytest.raises(ValueError, match="empty"):
        embedder.question_tokens(" ")
