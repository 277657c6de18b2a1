"""Cases of sections A and F over HTTP: what people met in other systems, on the routes that programs use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fonte.types import Principal
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus
from served import House, make_house

ADA = Principal("default", "ada", frozenset())
EVA = Principal("default", "eva", frozenset({"hr"}))
PUMP = {"question": "At how many bar does the pump of the north tower run?"}
KEY = {"question": "Where is the spare key of the pump kept?"}


def ask(client: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = client.post("/v1/ask", json=body).json()
    return told


def done(client: TestClient, body: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Names of the events of a stream, and the answer that it ends with."""
    text = client.post("/v1/ask", json=body | {"stream": True}).text
    blocks = [block.split("\n") for block in text.split("\n\n") if block]
    return [name.removeprefix("event: ") for name, _ in blocks], json.loads(blocks[-1][1].removeprefix("data: "))


def test_case_2_each_marker_opens_its_own_place(house: House) -> None:
    client = house.client(ADA)
    told = ask(client, {"question": "Where is the spare key, and at how many bar does the pump run?"})
    assert len({one["document_id"] for one in told["citations"]}) == len(told["citations"]) > 1
    for one in told["citations"]:
        place = one["locator"]
        shown = client.get(f"/v1/documents/{one['document_id']}/text?from={place['from']}&to={place['to']}").json()
        assert shown["text"] == one["quote"]


def test_case_3_and_4_a_reload_is_the_same_bytes(house: House) -> None:
    client = house.client(ADA)
    named = [ask(client, body | {"conversation_id": "new"})["conversation_id"] for body in (PUMP, KEY)]
    first = [client.get(f"/v1/conversations/{one}").content for one in named]
    again = [client.get(f"/v1/conversations/{one}").content for one in reversed(named)]
    assert first == again[::-1]
    for body in map(json.loads, first):
        assert body["turns"][0]["answer"]["citations"]


def test_case_5_the_same_citations_streaming_and_not_before_the_end(house: House) -> None:
    client = house.client(ADA)
    whole = ask(client, PUMP)
    names, streamed = done(client, PUMP)
    assert streamed["citations"] == whole["citations"]
    assert names.index("citation") < names.index("delta") < names.index("done")


def test_case_11_a_flag_that_is_not_known_is_refused_on_every_route_and_ignored_on_none(house: House) -> None:
    client = house.client(ADA)
    for path, body in (("/v1/ask", PUMP), ("/v1/ask", PUMP | {"stream": True}), ("/v1/search", {"query": "pump"})):
        refused = client.post(path, json=body | {"include_citations": False})
        assert refused.status_code == 422
        assert "include_citations" in refused.json()["error"]["message"]


def test_case_14_no_source_of_the_question_before(house: House) -> None:
    client = house.client(ADA)
    first = ask(client, KEY | {"conversation_id": "new"})
    second = ask(client, PUMP | {"conversation_id": first["conversation_id"]})
    assert second["citations"][0]["document_name"] == "pump.txt"
    assert second["citations"] == ask(client, PUMP)["citations"]


def test_case_98_and_99_another_users_fact_is_refused_as_what_is_not_there(house: House) -> None:
    mine, other = house.client(ADA), house.client(EVA)
    assert "drawer nine" in ask(mine, KEY)["answer"]
    told = other.post("/v1/ask", json=KEY).text
    assert "drawer" not in told
    filtered = other.post("/v1/search", json={"query": "spare key", "filters": {"document": "ada.txt"}}).json()
    absent = other.post("/v1/search", json={"query": "spare key", "filters": {"document": "eve.txt"}}).json()
    assert filtered["results"] == absent["results"] == []


@pytest.fixture
def empty(home: Path) -> Iterator[Path]:
    yield home


def test_case_95_the_model_of_an_empty_base_can_be_changed(empty: Path) -> None:
    shelves = Shelves({"none": Shelf({}), "one": Shelf({"a.txt": ("The pump runs.", frozenset({"public"}))})})
    with quick_corpus(empty, shelves) as corpus:
        corpus.sync("memory://none")
    with quick_corpus(empty, shelves, embedder=WordEmbedder(codec="")) as corpus:
        corpus.sync("memory://one")
        assert corpus.search("pump", principal=Principal()).results


def test_case_99_what_was_said_elsewhere_is_no_evidence(home: Path) -> None:
    house = make_house(home)
    client = house.client(EVA)
    told = client.post(
        "/v1/chat/completions",
        json={
            "model": "fonte",
            "messages": [
                {"role": "user", "content": "Where is the spare key?"},
                {"role": "assistant", "content": "Ada keeps the spare key of the pump in drawer nine [1]."},
                {"role": "user", "content": "Where is the spare key of the pump kept?"},
            ],
        },
    ).json()
    assert "drawer" not in told["choices"][0]["message"]["content"]
    assert "ada.txt" not in json.dumps(told["choices"])
    house.served.corpus.close()
