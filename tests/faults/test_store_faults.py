"""Full disks, failing writes, killed writers, damaged files: the active generation answers as before."""

from __future__ import annotations

import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.store_making import building, publish, question, random_codes, random_units, unit
from faults.store_worker import DOCUMENTS, codes_of, sync
from lancedb.table import LanceTable

from fonte.errors import CorruptIndex, SchemaMismatch, StoreError, StoreUnavailable
from fonte.stores import lance_index, pins
from fonte.stores import sqlite as stores_sqlite
from fonte.stores.home import Home, TenantStore, slug
from fonte.stores.lance_rows import to_codes
from fonte.stores.sqlite_stores import SqliteVectorCache
from fonte.types import Principal

ANYONE = Principal()


def snapshot(store: TenantStore) -> tuple[Any, ...]:
    """What a reader sees: the alias, hits of both legs, texts."""
    active = store.catalog.active()
    reader = store.index.open(active)
    revoked = store.catalog.revoked(active.id, ANYONE)
    words = reader.bm25(["x"], question(), revoked=revoked, k=100)
    near = reader.dense(unit(1.0), question(), revoked=revoked, k=100)
    texts = [store.catalog.document(active.id, state.document_id).text for state in store.catalog.states(active.id)]
    chunks = reader.chunks([hit.chunk_id for hit in words], ANYONE, revoked=revoked)
    versions = {f"{one.chunk.document_id} {one.source_version}" for one in chunks.values()}
    assert versions == set(texts), "index and catalog are of one state"
    assert len(words) == len(near) == active.chunks == 3 * DOCUMENTS
    codes = reader.codes(list(chunks), ANYONE, revoked=revoked)
    assert codes.keys() == chunks.keys()
    assert all(np.array_equal(one, codes_of(chunk)) for chunk, one in codes.items()), "codes of their own chunks"
    return active.id, words, near, texts


class Failing:
    """Counts calls and makes the n-th fail."""

    def __init__(self, at: int, error: Callable[[], Exception]) -> None:
        self.at, self.error, self.calls = at, error, 0

    def wrap(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self.at:
                raise self.error()
            return inner(*args, **kwargs)

        return call


def full() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


@contextmanager
def failing_sqlite(monkeypatch: pytest.MonkeyPatch, failing: Failing) -> Iterator[None]:
    """Every statement and commit of writing connections counts."""

    class Connection(stores_sqlite._Connection):
        execute = failing.wrap(sqlite3.Connection.execute)
        executemany = failing.wrap(sqlite3.Connection.executemany)
        commit = failing.wrap(sqlite3.Connection.commit)

    with monkeypatch.context() as patch:
        patch.setattr(stores_sqlite, "_Connection", Connection)
        yield


@contextmanager
def failing_lance(monkeypatch: pytest.MonkeyPatch, failing: Failing) -> Iterator[None]:
    with monkeypatch.context() as patch:
        for name in ("add", "delete", "create_index", "optimize", "count_rows"):
            patch.setattr(LanceTable, name, failing.wrap(getattr(LanceTable, name)))
        patch.setattr(lance_index, "_link", failing.wrap(lance_index._link))
        patch.setattr(os, "fsync", failing.wrap(os.fsync))
        yield


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    random.seed(1)
    store = Home(tmp_path / "home").tenant("default")
    sync(store, "g0", "v0")
    store.close()
    yield tmp_path / "home"


@pytest.mark.parametrize("kind", ["sqlite", "lance"])
def test_every_nth_write_may_fail_and_the_active_generation_answers(
    kind: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full() -> Exception:
        return OSError(errno.ENOSPC, "No space left on device")

    error, context = (full, failing_sqlite) if kind == "sqlite" else (disk_full, failing_lance)
    step = 9 if kind == "sqlite" else 3
    at, failed, finished = 1, 0, False
    while not finished:
        before = snapshot(Home(home).tenant("default"))
        failing = Failing(at, error)
        with context(monkeypatch, failing):
            store = Home(home).tenant("default")
            try:
                sync(store, f"g-{at}", f"v-{at}")
                finished = failing.calls < at
            except StoreUnavailable as refused:
                failed += 1
                assert "disk full" in refused.message
                assert refused.hint
                assert refused.retryable
            store.close()
        after = snapshot(Home(home).tenant("default"))
        # The commit of the alias may be the call that failed, or one after it.
        assert after == before or after[0] == f"g-{at}"
        at += step
    assert failed > 4
    store = Home(home).tenant("default")
    sync(store, "g-last", "v-last")
    sync(store, "g-very-last", "v-very-last")
    assert snapshot(store)[0] == "g-very-last"
    tables = {path.stem for path in (home / "tenants" / "default" / "lance").glob("*.lance")}
    assert tables <= {one.table for one in store.catalog.generations()}


def test_a_killed_writer_leaves_the_active_generation_whole(tmp_path: Path) -> None:
    """``kill -9`` at two moments drawn by seed, on homes of their own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    draw = random.Random(7)
    workers = []
    for seed in range(2):
        folder = tmp_path / f"home{seed}"
        command = [sys.executable, "-m", "faults.store_worker", str(folder), str(seed)]
        worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        workers.append((folder, worker))
    try:
        for folder, worker in workers:
            assert worker.stdout.readline() == "ready\n"
            time.sleep(draw.uniform(0.05, 0.6))
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            store = Home(folder).tenant("default")
            before = snapshot(store)
            sync(store, "after", "after")  # no stale lock, no leftover in the way
            assert snapshot(store)[0] == "after"
            assert before[0] != "after"
            assert all(one.state != "building" for one in store.catalog.generations())
            store.close()
    finally:
        for _, worker in workers:
            worker.kill()
            worker.wait()
            worker.stdout.close()


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    with small_disk(tmp_path / "disk", "3m") as disk:
        store = Home(disk / "home").tenant("default")
        sync(store, "g0", "v0")
        before = snapshot(store)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while file.write(b"x" * 4096):
                pass
        with pytest.raises(StoreUnavailable):
            sync(store, "g1", "v1")
        assert snapshot(store) == before
        filler.unlink()
        sync(store, "g2", "v2")
        assert snapshot(store)[0] == "g2"
        store.close()


def test_a_locked_database_is_unavailable_and_worth_a_retry(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores_sqlite, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(home / "tenants" / "default" / "catalog.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = Home(home).tenant("default")
    with pytest.raises(StoreUnavailable, match="locked") as caught:
        store.catalog.delete(["d1"])
    assert caught.value.retryable
    assert store.catalog.may_read("d1", ANYONE)
    other.execute("ROLLBACK")
    other.close()
    store.catalog.delete(["d1"])
    assert not store.catalog.may_read("d1", ANYONE)


@pytest.mark.parametrize("content", [b"not a database, but long enough" * 99, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_catalog_is_said_to_be_damaged(home: Path, content: bytes) -> None:
    for suffix in ("-wal", "-shm"):
        (home / "tenants" / "default" / f"catalog.sqlite{suffix}").unlink(missing_ok=True)
    (home / "tenants" / "default" / "catalog.sqlite").write_bytes(content)
    with pytest.raises(CorruptIndex) as caught:
        Home(home).tenant("default").catalog.active()
    assert caught.value.hint


def test_a_damaged_text_is_never_served(home: Path) -> None:
    store = Home(home).tenant("default")
    with store.catalog.database.write() as connection:
        (body,) = connection.execute("SELECT body FROM texts WHERE document_id = 'd1'").fetchone()
        broken = bytes(body[:-1]) + bytes([body[-1] ^ 1])
        connection.execute("UPDATE texts SET body = ? WHERE document_id = 'd1'", (broken,))
    with pytest.raises(CorruptIndex, match="d1"):
        store.catalog.document("g0", "d1")
    assert store.catalog.document("g0", "d2").text == "d2 v0"


@pytest.mark.parametrize("what", ["table", "data", "version"])
def test_a_damaged_index_is_an_error_never_an_empty_answer(home: Path, what: str) -> None:
    store = Home(home).tenant("default")
    active = store.catalog.active()
    table = home / "tenants" / "default" / "lance" / f"{active.table}.lance"
    if what == "table":
        table.rename(table.with_name("elsewhere"))
    else:
        files = (table / "data").glob("*") if what == "data" else (table / "_versions").glob("*")
        for path in files:
            path.unlink()
    with pytest.raises(StoreError):
        reader = store.index.open(active)
        reader.bm25(["x"], question(), revoked=(), k=5)
        reader.dense(unit(1.0), question(), revoked=(), k=5)


# --- the home --------------------------------------------------------------------------------------------------------


def test_a_home_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="not a folder"):
        Home(tmp_path / "file")
    with pytest.raises(StoreUnavailable) as caught:
        Home(tmp_path / "file" / "below").tenant("default").catalog.delete(["d"])
    assert caught.value.hint


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_home_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", refuse)
    store = Home(tmp_path / "home").tenant("default")
    for write in (lambda: store.catalog.delete(["d"]), lambda: store.cache.put("s", {"h": unit(1.0)})):
        with pytest.raises(StoreUnavailable) as caught:
            write()
        assert caught.value.hint
    assert store.catalog.active() is None


@pytest.mark.parametrize("found", ["fonte-home 2\n", "", "\xff"])
def test_a_home_of_another_version_is_refused(tmp_path: Path, found: str) -> None:
    (tmp_path / "FORMAT").write_bytes(found.encode("latin-1"))
    with pytest.raises(SchemaMismatch):
        Home(tmp_path)


def test_a_home_without_its_format_is_refused_and_a_fresh_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "fonte.toml").write_text("")
    Home(tmp_path)
    (tmp_path / "tenants").mkdir()
    with pytest.raises(SchemaMismatch):
        Home(tmp_path)


def test_a_catalog_of_another_schema_is_refused(tmp_path: Path) -> None:
    store = Home(tmp_path / "home").tenant("default")
    publish(store.catalog, "g1", None, d1=["public"])
    with store.catalog.database.write() as connection:
        connection.execute("PRAGMA user_version = 99")
    store.close()
    later = Home(tmp_path / "home").tenant("default")
    for use in (later.catalog.active, lambda: later.catalog.add_generation(building("g2"))):
        with pytest.raises(SchemaMismatch):
            use()


def test_a_reader_of_another_process_holds_its_generation(home: Path) -> None:
    ours, theirs = Home(home).tenant("default"), Home(home).tenant("default")
    reader = ours.index.open(ours.catalog.active())
    random.seed(3)
    for at in range(3):
        sync(theirs, f"g-{at}", f"v-{at}")
    folder = home / "tenants" / "default" / "lance"
    assert reader.generation.id not in {one.id for one in theirs.catalog.generations()}
    assert len(reader.bm25(["x"], question(), revoked=(), k=100)) == 3 * DOCUMENTS
    assert (folder / f"{reader.generation.table}.lance").exists()
    table = reader.generation.table
    del reader
    ours.index.drop(ours.catalog.generations())
    assert not (folder / f"{table}.lance").exists()


def test_a_table_that_is_being_removed_is_not_opened(home: Path) -> None:
    store = Home(home).tenant("default")
    active = store.catalog.active()
    with pins.alone(home / "tenants" / "default" / "lance" / f"{active.table}.pin") as unread:
        assert unread
        with pytest.raises(StoreUnavailable):
            store.index.open(active)
    store.index.open(active)


# --- the vector cache ------------------------------------------------------------------------------------------------


def test_a_damaged_cache_row_is_not_known(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    vectors = dict(zip("abc", random_units(3, 1)))
    cache.put("s", vectors)
    with cache.database.write() as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(32) WHERE text_hash = 'a'")
        connection.execute("UPDATE vectors SET text_hash = 'd' WHERE text_hash = 'b'")
    found = cache.get("s", ["a", "b", "c", "d"])
    assert found.keys() == {"c"}
    assert np.array_equal(found["c"], vectors["c"])


def test_a_row_with_damaged_codes_is_not_known(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    codes = dict(zip("abcde", random_codes([3] * 5, 1)))
    cache.put("s", dict(zip("abcde", random_units(5, 1))), codes)
    with cache.database.write() as connection:
        connection.execute("UPDATE vectors SET codes = zeroblob(12) WHERE text_hash = 'a'")
        connection.execute("UPDATE vectors SET codes = substr(codes, 1, 8) WHERE text_hash = 'b'")
        connection.execute("UPDATE vectors SET code_width = 3 WHERE text_hash = 'c'")
        connection.execute("UPDATE vectors SET codes = NULL, code_width = NULL WHERE text_hash = 'd'")
    assert cache.codes("s", [*"abcde"]).keys() == {"e"}
    assert cache.get("s", [*"abcde"]).keys() == {"e"}


def test_token_codes_that_are_damaged_are_told_and_never_compared() -> None:
    with pytest.raises(CorruptIndex, match="token codes"):
        to_codes(b"12345", 4, "c1")


def test_a_damaged_cache_file_starts_anew(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    file.write_bytes(b"no database at all" * 1000)
    cache = SqliteVectorCache(file)
    assert cache.get("s", ["a"]) == {}
    cache.put("s", {"a": unit(1.0)})
    assert cache.get("s", ["a"]).keys() == {"a"}


def test_slugs_never_leave_their_folder_and_never_meet() -> None:
    names = ["default", "a-b_1", "x-1", "..", ".", "", "a/b", "../x", "A", "a", "é", "a" * 63, "a" * 64, "con\0"]
    names.append(slug("A"))
    slugs = [slug(one) for one in names]
    assert len(set(slugs)) == len(names)
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") and 0 < len(one) < 64 for one in slugs)
