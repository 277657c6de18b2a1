"""Entailment models by name: what is refused, what an endpoint is sent, and how it fails."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from unit.models.stub_server import Asked, Reply, json_reply, stub_server
from unit.models.test_models_entailment import write_nli_folder

from fonte.doctor import examine
from fonte.errors import BadModelOutput, ConfigError, FonteError, ModelNotInstalled, ModelUnavailable
from fonte.models.entailers import make_entailer
from fonte.protocols import Entailer

REVISION = "0123456789abcdef0123456789abcdef01234567"


def made(source: str, base_url: str | None = None, timeout: float = 20.0) -> Entailer:
    return make_entailer(source, base_url=base_url, threads=1, timeout_seconds=timeout)


def labels(**scores: float) -> list[dict[str, object]]:
    return [{"label": label, "score": score} for label, score in scores.items()]


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("path:", "not an entailment model"),
        ("st:some/model", "not an entailment model"),
        ("http:model", "needs base_url"),
        ("hf:some/model", "does not pin a commit"),
    ],
)
def test_sources_that_are_none(source: str, match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        made(source)


def test_a_folder_is_one(tmp_path: Path) -> None:
    assert made(f"path:{write_nli_folder(tmp_path / 'nli')}").id.startswith("onnx:nli@")


def test_a_hub_model_is_called_as_on_the_hub(tmp_path: Path, monkeypatch) -> None:
    folder = write_nli_folder(tmp_path / REVISION)
    monkeypatch.setattr("fonte.models.hub.hub_folder", lambda name, revision: folder)
    assert made(f"hf:nobody/nli@{REVISION}").id.startswith("onnx:nobody/nli@")


def test_a_hub_model_is_looked_for_in_the_cache_alone_when_offline(monkeypatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelNotInstalled, match="is not downloaded yet"):
        made(f"hf:nobody/tiny-nli@{REVISION}")


@pytest.mark.parametrize("nested", [True, False])
def test_an_endpoint_is_sent_the_pair_whole_and_its_label_is_read(nested: bool, monkeypatch) -> None:
    monkeypatch.setenv("FONTE_SUPPORT_API_KEY", "made-up")
    found = labels(neutral=0.2, Entailment=0.75, contradiction=0.05)
    with stub_server(lambda asked: json_reply([found] if nested else found)) as stub:
        entailer = made("http:nli", stub.base_url)
        assert entailer.id == "http:tei:nli"
        assert entailer.score("The pump runs.", "It runs.") == 0.75
    (asked,) = stub.asked
    assert asked.path == "/v1/predict"
    assert asked.body == {"inputs": [["The pump runs.", "It runs."]], "raw_scores": False, "truncate": False}
    assert asked.headers["authorization"] == "Bearer made-up"


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({"error": "no"}, "JSON array"),
        ([], "no label called entailment"),
        ([labels(LABEL_0=0.2, LABEL_1=0.8)], "no label called entailment"),
        ([labels(entailment=1.5)], "no probability"),
        ([[{"label": "entailment"}]], "without name or score"),
        ([[{"label": "entailment", "score": True}]], "without name or score"),
        ([0.5], "without name or score"),
    ],
)
def test_what_is_no_probability_of_entailment_is_refused(rows: object, match: str) -> None:
    with stub_server(lambda asked: json_reply(rows)) as stub, pytest.raises(BadModelOutput, match=match):
        made("http:nli", stub.base_url).score("The pump runs.", "It runs.")


@pytest.mark.parametrize(("status", "error"), [(401, ModelUnavailable), (413, FonteError), (404, ModelNotInstalled)])
def test_a_refusal_is_one_clear_error_that_names_the_host_alone(status: int, error: type[FonteError]) -> None:
    with stub_server(lambda asked: json_reply({"error": "too long"}, status)) as stub, pytest.raises(error) as told:
        made("http:nli", stub.base_url).score("The pump runs.", "It runs.")
    assert "entailment endpoint at 127.0.0.1" in told.value.message
    assert "/v1" not in told.value.message


def test_settings_name_one_and_doctor_tells_it(tmp_path: Path) -> None:
    write_nli_folder(tmp_path / "models" / "nli")
    config = tmp_path / "fonte.toml"

    def told(text: str) -> tuple[bool, str]:
        config.write_text(text, encoding="utf-8")
        checks = {one.name: one for one in examine(str(tmp_path / "home"), str(config))}
        return checks["entailment"].ok, checks["entailment"].detail

    ok, detail = told('[support]\nentailment = "path:models/nli"\nthreads = 1\n')
    assert ok
    assert detail.startswith("onnx:nli@")
    with stub_server(lambda asked: json_reply([labels(entailment=0.4)])) as stub:
        served = f'[support]\nentailment = "http:nli"\nbase_url = "{stub.base_url}"\n'
        assert told(served) == (True, "http:tei:nli, confirms or lowers the support of sentences")
    ok, detail = told('[support]\nentailment = "path:nowhere"\n')
    assert not ok
    assert "there is no model folder" in detail
    assert "not_checked" in detail


def test_a_slow_endpoint_is_given_up_after_one_try() -> None:
    wait = threading.Event()

    def slow(asked: Asked) -> Reply:
        return Reply(body=b"[]", wait=wait)

    with stub_server(slow) as stub:
        try:
            with pytest.raises(ModelUnavailable, match=r"within 0\.2 seconds"):
                made("http:nli", stub.base_url, timeout=0.2).score("The pump runs.", "It runs.")
        finally:
            wait.set()
    assert len(stub.asked) == 1
