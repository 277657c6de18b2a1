"""Syncs and questions over broken surroundings: full disks, read-only homes, damaged files, two writers at once."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lancedb
import pytest
from faults.test_sync_kill import _end, _go, _worker
from integration.command import Ran, fonte
from property.quick_corpus import WordEmbedder, quick_corpus

from fonte.models import registry
from fonte.types import Answered, Principal

WHO = Principal()
QUESTION = "Where does pump P-7 run?"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """Words as vectors, for every command of the test."""
    made = WordEmbedder()
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: made)
    return made


def fill(folder: Path, documents: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(documents):
        text = f"# Note {number}\n\nPump P-{number} runs at {number * 3} bar in hall {number % 7}.\n"
        (folder / f"n{number}.md").write_text(text, encoding="utf-8")
    return folder


def one_line(ran: Ran, *codes: str) -> None:
    """A refusal as a person sees it: status 1, one line, one of the codes, something to do about it."""
    assert ran.status == 1
    assert ran.json["error"]["code"] in codes
    assert ran.json["error"]["hint"]
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err + ran.out


def order(home: Path) -> list[str]:
    ran = fonte(home, "search", "pump P-7 hall 3")
    assert ran.status == 0, ran.err
    return [one["chunk_id"] for one in ran.json["results"]]


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("free", [0, 60_000, 250_000])
def test_a_disk_that_fills_during_a_sync(model: WordEmbedder, tmp_path: Path, free: int) -> None:
    folder = fill(tmp_path / "docs", 30)
    with small_disk(tmp_path / "disk", "8m") as disk:
        home = disk / "home"
        assert fonte(home, "sync", str(folder)).status == 0
        before, active = order(home), fonte(home, "generations").json["active"]
        for number in range(0, 30, 2):
            (folder / f"n{number}.md").write_text(f"# Note {number}\n\n" + f"Pump {number} stands still. " * 400)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file:
            while shutil.disk_usage(disk).free > free:
                file.write(b"x" * 4096)
        ran = fonte(home, "sync", str(folder))
        one_line(ran, "store_unavailable")
        assert "disk full" in ran.json["error"]["message"]
        assert ran.json["error"]["retryable"]
        assert (order(home), fonte(home, "generations").json["active"]) == (before, active)
        asked = fonte(home, "ask", QUESTION)
        assert asked.status == 0
        filler.unlink()
        assert fonte(home, "sync", str(folder)).json["documents"]["modified"] == 15
        assert fonte(home, "sync", str(folder)).json["documents"]["unchanged"] == 30
        assert len(fonte(home, "generations").json["generations"]) == 2, "what was never finished is gone"


def test_a_read_only_home_answers_and_says_that_answers_are_not_kept(model: WordEmbedder, tmp_path: Path) -> None:
    folder = fill(tmp_path / "docs", 10)
    with small_disk(tmp_path / "disk", "16m") as disk:
        home = disk / "home"
        fonte(home, "sync", str(folder))
        fonte(home, "delete", "n3.md")
        before = order(home)
        kept = fonte(home, "ask", QUESTION).json
        assert (kept["notes"], bool(kept["answer_id"])) == ([], True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert order(home) == before
        asked = fonte(home, "ask", QUESTION)
        assert asked.status == 0
        assert [one["quote"] for one in asked.json["citations"]] == [one["quote"] for one in kept["citations"]]
        assert asked.json["answer_id"] == "", "an id would promise that it can be read again"
        (note,) = asked.json["notes"]
        assert note.startswith("this answer was not kept: ")
        assert note in asked.err
        for command in (["show", "n1.md"], ["documents"], ["status"], ["generations"], ["doctor"]):
            assert fonte(home, *command).status == 0, command
        for command in (["sync", str(folder)], ["delete", "n1.md"], ["rollback"]):
            one_line(fonte(home, *command), "store_unavailable", "not_found")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        assert fonte(home, "sync", str(folder)).status == 0


def test_a_home_left_by_a_kill_and_then_mounted_read_only_shows_the_last_commit(
    model: WordEmbedder, tmp_path: Path
) -> None:
    """A tombstone that stands only in the log beside the catalog is obeyed."""
    folder = fill(tmp_path / "docs", 5)
    with small_disk(tmp_path / "disk", "16m") as disk:
        home = disk / "home"
        fonte(home, "sync", str(folder))
        catalog = home / "tenants" / "default" / "catalog.sqlite"
        pid = os.fork()
        if pid == 0:  # a writer that dies with its commit in the log
            connection = sqlite3.connect(catalog, isolation_level=None)
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("UPDATE rights SET deleted = 1")
            connection.execute("UPDATE clock SET now = now + 1")
            os.kill(os.getpid(), 9)
        os.waitpid(pid, 0)
        assert catalog.with_name("catalog.sqlite-wal").stat().st_size > 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert order(home) == []
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


@pytest.mark.parametrize(
    "content", [b"", b"not a database, but long enough" * 99, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_damaged_catalog(model: WordEmbedder, tmp_path: Path, content: bytes) -> None:
    folder = fill(tmp_path / "docs", 3)
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    (home / "tenants" / "default" / "catalog.sqlite").write_bytes(content)
    if not content:  # an emptied file is what a first sync finds: nothing is known, and a sync makes it again
        assert fonte(home, "search", "pump").json["results"] == []
        assert fonte(home, "sync", str(folder)).json["documents"]["added"] == 3
        assert fonte(home, "search", "pump").json["results"]
        return
    for command in (["search", "pump"], ["ask", QUESTION], ["show", "n1.md"], ["documents"], ["sync", str(folder)]):
        one_line(fonte(home, *command), "corrupt_index")


def test_damaged_index_files_are_said_and_the_next_sync_repairs_them(model: WordEmbedder, tmp_path: Path) -> None:
    folder = fill(tmp_path / "docs", 12)
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    before = order(home)
    draw = random.Random(5)
    said = 0
    (table,) = (home / "tenants" / "default" / "lance").glob("*.lance")
    for place in sorted({"data", "_versions", "_indices"} & {path.name for path in table.iterdir()}):
        for how in ("flip", "cut", "gone"):
            broken = tmp_path / f"{place}-{how}"
            shutil.copytree(home, broken)
            for path in sorted((broken / "tenants/default/lance").rglob("*")):
                if not path.is_file() or place not in path.parts:
                    continue
                body = bytearray(path.read_bytes())
                for _ in range(20):
                    body[draw.randrange(len(body))] ^= 0xFF
                path.write_bytes(body[: len(body) // 2] if how == "cut" else body)
                if how == "gone":
                    path.unlink()
            ran = fonte(broken, "search", "pump P-7 hall 3")
            if ran.status:
                one_line(ran, "corrupt_index", "store_unavailable")
                said += 1
            embedded = len(model.texts)
            repaired = fonte(broken, "sync", str(folder))
            assert repaired.status == 0, repaired.err
            assert len(model.texts) == embedded, "the vectors were known"
            assert order(broken) == before
            if ran.status:
                assert any("built anew" in note for note in repaired.json["notes"])
    assert said >= 5


def test_an_index_of_an_older_fonte_is_built_anew_by_the_sync_that_it_asks_for(
    tmp_path: Path, model: WordEmbedder
) -> None:
    folder, home = fill(tmp_path / "docs", 3), tmp_path / "home"
    fonte(home, "sync", str(folder))
    before, embedded = order(home), len(model.texts)
    (table,) = (home / "tenants" / "default" / "lance").glob("*.lance")
    older = lancedb.connect(table.parent).open_table(table.stem)
    older.drop_columns(["valid_from", "valid_to"])
    with sqlite3.connect(home / "tenants" / "default" / "catalog.sqlite") as catalog:
        catalog.execute("UPDATE generations SET table_version = ?", (older.version,))
    refused = fonte(home, "search", "pump P-7 hall 3")
    one_line(refused, "schema_mismatch")
    assert "fonte sync" in refused.json["error"]["hint"]
    again = fonte(home, "sync", str(folder))
    assert again.status == 0, again.err
    assert any("built anew" in note for note in again.json["notes"])
    assert order(home) == before
    assert len(model.texts) == embedded, "the vectors were known"


@pytest.mark.slow
def test_two_writers_at_once(tmp_path: Path) -> None:
    """Two processes: one is turned away with home_locked, and the index is whole."""
    folder, config = fill(tmp_path / "docs", 20), tmp_path / "fonte.toml"
    home = tmp_path / "home"
    config.write_text('[embedding]\nsource = "package:all-MiniLM-L6-v2"\n')
    workers = [_worker(home, folder, config) for _ in range(2)]
    try:
        for worker in workers:
            _go(worker)
        statuses = [worker.wait(timeout=120) for worker in workers]
    finally:
        for worker in workers:
            _end(worker)
    assert sorted(statuses) in ([0, 1], [0, 0]), "0, 0: one had ended before the other began"
    ran = fonte(home, "generations").json
    assert [one["state"] for one in ran["generations"]] == ["active"]
    assert ran["generations"][0]["documents"] == 20


@pytest.mark.slow
def test_a_thousand_documents(tmp_path: Path) -> None:
    folder = fill(tmp_path / "docs", 1000)
    embedder = WordEmbedder()
    with quick_corpus(tmp_path / "home", embedder=embedder) as corpus:
        first = corpus.sync(str(folder))
        assert (first.documents["added"], first.chunks_added, first.embedded_texts) == (1000, 1000, 1000)
    calls = embedder.calls
    with quick_corpus(tmp_path / "home", embedder=embedder) as corpus:
        began = time.perf_counter()
        second = corpus.sync(str(folder))
        print(f"unchanged pass over 1,000 documents: {time.perf_counter() - began:.2f} s")
        assert second.documents == {**second.documents, "added": 0, "modified": 0, "deleted": 0, "unchanged": 1000}
        assert (second.chunks_added, second.chunks_removed, second.embedded_texts) == (0, 0, 0)
        assert embedder.calls == calls
        assert second.generation == first.generation

        (folder / "n500.md").write_text("# Note 500\n\nThe okapi lives in hall 9.\n")
        third = corpus.sync(str(folder))
        assert (third.documents["modified"], third.documents["unchanged"]) == (1, 999)
        assert (third.chunks_added, third.chunks_removed, third.embedded_texts) == (1, 1, 1)
        assert embedder.calls == calls + 1

        answer = corpus.ask("Where does the okapi live?", principal=WHO)
        assert isinstance(answer, Answered)
        assert answer.citations[0].document_name == "n500.md"
        (folder / "n500.md").unlink()
        asked = embedder.calls
        fourth = corpus.sync(str(folder))
        assert (fourth.documents["deleted"], fourth.chunks_removed, fourth.chunks_added) == (1, 1, 0)
        assert embedder.calls == asked
        assert "n500.md" not in str(corpus.search("okapi hall 9", principal=WHO, k=50))
        assert "okapi" not in str(corpus.ask("Where does the okapi live?", principal=WHO)).replace(
            "Where does the okapi live?", ""
        )
        assert [state for state in corpus.documents() if state.name == "n500.md"] == []
        assert len(corpus.documents()) == 999
