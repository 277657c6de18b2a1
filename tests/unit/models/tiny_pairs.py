"""A tiny cross-encoder made here: a pair scores how many of its tokens stand in both texts. And servers alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from unit.models.stub_server import Asked, Reply, Script, json_reply

WORDS = (
    "pump tower hall report room valve filter archive paper euro north yearly how many days leave the of a is".split()
)
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def pair_graph(labels: int = 1) -> bytes:
    """Sums, over all pairs of places, 1 where a token of the first text is one of the second; special tokens are none.

    Shares are by the first text's length, so that a longer question scores no higher for it.
    """
    last = len(SPECIALS) - 1
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Greater", ["ids", "last"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["word"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["word", "mask"], ["counts"]),
        helper.make_node("Mul", ["counts", "second"], ["in_second"]),
        helper.make_node("Sub", ["counts", "in_second"], ["in_first"]),
        helper.make_node("Unsqueeze", ["ids", "two"], ["rows"]),
        helper.make_node("Unsqueeze", ["ids", "one"], ["columns"]),
        helper.make_node("Equal", ["rows", "columns"], ["are_same"]),
        helper.make_node("Cast", ["are_same"], ["same"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["in_second", "one"], ["wide_second"]),
        helper.make_node("Mul", ["same", "wide_second"], ["met"]),
        helper.make_node("ReduceMax", ["met"], ["best"], axes=[2], keepdims=0),
        helper.make_node("Mul", ["best", "in_first"], ["held"]),
        helper.make_node("ReduceSum", ["held", "one"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["in_first", "one"], ["length"], keepdims=1),
        helper.make_node("Max", ["length", "unit"], ["least"]),
        helper.make_node("Div", ["sum", "least"], ["share"]),
        helper.make_node("Tile", ["share", "repeats"], ["logits"]),
    ]
    constants = [
        numpy_helper.from_array(np.array(last, np.float32), "last"),
        numpy_helper.from_array(np.array([2], np.int64), "two"),
        numpy_helper.from_array(np.array([1], np.int64), "one"),
        numpy_helper.from_array(np.array(1, np.float32), "unit"),
        numpy_helper.from_array(np.array([1, labels], np.int64), "repeats"),
    ]
    shape = ["texts", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", labels])
    graph = helper.make_graph(nodes, "pairs", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data


def pair_tokenizer_json() -> str:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {token: index for index, token in enumerate([*SPECIALS, *WORDS])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.add_special_tokens(SPECIALS)
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # What published models carry, and what must not be obeyed.
    backend.enable_truncation(16)
    backend.enable_padding(length=16)
    return backend.to_str()


def write_pair_folder(folder: Path, *, window: int = 64, labels: int = 1) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(pair_graph(labels))
    (folder / "tokenizer.json").write_text(pair_tokenizer_json(), encoding="utf-8")
    config = {"model_type": "bert", "hidden_size": 8, "max_position_embeddings": window}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def overlap(question: str, text: str) -> float:
    """The share of the question's words that the text holds."""
    asked = question.casefold().split()
    return sum(word in text.casefold().replace(".", " ").split() for word in asked) / len(asked)


def rerank_script(form: str) -> Script:
    """An obedient server that answers best first, as they do: only ``index`` says which is which."""

    def answer(asked: Asked) -> Reply:
        assert asked.path == "/v1/rerank"
        texts = asked.body["texts" if form == "tei" else "documents"]
        key = "score" if form == "tei" else "relevance_score"
        rows = [{"index": at, key: overlap(asked.body["query"], text)} for at, text in enumerate(texts)]
        rows.sort(key=lambda row: -row[key])
        return json_reply(rows if form == "tei" else {"model": asked.body["model"], "results": rows})

    return answer
