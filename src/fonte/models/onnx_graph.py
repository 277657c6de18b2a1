"""A BERT encoder, or a reader on top of one, as one ONNX graph of fused operators, out of plain arrays.

Inputs ``input_ids`` and ``attention_mask``, int64 (batch, length); output ``last_hidden_state``, float32
(batch, length, hidden). Devlin et al. 2019, "BERT: Pre-training of Deep Bidirectional Transformers"; the fused
operators are those of onnxruntime's own optimiser (domain ``com.microsoft``), so that nothing is left to match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

Floats = npt.NDArray[np.float32]

GRAPH_VERSION = 1
"""Counts changes of what is built here: part of the name of a cached graph."""
_FUSED = "com.microsoft"


@dataclass(frozen=True, slots=True)
class Dense:
    """``x @ weight.T + bias``: weight (outputs, inputs), bias (outputs,)."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation: scale and shift, both (hidden,)."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Quantized:
    """A matrix of 4-bit codes: ``(codes - zero) * scales`` with one scale for ``block`` values of a row."""

    codes: npt.NDArray[np.uint8]
    """(rows, columns), 0..15."""
    scales: Floats
    """(rows, columns / block)."""
    block: int
    zero: int

    def floats(self) -> Floats:
        """The matrix as float32."""
        signed = self.codes.astype(np.float32) - np.float32(self.zero)
        return signed * np.repeat(self.scales, self.block, axis=1)


@dataclass(frozen=True, slots=True)
class Layer:
    """One encoder layer."""

    query: Dense
    key: Dense
    value: Dense
    attention_output: Dense
    attention_norm: Norm
    inner: Dense
    output: Dense
    output_norm: Norm


@dataclass(frozen=True, slots=True)
class BertWeights:
    """All weights of an encoder. ``words`` stays in 4 bits when it came so: it is most of a multilingual model."""

    words: Floats | Quantized
    positions: Floats
    token_type: Floats
    """The first token type's embedding, (hidden,): passages have no second segment."""
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """All weights of a reader: layers over a question's and a passage's states together, and what judges them."""

    segments: Floats
    """(2, hidden): added to the states of the question, and to those of the passage."""
    near: Dense
    """(hidden, 2): a token's cosine with its nearest token of the other text; the same, for the passage alone."""
    beta: Floats
    """(layers, heads): by how much each head attends to tokens of the other text for their cosine."""
    layers: tuple[Layer, ...]
    span: Dense
    """(2, hidden): how much an answer starts, and ends, at a token."""
    null: Dense
    """(2, hidden): the same for "nowhere", read off the first token."""
    heads: int
    epsilon: float


class _Builder:
    """Collects nodes and initialisers; every method returns the name of what it made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: list[onnx.TensorProto] = []

    def array(self, name: str, value: npt.NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        self.arrays.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def norm(self, name: str, norm: Norm) -> list[str]:
        return [self.array(f"{name}_weight", norm.weight), self.array(f"{name}_bias", norm.bias)]

    def product(self, name: str, x: str, *parts: Dense) -> tuple[str, str]:
        """``x @ weight.T`` of the parts side by side, and the name of their bias, not yet added."""
        weight = np.concatenate([part.weight for part in parts]).T
        bias = self.array(f"{name}_bias", np.concatenate([part.bias for part in parts]))
        return self.node("MatMul", [x, self.array(f"{name}_weight", weight)], f"{name}_product"), bias


def bert_graph(weights: BertWeights, tap: int | None = None) -> onnx.ModelProto:
    """The encoder as an ONNX model.

    With ``tap`` there is a second output, ``tapped``: the states behind so many layers, which a reader goes on from.
    """
    from onnx import TensorProto, helper

    build = _Builder()
    x = _embeddings(build, weights)
    mask = build.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for index, layer in enumerate(weights.layers):
        output = "last_hidden_state" if index == len(weights.layers) - 1 else f"x{index}"
        output = "tapped" if index + 1 == tap else output
        x = _layer(build, layer, weights, x, mask, name=f"l{index}", output=output)
    hidden = weights.positions.shape[1]
    outputs = ["last_hidden_state"] if tap is None else ["last_hidden_state", "tapped"]
    graph = helper.make_graph(
        build.nodes,
        "bert",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"]),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length", hidden]) for name in outputs],
        build.arrays,
    )
    return _model(graph)


def reader_graph(weights: ReaderWeights) -> onnx.ModelProto:
    """A reader as an ONNX model.

    Inputs ``states``, float32 (batch, length, hidden), ``vectors`` of the same shape (unit vectors of the tokens, by
    which those of one text find those of the other; zeros where there is no token), ``segments`` (0 question, 1
    passage) and ``attention_mask``, int64 (batch, length); outputs ``spans``, float32 (batch, length, 2), and
    ``nulls``, float32 (batch, 2).
    """
    from onnx import TensorProto, helper

    build = _Builder()
    hidden = weights.segments.shape[1]
    mask = build.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    cosines, x = _reader_input(build, weights)
    for index, layer in enumerate(weights.layers):
        beta = build.array(f"beta{index}", weights.beta[index][None, :, None, None])
        bias = build.node("Mul", [cosines, beta], f"bias{index}")
        x = _layer(build, layer, weights, x, mask, name=f"l{index}", output=f"x{index}", bias=bias)
    product, bias = build.product("span", x, weights.span)
    build.node("Add", [product, bias], "spans")
    first = build.node("Gather", [x, build.array("zero", np.array(0, np.int64))], "first", axis=1)
    product, bias = build.product("null", first, weights.null)
    build.node("Add", [product, bias], "nulls")
    shape = ["batch", "length"]
    graph = helper.make_graph(
        build.nodes,
        "reader",
        [
            helper.make_tensor_value_info("states", TensorProto.FLOAT, [*shape, hidden]),
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [*shape, hidden]),
            helper.make_tensor_value_info("segments", TensorProto.INT64, shape),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, shape),
        ],
        [
            helper.make_tensor_value_info("spans", TensorProto.FLOAT, [*shape, 2]),
            helper.make_tensor_value_info("nulls", TensorProto.FLOAT, ["batch", 2]),
        ],
        build.arrays,
    )
    return _model(graph)


def _reader_input(build: _Builder, weights: ReaderWeights) -> tuple[str, str]:
    """Cosines between tokens of different texts, (batch, 1, length, length), and the states that the layers start from.

    Inside one text a cosine counts nothing: there the encoder's own attention has looked already.
    """
    from onnx import TensorProto

    segment = build.node("Cast", ["segments"], "segment", to=TensorProto.FLOAT)
    last, middle = build.array("axis_last", np.array([2])), build.array("axis_middle", np.array([1]))
    column, row = build.node("Unsqueeze", [segment, last], "column"), build.node("Unsqueeze", [segment, middle], "row")
    across = build.node("Abs", [build.node("Sub", [column, row], "apart")], "across")
    turned = build.node("Transpose", ["vectors"], "turned", perm=[0, 2, 1])
    cosine = build.node("Mul", [build.node("MatMul", ["vectors", turned], "products"), across], "cosine")
    nearest = build.node("ReduceMax", [cosine], "nearest", axes=[2], keepdims=1)
    passage = build.node("Mul", [nearest, column], "nearest_passage")
    both = build.node("Concat", [nearest, passage], "both", axis=2)
    product, bias = build.product("near", both, weights.near)
    added = build.node("Gather", [build.array("segment_rows", weights.segments), "segments"], "added")
    x = build.node("Add", [build.node("Add", ["states", added], "marked"), product], "unbiased")
    return build.node("Unsqueeze", [cosine, middle], "cosines"), build.node("Add", [x, bias], "x")


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    from onnx import helper

    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)])
    model.ir_version = 9
    return model


def _embeddings(build: _Builder, weights: BertWeights) -> str:
    words = weights.words
    if isinstance(words, Quantized):
        # Even columns in the low nibbles; the operator takes 8 as the zero of codes packed in bytes.
        packed = words.codes[:, 0::2] | (words.codes[:, 1::2] << 4)
        inputs = [build.array("word_codes", packed), "input_ids", build.array("word_scales", words.scales)]
        zeros = np.full((words.scales.shape[0], (words.scales.shape[1] + 1) // 2), words.zero * 17, np.uint8)
        inputs.append(build.array("word_zeros", zeros))
        word = build.node(
            "GatherBlockQuantized",
            inputs,
            "word",
            domain=_FUSED,
            bits=4,
            block_size=words.block,
            gather_axis=0,
            quantize_axis=1,
        )
    else:
        word = build.node("Gather", [build.array("words", words), "input_ids"], "word")
    length = build.node("Shape", ["input_ids"], "length", start=1, end=2)
    zero = build.array("zero", np.zeros(1, np.int64))
    positions = build.array("positions", weights.positions + weights.token_type[None, :])
    position = build.node("Slice", [positions, zero, length, zero], "position")
    total = build.node("Add", [word, position], "embedded")
    return build.node(
        "LayerNormalization",
        [total, *build.norm("embedding_norm", weights.norm)],
        "x",
        axis=-1,
        epsilon=weights.epsilon,
    )


def _layer(
    build: _Builder,
    layer: Layer,
    weights: BertWeights | ReaderWeights,
    x: str,
    mask: str,
    *,
    name: str,
    output: str,
    bias: str = "",
) -> str:
    """The states behind one layer; ``bias`` is added to its attention's scores."""
    hidden = layer.query.weight.shape[0]
    product, added = build.product(f"{name}_qkv", x, layer.query, layer.key, layer.value)
    together = build.node("Add", [product, added], f"{name}_qkv")
    from onnx import helper

    split = build.array(f"{name}_split", np.full(3, hidden, np.int64))
    parts = [f"{name}_query", f"{name}_key", f"{name}_value"]
    build.nodes.append(helper.make_node("Split", [together, split], parts, axis=2))
    attended = build.node(
        "MultiHeadAttention",
        [*parts, "", mask, bias] if bias else [*parts, "", mask],
        f"{name}_attended",
        domain=_FUSED,
        num_heads=weights.heads,
    )
    product, added = build.product(f"{name}_attention", attended, layer.attention_output)
    norm = build.norm(f"{name}_attention_norm", layer.attention_norm)
    middle = build.node(
        "SkipLayerNormalization",
        [x, product, *norm, added],
        f"{name}_middle",
        domain=_FUSED,
        epsilon=weights.epsilon,
    )
    product, added = build.product(f"{name}_inner", middle, layer.inner)
    gelu = build.node("BiasGelu", [product, added], f"{name}_gelu", domain=_FUSED)
    product, added = build.product(f"{name}_output", gelu, layer.output)
    norm = build.norm(f"{name}_output_norm", layer.output_norm)
    return build.node(
        "SkipLayerNormalization",
        [middle, product, *norm, added],
        output,
        domain=_FUSED,
        epsilon=weights.epsilon,
    )
