"""Ctrl-C while an answer is written: status 130, nothing of it kept, the home whole; on a terminal and for programs."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from property.quick_corpus import WIDE_OPEN
from unit.models.stub_server import Asked, Reply, Stub, chat_script, embedding_script, stub_server

from command import fonte
from fonte import wiring
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.types import Principal
from fonte.wiring import make_parts

QUESTION = "At how many bar does the pump in hall 4 run?"
SAID = "The pump in hall 4 runs at 40 bar [1]. It is checked every Monday [1]."
OPEN = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from fonte import wiring
from fonte.gate import GateModel
wiring.gate_for = lambda _space: GateModel(weights={}, intercept=9.0, threshold=0.5)
from fonte.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line, with every question let through to the generator; it hears Ctrl-C even where whoever started the
tests ignores it, as shells have their background jobs do."""


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with stub_server(embedding_script) as stub:
        yield stub


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, server: Stub) -> Path:
    place = tmp_path_factory.mktemp("interrupted")
    (place / "home").mkdir()
    (place / "home" / "fonte.toml").write_text(
        f'[embedding]\nsource = "openai:words"\nbase_url = "{server.base_url}"\ndimensions = 24\n'
        f'[generation]\nname = "openai"\nbase_url = "{server.base_url}"\nmodel = "writer"\n'
    )
    (place / "docs").mkdir()
    (place / "docs" / "pump.md").write_text(
        "# Pumps\n\nThe pump in hall 4 runs at 40 bar. It is checked every Monday.\n", encoding="utf-8"
    )
    assert fonte(place / "home", "sync", str(place / "docs")).status == 0
    return place / "home"


class Held:
    """Writes the first sentence and a half, then nothing until it is let go."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go = threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        if asked.path.endswith("/embeddings"):
            return embedding_script(asked)
        whole = chat_script(SAID, piece=4)(asked)
        return Reply(headers=whole.headers, chunks=self._chunks(whole.chunks or []))  # type: ignore[arg-type]  # sent as they come

    def _chunks(self, chunks: list[bytes]) -> Iterator[bytes]:
        yield from chunks[: len(chunks) - 5]
        self.asked.set()
        self.go.wait(60)
        yield from chunks[len(chunks) - 5 :]


def kept(home: Path) -> tuple[list[str], set[str]]:
    """The stored answers, and the home's files but for the logs of SQLite."""
    with OpenCorpus(make_parts(home, load_settings(None, home, {}))) as corpus:
        stored = corpus.answers(principal=Principal())
    files = {str(path.relative_to(home)) for path in home.rglob("*") if not path.name.endswith(("-wal", "-shm"))}
    return stored, files


@pytest.mark.parametrize("extra", [["--stream"], ["--json"], ["--stream", "--conversation", "new"]])
def test_an_interrupted_question_keeps_nothing_and_ends_with_130(
    home: Path, server: Stub, extra: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "gate_for", lambda _space: WIDE_OPEN)
    held = Held()
    server.script = held
    before = kept(home)
    terminal, inside = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", OPEN, "ask", QUESTION, "--home", str(home), *extra],
        stdout=inside,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.close(inside)
        assert held.asked.wait(60)
        shown = b""
        while "--stream" in extra and b"40 bar" not in shown:
            shown += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        told = process.stderr.read().decode() if process.stderr else ""
    held.go.set()
    os.close(terminal)
    assert "interrupted" in told and "Traceback" not in told
    assert b"{" not in shown
    assert kept(home) == before
    server.script = held  # which holds nothing back any more
    answered = fonte(home, "ask", QUESTION, *[one for one in extra if one != "--json"]).json
    assert answered["answer"] == SAID
    assert len(kept(home)[0]) == len(before[0]) + 1
