"""What breaks around the server: a model that hangs, a locked catalog, a full disk, a process that is killed."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from fonte.access.identity import Action
from fonte.context import render_messages
from fonte.corpus import OpenCorpus
from fonte.http.app import create_app
from fonte.models import registry
from fonte.models.writing import Prices
from fonte.stores import sqlite
from fonte.types import Principal
from quick_corpus import Shelf, Shelves, quick_parts
from served import TEXTS, House, make_house

ADA = Principal("default", "ada", frozenset())


@contextmanager
def hanging() -> Iterator[str]:
    """An endpoint that takes every request and says nothing."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(32)
        yield f"http://127.0.0.1:{door.getsockname()[1]}/v1"


def test_a_model_that_hangs_costs_its_asker_an_error_and_nobody_else_a_place(home: Path) -> None:
    house = make_house(home)
    with hanging() as address:
        chat = registry.make_chat(
            "m", render_messages, base_url=address, prices=Prices(0, 0), timeout_seconds=1.0, max_tokens=9
        )
        parts = replace(quick_parts(home, Shelves({"one": Shelf(TEXTS)})), make_generator=lambda _name, _scorer: chat)
        with OpenCorpus(parts) as corpus:
            served = replace(house.served, corpus=corpus)
            client = House(served, create_app(served)).client(ADA)
            waiting = [
                Thread(target=client.post, args=("/v1/ask",), kwargs={"json": {"question": "Where is the pump?"}})
                for _ in range(2)
            ]
            for one in waiting:
                one.start()
            assert client.post("/v1/search", json={"query": "pump"}).status_code == 200
            refused = client.post("/v1/ask", json={"question": "Where is the pump?"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "model_unavailable")
            assert refused.json()["error"]["retryable"]
            streamed = client.post("/v1/ask", json={"question": "Where is the pump?", "stream": True})
            # Nothing was sent before the fault, so it has its status; else it would be an event.
            assert streamed.status_code == 503 or "event: error" in streamed.text
            for one in waiting:
                one.join(30)
    house.served.corpus.close()


def test_a_locked_catalog_stops_what_writes_and_nothing_that_reads(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.3)
    house = make_house(home)
    client = house.client(ADA, Action.READ, Action.WRITE)
    document = client.get("/v1/documents/pump.txt").json()["document_id"]
    holder = sqlite3.connect(home / "tenants" / "default" / "catalog.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert client.post("/v1/search", json={"query": "pump"}).json()["results"]
        told = client.post("/v1/ask", json={"question": "At how many bar does the pump run?"}).json()
        assert told["answered"]
        assert told["answer_id"] == ""
        assert any("not kept" in note for note in told["notes"])
        refused = client.delete(f"/v1/documents/{document}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    finally:
        holder.rollback()
        holder.close()
    assert client.delete(f"/v1/documents/{document}").status_code == 200
    house.served.corpus.close()


class Process:
    """``fonte serve`` as people run it."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.child = subprocess.Popen(
            [sys.executable, "-m", "fonte", "serve", "--home", str(home), "--port", str(self.port)],
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 90
        while time.monotonic() < until and self.child.poll() is None:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.base}/readyz", timeout=5)
                return
            time.sleep(0.1)
        raise AssertionError("the server did not start")

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def end(self, how: int = signal.SIGTERM) -> int:
        self.child.send_signal(how)
        return self.child.wait(60)


@pytest.fixture
def real_home(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for at in range(4):
        (folder / f"n{at}.md").write_text(f"# Hall {at}\n\nPump P-{at} runs at {at + 3} bar in hall {at}.\n", "utf-8")
    home = tmp_path / "home"
    subprocess.run(
        [sys.executable, "-m", "fonte", "sync", str(folder), "--home", str(home), "--quiet"],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return home


@pytest.fixture
def start(real_home: Path) -> Iterator[Callable[[], Process]]:
    """Starts a server over the home, as often as is asked; none is left."""
    started: list[Process] = []

    def one() -> Process:
        started.append(Process(real_home))
        return started[-1]

    yield one
    for process in started:
        process.end(signal.SIGKILL)


def test_a_killed_server_leaves_a_home_that_answers(start: Callable[[], Process]) -> None:
    question = {"question": "At how many bar does pump P-2 run?"}
    first = start()
    before = httpx.post(f"{first.base}/v1/ask", json=question, timeout=60).json()
    assert before["answered"]
    with httpx.stream("POST", f"{first.base}/v1/ask", json=question | {"stream": True}, timeout=60) as streamed:
        next(streamed.iter_raw())
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
    second = start()
    after = httpx.post(f"{second.base}/v1/ask", json=question, timeout=60).json()
    assert (after["answer"], after["generation"]) == (before["answer"], before["generation"])
    kept = httpx.get(f"{second.base}/v1/answers/{before['answer_id']}", timeout=60).json()
    assert kept["answer"] == before["answer"]
    told = httpx.get(f"{second.base}/v1/audit", timeout=60).json()["entries"]
    assert json.dumps(told).count(question["question"]) >= 2
    assert second.end() in (0, -signal.SIGTERM)


def test_a_server_whose_disk_is_full_says_so_and_goes_on_once_it_is_not(start: Callable[[], Process]) -> None:
    question = {"question": "At how many bar does pump P-2 run?"}
    server = start()
    with httpx.Client(base_url=server.base, timeout=60) as client:
        before = client.post("/v1/ask", json=question).json()
        assert before["answered"]
        _, most = resource.prlimit(server.child.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.child.pid, resource.RLIMIT_FSIZE, (0, most))
        told = [
            client.post("/v1/ask", json=question),
            client.post("/v1/search", json={"query": "pump"}),
            client.post("/v1/documents", files={"file": ("new.md", b"# New\n\nPump P-9 runs at 9 bar.\n")}),
            client.delete(f"/v1/documents/{before['citations'][0]['document_id']}"),
        ]
        for one in told:
            assert one.status_code in (200, 503, 507), one.text
            assert one.status_code == 200 or (one.json()["error"]["code"], one.json()["error"]["retryable"]) == (
                "store_unavailable",
                True,
            )
        assert [one.status_code for one in told[2:]] == [503, 503]
        resource.prlimit(server.child.pid, resource.RLIMIT_FSIZE, (most, most))
        after = client.post("/v1/ask", json=question).json()
        assert (after["answer"], after["generation"]) == (before["answer"], before["generation"])
        assert len(client.get("/v1/documents").json()["documents"]) == 4
    assert server.end() in (0, -signal.SIGTERM)


def test_a_sync_of_a_server_that_was_killed_is_done_by_the_next_one(
    start: Callable[[], Process], real_home: Path
) -> None:
    folder = real_home.parent / "texts"
    for at in range(4, 24):
        (folder / f"n{at}.md").write_text(f"# Hall {at}\n\nPump P-{at} runs at {at + 3} bar in hall {at}.\n", "utf-8")
    first = start()
    job = httpx.post(f"{first.base}/v1/sync", json={}, timeout=60).json()["job"]["id"]
    until = time.monotonic() + 60
    while not (told := _job(first, job))["progress"] and told["state"] in ("queued", "running"):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert told["state"] == "running"
    first.end(signal.SIGKILL)
    second = start()
    until = time.monotonic() + 120
    while (told := _job(second, job))["state"] in ("queued", "running"):
        assert time.monotonic() < until
        time.sleep(0.2)
    assert told["state"] == "done", told
    documents = httpx.get(f"{second.base}/v1/documents", timeout=60).json()["documents"]
    assert sorted(one["document_name"] for one in documents) == sorted(f"n{at}.md" for at in range(24))
    answer = httpx.post(f"{second.base}/v1/ask", json={"question": "At how many bar does pump P-20 run?"}, timeout=60)
    assert "23 bar" in answer.json()["answer"]
    assert second.end() in (0, -signal.SIGTERM)


def _job(server: Process, job: str) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{server.base}/v1/jobs/{job}", timeout=60).json()
    return told
