"""The E5S1 file is read as data: every wrong byte ends in our error, none in another."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import BadModelOutput
from fonte.models.e5_file import read_e5, read_vocabulary
from fonte.models.onnx_graph import Quantized
from fonte.models.tokens import EncoderTokenizer, unigram_tokenizer

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "b", "▁ab", "c", "<", ">", "s", "/", "é"]
REPLACEMENTS = {"\n": " ", "\t": " ", "\u200b": " ", "\x01": "", "ﬁ": "fi"}
HIDDEN, INNER = 32, 64


def _tensor(random, rows: int, columns: int) -> tuple[bytes, np.ndarray]:
    """Q4_0 blocks and the floats that they mean, one value at a time as the format says."""
    data, floats = b"", np.zeros((rows, columns), np.float32)
    for row in range(rows):
        for block in range(columns // 32):
            scale = np.float16(random.random())
            codes = random.integers(0, 16, 32)
            data += scale.tobytes() + bytes(int(codes[i]) | int(codes[i + 16]) << 4 for i in range(16))
            floats[row, 32 * block : 32 * block + 32] = (codes - 8) * np.float32(scale)
    return data, floats


def make_file() -> tuple[bytes, np.ndarray, np.ndarray]:
    """A whole file with one layer; the floats of its words and of its first query matrix."""
    random = np.random.default_rng(5)
    tensors: list[tuple[str, int, int, bytes]] = []

    def quantized(name, rows, columns):
        data, floats = _tensor(random, rows, columns)
        tensors.append((name, 1, rows * columns, data))
        return floats

    def plain(name, count):
        tensors.append((name, 0, count, random.random(count, dtype=np.float32).tobytes()))

    words = quantized("emb.word", len(PIECES), HIDDEN)
    plain("emb.pos", 8 * HIDDEN)
    plain("emb.type", 2 * HIDDEN)
    for name in ("emb.ln", "l0.aln", "l0.oln"):
        plain(f"{name}.w", HIDDEN)
        plain(f"{name}.b", HIDDEN)
    query = quantized("l0.q.w", HIDDEN, HIDDEN)
    for name, rows, columns in (
        ("k", HIDDEN, HIDDEN),
        ("v", HIDDEN, HIDDEN),
        ("ao", HIDDEN, HIDDEN),
        ("fi", INNER, HIDDEN),
        ("fo", HIDDEN, INNER),
    ):
        quantized(f"l0.{name}.w", rows, columns)
        plain(f"l0.{name}.b", rows)
    plain("l0.q.b", HIDDEN)
    blobs = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, blobs)]).astype("<u4")
    norm = b"".join(struct.pack(f"<IB{len(to)}I", ord(one), len(to), *map(ord, to)) for one, to in REPLACEMENTS.items())
    head = b"E5S1" + struct.pack("<i7ifi", 1, HIDDEN, 1, 4, INNER, len(PIECES), 8, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, blobs))) + offsets.tobytes()
    head += np.linspace(-1, -2, len(PIECES)).astype("<f4").tobytes() + b"".join(blobs)
    head += struct.pack("<iI", len(REPLACEMENTS), len(norm)) + norm + struct.pack("<i", len(tensors))
    at = len(head) + sum(2 + len(name) + 21 for name, *_ in tensors)
    body = b""
    for name, kind, count, data in tensors:
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", kind, count, at + len(body), len(data))
        body += data
    return head + body, words, query


FILE, WORDS, QUERY = make_file()


def test_blocks_become_the_floats_that_they_mean():
    read = read_e5(FILE)
    assert isinstance(read.weights.words, Quantized)
    assert np.array_equal(read.weights.words.floats(), WORDS)
    assert np.array_equal(read.weights.layers[0].query.weight, QUERY)
    assert read.vocabulary == read_vocabulary(FILE)
    assert read.vocabulary.pieces == tuple(PIECES)
    assert read.vocabulary.replacements == REPLACEMENTS


@given(size=st.integers(0, len(FILE) - 1))
def test_a_file_cut_anywhere_is_refused(size):
    with pytest.raises(BadModelOutput):
        read_e5(FILE[:size])


@settings(max_examples=150)
@given(at=st.integers(0, 1400), byte=st.integers(0, 255))
def test_a_wrong_byte_in_the_header_is_our_error_or_another_file(at, byte):
    data = bytearray(FILE)
    data[at] = byte
    try:
        read = read_e5(bytes(data))
    except BadModelOutput:
        return
    assert read.weights.positions.shape[1] == HIDDEN


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_not_finite_is_refused(value):
    bias = np.float32(value).tobytes()
    with pytest.raises(BadModelOutput, match="finite"):
        read_e5(FILE[:-4] + bias)


def _tokenizer():
    return EncoderTokenizer(unigram_tokenizer(read_vocabulary(FILE)), window=16)


def test_line_ends_and_zero_width_spaces_are_blanks_to_the_model():
    tokenizer = _tokenizer()
    wanted = tokenizer.passage_ids(["ab ab"])
    assert tokenizer.passage_ids(["ab\nab", "ab\t\nab", "ab\u200bab", "a\x01b ab"]) == wanted * 4


def test_special_tokens_written_in_a_text_are_ordinary_text():
    ids = _tokenizer().passage_ids(["c<s>c</s>"])[0]
    assert ids[0] == 0
    assert ids[-1] == 2
    assert not {0, 1, 2} & set(ids[1:-1])


def test_offsets_point_into_the_text_as_it_came():
    text = "a\x01b\n\nab e\u0301"
    pieces = [text[start:end] for start, end in _tokenizer().offsets(text)]
    assert pieces[0] == "a\x01b"
    assert pieces[-1] == "e\u0301"
