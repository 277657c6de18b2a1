"""``kill -9`` at random moments of a sync: the active generation answers as before, the next sync is as if from new."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from faults import small_corpus
from faults.small_corpus import begin, edit, leftovers, open_corpus, told

DOCUMENTS = 40
FEWER_DOCUMENTS = 16


def _worker(home: Path, folder: Path, config: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "faults.sync_worker",
        "sync", str(folder), "--home", str(home), "--config", str(config), "--quiet",
    ]  # fmt: skip
    here = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), here)))}
    worker = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def _go(worker: subprocess.Popen[str]) -> None:
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


def _end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.wait()
    for pipe in (worker.stdin, worker.stdout):
        assert pipe is not None
        pipe.close()


def _orphans(worker: int) -> list[int]:
    """Parser processes of a worker that outlive it; their last argument is their parent's id."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = process.info["cmdline"] or []
        if "fonte.parsers.child" in line and line[-1] == str(worker) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def _fresh(folder: Path, home: Path) -> small_corpus.Told:
    with open_corpus(home) as corpus:
        corpus.sync(str(folder))
    return told(home)


def kill_syncs(place: Path, kills: int, seed: int, documents: int) -> dict[str, int]:
    """Sync, then edit and kill so many times over one home; (how often the kill left what was, or what came).

    Every second kill lets the next one meet what it left: no clean sync between the two.
    """
    draw = random.Random(seed)
    folder, home, config = place / "docs", place / "home", place / "fonte.toml"
    config.write_text(small_corpus.MODEL, encoding="utf-8")
    begin(folder, documents)
    with open_corpus(home) as corpus:
        corpus.sync(str(folder))
    worker = _worker(home, folder, config)
    edit(folder, draw, 1)
    began = time.monotonic()
    _go(worker)
    assert worker.wait() == 0
    whole = time.monotonic() - began
    _end(worker)
    outcomes = {"before": 0, "after": 0, "done": 0}
    for number in range(kills):
        edit(folder, draw, number + 2)
        before = told(home)
        worker = _worker(home, folder, config)
        _go(worker)
        time.sleep(draw.uniform(0, 1.2 * whole))
        outcomes["done"] += worker.poll() is not None
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        pid = worker.pid
        _end(worker)
        wanted = _fresh(folder, place / f"fresh-{number}")
        after = told(home)
        difference = after.difference(before) and after.difference(wanted)
        assert not difference, f"kill {number} of seed {seed} left a mixture: {difference}"
        outcomes["before" if after == before else "after"] += 1
        if number % 2 or number == kills - 1:
            with open_corpus(home) as corpus:
                report = corpus.sync(str(folder))
            assert report.published
            difference = told(home).difference(wanted)
            assert not difference, f"the sync after kill {number} of seed {seed} differs from a new home: {difference}"
            assert leftovers(home) == []
        assert _orphans(pid) == []
    return outcomes


@pytest.mark.slow
def test_a_killed_sync_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    outcomes = kill_syncs(tmp_path, kills=3, seed=11, documents=FEWER_DOCUMENTS)
    assert outcomes["before"] + outcomes["after"] == 3


@pytest.mark.soak
def test_twenty_kills(tmp_path: Path) -> None:
    outcomes = kill_syncs(tmp_path, kills=20, seed=2024, documents=DOCUMENTS)
    print(outcomes)
    assert outcomes["before"] >= 10, "most kills should land inside the work"
