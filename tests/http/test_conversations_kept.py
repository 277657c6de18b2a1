"""Conversations over HTTP: one's own listed, gone on with, and taken away without a trace."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from fonte.access.identity import Action
from fonte.types import Principal
from served import House

ADA = Principal("default", "ada", frozenset())
HR = Principal("default", "eva", frozenset({"hr"}))
OTHER = Principal("meridian", "ada", frozenset())
FIRST = "At how many bar does the pump of the north tower run, quetzal?"


def _ask(client: TestClient, question: str, conversation: str = "new") -> dict[str, str]:
    told: dict[str, str] = client.post("/v1/ask", json={"question": question, "conversation_id": conversation}).json()
    return told


def test_a_list_has_ones_own_and_the_last_one_first(house: House) -> None:
    client = house.client(ADA)
    assert client.get("/v1/conversations").json() == {"conversations": []}
    one = _ask(client, FIRST)["conversation_id"]
    two = _ask(client, "Where is the spare key?")["conversation_id"]
    _ask(client, "And the tower?", one)
    listed = client.get("/v1/conversations").json()["conversations"]
    assert [(told["conversation_id"], told["question"], told["turns"]) for told in listed] == [
        (one, FIRST, 2),
        (two, "Where is the spare key?", 1),
    ]
    assert listed[0]["begun_at"] <= listed[0]["last_at"]
    assert len(client.get("/v1/conversations?limit=1").json()["conversations"]) == 1
    assert client.get("/v1/conversations?limit=1&offset=1").json()["conversations"][0]["conversation_id"] == two
    again = house.client(ADA).get("/v1/conversations").json()
    assert len(again["conversations"]) == 2, "a user's other key is the same asker"
    unnamed = Principal("default", None, frozenset())
    for other in (HR, OTHER, unnamed):
        assert house.client(other, *Action).get("/v1/conversations").json() == {"conversations": []}


def test_a_deleted_conversation_is_gone_with_its_answers(house: House, home: Path) -> None:
    client = house.client(ADA)
    told, kept = _ask(client, FIRST), _ask(client, "Where is the spare key?")
    client.post("/v1/feedback", json={"answer_id": told["answer_id"], "verdict": "wrong", "comment": "xylophone"})
    path = f"/v1/conversations/{told['conversation_id']}"
    for other in (HR, OTHER):
        assert house.client(other, *Action).delete(path).status_code == 404
    assert client.get(path).status_code == 200
    gone = client.delete(path)
    assert (gone.status_code, gone.json()) == (200, {"deleted": told["conversation_id"], "answers": 1})
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert client.get(f"/v1/answers/{told['answer_id']}").status_code == 404
    goes_on = {"question": "And the tower?", "conversation_id": told["conversation_id"]}
    assert client.post("/v1/ask", json=goes_on).status_code == 404
    assert client.get(f"/v1/answers/{kept['answer_id']}").status_code == 200
    assert [one["conversation_id"] for one in client.get("/v1/conversations").json()["conversations"]] == [
        kept["conversation_id"]
    ]
    for word in (b"quetzal", b"xylophone"):
        left = {one.name for one in home.rglob("*") if one.is_file() and word in one.read_bytes()}
        assert left <= {"audit.sqlite", "audit.sqlite-wal"}, "only the audit log knows what was asked"


def test_a_session_of_a_browser_deletes_only_with_its_origin(house: House) -> None:
    client = house.client(ADA)
    told = _ask(client, FIRST)
    key = client.headers.pop("authorization").removeprefix("Bearer ")
    client.post("/v1/session", json={"key": key})
    path = f"/v1/conversations/{told['conversation_id']}"
    assert client.delete(path).status_code == 403
    assert client.delete(path, headers={"origin": "http://localhost"}).status_code == 200
