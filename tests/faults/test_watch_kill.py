"""A watch as a process: killed in the middle of a parse, told to stop, and what it prints meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from waiting import numbered_notes, wait_until

from fonte.access.standing import PassState, Rules
from fonte.parts import SourceOptions
from fonte.standing import Looked, Standing
from quick_corpus import quick_corpus

LONG = 120.0


@contextmanager
def _process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    here = Path(__file__).resolve().parent.parent
    paths = [os.environ.get("PYTHONPATH", ""), str(here), str(here / "property"), *sys.path]
    process = subprocess.Popen(
        [sys.executable, "-m", "faults.watch_worker", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return numbered_notes(tmp_path / "docs", 5)


def test_a_worker_that_is_killed_in_mid_parse_is_succeeded_and_the_status_follows(tmp_path: Path, folder: Path) -> None:
    home, since = tmp_path / "home", datetime.now(UTC)
    with _process("stuck", str(home), str(folder)) as process, quick_corpus(home) as corpus:
        assert process.stdout is not None
        assert process.stdout.readline() == "parsing\n"
        store, other = corpus.standing(), Standing(corpus, Rules(), "alive")

        def look() -> Looked:
            return other.look(
                str(folder), tenant="default", since=since, progress=lambda *_: None, options=SourceOptions()
            )

        assert [(one.owner, one.state) for one in store.passes(9)] == [("dead", PassState.RUNNING)]
        begun = store.source(str(folder)).until
        assert begun is not None
        wait_until(lambda: (store.source(str(folder)).until or begun) > begun)
        assert look().ended is None, "its heart beats, also while it hangs in one document"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert look().ended is None, "nobody knows yet"
        looked: list[Looked] = []

        def ended() -> bool:
            looked.append(look())
            return looked[-1].ended is not None

        wait_until(ended)
        assert all(one.again_at is not None for one in looked[:-1]), "it is told when to come back"
        assert [(one.owner, one.state) for one in store.passes(9)] == [
            ("alive", PassState.DONE),
            ("dead", PassState.LOST),
        ]
        assert [one.status.value for one in corpus.documents()] == ["ready"] * 5
        active, known = corpus.generations()
        assert active is not None
        assert [one.id for one in known] == [active.id], "what the dead one had begun is gone"
        assert active.chunks == 5
        assert store.source(str(folder)).owner is None


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_command_tells_each_pass_that_changed_something_and_ends_when_told(
    tmp_path: Path, folder: Path, stop: signal.Signals
) -> None:
    home = tmp_path / "home"
    arguments = ("cli", "sync", str(folder), "--home", str(home), "--watch", "--json")
    with _process(*arguments) as process:
        assert process.stdout is not None

        def line() -> dict[str, Any]:
            told: dict[str, Any] = json.loads(process.stdout.readline())  # type: ignore[union-attr]  # a pipe
            return told

        first = line()
        assert (first["source"], first["state"], first["changed"]) == (str(folder), "done", True)
        assert first["report"]["documents"]["added"] == 5
        (folder / "n1.md").write_text("# Note 1\n\nOther words.\n")
        second = line()
        assert second["report"]["documents"]["modified"] == 1
        (folder / "n2.md").rename(folder / "m2.md")
        third = line()
        assert third["moved"] == [{"from": "n2.md", "to": "m2.md"}]
        assert third["report"]["embedded_texts"] == 0
        (folder / "n1.md").touch()  # changes nothing, so nothing is told of it
        process.send_signal(stop)
        out, err = process.communicate(timeout=LONG)
        assert (process.returncode, out) == (0, "")
        assert "watching" in err
        assert "error" not in err
    with quick_corpus(home) as corpus:
        assert corpus.standing().source(str(folder)).owner is None
        assert {one.name for one in corpus.documents()} == {"n0.md", "n1.md", "m2.md", "n3.md", "n4.md"}
