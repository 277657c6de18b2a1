"""Models in a folder and of the hub: the contract is read from their files, and nothing is guessed."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from unit.models.tiny_model import reference_states, tiny_weights, write_tiny_folder

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled
from fonte.models.folder import folder_embedder
from fonte.models.hub import hub_folder, parse_source
from fonte.models.onnx_graph import bert_graph
from fonte.models.registry import make_embedder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def load(tmp_path):
    def make(folder, **options):
        return folder_embedder(folder, cache=tmp_path / "cache", threads=1, notify=pytest.fail, **options)

    return make


def _write(folder, name, value):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize("weights", ["onnx", "onnx/", "safetensors"])
def test_a_folder_gives_mean_pooled_states(load, tmp_path, weights):
    embedder = load(write_tiny_folder(tmp_path / "m", weights=weights))
    ids = embedder.tokenizer.passage_ids(["the cat, 30 days"])[0]
    wanted = reference_states(tiny_weights(), ids).mean(axis=0)
    vector = embedder.embed_passages(["the cat, 30 days"])[0]
    assert np.abs(vector - wanted / np.linalg.norm(wanted)).max() < 1e-4


@pytest.mark.parametrize(("pooling", "pool"), [("cls", lambda x: x[0]), ("max", lambda x: x.max(axis=0))])
def test_pooling_is_what_the_folder_says_and_padding_never_counts(load, tmp_path, pooling, pool):
    embedder = load(write_tiny_folder(tmp_path / "m", pooling=pooling))
    texts = ["cat", "the cat, 30 days of leave"]
    for text, vector in zip(texts, embedder.embed_passages(texts)):
        wanted = pool(reference_states(tiny_weights(), embedder.tokenizer.passage_ids([text])[0]))
        assert np.abs(vector - wanted / np.linalg.norm(wanted)).max() < 1e-4


def test_case_74_the_window_is_the_models_own_not_512(load, tmp_path):
    embedder = load(write_tiny_folder(tmp_path / "m", positions=1024))
    assert embedder.space.window == 1024
    text = "a" + " a" * 599
    assert len(embedder.tokenizer.passage_ids([text])[0]) == 602
    changed = text[:-1] + "b"
    rows = embedder.embed_passages([text, changed])
    assert np.abs(rows[0] - rows[1]).max() > 1e-6, "the last token counts"


@pytest.mark.parametrize(
    ("files", "config", "window"),
    [
        ({"sentence_bert_config.json": {"max_seq_length": 32}}, {}, 32),
        ({"sentence_bert_config.json": {"max_seq_length": 999}}, {}, 64),
        ({"tokenizer_config.json": {"model_max_length": 40}}, {}, 40),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, {}, 64),
        ({}, {"model_type": "xlm-roberta"}, 62),
    ],
)
def test_the_window_is_the_least_that_the_files_allow(load, tmp_path, files, config, window):
    folder = write_tiny_folder(tmp_path / "m", **config)
    for name, value in files.items():
        _write(folder, name, value)
    assert load(folder).space.window == window


def test_robertas_positions_begin_at_two(load, tmp_path):
    plain = load(write_tiny_folder(tmp_path / "a", weights="safetensors"))
    shifted = load(write_tiny_folder(tmp_path / "b", weights="safetensors", model_type="roberta"))
    assert shifted.space.window == 62
    assert float(plain.embed_query("cat") @ shifted.embed_query("cat")) < 0.999


def test_prefixes_come_from_sentence_transformers_prompts(load, tmp_path):
    folder = write_tiny_folder(tmp_path / "m")
    bare = load(folder)
    _write(folder, "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": "passage: "}})
    embedder = load(folder)
    assert embedder.space.id != bare.space.id
    assert embedder.tokenizer.overhead == bare.tokenizer.overhead + 2
    assert np.abs(embedder.embed_query("cat") - bare.embed_query("query: cat")).max() < 1e-6
    assert np.abs(embedder.embed_passages(["cat"]) - bare.embed_passages(["passage: cat"])).max() < 1e-6


def test_our_own_card_wins(load, tmp_path):
    folder = write_tiny_folder(tmp_path / "m", pooling=None)
    (folder / "fonte-card.toml").write_text(
        'name = "ours"\nrevision = "7"\nwindow = 20\npooling = "cls"\nquery_prefix = "query: "\nlicence = "MIT"\n'
    )
    embedder = load(folder)
    space = embedder.space
    assert (space.model, space.revision, space.window, space.dimensions) == ("ours", "7", 20, 32)
    assert (embedder.card.pooling, embedder.card.licence) == ("cls", "MIT")


def test_the_space_follows_the_files_not_the_place(load, tmp_path):
    first = load(write_tiny_folder(tmp_path / "a" / "m"))
    shutil.copytree(tmp_path / "a" / "m", tmp_path / "b" / "m")
    assert load(tmp_path / "b" / "m").space == first.space
    assert load(write_tiny_folder(tmp_path / "c" / "m", seed=8)).space.id != first.space.id


def _without(name):
    return lambda folder: (folder / name).unlink()


def _put(name, content):
    return lambda folder: (folder / name).write_text(content)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (_without("config.json"), ConfigError, "config.json"),
        (_without("tokenizer.json"), ModelNotInstalled, "tokenizer.json"),
        (_without("model.onnx"), ModelNotInstalled, "model.onnx"),
        (_without("1_Pooling/config.json"), ConfigError, "pooling"),
        (_put("config.json", "[]"), ConfigError, "config.json"),
        (_put("config.json", '{"hidden_size": 32}'), ConfigError, "window"),
        (_put("config.json", '{"max_position_embeddings": 64}'), ConfigError, "hidden_size"),
        (_put("tokenizer.json", '{"version": "1.0"}'), ModelNotInstalled, "tokenizer.json"),
        (_put("model.onnx", "not a graph"), ModelNotInstalled, "cannot be loaded"),
        (_put("fonte-card.toml", 'colour = "red"'), ConfigError, "colour"),
        (_put("fonte-card.toml", 'window = "many"'), ConfigError, "window"),
        (_put("fonte-card.toml", "window = 65"), ConfigError, "64 positions"),
        (_put("fonte-card.toml", 'pooling = "sum"'), ConfigError, "pooling"),
        (_put("fonte-card.toml", "= ="), ConfigError, "fonte-card.toml"),
        (_put("1_Pooling/config.json", '{"pooling_mode_lasttoken": true}'), ConfigError, "pooling_mode_lasttoken"),
        (_put("modules.json", '[{"type": "sentence_transformers.models.Dense"}]'), ConfigError, "Dense"),
        (_put("modules.json", "{"), ConfigError, "modules.json"),
        (_put("fonte-card.toml", 'pooling = "none"'), ModelNotInstalled, "rank 2"),
    ],
)
def test_a_broken_or_silent_folder_is_refused_in_words(load, tmp_path, change, error, words):
    folder = write_tiny_folder(tmp_path / "m")
    change(folder)
    with pytest.raises(error, match=words):
        load(folder)


def test_a_model_that_we_cannot_build_says_what_to_do(load, tmp_path):
    folder = write_tiny_folder(tmp_path / "m", weights="safetensors", model_type="t5")
    with pytest.raises(ConfigError) as caught:
        load(folder)
    assert "ONNX" in caught.value.hint
    (tmp_path / "m" / "model.safetensors").write_bytes(b"\x05" * 50)
    _write(folder, "config.json", json.loads((folder / "config.json").read_text()) | {"model_type": "bert"})
    with pytest.raises(BadModelOutput):
        load(folder)


def test_weights_of_another_size_than_the_config_are_bad_output(load, tmp_path):
    embedder = load(write_tiny_folder(tmp_path / "m", hidden_size=16))
    with pytest.raises(BadModelOutput, match="dimensions"):
        embedder.embed_query("cat")


def test_weights_that_are_not_finite_are_bad_output(load, tmp_path):
    folder = write_tiny_folder(tmp_path / "m")
    weights = tiny_weights()
    broken = replace(weights, words=np.full_like(weights.words, np.nan))
    (folder / "model.onnx").write_bytes(bert_graph(broken).SerializeToString())
    with pytest.raises(BadModelOutput, match="finite"):
        load(folder).embed_passages(["cat"])


def test_a_missing_folder_is_told():
    with pytest.raises(ModelNotInstalled, match="no model folder"):
        make_embedder("path:/nowhere/at/all")


@pytest.mark.parametrize(
    "source", ["org/name", "org/name@main", "org/name@v1.0", f"org/name@{COMMIT[:12]}", f"@{COMMIT}"]
)
def test_the_hub_wants_a_whole_commit(source):
    with pytest.raises(ConfigError) as caught:
        make_embedder(f"hf:{source}")
    assert "40 hexadecimal digits" in caught.value.hint


def test_a_source_of_the_hub_is_name_and_commit():
    assert parse_source(f"org/name-1.0@{COMMIT}") == ("org/name-1.0", COMMIT)


@pytest.mark.parametrize("weights", ["onnx/", "safetensors"])
def test_a_downloaded_model_of_the_hub_is_used_offline(load, tmp_path, monkeypatch, weights):
    pytest.importorskip("huggingface_hub")
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    snapshot = hub / "models--org--name" / "snapshots" / COMMIT
    write_tiny_folder(snapshot, weights=weights)
    folder = hub_folder("org/name", COMMIT)
    assert folder.samefile(snapshot)
    embedder = load(folder, name="org/name", revision=COMMIT)
    assert (embedder.space.model, embedder.space.revision) == ("org/name", COMMIT)
    assert abs(float(np.linalg.norm(embedder.embed_query("cat"))) - 1) < 1e-3


def test_a_model_of_the_hub_that_is_not_there_offline_says_so(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelNotInstalled, match="not downloaded yet"):
        hub_folder("org/name", COMMIT)


def test_a_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelNotInstalled) as caught:
        hub_folder("org/name", COMMIT)
    assert "fonte[hub]" in caught.value.hint
