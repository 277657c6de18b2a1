"""A tiny entailment model made here: its odds of entailment grow with the words that both texts share."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from unit.models.tiny_pairs import pair_graph, write_pair_folder

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled
from fonte.models.entailment import FolderEntailer

LABELS = {"0": "contradiction", "1": "Entailment", "2": "neutral"}


def write_nli_folder(folder: Path, labels: dict[str, str] | None = LABELS) -> Path:
    write_pair_folder(folder, labels=3, window=24)
    model = onnx.load_from_string(pair_graph(3))
    model.graph.node[-1].output[0] = "raw"
    model.graph.node.extend(
        [
            helper.make_node("Mul", ["raw", "scale"], ["scaled"]),
            helper.make_node("Add", ["scaled", "shift"], ["logits"]),
        ]
    )
    for name, row in (("scale", [0, 8, 0]), ("shift", [0, -4, 0])):
        model.graph.initializer.append(numpy_helper.from_array(np.array(row, np.float32), name))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config if labels is None else {**config, "id2label": labels}))
    return folder


def test_the_label_called_entailment_is_the_one_that_counts(tmp_path: Path) -> None:
    entailer = FolderEntailer(write_nli_folder(tmp_path / "nli"), threads=1)
    assert entailer.score("the pump room", "the pump room report") == pytest.approx(
        np.exp(4) / (np.exp(4) + 2), abs=1e-4
    )
    assert entailer.score("the pump room", "euro paper") == pytest.approx(np.exp(-4) / (np.exp(-4) + 2), abs=1e-4)


def test_a_long_premise_is_read_by_its_head_and_a_long_sentence_is_refused(tmp_path: Path) -> None:
    entailer = FolderEntailer(write_nli_folder(tmp_path / "nli"), threads=1)
    assert entailer.score("pump " * 40, "pump") > 0.9
    with pytest.raises(BadModelOutput, match="window"):
        entailer.score("pump", "tower " * 40)


def test_what_is_no_entailment_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="entailment"):
        FolderEntailer(write_nli_folder(tmp_path / "unnamed", labels=None), threads=1)
    with pytest.raises(ModelNotInstalled):
        FolderEntailer(tmp_path / "nowhere")
    short = write_nli_folder(tmp_path / "short", labels={"0": "entailment", "1": "other"})
    with pytest.raises(BadModelOutput, match="2 labels"):
        FolderEntailer(short, threads=1).score("pump", "pump")


def test_its_id_follows_from_its_files(tmp_path: Path) -> None:
    one, other = (FolderEntailer(write_nli_folder(tmp_path / name / "nli"), threads=1) for name in ("a", "b"))
    assert one.id == other.id
