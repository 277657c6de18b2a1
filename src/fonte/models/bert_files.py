"""Weights of BERT encoders under the names that Hugging Face's models give them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput, ModelNotInstalled
from fonte.models.onnx_graph import BertWeights, Dense, Layer, Norm

Tensors = Mapping[str, npt.NDArray[np.float32]]


def read_safetensors(data: bytes, model: str) -> Tensors:
    """Float tensors by name, as float32.

    Raises:
        ModelNotInstalled: the library is missing. BadModelOutput: not a safetensors file.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError as error:
        raise ModelNotInstalled(f"the model {model} needs safetensors", hint="run: pip install safetensors") from error
    try:
        tensors = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:  # the last three: a type that numpy lacks
        raise BadModelOutput(f"the weights of {model} are not a safetensors file that numpy can read") from error
    return {
        name: tensor.astype(np.float32, copy=False)
        for name, tensor in tensors.items()
        if np.issubdtype(tensor.dtype, np.floating)
    }


def bert_weights(tensors: Tensors, *, heads: int, epsilon: float, first_position: int = 0) -> BertWeights:
    """Weights of a ``BertModel``, with or without a prefix such as ``bert.``.

    ``first_position`` is the row of the position table that the first token gets: 2 for RoBERTa's family.

    Raises:
        BadModelOutput: a tensor is missing.
    """
    words = "embeddings.word_embeddings.weight"
    prefix = next((name.removesuffix(words) for name in tensors if name.endswith(words)), "")

    def take(name: str) -> npt.NDArray[np.float32]:
        if prefix + name not in tensors:
            raise BadModelOutput(f"the weights hold no tensor {name}")
        return tensors[prefix + name]

    def dense(name: str) -> Dense:
        return Dense(take(f"{name}.weight"), take(f"{name}.bias"))

    def norm(name: str) -> Norm:
        return Norm(take(f"{name}.weight"), take(f"{name}.bias"))

    def layer(name: str) -> Layer:
        return Layer(
            query=dense(f"{name}.attention.self.query"),
            key=dense(f"{name}.attention.self.key"),
            value=dense(f"{name}.attention.self.value"),
            attention_output=dense(f"{name}.attention.output.dense"),
            attention_norm=norm(f"{name}.attention.output.LayerNorm"),
            inner=dense(f"{name}.intermediate.dense"),
            output=dense(f"{name}.output.dense"),
            output_norm=norm(f"{name}.output.LayerNorm"),
        )

    count = 0
    while f"{prefix}encoder.layer.{count}.output.dense.weight" in tensors:
        count += 1
    if not count:
        raise BadModelOutput("the weights hold no encoder layer")
    return BertWeights(
        words=take(words),
        positions=take("embeddings.position_embeddings.weight")[first_position:],
        token_type=take("embeddings.token_type_embeddings.weight")[0],
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(f"encoder.layer.{index}") for index in range(count)),
        heads=heads,
        epsilon=epsilon,
    )
