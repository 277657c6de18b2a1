"""Rerankers: what is refused, what fails and how, and what endpoints are sent."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from unit.models.stub_server import Reply, json_reply, stub_server
from unit.models.tiny_pairs import pair_graph, rerank_script, write_pair_folder

from fonte.errors import BadModelOutput, ConfigError, FonteError, ModelNotInstalled, ModelUnavailable
from fonte.models.estimate import EstimatedTokenizer
from fonte.models.pairs import PairReranker
from fonte.models.rerankers import Served, make_reranker
from fonte.protocols import Reranker

REVISION = "0123456789abcdef0123456789abcdef01234567"


def made(source: str, served: Served | None = None, timeout: float = 20.0, **options: object) -> Reranker:
    return make_reranker(source, served=served, threads=1, timeout_seconds=timeout, **options)  # type: ignore[arg-type]  # options of several types


def test_the_id_of_a_folder_follows_from_its_content_and_not_its_place(tmp_path: Path) -> None:
    one = made(f"path:{write_pair_folder(tmp_path / 'a' / 'pairs')}")
    two = made(f"path:{write_pair_folder(tmp_path / 'b' / 'pairs')}")
    other = made(f"path:{write_pair_folder(tmp_path / 'c' / 'pairs', window=32)}")
    assert one.id == two.id != other.id
    assert one.id.startswith("onnx:pairs@")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = write_pair_folder(tmp_path / "pairs")
    (folder / missing).unlink()
    with pytest.raises((ModelNotInstalled, ConfigError), match=missing):
        made(f"path:{folder}")


def test_a_model_of_several_labels_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not one number"):
        made(f"path:{write_pair_folder(tmp_path / 'pairs', labels=3)}")


def test_a_graph_that_is_none_and_a_window_without_room_are_refused(tmp_path: Path) -> None:
    folder = write_pair_folder(tmp_path / "pairs")
    (folder / "model.onnx").write_bytes(pair_graph()[:200])
    with pytest.raises(ModelNotInstalled, match="cannot be loaded"):
        made(f"path:{folder}")
    with pytest.raises(ConfigError, match="no room"):
        made(f"path:{write_pair_folder(tmp_path / 'small', window=4)}")


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("late", "not a reranker"),
        ("path:", "not a reranker"),
        ("ftp:model", "not a reranker"),
        ("http:model", "needs base_url"),
        ("hf:some/model", "does not pin a commit"),
    ],
)
def test_sources_that_are_none(source: str, match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        made(source)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match="no model folder"):
        made(f"path:{tmp_path / 'nowhere'}")


def test_a_hub_model_is_looked_for_in_the_cache_alone_when_offline(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelNotInstalled, match="is not downloaded yet"):
        made(f"hf:nobody/tiny-pairs@{REVISION}")


def test_sentence_transformers_is_asked_for_when_it_is_missing(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelNotInstalled, match="needs sentence-transformers") as caught:
        made(f"st:some/model@{REVISION}")
    assert "pip install" in caught.value.hint


def test_what_each_form_is_sent(monkeypatch) -> None:
    monkeypatch.setenv("FONTE_RERANKER_API_KEY", "abc-123")
    for form in ("cohere", "jina", "tei"):
        with stub_server(rerank_script(form)) as stub:
            made("http:tiny", Served(stub.base_url, form)).score("pump", ["a pump", "a hall"])
            (asked,) = stub.asked
            assert asked.headers["authorization"] == "Bearer abc-123"
            if form == "tei":
                wanted = {"query": "pump", "texts": ["a pump", "a hall"], "raw_scores": True, "truncate": False}
            else:
                wanted = {"model": "tiny", "query": "pump", "documents": ["a pump", "a hall"], "top_n": 2}
                wanted |= {"return_documents": False} if form == "jina" else {}
            assert asked.body == wanted


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([{"index": 0, "relevance_score": 1.0}], "1 scores for 2"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 0, "relevance_score": 0.5}], "wrong indexes"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 2, "relevance_score": 0.5}], "wrong indexes"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 1, "relevance_score": "high"}], "without index or score"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": True, "relevance_score": 0.1}], "without index or score"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 1, "relevance_score": None}], "without index or score"),
        ([{"index": 0, "relevance_score": 1.0}, "second"], "without index or score"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 1, "relevance_score": float("nan")}], "not finite"),
        ([{"index": 0, "relevance_score": 1.0}, {"index": 1, "relevance_score": 10**400}], "out of range"),
        (None, "no results"),
    ],
)
def test_an_answer_that_is_not_one_finite_score_for_each_passage_is_refused(rows: object, match: str) -> None:
    with stub_server(lambda _: json_reply({"results": rows})) as stub, pytest.raises(BadModelOutput, match=match):
        made("http:tiny", Served(stub.base_url, "cohere")).score("pump", ["a pump", "a hall"])


def test_an_object_where_tei_answers_an_array_is_refused() -> None:
    with stub_server(lambda _: json_reply({"results": []})) as stub, pytest.raises(BadModelOutput, match="JSON array"):
        made("http:tiny", Served(stub.base_url, "tei")).score("pump", ["a pump"])


@pytest.mark.parametrize(
    ("status", "error"), [(401, ModelUnavailable), (404, ModelNotInstalled), (413, ModelUnavailable)]
)
def test_a_refusal_is_one_clear_error_that_names_the_host_alone(status: int, error: type[FonteError]) -> None:
    with stub_server(lambda _: Reply(status, b"{}")) as stub, pytest.raises(error) as caught:
        made("http:tiny", Served(stub.base_url, "jina")).score("pump", ["a pump"])
    assert "reranking endpoint at 127.0.0.1" in caught.value.message
    assert "/v1" not in caught.value.message


def test_a_slow_endpoint_is_given_up() -> None:
    wait = threading.Event()
    with stub_server(lambda _: Reply(200, b"{}", wait=wait)) as stub:
        with pytest.raises(ModelUnavailable, match=r"within 0\.2 seconds"):
            made("http:tiny", Served(stub.base_url, "cohere"), timeout=0.2).score("pump", ["a pump"])
        wait.set()


class Counting:
    """A pair model whose every batch takes a second of the test's clock."""

    id, batch = "counting", 4

    def __init__(self) -> None:
        self.tokenizer = EstimatedTokenizer(64)
        self.now = 0.0
        self.sizes: list[int] = []

    def values(self, question: str, texts: list[str]) -> list[float]:
        self.now += 1
        self.sizes.append(len(texts))
        return [0.0] * len(texts)


def test_batches_are_bounded_and_the_time_is_looked_at_between_them() -> None:
    model = Counting()
    PairReranker(model, timeout_seconds=10, clock=lambda: model.now).score("q", ["a"] * 10)
    assert model.sizes == [4, 4, 2]
    slow = Counting()
    with pytest.raises(ModelUnavailable, match=r"counting did not read 40 passages within 2 seconds") as caught:
        PairReranker(slow, timeout_seconds=2, clock=lambda: slow.now).score("q", ["a"] * 40)
    assert len(slow.sizes) == 3
    assert "timeout_seconds" in caught.value.hint


def test_a_model_that_gives_too_few_numbers_is_refused() -> None:
    class Short(Counting):
        def values(self, question: str, texts: list[str]) -> list[float]:
            return [0.0] * (len(texts) - 1)

    with pytest.raises(BadModelOutput, match="gave 3 numbers for 4"):
        PairReranker(Short(), timeout_seconds=1).score("q", ["a"] * 4)
