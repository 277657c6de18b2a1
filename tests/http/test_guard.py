"""What every request passes: size, time, a place, the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from fonte.access.identity import Action
from fonte.errors import Overloaded, RateLimited, StoreUnavailable
from fonte.http.guard import Guard
from fonte.http.limits import Buckets, Room
from fonte.http.served import Limits
from fonte.types import Principal
from served import House, make_house

ADA = Principal("default", "ada", frozenset())
QUESTION = "Where is the spare key of the pump?"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(home: Path) -> None:
    house = make_house(home, limits=Limits(body_bytes=1000))
    refused = house.client(ADA).post("/v1/search", json={"query": "x" * 2000})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "source_too_large")
    chunked = house.client(ADA).post("/v1/search", content=iter([b"x" * 600] * 3))
    assert chunked.status_code == 413
    house.served.corpus.close()


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_set(home: Path) -> None:
    house = make_house(home, limits=Limits(body_seconds=0.2))
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": [(b"content-length", b"10")]}
    guard = Guard(house.app, house.served, Room(1, 1, 1.0))
    began = time.monotonic()
    asyncio.run(guard(scope, never, send))
    assert time.monotonic() - began < 5
    assert sent[0]["status"] == 422
    house.served.corpus.close()


def _asked(house: House, path: str, parts: list[tuple[float, Any]], until: bytes) -> list[Any]:
    """What is answered to a body that comes in parts, each after some seconds, by a client that goes at some words."""
    key = house.client(ADA, *Action).headers["authorization"].encode()
    headers = [(b"authorization", key), (b"content-type", b"application/json"), (b"host", b"localhost")]
    sent: list[Any] = []

    async def request() -> None:
        gone = asyncio.Event()

        async def receive() -> Any:
            if not parts:
                await gone.wait()
                return {"type": "http.disconnect"}
            seconds, message = parts.pop(0)
            await asyncio.sleep(seconds)
            return message

        async def send(message: Any) -> None:
            sent.append(message)
            if until in message.get("body", b""):
                gone.set()
                await asyncio.sleep(60)  # until the answer is given up

        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
        scope |= {"http_version": "1.1", "scheme": "http", "asgi": {"spec_version": "2.3"}}
        await house.app(scope, receive, send)

    asyncio.run(request())
    return sent


def _part(body: bytes, *, more: bool = False) -> Any:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_that_drips_has_no_longer_than_one_that_does_not_come(home: Path) -> None:
    house = make_house(home, limits=Limits(body_seconds=0.4))
    parts = [(0.1, _part(b" ", more=True)) for _ in range(40)]
    assert _asked(house, "/v1/search", parts, b"never")[0]["status"] == 422
    assert len(parts) > 30
    house.served.corpus.close()


def test_a_body_that_breaks_off_is_not_taken_for_an_empty_one(house: House) -> None:
    assert _asked(house, "/v1/sync", [(0.0, {"type": "http.disconnect"})], b"never") == []
    assert house.served.work.jobs("default", 10) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ask", b'{"question": "%s", "stream": true}' % QUESTION.encode()),
        (
            "/v1/chat/completions",
            b'{"model": "fonte", "stream": true, "messages": [{"role": "user", "content": "%s"}]}' % QUESTION.encode(),
        ),
    ],
)
def test_a_stream_whose_reader_goes_is_noted_with_what_was_shown(house: House, path: str, body: bytes) -> None:
    _asked(house, path, [(0.0, _part(body))], b"delta" if path == "/v1/ask" else b"annotations")
    _, noted = house.served.audit.entries("default")[0]
    assert (noted.action, noted.subject) == (f"POST {path}", QUESTION)
    assert noted.outcome == "broken_off"
    ada = next(one.document_id for one in house.served.corpus.documents() if one.name == "ada.txt")
    assert ada in noted.shown


def test_more_than_can_wait_is_refused_at_once_and_told_when_to_come_again() -> None:
    async def crowd() -> list[str]:
        room, hold = Room(1, 2, 0.2), asyncio.Event()

        async def come() -> str:
            try:
                async with room.enter():
                    await hold.wait()
            except Overloaded as error:
                assert error.after_seconds >= 1
                return "refused"
            return "done"

        tasks = [asyncio.create_task(come()) for _ in range(6)]
        await asyncio.sleep(0.5)
        hold.set()
        return sorted(await asyncio.gather(*tasks))

    # One is worked on; two wait, too long; three find no room to wait.
    assert asyncio.run(crowd()) == ["done"] + ["refused"] * 5


def test_a_place_is_free_again_after_a_fault() -> None:
    async def twice() -> None:
        room = Room(1, 0, 0.1)
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                async with room.enter():
                    raise ValueError("broken")
        assert (room.working, room.waiting) == (0, 0)

    asyncio.run(twice())


@contextmanager
def full(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Somebody's client while the only place is taken."""
    house = make_house(home, limits=Limits(concurrent=1, waiting=0))
    client = house.client(ADA)
    inside, leave = Event(), Event()
    real = house.served.corpus.search

    def slow(*args: Any, **kwargs: Any) -> Any:
        inside.set()
        leave.wait(20)
        return real(*args, **kwargs)

    monkeypatch.setattr(house.served.corpus, "search", slow)
    with client, ThreadPoolExecutor(1) as beside:
        first = beside.submit(client.post, "/v1/search", json={"query": "pump"})
        assert inside.wait(20)
        yield client
        leave.set()
        assert first.result().status_code == 200
    house.served.corpus.close()


def test_an_overloaded_server_says_so_and_health_still_answers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with full(home, monkeypatch) as client:
        refused = client.post("/v1/search", json={"query": "pump"})
        assert client.get("/healthz").status_code == 200
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
    assert refused.headers["retry-after"] == "1"


def test_whoever_is_not_known_takes_no_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with full(home, monkeypatch) as client:
        # With no place left they are refused for what they are, at once, and do not stand in the queue.
        unknown = client.post("/v1/search", json={"query": "pump"}, headers={"authorization": "Bearer nothing"})
    assert unknown.status_code == 401


def test_a_bucket_refills_with_time() -> None:
    now = [0.0]
    buckets = Buckets(60, clock=lambda: now[0])
    for _ in range(60):
        buckets.take("a")
    with pytest.raises(RateLimited):
        buckets.take("a")
    buckets.take("b")
    now[0] = 1.0
    buckets.take("a")
    with pytest.raises(RateLimited):
        buckets.take("a")


def test_what_was_asked_shown_and_denied_stands_in_the_log(house: House) -> None:
    client, runs_it = house.client(ADA), house.client(Principal("default", "eva", frozenset({"hr"})), *Action)
    client.post("/v1/ask", json={"question": "Where is the spare key of the pump?"})
    client.get("/v1/documents/salaries.txt/text")
    client.get("/v1/status")
    house.client().get("/v1/documents", headers={"authorization": "Bearer nothing"})
    entries = runs_it.get("/v1/audit").json()["entries"]
    told = [(one["user"], one["action"], one["subject"], one["outcome"]) for one in entries]
    assert told == [
        ("ada", "GET /v1/status", "", "not_permitted"),
        ("ada", "GET /v1/documents/{document_id}/text", "salaries.txt", "not_found"),
        ("ada", "POST /v1/ask", "Where is the spare key of the pump?", "ok"),
    ]
    assert entries[2]["shown"]
    nobody = house.served.audit.entries("")
    assert [(one.action, one.outcome) for _, one in nobody] == [("GET /v1/documents", "unauthenticated")]


def test_another_tenants_log_is_not_seen(house: House) -> None:
    house.client(ADA).post("/v1/search", json={"query": "pump"})
    other = house.client(Principal("meridian", "zoe", frozenset()), *Action)
    assert other.get("/v1/audit").json()["entries"] == []


def test_what_cannot_be_noted_is_not_shown(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    client = house.client(ADA)

    def full(_entry: object) -> None:
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(house.served.audit, "record", full)
    refused = client.post("/v1/search", json={"query": "pump"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    assert "bar" not in refused.text


def test_a_fault_of_ours_tells_nothing_of_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    client = house.client(ADA)

    def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(house.served.corpus, "search", broken)
    found = client.post("/v1/search", json={"query": "pump"})
    assert (found.status_code, found.json()["error"]["code"]) == (500, "error")
    assert "secret" not in found.text
    assert {"x-request-id", "content-security-policy"} <= set(found.headers)
    _, noted = house.served.audit.entries("default")[0]
    assert (noted.action, noted.subject, noted.outcome) == ("POST /v1/search", "pump", "error")


@pytest.mark.parametrize("path", ["/nothing", "/v1/documents/../../etc/passwd", "/v1/%2e%2e/x", "/docs", "/redoc"])
def test_what_is_not_there_is_told_in_the_same_form(house: House, path: str) -> None:
    found = house.client(ADA).get(path)
    assert (found.status_code, found.json()["error"]["code"]) == (404, "not_found")
    assert found.headers["x-content-type-options"] == "nosniff"


def test_every_answer_has_an_id_that_a_caller_may_choose(house: House) -> None:
    client = house.client()
    assert client.get("/healthz", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/healthz", headers={"x-request-id": "a b\t<x>"}).headers["x-request-id"] != "a b\t<x>"
