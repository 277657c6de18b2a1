"""Errors over the wire: what and what to do, without folders of the machine or commands to be typed there."""

from __future__ import annotations

import ast
import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fonte
from fonte.access.identity import Action
from fonte.corpus import OpenCorpus
from fonte.errors import CorruptIndex, FonteError, HomeLocked, ModelNotInstalled, SchemaMismatch, StoreUnavailable
from fonte.http.outward import outward_error
from fonte.types import Principal
from served import House

ADA = Principal("default", "ada", frozenset())
HERE = "/srv/secret-place/home"
NAMED = (
    StoreUnavailable(f"the home {HERE} may not be written or read", hint="check its owner and mode"),
    HomeLocked(f"{HERE}/writer.lock is held", hint="wait"),
    SchemaMismatch(f"{HERE} is a home of another version", hint="use the fonte that made it"),
    CorruptIndex(f"the index is damaged: {HERE}/tenants/acme/lance/x.lance", hint="run fonte sync again"),
    ModelNotInstalled(f"{HERE}/model.onnx is missing", hint="install fonte again"),
)


def _raising(error: FonteError) -> Any:
    def raises(*_: Any, **__: Any) -> Any:
        raise error

    return raises


@pytest.mark.parametrize("error", NAMED, ids=lambda one: one.code)
def test_no_face_names_a_folder_and_the_log_does(
    house: House, error: FonteError, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("search", "ask", "stream", "show"):
        monkeypatch.setattr(OpenCorpus, name, _raising(error))
    client = house.client(ADA)
    message = {"role": "user", "content": "Where is the pump?"}
    tool = {"name": "search", "arguments": {"query": "pump"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "fonte://documents/d" + "0" * 20}}
    accept = {"accept": "application/json, text/event-stream"}
    with caplog.at_level(logging.WARNING, "fonte"):
        answers = [
            client.post("/v1/search", json={"query": "pump"}),
            client.post("/v1/ask", json={"question": "Where is the pump?"}),
            client.post("/v1/ask", json={"question": "Where is the pump?", "stream": True}),
            client.post("/v1/chat/completions", json={"model": "fonte", "messages": [message]}),
            client.post("/mcp", json=call, headers=accept),
            client.post("/mcp", json=read, headers=accept),
        ]
    for answer in answers:
        assert error.code in answer.text
        assert "secret-place" not in answer.text
        assert "fonte sync" not in answer.text
    assert caplog.text.count("secret-place") == len(answers)


def test_a_stream_that_breaks_and_a_note_name_no_folder(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(*_: Any, **__: Any) -> Iterator[str]:
        yield "The pump "
        raise NAMED[0]

    client = house.client(ADA)
    catalog = house.served.corpus._store_of("default").catalog  # a store that fails cannot be had from outside
    with monkeypatch.context() as patched:
        patched.setattr(type(catalog), "save_answer", _raising(NAMED[0]))
        kept = client.post("/v1/ask", json={"question": "At how many bar does the pump run?"})
    assert any("not kept" in note for note in kept.json()["notes"])
    monkeypatch.setattr(OpenCorpus, "stream", breaking)
    streamed = client.post("/v1/ask", json={"question": "Where is the pump?", "stream": True})
    message = {"role": "user", "content": "Where is the pump?"}
    chat = client.post("/v1/chat/completions", json={"model": "fonte", "messages": [message], "stream": True})
    assert "event: error" in streamed.text
    for answer in (kept, streamed, chat):
        assert "secret-place" not in answer.text


def test_a_job_that_failed_names_no_folder(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenCorpus, "resync", _raising(NAMED[3]))
    client = house.client(Principal("default", "max", frozenset()), *Action)
    job = client.post("/v1/sync").json()["job"]["id"]
    house.served.work.close()  # waits for what runs
    told = client.get(f"/v1/jobs/{job}").json()
    assert told["error"]["code"] == "corrupt_index"
    assert "secret-place" not in str(told) + client.get("/v1/jobs").text


def test_an_index_that_is_gone_is_told_without_its_place(house: House, home: Path) -> None:
    shutil.rmtree(home / "tenants" / "default" / "lance")
    refused = house.client(ADA).post("/v1/search", json={"query": "pump"})
    assert refused.status_code >= 500
    assert not re.search(r"/|\.lance|tenants", refused.json()["error"]["message"])


def _hints() -> set[str]:
    """Every hint of an error in the sources, with x for what is put into it."""
    found = set()
    for path in Path(fonte.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                if isinstance(node.value, ast.Constant):
                    found.add(str(node.value.value))
                elif isinstance(node.value, ast.JoinedStr):
                    parts = (one.value if isinstance(one, ast.Constant) else "x" for one in node.value.values)
                    found.add("".join(str(part) for part in parts))
    return found


def test_no_hint_names_a_command_over_the_wire() -> None:
    hints = _hints()
    assert len(hints) > 100
    for hint in hints:
        told = outward_error({"code": "error", "message": "x", "hint": hint})
        assert not re.search(
            r"\bfonte (sync|show|keys|generations|publish|retry|why|golden)|--\w", str(told["hint"])
        ), hint
        assert bool(told["hint"]) == bool(hint)


def test_hints_lead_to_what_the_caller_can_do(house: House) -> None:
    gone = house.client(ADA).get("/v1/conversations/v00000000000000000000").json()["error"]
    assert gone["hint"] == '"conversation_id": "new" begins one'
    runs_it = house.client(Principal("default", "max", frozenset()), *Action)
    absent = runs_it.post("/v1/generations/g0000000000000000/publish").json()["error"]
    assert absent["hint"] == "GET /v1/generations lists them"
