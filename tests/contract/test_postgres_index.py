"""What holds of the index in PostgreSQL alone: rows that generations share, and what goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from contract.store_making import RECIPE, STAFF, build, postgres_index, question, random_units, sealed, stored
from postgres_server import Server

from fonte.errors import CorruptIndex, StoreUnavailable
from fonte.stores.postgres import index
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.index import PostgresIndex
from fonte.stores.postgres.packing import unpacked
from fonte.stores.postgres.pool import Pool

TABLES = ("tables", "documents", "removed", "chunks", "vectors", "postings", "blocks", "counters")


class Database:
    """A database looked at as its superuser, whom no policy keeps out."""

    def __init__(self, server: Server, url: str) -> None:
        self._server, self.url = server, url
        self._name = Address.of(url).database

    def rows(self, sql: str) -> list[list[Any]]:
        return self._server.run(sql, database=self._name)

    def counts(self) -> dict[str, int]:
        return {one: self.rows(f"SELECT count(*) FROM fonte.index_{one}")[0][0] for one in TABLES}


@pytest.fixture
def database(postgres_server: Server, postgres_url: str) -> Database:
    return Database(postgres_server, postgres_url)


@pytest.fixture
def store(database: Database) -> Iterator[PostgresIndex]:
    with postgres_index(database.url) as index:
        yield index


def added(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {one: after[one] - before[one] for one in after if after[one] != before[one]}


def found(store: Any, generation: Any, term: str = "x", k: int = 50) -> list[str]:
    return [hit.chunk_id for hit in store.open(generation).bm25([term], question(), revoked=(), k=k)]


def test_a_sync_writes_what_changed_and_nothing_else(store: PostgresIndex, database: Database) -> None:
    base = build(store, [(stored(f"c{at}", f"d{at}"), ["x", f"w{at}"]) for at in range(50)])
    before = database.counts()
    writer = store.begin(RECIPE, base)
    writer.remove_documents(["d7"])
    writer.add([stored("n1", "d7"), stored("n2", "d7")], [["x"], ["y"]], random_units(2, 5))
    second = sealed(writer, "g2")
    written = {"tables": 1, "documents": 1, "removed": 1, "chunks": 2, "vectors": 2, "postings": 2, "blocks": 1}
    assert added(before, database.counts()) == written
    before = database.counts()
    writer = store.begin(RECIPE, second)
    writer.set_roles({"d8": frozenset({"hr"})})
    third = sealed(writer, "g3")
    assert added(before, database.counts()) == {"tables": 1, "documents": 1, "removed": 1}
    assert [len(found(store, one)) for one in (base, second, third)] == [50, 50, 49]


def test_other_roles_for_a_document_that_then_goes_leave_the_base_its_chunks(store: PostgresIndex) -> None:
    base = build(store, [(stored("c1", "d1"), ["x"]), (stored("c2", "d2"), ["x"])])
    writer = store.begin(RECIPE, base)
    writer.set_roles({"d1": frozenset({"hr", "public"})})
    assert writer.remove_documents(["d1"]) == 1
    assert found(store, sealed(writer, "g2")) == ["c2"]
    assert found(store, base) == ["c1", "c2"]


def test_what_is_dropped_leaves_no_row_and_what_is_kept_stays_as_it_was(
    store: PostgresIndex, database: Database
) -> None:
    first = build(store, [(stored(f"c{at}", f"d{at}"), ["x"]) for at in range(5)])
    generations = [first]
    for step in range(4):  # each changes a document of the one before
        writer = store.begin(RECIPE, generations[-1])
        writer.remove_documents([f"d{step}"])
        writer.set_roles({"d4": frozenset({"public", f"r{step}"})})
        writer.add([stored(f"n{step}", f"d{step}")], [["x"]], random_units(1, step))
        generations.append(sealed(writer, f"g{step + 2}"))
    branch = store.begin(RECIPE, generations[1])
    branch.remove_documents(["d3"])
    other = sealed(branch, "other")
    wanted = {one.id: found(store, one) for one in (generations[3], other)}
    store.drop([generations[3], other])
    assert {one.id: found(store, one) for one in (generations[3], other)} == wanted
    assert wanted == {"g4": ["c3", "c4", "n0", "n1", "n2"], "other": ["c1", "c2", "c4", "n0"]}
    held = database.counts()
    assert (held["tables"], held["chunks"], held["vectors"]) == (2, 7, 7)
    lineages = [row[0] for row in database.rows("SELECT lineage FROM fonte.index_tables ORDER BY number")]
    assert {len(one) for one in lineages} == {2, 3}, "what both have in common counts as one"
    store.drop([other])
    assert (found(store, other), database.counts()["chunks"]) == (wanted["other"], 4)
    assert len(store.open(other).dense(random_units(1, 1)[0], question(), revoked=(), k=9)) == 4
    store.drop([])
    assert database.counts() == dict.fromkeys(TABLES, 0) | {"counters": 1}


def test_many_small_syncs_leave_few_blocks_and_the_scores_of_a_fresh_build(
    store: PostgresIndex, database: Database
) -> None:
    rows = {f"d{at}": (stored(f"c{at}", f"d{at}"), ["x"] * (at % 3 + 1) + [f"w{at % 5}"]) for at in range(40)}
    generation = build(store, list(rows.values()))
    for step in range(12):
        writer = store.begin(RECIPE, generation)
        name = f"d{step}"
        writer.remove_documents([name])
        rows[name] = stored(f"n{step}", name), ["x", f"w{step % 7}", "y"]
        writer.add([rows[name][0]], [rows[name][1]], random_units(1, step))
        generation = sealed(writer, f"g{step}")
        store.drop([generation])
    assert database.counts()["blocks"] <= 4
    total, alive = database.rows(
        "SELECT (SELECT sum(postings) FROM fonte.index_blocks), (SELECT sum(postings) FROM fonte.index_documents)"
    )[0]
    assert alive <= total <= 1.4 * alive
    fresh = build(store, list(rows.values()), name="fresh")
    for terms in (["x"], ["w1", "y"], ["x", "w3", "absent"]):
        one, other = (store.open(it).bm25(terms, question(), revoked=(), k=30) for it in (generation, fresh))
        assert one == other
        assert store.open(generation).document_frequencies(terms) == store.open(fresh).document_frequencies(terms)


def test_what_is_erased_is_in_no_row(store: PostgresIndex, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(stored(f"c{at}", f"d{at}", content=f"secret{at} text"), ["x", f"secret{at}"]) for at in range(4)]
    base = build(store, rows)
    reader = store.open(base)
    writer = store.rewrite(base, ["d1", "d2"])
    clean = sealed(writer, "g2")
    monkeypatch.setattr(index, "ERASE_SECONDS", 0.1)
    store.erase([clean])
    assert found(store, clean) == ["c0", "c3"]
    assert sorted(one.chunk.content for one in store.open(clean).stored_chunks()) == ["secret0 text", "secret3 text"]
    texts = database.rows("SELECT content || terms || context FROM fonte.index_chunks")
    assert len(texts) == 2
    assert not any("secret1" in one or "secret2" in one for (one,) in texts)
    kept = {row[0] for row in database.rows("SELECT number FROM fonte.index_chunks")}
    for (body,) in database.rows("SELECT body FROM fonte.index_postings"):
        assert set(unpacked(bytes(body))[0].tolist()) <= kept
    assert database.counts()["vectors"] == 2
    with pytest.raises(CorruptIndex):  # it was read while it was erased
        reader.bm25(["x"], question(), revoked=(), k=5)


def test_another_process_keeps_what_it_reads(store: PostgresIndex, database: Database) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    with postgres_index(database.url) as elsewhere:  # sessions of its own, as a process has
        reader = elsewhere.open(first)
        assert [one.id for one in store.in_use([first, second])] == ["g1"]
        store.drop([second])
        assert [hit.chunk_id for hit in reader.bm25(["x"], question(), revoked=(), k=5)] == ["c1"]
        assert list(reader.chunks(["c1"], STAFF, revoked=())) == ["c1"]
    assert store.in_use([first, second]) == []
    store.drop([second])
    with pytest.raises(CorruptIndex):
        store.open(first)
    assert database.counts()["tables"] == 1


def test_what_a_killed_writer_left_goes_with_the_next_drop(store: PostgresIndex, database: Database) -> None:
    base = build(store, [(stored("c1", "d1"), ["x"])])
    killed = postgres_index(database.url)
    writer = killed.__enter__().begin(RECIPE, base)
    writer.remove_documents(["d1"])
    writer.add([stored("c2", "d2")], [["x"]], random_units(1, 1))
    writer.set_roles({"d2": frozenset({"hr"})})  # writes what waits
    store.drop([base])
    assert database.counts()["tables"] == 2, "it may still be at work"
    killed.__exit__(None, None, None)  # its sessions end, and it never sealed
    store.drop([base])
    held = database.counts()
    assert (held["tables"], held["documents"], held["chunks"], held["removed"]) == (1, 1, 1, 0)
    assert found(store, base) == ["c1"]


def test_tenants_in_one_database_share_nothing(database: Database) -> None:
    pool = Pool(database.url)
    one, other = PostgresIndex(pool, "one"), PostgresIndex(pool, "other")
    theirs = build(one, [(stored("c1", "d1"), ["x"])])
    with pytest.raises(CorruptIndex):
        other.open(theirs)
    ours = build(other, [(stored("c1", "d1"), ["y"])])
    other.drop([])
    assert one.open(theirs).languages() == {"it": 1}
    with pytest.raises(CorruptIndex):
        other.open(ours)
    one.close()
    other.close()
    pool.close()


def test_pins_come_back_when_their_connection_was_lost(
    store: PostgresIndex, database: Database, postgres_server: Server
) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    reader = store.open(first)
    postgres_server.kill_session("fonte", Address.of(database.url).database)
    store.open(second)  # the next pin makes a new connection, which holds the old pin too
    with postgres_index(database.url) as elsewhere:
        elsewhere.drop([second])
    assert [hit.chunk_id for hit in reader.bm25(["x"], question(), revoked=(), k=5)] == ["c1"]


def test_a_reader_whose_rows_are_gone_says_so_and_never_answers_in_part(
    store: PostgresIndex, database: Database, postgres_server: Server
) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    reader = store.open(first)
    assert len(reader.bm25(["x"], question(), revoked=(), k=5)) == 1
    postgres_server.kill_session("fonte", Address.of(database.url).database)
    with postgres_index(database.url) as elsewhere:  # nobody holds the pin in this moment
        elsewhere.drop([second])
    for ask in (
        lambda: reader.bm25(["x"], question(), revoked=(), k=5),
        lambda: reader.dense(random_units(1, 1)[0], question(), revoked=(), k=5),
        lambda: reader.chunks(["c1"], STAFF, revoked=()),
        lambda: list(reader.texts()),
    ):
        with pytest.raises((CorruptIndex, StoreUnavailable)):
            ask()


def test_searches_go_on_after_the_server_was_killed_and_started_again(
    postgres_server: Server, database: Database
) -> None:
    with postgres_index(database.url) as store:
        generation = build(store, [(stored(f"c{at}", f"d{at}"), ["x"]) for at in range(3)])
        reader = store.open(generation)
        assert len(reader.bm25(["x"], question(), revoked=(), k=5)) == 3
        postgres_server.kill()
        with pytest.raises(StoreUnavailable) as told:
            reader.dense(random_units(1, 1)[0], question(), revoked=(), k=5)
        assert told.value.retryable
        postgres_server.restart()
        assert len(reader.dense(random_units(1, 1)[0], question(), revoked=(), k=5)) == 3
        assert found(store, generation) == ["c0", "c1", "c2"]


def test_a_write_that_is_broken_off_leaves_nothing_of_itself(
    store: PostgresIndex, database: Database, postgres_server: Server
) -> None:
    base = build(store, [(stored("c1", "d1"), ["x"])])
    before = database.counts()
    writer = store.begin(RECIPE, base)
    writer.add([stored("c2", "d2")], [["x"]], random_units(1, 1))
    postgres_server.run(
        "CREATE FUNCTION fonte.broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$",
        "CREATE TRIGGER broken BEFORE UPDATE ON fonte.index_tables EXECUTE FUNCTION fonte.broken()",
        database=Address.of(database.url).database,
    )
    try:
        with pytest.raises(StoreUnavailable):
            writer.seal()
    finally:  # the database serves other tests
        postgres_server.run("DROP FUNCTION fonte.broken CASCADE", database=Address.of(database.url).database)
    assert added(before, database.counts()).keys() <= {"tables", "documents", "chunks", "vectors"}
    assert database.counts()["blocks"] == before["blocks"], "the transaction of the seal was taken back whole"
    assert found(store, base) == ["c1"]
    assert np.isfinite(store.open(base).centroids()["it"][0]).all()
