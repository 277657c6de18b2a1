"""Token vectors of the packaged encoders: whose characters they are, and that they are what is pooled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fonte.errors import ModelNotInstalled
from fonte.models import packaged
from fonte.models.cards import E5_SMALL, MINILM
from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.registry import make_embedder
from fonte.protocols import TokenCoder, TokenEmbedder


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


TEXTS = ["The pump P-11 runs at 40 bar.", "La città è bella.", "One word.", "A rather longer text. " * 12, "?"]


@pytest.fixture(scope="module")
def coder() -> OnnxEmbedder:
    made = make_embedder("package:multilingual-e5-small", threads=1)
    assert isinstance(made, OnnxEmbedder)
    assert isinstance(made, TokenCoder)
    return made


def test_one_pass_gives_the_same_vectors_and_the_codes_of_the_same_tokens(coder: OnnxEmbedder) -> None:
    vectors, codes = coder.encode_passages(TEXTS)
    assert np.abs(vectors - coder.embed_passages(TEXTS)).max() < 1e-5
    codec = packaged.packaged_codec(E5_SMALL)
    for made, tokens in zip(codes, coder.passage_tokens(TEXTS), strict=True):
        assert (made.dtype, made.shape) == (np.int8, (len(tokens.offsets), E5_SMALL.code_width))
        assert np.abs(made.astype(int) - codec.encode(tokens.vectors)).max() <= 1
    vector, asked = coder.encode_query("Quanti bar?")
    assert np.abs(vector - coder.embed_query("Quanti bar?")).max() < 1e-5
    assert np.array_equal(asked, codec.encode(coder.question_tokens("Quanti bar?").vectors))


def test_the_encoder_runs_once_for_vector_and_codes(coder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    real = OnnxEmbedder._states
    monkeypatch.setattr(OnnxEmbedder, "_states", lambda self, ids: (runs.append(len(ids)), real(self, ids))[1])
    coder.encode_query("Quanti bar?")
    coder.encode_passages(TEXTS[:3])
    assert runs == [1, 3]


def test_coded_passages_keep_the_rules_of_embedded_ones(coder: OnnxEmbedder) -> None:
    with pytest.raises(ValueError, match="empty"):
        coder.encode_passages(["x", " "])
    with pytest.raises(ValueError, match="window"):
        coder.encode_passages(["x", "word " * 600])
    vectors, codes = coder.encode_passages([])
    assert (vectors.shape, codes) == ((0, 384), [])
    assert len(coder.encode_query("word " * 2000)[1]) <= coder.space.window


def test_the_codec_is_part_of_the_space_and_not_of_its_vectors_id(coder: OnnxEmbedder) -> None:
    assert (coder.codec, coder.space.codec, coder.space.code_width) == (E5_SMALL.codec, E5_SMALL.codec, 128)
    bare = replace(E5_SMALL, codec="", code_width=0).space
    assert bare.id == coder.space.id
    assert bare != coder.space
    assert bare.key != coder.space.key


def test_a_model_without_a_codec_has_no_codes() -> None:
    plain = make_embedder("package:all-MiniLM-L6-v2", threads=1)
    assert isinstance(plain, OnnxEmbedder)
    assert (plain.codec, plain.space.codec, plain.space.code_width, MINILM.codec) == ("", "", 0, "")
    with pytest.raises(ValueError, match="no codec"):
        plain.encode_query("x")


@pytest.mark.parametrize("damage", ["another number", "other weights", "cut", "gone", "no archive", "without its mean"])
def test_a_codec_that_is_not_the_cards_is_refused(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data" / "multilingual-e5-small-tokens.npz"
    file.parent.mkdir()
    body = (Path(packaged.__file__).parent / "data" / file.name).read_bytes()
    with np.load(Path(packaged.__file__).parent / "data" / file.name) as parts:
        kept = dict(parts)
    if damage == "without its mean":
        del kept["mean"]
    elif damage == "another number":
        kept["projection"][0, 0] += np.float16(0.01)
    elif damage == "other weights":
        kept["importance"][0] += np.float16(0.01)
    if damage in {"another number", "other weights", "without its mean"}:
        np.savez(file, **kept)
    elif damage != "gone":
        file.write_bytes(body[: len(body) // 2] if damage == "cut" else b"nothing of the kind")
    monkeypatch.setattr(packaged, "files", lambda _package: tmp_path)
    with pytest.raises(ModelNotInstalled, match="token codec") as caught:
        packaged.packaged_codec(E5_SMALL)
    assert caught.value.hint
