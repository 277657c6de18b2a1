"""A random two-layer BERT over single characters, written as a model folder; and its forward pass in plain numpy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.special import erf

from fonte.models.bert_files import bert_weights
from fonte.models.onnx_graph import BertWeights, Dense, Norm, Quantized, ReaderWeights, bert_graph

HIDDEN, INNER, LAYERS, HEADS, EPSILON = 32, 64, 2, 4, 1e-12
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'-àèéìòù"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["query", "passage", "leave", "holiday", "days", "cat", "the", "invoice"]
VOCABULARY = [*SPECIALS, *CHARACTERS, *(f"##{one}" for one in CHARACTERS), *WORDS]


def tiny_tensors(positions: int = 64, seed: int = 7) -> dict[str, np.ndarray]:
    """Random weights under Hugging Face's names."""
    random = np.random.default_rng(seed)

    def array(*shape):
        return random.normal(0, 0.3, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": array(len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": array(positions, HIDDEN),
        "embeddings.token_type_embeddings.weight": array(2, HIDDEN),
        "embeddings.LayerNorm.weight": 1 + array(HIDDEN),
        "embeddings.LayerNorm.bias": array(HIDDEN),
    }
    for index in range(LAYERS):
        name = f"encoder.layer.{index}"
        for part, outputs, inputs in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ):
            tensors[f"{name}.{part}.weight"] = array(outputs, inputs)
            tensors[f"{name}.{part}.bias"] = array(outputs)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            tensors[f"{name}.{part}.weight"] = 1 + array(HIDDEN)
            tensors[f"{name}.{part}.bias"] = array(HIDDEN)
    return tensors


def tiny_weights(positions: int = 64, seed: int = 7) -> BertWeights:
    return bert_weights(tiny_tensors(positions, seed), heads=HEADS, epsilon=EPSILON)


def tiny_tokenizer_json() -> str:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    backend = Tokenizer(models.WordPiece({token: index for index, token in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    backend.add_special_tokens(SPECIALS)
    backend.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # What published models often carry, and what must not be obeyed: texts cut and padded unasked.
    backend.enable_truncation(16)
    backend.enable_padding(length=16)
    return backend.to_str()


def write_tiny_folder(
    folder: Path, *, positions: int = 64, seed: int = 7, weights: str = "onnx", pooling: str | None = "mean", **config
) -> Path:
    """A model folder as sentence-transformers writes it; ``weights`` is onnx, onnx/ or safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(tiny_tokenizer_json(), encoding="utf-8")
    settings = {
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": EPSILON,
        "max_position_embeddings": positions,
    }
    (folder / "config.json").write_text(json.dumps(settings | config))
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        flags = {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": False, "pooling_mode_cls_token": False}
        key = "pooling_mode_cls_token" if pooling == "cls" else f"pooling_mode_{pooling}_tokens"
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(flags | {key: True}))
    if weights == "safetensors":
        from safetensors.numpy import save_file

        save_file(tiny_tensors(positions, seed), folder / "model.safetensors")
    else:
        path = folder / "model.onnx" if weights == "onnx" else folder / "onnx" / "model.onnx"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bert_graph(tiny_weights(positions, seed)).SerializeToString())
    return folder


def reference_states(weights: BertWeights, ids: list[int]) -> np.ndarray:
    """Token states (length, hidden) of one unpadded sequence, written as in the paper, in float64."""
    words = weights.words.floats() if isinstance(weights.words, Quantized) else weights.words
    x = _norm(words[ids] + weights.positions[: len(ids)] + weights.token_type, weights.norm, weights.epsilon)
    return reference_layers(weights, x)


def reference_layers(
    weights: BertWeights | ReaderWeights, x: np.ndarray, biases: list[np.ndarray] | None = None
) -> np.ndarray:
    """States behind all layers of states before them; ``biases`` (heads, length, length) go on attention's scores."""
    for index, layer in enumerate(weights.layers):
        parts = []
        size = x.shape[1] // weights.heads
        for head in range(weights.heads):
            cut = slice(head * size, (head + 1) * size)
            q, k, v = (_dense(x, part)[:, cut] for part in (layer.query, layer.key, layer.value))
            scores = q @ k.T / np.sqrt(size) + (0 if biases is None else biases[index][head])
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            parts.append(scores / scores.sum(axis=1, keepdims=True) @ v)
        attended = _dense(np.concatenate(parts, axis=1), layer.attention_output)
        x = _norm(x + attended, layer.attention_norm, weights.epsilon)
        inner = _dense(x, layer.inner)
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = _norm(x + _dense(inner, layer.output), layer.output_norm, weights.epsilon)
    return x


def _dense(x: np.ndarray, part: Dense) -> np.ndarray:
    return x @ part.weight.T.astype(np.float64) + part.bias


def _norm(x: np.ndarray, norm: Norm, epsilon: float) -> np.ndarray:
    x = x.astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * norm.weight + norm.bias
