"""The home's layout, the vector cache, frequencies, filters, errors."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from contract.store_making import build, document, publish, question, random_codes, random_units, sealed, stored, unit

from fonte.errors import CorruptIndex, StoreUnavailable
from fonte.stores.frequencies import Frequencies
from fonte.stores.home import Home, slug
from fonte.stores.lance_errors import lance_call, store_error
from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_writer import FEW_FRAGMENTS
from fonte.stores.sql_filter import NOBODY, any_of, readable
from fonte.stores.sqlite import sqlite_error
from fonte.stores.sqlite_stores import SqliteVectorCache
from fonte.types import Acl, Generation, Principal


def test_opening_and_reading_make_nothing(home: Path) -> None:
    store = Home(home).tenant("default")
    assert store.catalog.active() is None
    assert store.cache.get("s", ["a"]) == {}
    store.index.drop([])
    assert Home(home).slugs() == []
    assert not home.exists()


def test_a_home_is_for_its_owner_only_and_tenants_share_no_file(home: Path) -> None:
    for name in ("default", "Acme Spa"):
        store = Home(home).tenant(name)
        build(store.index, [(stored("c1"), ["x"])])
        store.catalog.delete(["d1"])
        store.cache.put("s", {"h": unit(1.0)})
        store.close()
    assert Home(home).slugs() == sorted(["default", slug("Acme Spa")])
    assert (home / "FORMAT").read_text() == "fonte-home 1\n"
    folders = [home, *(home / "tenants").iterdir(), *(home / "tenants").glob("*/lance")]
    assert len(folders) == 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*.sqlite")} == {0o600}
    assert {path.relative_to(home / "tenants").parts[0] for path in (home / "tenants").rglob("*.sqlite")} == {
        "default",
        slug("Acme Spa"),
    }


def test_one_tenants_documents_are_unknown_to_another(home: Path) -> None:
    first, second = Home(home).tenant("default"), Home(home).tenant("two")
    publish(first.catalog, "g1", None, d1=["public"])
    generation = build(first.index, [(stored("c1"), ["x"])])
    assert second.catalog.active() is None
    assert second.catalog.acl("d1") == Acl()
    with pytest.raises(CorruptIndex):
        second.index.open(generation)
    first.close()


def test_a_tenant_needs_a_name(home: Path) -> None:
    with pytest.raises(ValueError):
        Home(home).tenant("")


def test_the_catalog_writes_through_to_the_disk_and_in_wal_mode(home: Path) -> None:
    store = Home(home).tenant("default")
    with store.catalog.database.write() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    with store.catalog.database.read() as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM rights")
    store.close()


def test_a_catalog_reopened_in_another_thread_of_life(home: Path) -> None:
    store = Home(home).tenant("default")
    publish(store.catalog, "g1", None, d1=["public"])
    store.close()
    assert store.catalog.active().id == "g1"  # closing is not the end
    store.close()
    assert Home(home).tenant("default").catalog.document("g1", "d1") == document("d1")[1]


def test_a_home_on_read_only_storage_is_read_and_not_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Home(home).tenant("default")
    publish(store.catalog, "g1", None, d1=["public"])
    store.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    later = Home(home).tenant("default")
    assert later.catalog.active().id == "g1"
    assert later.catalog.document("g1", "d1") == document("d1")[1]
    with pytest.raises(StoreUnavailable, match="cannot be opened or written"):
        later.catalog.delete(["d1"])
    assert later.catalog.may_read("d1", Principal())
    later.close()


# --- the vector cache ------------------------------------------------------------------------------------------------


def test_vectors_come_back_by_space_and_hash(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    vectors = {f"h{at}": vector for at, vector in enumerate(random_units(1200, 1))}
    cache.put("s1", vectors)
    cache.put("s2", {"h1": unit(1.0)})
    found = cache.get("s1", [*vectors, "h1", "absent"])
    assert found.keys() == vectors.keys()
    assert all(np.array_equal(found[key], vectors[key]) for key in vectors)
    assert found["h0"].dtype == np.float32
    assert np.array_equal(cache.get("s2", ["h1"])["h1"], unit(1.0))
    assert cache.get("s3", ["h1"]) == {}
    cache.put("s2", {"h1": unit(0.0, 1.0)})
    assert np.array_equal(cache.get("s2", ["h1"])["h1"], unit(0.0, 1.0))
    cache.put("s2", {})


@pytest.mark.parametrize("vector", [np.zeros(8), np.full(8, np.nan), np.ones((2, 8))])
def test_case_39_and_75_what_is_no_unit_vector_is_never_kept(tmp_path: Path, vector: np.ndarray) -> None:
    vector = vector.astype(np.float32)
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    with pytest.raises(ValueError):
        cache.put("s", {"good": unit(1.0), "bad": vector})
    assert cache.get("s", ["good", "bad"]) == {}


def test_codes_are_kept_beside_their_vectors(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    vectors = dict(zip("abc", random_units(3, 1)))
    given = dict(zip("ab", random_codes([3, 0], 1)))
    cache.put("s", vectors, given)
    assert cache.get("s", [*"abcd"]).keys() == {*"abc"}
    found = cache.codes("s", [*"abcd"])
    assert found.keys() == {"a", "b"}
    assert all(np.array_equal(found[key], given[key]) for key in "ab")
    assert (found["a"].dtype, found["b"].shape) == (np.int8, (0, 4))
    assert cache.codes("other", ["a"]) == {}
    cache.put("s", {"a": vectors["b"]})
    assert cache.codes("s", ["a"]) == {}, "codes belong to the vector that they came with"
    assert cache.prune({"s": {"b"}}) == 2
    assert cache.codes("s", [*"abc"]).keys() == {"b"}


@pytest.mark.parametrize("codes", [np.zeros(4, np.int8), np.zeros((2, 4), np.float32), np.zeros((2, 0), np.int8)])
def test_what_is_no_code_is_never_kept(tmp_path: Path, codes: np.ndarray) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    with pytest.raises(ValueError, match="codes"):
        cache.put("s", {"a": unit(1.0)}, {"a": codes})
    assert cache.get("s", ["a"]) == {}


VERSION_1 = """
CREATE TABLE vectors (
    space TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (space, text_hash)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


def test_a_cache_of_the_version_before_is_taken_over_by_the_first_write(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    body = unit(1.0).tobytes()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(VERSION_1)
        row = ("s", "a", body, zlib.crc32(body, zlib.crc32(b"s\0a")))
        connection.execute("INSERT INTO vectors VALUES (?, ?, ?, ?)", row)
        connection.commit()
    cache = SqliteVectorCache(file)
    assert (cache.get("s", ["a"]), cache.codes("s", ["a"]), cache.count()) == ({}, {}, 0)
    cache.put("s", {"b": unit(0.0, 1.0)}, {"b": random_codes([2], 1)[0]})
    assert np.array_equal(cache.get("s", ["a", "b"])["a"], unit(1.0))
    assert cache.codes("s", ["a", "b"]).keys() == {"b"}
    cache.close()
    again = SqliteVectorCache(file)
    assert again.count() == 2
    again.close()


# --- small parts -----------------------------------------------------------------------------------------------------


def test_frequencies_count_chunks_not_occurrences() -> None:
    counted = Frequencies([pa.array(["a b a", ""]), pa.array(["b c", "b"])])
    assert counted.of(["a", "b", "c", "d", ""]) == {"a": 1, "b": 3, "c": 1}
    assert Frequencies([pa.array([], pa.utf8())]).of(["a"]) == {}


def test_filters_name_their_columns_and_nobody_stays_nobody() -> None:
    where = readable(question(["hr"], documents=("a'b",), languages=("it",)), ["d1"])
    assert where == (
        "array_has_any(roles, ['hr', 'public'])"
        " AND (document_id IN ('a''b') OR document_name IN ('a''b') OR source_uri IN ('a''b'))"
        " AND language IN ('it') AND document_id NOT IN ('d1')"
    )
    assert any_of("document_id", []) == any_of("document_id", ["\0"]) == NOBODY


def test_rows_are_bound_in_few_fragments(tmp_path: Path) -> None:
    store = LanceIndex(tmp_path / "lance")
    rows = [(stored(f"c{at:03}", f"d{at}"), ["x"]) for at in range(300)]
    writer = store.begin(build(store, rows[:1]).recipe, None)
    for at in range(0, 300, 3):
        part = rows[at : at + 3]
        writer.add([row for row, _ in part], [terms for _, terms in part], random_units(3, at))
    writer.seal()
    data = list((tmp_path / "lance" / f"{writer.table}.lance" / "data").iterdir())
    assert len(data) == 1


def files_of(store: LanceIndex, generation: Generation) -> dict[str, int]:
    """Data files of a generation's table with the number of their links."""
    return {one.name: one.stat().st_nlink for one in (store._path(generation.table) / "data").iterdir()}


def changed(store: LanceIndex, base: Generation, at: int) -> Generation:
    """A generation with document ``d{at}`` changed."""
    writer = store.begin(base.recipe, base)
    writer.remove_documents([f"d{at}"])
    writer.add([stored(f"n{at}-{base.id}", f"d{at}", content="another text")], [["x"]], random_units(1, at))
    return sealed(writer, f"g{at}")


def test_a_small_change_shares_its_bases_files_and_is_bound_after_many(tmp_path: Path) -> None:
    store = LanceIndex(tmp_path / "lance")
    base = build(store, [(stored(f"c{at:03}", f"d{at}"), ["x"]) for at in range(100)])
    (first,) = files_of(store, base)
    seen = [1]
    for at in range(20):
        base = changed(store, base, at)
        seen.append(len(files_of(store, base)))
        if seen[-1] > 1:
            assert max(files_of(store, base).values()) > 1, "linked, not copied"
        reader = store.open(base)
        assert len(reader.bm25(["x"], question(), revoked=(), k=200)) == 100
        assert len(reader.dense(unit(1.0), question(), revoked=(), k=200)) == 100
    assert seen[:3] == [1, 2, 3]
    assert max(seen) <= FEW_FRAGMENTS
    assert 1 in seen[2:], "now and then all rows are bound in one file"
    assert first not in files_of(store, base)


def test_what_one_sync_changes_becomes_one_fragment_however_often_a_document_changes(tmp_path: Path) -> None:
    store = LanceIndex(tmp_path / "lance")
    base = build(store, [(stored(f"c{at:03}", f"d{at}"), ["x", f"w{at}"]) for at in range(100)])
    writer = store.begin(base.recipe, base)
    for turn in range(3):
        for at in range(20):
            writer.remove_documents([f"d{at}"])
            writer.add([stored(f"n{at}-{turn}", f"d{at}")], [["x", f"v{turn}"]], random_units(1, at))
    assert list(writer.chunk_ids("d7")) == ["n7-2"]
    writer.add([stored("more", "d50")], [["x", "more"]], random_units(1, 1))
    after = sealed(writer, "g2")
    assert after.chunks == 101
    assert len(files_of(store, after)) == 2
    reader = store.open(after)
    found = {word: len(reader.bm25([word], question(), revoked=(), k=200)) for word in ("v0", "v1", "v2", "w7", "w50")}
    assert found == {"v0": 0, "v1": 0, "v2": 20, "w7": 0, "w50": 1}
    assert {hit.chunk_id for hit in reader.bm25(["w50", "more"], question(), revoked=(), k=9)} == {"c050", "more"}
    assert len(reader.dense(unit(1.0), question(), revoked=(), k=200)) == 101
    assert len(store.open(base).bm25(["x"], question(), revoked=(), k=200)) == 100


def test_files_of_old_indexes_are_not_handed_on(tmp_path: Path) -> None:
    store = LanceIndex(tmp_path / "lance")
    base = build(store, [(stored(f"c{at:03}", f"d{at}"), ["x"]) for at in range(30)])
    kept = set()
    for at in range(5):
        base = changed(store, base, at)
        indexes = [one.name for one in (store._path(base.table) / "_indices").iterdir()]
        assert len(indexes) == 1, "that of its own words"
        kept.update(indexes)
    assert len(kept) == 5
    assert len(store.open(base).bm25(["x"], question(), revoked=(), k=99)) == 30


@pytest.mark.parametrize(
    ("error", "kind", "word"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StoreUnavailable, "disk full"),
        (RuntimeError("lance error: No space left on device (os error 28)"), StoreUnavailable, "disk full"),
        (PermissionError(errno.EACCES, "Permission denied"), StoreUnavailable, "not allowed"),
        (ValueError("Dataset at path x was not found"), CorruptIndex, "gone"),
        (pa.ArrowInvalid("something odd"), StoreUnavailable, "odd"),
        (RuntimeError(), StoreUnavailable, "RuntimeError"),
    ],
)
def test_foreign_errors_of_the_index_are_wrapped(error: Exception, kind: type[Exception], word: str) -> None:
    assert word in str(store_error(error, "testing"))
    with pytest.raises(kind) as caught, lance_call("testing"):
        raise error
    assert caught.value.__cause__ is error
    assert caught.value.hint


@pytest.mark.parametrize(
    ("code", "kind", "word"),
    [
        (sqlite3.SQLITE_BUSY, StoreUnavailable, "locked"),
        (sqlite3.SQLITE_FULL, StoreUnavailable, "disk full"),
        (sqlite3.SQLITE_IOERR | 3 << 8, StoreUnavailable, "disk failed"),
        (sqlite3.SQLITE_READONLY, StoreUnavailable, "cannot be opened"),
        (sqlite3.SQLITE_CORRUPT, CorruptIndex, "contradicts"),
        (sqlite3.SQLITE_CONSTRAINT, CorruptIndex, "contradicts"),
        (None, StoreUnavailable, "failed"),
    ],
)
def test_foreign_errors_of_the_catalog_are_wrapped(code: int | None, kind: type[Exception], word: str) -> None:
    error = sqlite3.OperationalError("text")
    if code is not None:
        error.sqlite_errorcode = code
    wrapped = sqlite_error(error, Path("catalog.sqlite"))
    assert isinstance(wrapped, kind)
    assert word in wrapped.message
    assert wrapped.hint


def test_vectors_that_are_not_in_use_are_forgotten_space_by_space(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite")
    assert cache.count() == 0
    for space in ("s1", "s2", "s3"):
        cache.put(space, {"a": unit(1.0, 0.0), "b": unit(0.0, 1.0)})
    assert cache.count() == 6
    assert cache.prune({"s1": {"a", "never seen"}, "s2": {"a", "b"}}) == 3
    assert [sorted(cache.get(space, ["a", "b"])) for space in ("s1", "s2", "s3")] == [["a"], ["a", "b"], []]
    cache.close()
