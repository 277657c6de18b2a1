"""What breaks around the server: a model that hangs, a catalog that is locked, a process that is killed."""

from __future__ import annotations

import json
import os
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
