"""Two servers over one database share nothing else: what one is told, the other knows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server
from starlette.testclient import TestClient

from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.http.app import create_app
from fonte.http.served import Served
from fonte.serving import make_served
from fonte.stores.postgres import jobs
from fonte.types import Principal
from quick_corpus import Shelf, Shelves, quick_corpus

ROOT = Principal("default", "root", frozenset({"hr"}))
TEXTS = {
    "pump.txt": ("The pump of the north tower runs at seven bar.", frozenset({"public"})),
    "pay.txt": ("The salary of the director is ninety thousand euro a year.", frozenset({"hr"})),
}


@dataclass
class Running:
    corpus: OpenCorpus
    served: Served
    app: Any
    shelves: Shelves

    def asks(self, key: str) -> TestClient:
        headers = {"authorization": f"Bearer {key}"}
        return TestClient(self.app, base_url="http://localhost", headers=headers, raise_server_exceptions=False)


def running(home: Path, url: str) -> Running:
    shelves, environ = Shelves({"one": Shelf(TEXTS)}), {"FONTE_DATABASE_URL": url}
    corpus = quick_corpus(home, shelves, environ=environ)
    served = make_served(home, load_settings(None, home, environ), corpus, None)
    return Running(corpus, served, create_app(served), shelves)


@pytest.fixture
def two(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Running, Running]]:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.05)
    one, other = (running(tmp_path / name, postgres_url) for name in ("one", "two"))
    one.corpus.sync("memory://one")
    yield one, other
    for server in (one, other):
        server.served.work.close()
        server.corpus.close()


def key_of(server: Running) -> str:
    return mint(server.served.keys, ROOT, list(Action), now=datetime.now(UTC)).text


def ended(asks: TestClient, identity: str) -> dict[str, Any]:
    until = time.monotonic() + 60
    while True:
        told: dict[str, Any] = asks.get(f"/v1/jobs/{identity}").json()
        assert "state" in told, told
        if told["state"] in ("done", "failed"):
            return told
        assert time.monotonic() < until, told
        time.sleep(0.05)


def begin(asks: TestClient) -> str:
    return str(asks.post("/v1/sync", json={"sources": ["memory://one"]}).json()["job"]["id"])


def test_what_one_is_told_the_other_knows(two: tuple[Running, Running]) -> None:
    key = key_of(two[0])
    first, second = (one.asks(key) for one in two)
    asked = first.post("/v1/ask", json={"question": "pump north tower bar", "conversation_id": "new"}).json()
    assert asked["answered"]
    assert second.get(f"/v1/answers/{asked['answer_id']}").json()["answer"] == asked["answer"]
    assert second.post("/v1/feedback", json={"answer_id": asked["answer_id"], "verdict": "right"}).status_code < 300
    assert [one.verdict.value for one in two[0].served.feedback("default").said(5)] == ["right"]
    assert len(second.get("/v1/conversations").json()["conversations"]) == 1
    before = second.get("/v1/generations").json()["active"]
    two[0].shelves.by_name["one"] = Shelf(TEXTS | {"new.txt": ("Hall five has a new crane.", frozenset({"public"}))})
    two[0].corpus.sync("memory://one")
    assert second.get("/v1/generations").json()["active"] != before
    assert "crane" in second.post("/v1/search", json={"query": "new crane hall"}).json()["results"][0]["content"]
    assert first.post("/v1/rollback").status_code == 200
    assert second.get("/v1/generations").json()["active"] == before
    assert {one["action"] for one in second.get("/v1/audit").json()["entries"]} >= {"POST /v1/ask", "POST /v1/feedback"}
    listed = second.get("/v1/documents").json()["documents"]
    gone = next(one["document_id"] for one in listed if one["document_name"] == "pump.txt")
    assert first.delete(f"/v1/documents/{gone}").status_code < 300
    assert second.get(f"/v1/answers/{asked['answer_id']}").status_code == 404
    (record,) = two[1].served.keys.every_key()
    assert two[1].served.keys.end_key(record.id, datetime.now(UTC))
    assert first.get("/v1/documents").status_code == 401


def test_a_job_is_done_once_by_whichever_server_has_the_lead(two: tuple[Running, Running]) -> None:
    key = key_of(two[0])
    first, second = (one.asks(key) for one in two)
    for number, identity in enumerate([begin(one) for one in (first, second) * 3]):
        told = ended((first, second)[number % 2], identity)
        assert (told["state"], told["tries"]) == ("done", 1), told


def test_another_server_takes_over_where_the_one_with_the_lead_is_gone(two: tuple[Running, Running]) -> None:
    key = key_of(two[0])
    first, second = (one.asks(key) for one in two)
    assert ended(first, begin(first))["state"] == "done"
    two[0].served.work.close()
    left = begin(second)
    time.sleep(0.3)
    assert second.get(f"/v1/jobs/{left}").json()["state"] == "queued"  # the first one still has the lead
    two[0].served.work._store("default")._lead.close()  # as the database does when its process dies
    assert ended(second, left)["state"] == "done"


def test_a_restart_of_the_database_needs_nobody(two: tuple[Running, Running], postgres_server: Server) -> None:
    asks = two[1].asks(key_of(two[0]))
    assert asks.post("/v1/search", json={"query": "pump"}).json()["results"]
    postgres_server.kill()
    for _ in range(3):
        answer = asks.post("/v1/search", json={"query": "pump"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
        assert answer.json()["error"]["retryable"]
    assert asks.get("/readyz").status_code == 503
    assert asks.get("/healthz").status_code == 200
    postgres_server.restart()
    assert asks.post("/v1/search", json={"query": "pump"}).json()["results"]


def test_no_password_leaves_the_server(tmp_path: Path) -> None:
    one = running(tmp_path, "postgresql://ada:hidden@127.0.0.1:9/corpus")
    for path in ("/readyz", "/v1/status"):
        answer = one.asks("none").get(path)
        assert answer.status_code in (401, 503)
        assert "hidden" not in answer.text
    one.corpus.close()
