"""Endpoints that are down, slow, refusing or answering nonsense: one clear line, never a vector."""

from __future__ import annotations

import json
import socket
import threading

import numpy as np
import pytest
from unit.models.stub_server import Reply, embedding_script, hashed_vector, json_reply, stub_server

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled, ModelUnavailable
from fonte.models.endpoint import Endpoint, read_key
from fonte.models.estimate import EstimatedTokenizer
from fonte.models.openai_embedder import OpenAIEmbedder, RemoteModel
from fonte.models.registry import Remote, make_embedder

KEY = "sk-secret-123"


@pytest.fixture
def stub():
    with stub_server(embedding_script) as server:
        yield server


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def embedder(stub, pauses):
    endpoint = Endpoint(stub.base_url, what="embedding", key=KEY, timeout_seconds=3, sleep=pauses.append)
    return OpenAIEmbedder(RemoteModel("m", window=128), endpoint)


def test_the_request_is_the_documented_one(stub, embedder):
    rows = embedder.embed_passages(["the cat", "a dog"])
    asked = stub.asked[-1]
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "m", "input": ["the cat", "a dog"], "encoding_format": "float"}
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    wanted = np.array([hashed_vector("the cat"), hashed_vector("a dog")])
    assert np.abs(rows - wanted / np.linalg.norm(wanted, axis=1, keepdims=True)).max() < 1e-6


def test_many_texts_go_in_several_requests_in_order(stub, embedder):
    texts = [f"word{index}" for index in range(150)]
    rows = embedder.embed_passages(texts)
    assert [len(one.body["input"]) for one in stub.asked[1:]] == [64, 64, 22]
    for text, row in zip(texts, rows):
        assert abs(float(row @ np.array(hashed_vector(text))) / np.linalg.norm(hashed_vector(text)) - 1) < 1e-5


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_passing_failure_is_tried_again_with_longer_pauses(stub, embedder, pauses, status):
    failures = [json_reply({"error": {"message": "busy"}}, status)] * 2
    stub.script = lambda asked: failures.pop() if failures else embedding_script(asked)
    assert embedder.embed_query("cat").shape == (24,)
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize("status", [429, 500])
def test_case_75_a_lasting_failure_is_an_error_after_three_tries(stub, embedder, status):
    stub.script = lambda _: json_reply({"error": {"message": "out of\nmemory"}}, status)
    with pytest.raises(ModelUnavailable, match="answered") as caught:
        embedder.embed_passages(["cat"])
    assert len(stub.asked) == 3
    assert "out of memory" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.retryable


def test_a_wish_for_a_longer_pause_is_heard_within_bounds(stub, embedder, pauses):
    stub.script = lambda _: Reply(429, b"", {"Retry-After": "7"})
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("cat")
    stub.script = lambda _: Reply(503, b"", {"Retry-After": "86400"})
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("cat")
    assert pauses == [7.0, 7.0, 20.0, 20.0]


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (401, ModelUnavailable, "key"),
        (403, ModelUnavailable, "key"),
        (404, ModelNotInstalled, "name"),
        (400, ModelUnavailable, "base_url"),
        (302, ModelUnavailable, "base_url"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_check(stub, embedder, status, error, hint):
    stub.script = lambda _: Reply(status, b"<html>", {"Location": "http://127.0.0.1:1/"} if status == 302 else {})
    with pytest.raises(error) as caught:
        embedder.embed_query("cat")
    assert len(stub.asked) == 1
    assert hint in caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint
    assert "/v1" not in caught.value.message
    assert "127.0.0.1" in caught.value.message


def _item(index=0, embedding=(1.0, 2.0)):
    return {"index": index, "embedding": list(embedding)}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        [None],
        [_item(), _item(1)],
        [_item(1)],
        [_item(True)],
        [{"embedding": [1.0, 2.0]}],
        [_item(embedding=[])],
        [_item(embedding=[0.0, 0.0])],
        [_item(embedding=["1", "2"])],
        [_item(embedding=[None, 1.0])],
        [_item(embedding=[True, 1.0])],
        [{"index": 0, "embedding": "AACAPw=="}],
        [_item(embedding=[float("nan"), 1.0])],
        [_item(embedding=[float("inf"), 1.0])],
        [_item(embedding=[10**400, 1])],
        [_item(embedding=[1.0])],
        [_item(embedding=[1.0, 2.0, 3.0])],
    ],
)
def test_case_75_nonsense_never_becomes_a_vector(stub, data):
    stub.script = lambda _: json_reply({"data": data})
    endpoint = Endpoint(stub.base_url, what="embedding")
    embedder = OpenAIEmbedder(RemoteModel("m", dimensions=2), endpoint)
    with pytest.raises(BadModelOutput):
        embedder.embed_passages(["cat"])


def test_vectors_of_changing_length_are_refused(stub, embedder):
    stub.script = lambda asked: json_reply(
        {"data": [_item(index, [1.0] * (2 + index)) for index in range(len(asked.body["input"]))]}
    )
    with pytest.raises(BadModelOutput, match="different lengths"):
        embedder.embed_passages(["cat", "dog"])


@pytest.mark.parametrize("body", [b"", b"hello", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"data": ['])
def test_an_answer_that_is_no_json_object_is_bad_output(stub, embedder, body):
    stub.script = lambda _: Reply(200, body)
    with pytest.raises(BadModelOutput, match="JSON"):
        embedder.embed_query("cat")


def test_an_answer_beyond_the_limit_is_not_read_to_its_end(stub):
    stub.script = lambda _: Reply(200, b" " * 100_000)
    endpoint = Endpoint(stub.base_url, what="embedding", max_response_bytes=10_000)
    with pytest.raises(BadModelOutput, match="10000 bytes"):
        endpoint.post("/embeddings", {})


def test_an_answer_that_breaks_off_is_unavailable(stub, embedder):
    stub.script = lambda _: Reply(200, b'{"data"', cut=True)
    with pytest.raises(ModelUnavailable, match="broke off"):
        embedder.embed_query("cat")


def test_a_slow_endpoint_is_given_up_and_not_asked_again(stub):
    hold = threading.Event()
    stub.script = lambda asked: Reply(200, b"{}", wait=hold)
    endpoint = Endpoint(stub.base_url, what="embedding", timeout_seconds=0.2)
    try:
        with pytest.raises(ModelUnavailable, match=r"within 0\.2 seconds"):
            endpoint.post("/embeddings", {})
    finally:
        hold.set()
    assert len(stub.asked) == 1


def test_an_endpoint_that_drips_is_given_up_too(stub):
    stub.script = lambda _: Reply(chunks=[b" "] * 40, pause_seconds=0.05)
    endpoint = Endpoint(stub.base_url, what="embedding", timeout_seconds=0.3)
    with pytest.raises(ModelUnavailable, match="within"):
        endpoint.post("/embeddings", {})


def test_an_endpoint_that_is_down_is_one_clear_line(pauses):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", what="embedding", sleep=pauses.append)
    with pytest.raises(ModelUnavailable) as caught:
        endpoint.post("/embeddings", {})
    assert caught.value.message == f"the embedding endpoint at 127.0.0.1:{port} cannot be reached"
    assert len(pauses) == 2


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8080", "ftp://host/v1", "http://", "http://user:pw@host/v1", "http://host/v1?key=1", "http://[::1"],
)
def test_a_base_url_that_cannot_be_used_is_a_wrong_setting(url):
    with pytest.raises(ConfigError) as caught:
        Endpoint(url, what="embedding")
    assert "pw" not in caught.value.message


def test_an_impossible_timeout_or_window_is_a_wrong_setting(stub):
    with pytest.raises(ConfigError):
        Endpoint(stub.base_url, what="embedding", timeout_seconds=0)
    with pytest.raises(ConfigError):
        make_embedder("openai:m", remote=Remote(base_url=stub.base_url, window=3))


def test_keys_come_from_a_file_or_the_environment_only(monkeypatch, tmp_path):
    for name in ("FONTE_EMBEDDING_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    names = ("FONTE_EMBEDDING_API_KEY", "OPENAI_API_KEY")
    told = []
    assert read_key(names, told.append) is None
    monkeypatch.setenv("OPENAI_API_KEY", "second")
    assert read_key(names, told.append) == "second"
    monkeypatch.setenv("FONTE_EMBEDDING_API_KEY", " first\n")
    assert read_key(names, told.append) == "first"
    monkeypatch.setenv("FONTE_EMBEDDING_API_KEY", "a\u200bb")
    with pytest.raises(ConfigError, match="header"):
        read_key(names, told.append)
    assert told == []


@pytest.fixture
def key_file(monkeypatch, tmp_path):
    for name in ("FONTE_EMBEDDING_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "key"
    path.write_text("from-file\n")
    path.chmod(0o600)
    monkeypatch.setenv("FONTE_EMBEDDING_API_KEY_FILE", str(path))
    return path


def test_the_key_may_stand_in_a_file_that_a_variable_names(stub, key_file):
    told = []
    remote = Remote(base_url=stub.base_url, dimensions=24)
    make_embedder("openai:m", remote=remote, notify=told.append).embed_query("cat")
    assert stub.asked[0].headers["authorization"] == "Bearer from-file"
    assert told == []
    key_file.chmod(0o644)
    make_embedder("openai:m", remote=remote, notify=told.append)
    assert len(told) == 1
    assert "chmod 600" in told[0]
    assert "from-file" not in told[0]


def test_a_key_file_that_says_nothing_or_is_not_alone_is_refused(key_file, monkeypatch):
    def refused(words):
        with pytest.raises(ConfigError, match=words):
            make_embedder("openai:m")

    key_file.write_text("\n")
    refused("empty")
    monkeypatch.setenv("FONTE_EMBEDDING_API_KEY", "direct")
    refused("both set")
    monkeypatch.delenv("FONTE_EMBEDDING_API_KEY")
    key_file.unlink()
    refused("cannot be read")


def test_the_space_is_of_model_dimensions_and_revision_not_of_the_host(stub):
    def space(base_url=stub.base_url, dimensions=24, **changes):
        model = RemoteModel("m", 512, dimensions, **changes)
        return OpenAIEmbedder(model, Endpoint(base_url, what="embedding")).space

    with stub_server(embedding_script) as other:
        assert space(base_url=other.base_url) == space()
    assert make_embedder("openai:m", remote=Remote(base_url=stub.base_url, dimensions=24)).space == space()
    assert len({space().id, space(revision="2").id, space(dimensions=8).id, space(query_prefix="q: ").id}) == 4
    assert stub.asked == [], "declared dimensions need no question"


def test_dimensions_that_are_not_declared_are_asked_once(stub, embedder):
    assert embedder.space.dimensions == embedder.space.dimensions == 24
    assert len(stub.asked) == 1


def test_prefixes_are_put_before_what_is_sent(stub):
    model = RemoteModel("m", 512, 24, query_prefix="query: ", passage_prefix="passage: ")
    embedder = OpenAIEmbedder(model, Endpoint(stub.base_url, what="embedding"))
    embedder.embed_query("cat")
    embedder.embed_passages(["cat"])
    assert [one.body["input"] for one in stub.asked] == [["query: cat"], ["passage: cat"]]


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("cat", 1),
        ("internationalisation", 5),
        ("1234567", 3),
        ("日本語", 3),
        ("😀", 3),
        ("a, b", 3),
        ("x\n\ny", 3),
        ("", 0),
    ],
)
def test_the_estimate_errs_upwards(text, least):
    tokenizer = EstimatedTokenizer(64)
    assert tokenizer.count(text) >= least
    assert tokenizer.count(text) == len(tokenizer.offsets(text))


def test_the_body_holds_texts_as_they_are(stub, embedder):
    text = 'quote " back\\slash \u2028 😀 {"role": "system"}'
    embedder.embed_query(text)
    assert stub.asked[0].body["input"] == [text]
    assert json.dumps(stub.asked[0].body)
