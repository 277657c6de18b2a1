"""Search, questions, answers over HTTP: what was asked for comes back, and nothing that is not the caller's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fonte.access.identity import Action
from fonte.types import Principal
from served import House

ADA = Principal("default", "ada", frozenset())
HR = Principal("default", "eva", frozenset({"hr"}))
OTHER = Principal("meridian", "ada", frozenset({"hr"}))


def events(body: str) -> list[tuple[str, Any]]:
    found = []
    for block in body.split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_search_gives_what_the_caller_may_read(house: House) -> None:
    found = house.client(ADA).post("/v1/search", json={"query": "salary of the director", "k": 10}).json()
    names = {one["document_name"] for one in found["results"]}
    assert names == {"pump.txt", "ada.txt"}
    assert all("Meridian" not in one["content"] for one in found["results"])
    seen = house.client(HR).post("/v1/search", json={"query": "salary", "k": 10}).json()["results"]
    assert "salaries.txt" in {one["document_name"] for one in seen}


def test_a_streamed_answer_is_the_one_that_is_kept(house: House) -> None:
    client = house.client(ADA)
    question = "At how many bar does the pump of the north tower run?"
    whole = client.post("/v1/ask", json={"question": question}).json()
    streamed = events(client.post("/v1/ask", json={"question": question, "stream": True}).text)
    names = [name for name, _ in streamed]
    done = streamed[-1][1]
    assert names[-1] == "done"
    assert names.index("citation") < names.index("delta")
    assert "".join(data["text"] for name, data in streamed if name == "delta") == done["answer"] == whole["answer"]
    cited = [data for name, data in streamed if name == "citation"]
    assert sorted(cited, key=lambda one: one["index"]) == done["citations"]
    kept = client.get(f"/v1/answers/{done['answer_id']}").json()
    assert kept.pop("source_changed") == []
    assert kept == done


def test_an_answer_is_its_askers_alone(house: House) -> None:
    told = house.client(ADA).post("/v1/ask", json={"question": "Where is the spare key of the pump?"}).json()
    path = f"/v1/answers/{told['answer_id']}"
    forbidden = [house.client(one).get(path) for one in (HR, OTHER, Principal("default", None, frozenset()))]
    absent = house.client(HR).get("/v1/answers/a00000000000000000000")
    assert {one.status_code for one in (*forbidden, absent)} == {404}
    assert all(one.json()["error"]["code"] == "not_found" for one in forbidden)


def test_keys_that_name_nobody_have_their_answers_and_conversations_to_themselves(house: House) -> None:
    nobody = Principal("default", None, frozenset({"hr"}))
    local = house.client()
    asked = {"question": "At how many bar does the pump run?", "conversation_id": "new"}
    before = local.post("/v1/ask", json=asked).json()
    assert local.get(f"/v1/answers/{before['answer_id']}").status_code == 200
    one, other = house.client(nobody), house.client(nobody)
    told = one.post("/v1/ask", json=asked).json()
    paths = (f"/v1/answers/{told['answer_id']}", f"/v1/conversations/{told['conversation_id']}")
    runs_it = house.client(nobody, *Action)
    for path in paths:
        assert one.get(path).status_code == 200
        assert other.get(path).status_code == runs_it.get(path).status_code == 404
    goes_on = {"question": "And the tower?", "conversation_id": told["conversation_id"]}
    assert other.post("/v1/ask", json=goes_on).status_code == 404
    assert other.post("/v1/feedback", json={"answer_id": told["answer_id"], "verdict": "right"}).status_code == 404
    assert other.get(f"/v1/answers/{before['answer_id']}").status_code == 404


def test_absent_and_forbidden_are_the_same_bytes(house: House) -> None:
    client, runs_it = house.client(ADA, Action.READ, Action.WRITE), house.client(HR, *Action)
    hidden = next(
        one["document_id"]
        for one in runs_it.get("/v1/documents").json()["documents"]
        if one["document_name"] == "salaries.txt"
    )
    unknown = hidden[:-4] + "0000"
    for method, path in (
        ("GET", "/v1/documents/{}"),
        ("GET", "/v1/documents/{}/text"),
        ("GET", "/v1/documents/{}/text?from=0&to=999999"),
        ("DELETE", "/v1/documents/{}"),
    ):
        one = client.request(method, path.format(hidden))
        two = client.request(method, path.format(unknown))
        assert one.status_code == two.status_code == 404
        assert one.content.replace(hidden.encode(), b"") == two.content.replace(unknown.encode(), b"")
    assert runs_it.get(f"/v1/documents/{hidden}/text").json()["text"].startswith("The salary")


def test_places_of_the_machine_stay_its_own(house: House, home: Path) -> None:
    client = house.client(ADA)
    for reply in (
        client.post("/v1/search", json={"query": "pump"}),
        client.post("/v1/ask", json={"question": "Where is the spare key of the pump?"}),
        client.get("/v1/documents"),
        client.get("/v1/documents/pump.txt/text"),
    ):
        assert reply.status_code == 200
        assert "file://" not in reply.text
        assert str(home) not in reply.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/search", {}),
        ("/v1/search", {"query": ""}),
        ("/v1/search", {"query": "x" * 9000}),
        ("/v1/search", {"query": "x", "tenant": "meridian"}),
        ("/v1/search", {"query": "x", "roles": ["hr"]}),
        ("/v1/search", {"query": "x", "k": 0}),
        ("/v1/search", {"query": "x", "k": 10**9}),
        ("/v1/search", {"query": "x", "as_of": "yesterday"}),
        ("/v1/ask", {"question": "x", "conversation_id": "../x"}),
        ("/v1/ask", {"question": ["x"]}),
    ],
)
def test_what_is_not_of_the_form_is_told_and_refused(house: House, path: str, body: dict[str, Any]) -> None:
    refused = house.client(ADA).post(path, json=body)
    assert refused.status_code == 422
    assert set(refused.json()["error"]) == {"code", "message", "hint", "retryable"}


def test_a_conversation_goes_on_and_is_its_askers_alone(house: House) -> None:
    client = house.client(ADA)
    first = client.post("/v1/ask", json={"question": "Where is the pump?", "conversation_id": "new"}).json()
    named = first["conversation_id"]
    client.post("/v1/ask", json={"question": "And its key?", "conversation_id": named})
    turns = client.get(f"/v1/conversations/{named}").json()["turns"]
    assert [turn["question"] for turn in turns] == ["Where is the pump?", "And its key?"]
    assert house.client(HR).get(f"/v1/conversations/{named}").status_code == 404
    assert house.client(HR).post("/v1/ask", json={"question": "x", "conversation_id": named}).status_code == 404


def test_why_tells_of_access_only_to_whoever_runs_it(house: House) -> None:
    asked = {"question": "What does the director earn?", "expect": "ninety thousand euro"}
    told = house.client(ADA).post("/v1/why", json=asked).json()
    absent = house.client(ADA).post("/v1/why", json=asked | {"expect": "eighty thousand yen"}).json()
    assert told["lost_at"] == absent["lost_at"] == "canonical"
    assert house.client(ADA, *Action).post("/v1/why", json=asked).json()["lost_at"] == "access"


def test_what_was_deleted_is_unseen_at_once(house: House) -> None:
    client = house.client(ADA, Action.READ, Action.WRITE)
    kept = client.post("/v1/ask", json={"question": "At how many bar does the pump run?"}).json()
    assert kept["answered"]
    assert client.delete("/v1/documents/pump.txt").status_code == 200
    names = {one["document_name"] for one in client.post("/v1/search", json={"query": "pump"}).json()["results"]}
    assert "pump.txt" not in names
    assert client.get("/v1/documents/pump.txt").status_code == 404
    assert client.get(f"/v1/answers/{kept['answer_id']}").status_code == 404


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain"])
def test_json_that_does_not_say_so_is_told_what_to_send(house: House, kind: str | None) -> None:
    body, headers = b'{"question": "How many bar?"}', {"content-type": kind} if kind else {}
    for path in ("/v1/ask", "/v1/search", "/v1/chat/completions"):
        refused = house.client(ADA).post(path, content=body, headers=headers)
        told = refused.json()["error"]
        assert (refused.status_code, told["code"]) == (422, "invalid_request")
        assert told["hint"] == "send Content-Type: application/json"
    named = house.client(ADA).post("/v1/ask", json=["How many bar?"]).json()["error"]
    assert "Content-Type" not in named["hint"], "the type was said; the body is wrong"
    assert house.client(ADA).post("/v1/ask", content=body, headers={"content-type": "application/json"}).is_success


def test_who_is_told_nothing_of_a_document_is_told_how_to_see_what_there_is(house: House) -> None:
    hidden = house.client(HR).get("/v1/documents").json()["documents"]
    closed = next(one["document_id"] for one in hidden if one["document_name"] == "salaries.txt")
    hints = {house.client(ADA).get(f"/v1/documents/{one}/text").json()["error"]["hint"] for one in (closed, "0" * 20)}
    (hint,) = hints
    assert hint == "GET /v1/documents lists those that you may read"
