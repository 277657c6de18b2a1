"""Jobs: begun over HTTP, told of, tried again, taken up again; and what askers say of answers."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fonte import working
from fonte.access.identity import Action
from fonte.access.jobs import JobKind, JobLimits, JobState
from fonte.access.records import AuditEntry
from fonte.errors import HomeLocked, Overloaded, StoreUnavailable
from fonte.serving import _forget_daily
from fonte.stores.home import Home
from fonte.stores.sqlite_stores import SqliteJobs
from fonte.types import Principal
from fonte.working import Worker
from served import NOW, House, make_house
from test_uploads import ADA, EVA, WRITES, done, upload

ROOT = Principal("default", "root")


def test_a_sync_of_what_is_remembered(house: House) -> None:
    runs_it = house.client(ROOT, *Action)
    answer = runs_it.post("/v1/sync", json={"sources": ["memory://one"]})
    assert answer.status_code == 202
    told = done(runs_it, answer.json()["job"])
    assert (told["kind"], told["state"], told["error"]) == ("sync", "done", None)
    assert told["report"]["documents"]["unchanged"] == 3
    assert [one["id"] for one in runs_it.get("/v1/jobs").json()["jobs"]] == [told["id"]]


def test_no_path_of_a_request_is_read(house: House, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    runs_it = house.client(ROOT, *Action)
    for source in (str(tmp_path), "file:///etc/passwd", "memory://two", "upload://x"):
        assert runs_it.post("/v1/sync", json={"sources": [source]}).status_code == 404
    assert house.client(ADA, *WRITES).post("/v1/sync").status_code == 403


def test_a_retry_is_a_job_of_whoever_may_see_the_document(house: House) -> None:
    ada = house.client(ADA, *WRITES)
    document = upload(ada, ("broken.pdf", b"%PDF-1.7\nnothing"), allow="user:ada")["documents"][0]["document_id"]
    assert house.client(EVA, *WRITES).post(f"/v1/documents/{document}/retry").status_code == 404
    told = done(ada, ada.post(f"/v1/documents/{document}/retry").json()["job"])
    assert (told["state"], [one["state"] for one in told["report"]["documents"]]) == ("done", ["failed"])
    assert house.client(EVA).get("/v1/jobs").status_code == 403


def test_a_locked_home_is_tried_again_and_a_lasting_fault_is_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "LOCKED_WAIT", 0.0)
    house = make_house(home)
    work, tries = house.served.work, []
    real = house.served.corpus.resync

    def locked(*names: str, **said: Any) -> Any:
        tries.append(names)
        if len(tries) < 2 * JobLimits().tries:
            raise HomeLocked("another process is writing to this home")
        return real("memory://one", **said)

    monkeypatch.setattr(house.served.corpus, "resync", locked)
    runs_it = house.client(ROOT, *Action)
    told = done(runs_it, runs_it.post("/v1/sync").json()["job"])
    assert (told["state"], told["tries"], len(tries)) == ("done", 1, 2 * JobLimits().tries)

    def broken(*names: str, **said: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(house.served.corpus, "resync", broken)
    told = done(runs_it, runs_it.post("/v1/sync").json()["job"])
    assert (told["state"], told["tries"], told["error"]["code"]) == ("failed", 1, "error")
    work.close()
    house.served.corpus.close()


def test_a_job_whose_end_could_not_be_written_is_done_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "LONGEST_WAIT", 0.1)
    house = make_house(home)
    full, real = [True], SqliteJobs.end

    def end(self: SqliteJobs, *args: Any, **said: Any) -> None:
        if full:
            full.clear()
            raise StoreUnavailable("disk full")
        real(self, *args, **said)

    monkeypatch.setattr(SqliteJobs, "end", end)
    runs_it = house.client(ROOT, *Action)
    told = done(runs_it, runs_it.post("/v1/sync", json={"sources": ["memory://one"]}).json()["job"])
    assert (told["state"], told["tries"], full) == ("done", 2, [])
    house.served.work.close()
    house.served.corpus.close()


@pytest.mark.parametrize("where", ["reopen", "take", "end", "next_due"])
def test_a_fault_that_nobody_thought_of_stops_no_queue(
    home: Path, monkeypatch: pytest.MonkeyPatch, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(working, "LONGEST_WAIT", 0.1)
    house = make_house(home)
    once, real = [True], getattr(SqliteJobs, where)

    def broken(self: SqliteJobs, *args: Any, **said: Any) -> Any:
        if once:
            once.clear()
            raise ZeroDivisionError
        return real(self, *args, **said)

    monkeypatch.setattr(SqliteJobs, where, broken)
    runs_it = house.client(ROOT, *Action)
    for _ in range(2):
        told = done(runs_it, runs_it.post("/v1/sync", json={"sources": ["memory://one"]}).json()["job"])
        assert told["state"] == "done"
    assert once == []
    assert any("cannot be taken" in one.message and one.exc_info for one in caplog.records)
    house.served.work.close()
    house.served.corpus.close()


def test_what_a_server_left_is_taken_up_by_the_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = make_house(home)
    inside, real = Event(), house.served.corpus.resync

    def slow(*names: str, progress: Any, **said: Any) -> Any:
        while True:
            inside.set()
            progress("reading", 1, 2)
            time.sleep(0.01)

    monkeypatch.setattr(house.served.corpus, "resync", slow)
    runs_it = house.client(ROOT, *Action)
    job = runs_it.post("/v1/sync", json={"sources": ["memory://one"]}).json()["job"]
    assert inside.wait(10)
    assert runs_it.get(f"/v1/jobs/{job['id']}").json()["state"] == "running"
    house.served.work.close()
    assert runs_it.get(f"/v1/jobs/{job['id']}").json()["state"] == "running"
    monkeypatch.setattr(house.served.corpus, "resync", real)
    again = Worker(house.served.corpus, Home(home).jobs)
    assert Home(home).with_jobs() == ["default"]
    assert again.resume(["default"]) == 1
    told = done(runs_it, job)
    assert (told["state"], told["tries"]) == ("done", 2)
    again.close()
    house.served.corpus.close()


def test_a_job_that_takes_the_process_with_it_is_given_up(home: Path) -> None:
    house = make_house(home)
    store = Home(home).jobs("default")
    who = house.served.local
    assert who is not None
    sleeping = Worker(house.served.corpus, Home(home).jobs, JobLimits(at_once=0))
    job = sleeping.begin(JobKind.SYNC, who, {"sources": ["memory://one"], "publish": True})
    for _ in range(2):
        assert [one.id for one in store.take(datetime.now(UTC) + timedelta(1))] == [job.id]
        store.reopen()
    work = Worker(house.served.corpus, Home(home).jobs, JobLimits(tries=2))
    work.resume(["default"])
    until = time.monotonic() + 10
    while (found := store.job(job.id)) and found.state is not JobState.FAILED and time.monotonic() < until:
        time.sleep(0.02)
    assert found is not None
    assert found.error is not None
    assert found.error["message"] == "given up after 2 tries"
    work.close()
    house.served.corpus.close()


def test_the_queue_is_bounded(home: Path) -> None:
    house = make_house(home)
    who = house.served.local
    assert who is not None
    work = Worker(house.served.corpus, Home(home).jobs, JobLimits(at_once=0, waiting=2))
    for _ in range(2):
        work.begin(JobKind.SYNC, who, {})
    with pytest.raises(Overloaded):
        work.begin(JobKind.SYNC, who, {})
    house.served.corpus.close()


def test_feedback_is_said_by_the_asker_alone(house: House) -> None:
    ada, runs_it = house.client(ADA), house.client(ROOT, *Action)
    answer = ada.post("/v1/ask", json={"question": "At how many bar does the pump run?"}).json()["answer_id"]
    assert house.client(EVA).post("/v1/feedback", json={"answer_id": answer, "verdict": "right"}).status_code == 404
    assert ada.post("/v1/feedback", json={"answer_id": answer, "verdict": "good"}).status_code == 422
    for verdict in ("right", "wrong"):
        assert (
            ada.post("/v1/feedback", json={"answer_id": answer, "verdict": verdict, "comment": "!"}).status_code == 200
        )
    assert ada.get("/v1/feedback").status_code == 403
    (said,) = runs_it.get("/v1/feedback").json()["feedback"]
    assert (said["answer_id"], said["user"], said["verdict"], said["comment"]) == (answer, "ada", "wrong", "!")
    assert house.client(Principal("meridian", "m"), *Action).get("/v1/feedback").json() == {"feedback": []}


def test_old_entries_of_the_audit_log_go(house: House) -> None:
    audit = house.served.audit
    for days in (400, 10):
        audit.record(AuditEntry(NOW - timedelta(days), "default", "key:x", "ada", "GET /v1/status", str(days), "ok"))
    over = Event()
    over.set()
    _forget_daily(house.served, timedelta(365), over)
    assert [entry.subject for _, entry in audit.entries("default")] == ["10"]
