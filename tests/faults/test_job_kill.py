"""``kill -9`` in the middle of jobs: the next start does them, nothing is lost and nothing is there twice."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from fonte.access.identity import Action, Identity
from fonte.access.jobs import JobKind, JobLimits, JobState
from fonte.access.uploads import Upload, upload_id
from fonte.stores.home import Home
from fonte.types import Principal
from fonte.working import Worker
from quick_corpus import quick_corpus

WHO = Identity("key:a", Principal("default", "ada"), frozenset(Action))


def _worker(home: Path) -> subprocess.Popen[str]:
    here = Path(__file__).resolve().parent.parent
    paths = [os.environ.get("PYTHONPATH", ""), str(here), str(here / "property"), *sys.path]
    worker = subprocess.Popen(
        [sys.executable, "-m", "faults.job_worker", str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def _facts(home: Path) -> tuple[dict[str, str], int]:
    with quick_corpus(home) as corpus:
        states = {one.uri: one.status.value for one in corpus.documents()}
        active, _ = corpus.generations()
        assert active is not None
        store = corpus._store_of("default")
        ids = [one.chunk.id for one in store.index.open(active).stored_chunks()]
        assert len(ids) == len(set(ids)) == active.chunks
        return states, len(ids)


def test_killed_jobs_are_done_by_the_next_start(tmp_path: Path) -> None:
    home, folder, draw = tmp_path / "home", tmp_path / "docs", random.Random(5)
    folder.mkdir()
    (folder / "first.md").write_text("# First\n\nThe first note.\n", encoding="utf-8")
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder))
        for number in range(12):
            (folder / f"n{number}.md").write_text(f"# Note {number}\n\nPump {number} is in hall {number}.\n")
        asleep = Worker(corpus, Home(home).jobs, JobLimits(at_once=0))
        jobs = [asleep.begin(JobKind.SYNC, WHO, {"sources": [str(folder)], "publish": True})]
        for number in range(4):
            upload = Upload(upload_id(WHO, f"u{number}.txt"), f"u{number}.txt", "ada", ("public",), datetime.now(UTC))
            with corpus.uploads("default").draft(upload, io.BytesIO(f"Upload {number}.".encode())) as draft:
                draft.commit()
            jobs.append(asleep.begin(JobKind.UPLOAD, WHO, {"documents": [], "uris": [upload.uri]}))
    for _ in range(4):
        worker = _worker(home)
        time.sleep(draw.uniform(0.05, 0.6))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        assert worker.stdout is not None
        worker.stdout.close()
    with quick_corpus(home) as corpus:
        work, store = Worker(corpus, Home(home).jobs), Home(home).jobs("default")
        work.resume(Home(home).with_jobs())
        until = time.monotonic() + 60
        while (states := {one.state for one in store.jobs(9)}) != {JobState.DONE} and time.monotonic() < until:
            time.sleep(0.05)
        work.close()
        assert (states, len(store.jobs(9))) == ({JobState.DONE}, len(jobs))
    found, chunks = _facts(home)
    assert set(found.values()) == {"ready"}
    assert len(found) == chunks == 13 + 4
