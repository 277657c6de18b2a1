"""Models in a folder: an exported ``model.onnx``, or the safetensors of a BERT encoder that we build a graph from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ConfigError, ModelNotInstalled
from fonte.models.bert_files import bert_weights, read_safetensors
from fonte.models.files import file_sha256
from fonte.models.folder_card import FolderModel, read_folder
from fonte.models.graph_cache import cached_graph
from fonte.models.onnx_embedder import OnnxEmbedder
from fonte.models.onnx_graph import GRAPH_VERSION, bert_graph
from fonte.models.tokens import EncoderTokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GRAPHS = ("model.onnx", "onnx/model.onnx")
SAFETENSORS = "model.safetensors"
_FAMILIES = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})


def folder_embedder(
    folder: Path,
    *,
    cache: Path,
    threads: int | None,
    notify: Callable[[str], None],
    name: str | None = None,
    revision: str = "local",
) -> OnnxEmbedder:
    """The model in ``folder``. Its space follows from the content of its files, not from where it lies.

    Raises:
        ModelNotInstalled: a file is missing or cannot be loaded. ConfigError: files that do not tell the contract.
    """
    if not folder.is_dir():
        raise ModelNotInstalled(f"there is no model folder {folder}")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelNotInstalled(f"{folder.name} holds no tokenizer.json", hint="save the fast tokenizer beside it")
    try:
        graph = next((folder / one for one in GRAPHS if (folder / one).is_file()), None)
        weights = graph or folder / SAFETENSORS
        if not weights.is_file():
            raise ModelNotInstalled(f"{folder.name} holds neither {' nor '.join((*GRAPHS, SAFETENSORS))}")
        model = read_folder(
            folder,
            name=name or folder.resolve().name,
            revision=revision,
            weights_sha256=weights_sha256(weights),
            tokenizer_sha256=file_sha256(tokenizer),
        )
        loaded = graph or _build(weights, model, cache, notify)
    except OSError as error:
        raise ModelNotInstalled(f"{folder.name} cannot be read: {error.strerror}") from error
    return OnnxEmbedder(model.card, loaded, _tokenizer(tokenizer, model), threads=threads)


def weights_sha256(path: Path) -> str:
    """Hash over the weights, those that an ONNX graph keeps in files beside it included."""
    parts = [path, *sorted(one for one in path.parent.glob(f"{path.name}[._]*data*") if one.is_file())]
    if len(parts) == 1:
        return file_sha256(path)
    return hashlib.sha256("\0".join(file_sha256(part) for part in parts).encode()).hexdigest()


def _build(path: Path, model: FolderModel, cache: Path, notify: Callable[[str], None]) -> Path | bytes:
    """Our own graph out of safetensors, kept in the cache."""
    config, card = model.config, model.card
    heads, epsilon = config.get("num_attention_heads"), config.get("layer_norm_eps", 1e-12)
    wrong = (
        config.get("model_type") not in _FAMILIES
        or config.get("hidden_act") != "gelu"
        or config.get("position_embedding_type", "absolute") != "absolute"
        or type(heads) is not int
        or not isinstance(epsilon, float)
        or card.pooling == "none"
    )
    if wrong or type(heads) is not int or not isinstance(epsilon, float):
        raise ConfigError(
            f"{card.name} is no BERT encoder that fonte builds itself",
            hint="export it to ONNX: model.onnx",
        )

    def graph() -> bytes:
        weights = bert_weights(
            read_safetensors(path.read_bytes(), card.name),
            heads=heads,
            epsilon=epsilon,
            first_position=model.first_position,
        )
        data: bytes = bert_graph(weights).SerializeToString()
        return data

    return cached_graph(
        f"folder-{card.weights_sha256[:16]}-{heads}-{model.first_position}-{epsilon:g}-g{GRAPH_VERSION}",
        graph,
        folder=cache,
        notify=notify,
    )


def read_tokenizer(path: Path, name: str) -> Tokenizer:
    """The tokenizer of the model ``name``.

    Raises:
        ModelNotInstalled: a file that cannot be read, or is none.
    """
    from tokenizers import Tokenizer

    try:
        data = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelNotInstalled(f"tokenizer.json of {name} cannot be read") from error
    try:
        return Tokenizer.from_str(data)
    except Exception as error:
        if type(error) is not Exception:  # the library raises the base class itself
            raise
        raise ModelNotInstalled(f"tokenizer.json of {name} is not a tokenizer that this version reads") from error


def _tokenizer(path: Path, model: FolderModel) -> EncoderTokenizer:
    card = model.card
    return EncoderTokenizer(
        read_tokenizer(path, card.name),
        window=card.window,
        query_prefix=card.query_prefix,
        passage_prefix=card.passage_prefix,
    )
