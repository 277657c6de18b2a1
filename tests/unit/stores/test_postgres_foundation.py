"""Connections, the pool, locks and migrations of PostgreSQL, over a real server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from postgres_server import OWNER, SUPERUSER, TEMPLATE, Server

from fonte.errors import ConfigError, CorruptIndex, HomeLocked, InputError, SchemaMismatch, StoreUnavailable
from fonte.stores.postgres import errors
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.connection import translated
from fonte.stores.postgres.database import PostgresDatabase, SystemDatabase
from fonte.stores.postgres.locks import TenantLock, numbered
from fonte.stores.postgres.migrating import VERSION, migrate, migrations
from fonte.stores.postgres.pool import Pool

PUT = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
GET = "SELECT value FROM meta WHERE key = ?"


def database(pool: Pool, tenant: str = "a", **more: object) -> PostgresDatabase:
    return PostgresDatabase(pool, tenant, area="catalog", **more)  # type: ignore[arg-type]  # one keyword


def value(one: PostgresDatabase, key: str = "k") -> str | None:
    with one.read() as connection:
        row = connection.execute(GET, (key,)).fetchone()
    return row["value"] if row else None


@pytest.fixture
def pool(postgres_url: str):
    one = Pool(postgres_url, most=3, wait_seconds=0.2)
    yield one
    one.close()


# --- addresses and errors --------------------------------------------------------------------------------------------


def test_an_address_is_read_and_never_shows_its_password() -> None:
    one = Address.of("postgresql://ada:s%23cret@db.example:5433/corpus?sslmode=verify-full")
    assert (one.host, one.port, one.database, one.user, one.password) == ("db.example", 5433, "corpus", "ada", "s#cret")
    assert "s#cret" not in f"{one!r} {one}"
    assert one.tls().check_hostname
    assert Address.of("postgres://u@/d?host=/run/pg").socket == "/run/pg/.s.PGSQL.5432"
    for wrong in (
        "mysql://u:hidden@h/d", "postgresql://u:hidden@h:port/d", "postgresql://u:hidden@h/d?sslmode=odd",
        "postgresql://u:hidden@h/d?speed=9",
    ):  # fmt: skip
        with pytest.raises(ConfigError) as error:
            Address.of(wrong)
        assert "hidden" not in f"{error.value} {error.value.hint}"


def test_a_wrong_login_is_told_without_its_password(postgres_server: Server) -> None:
    url = postgres_server.url(TEMPLATE, "nobody:hidden")
    with pytest.raises(ConfigError) as error, database(Pool(url)).read():
        pass
    assert "hidden" not in f"{error.value} {error.value.hint}"
    with pytest.raises(ConfigError, match="no such database"), database(Pool(postgres_server.url("absent"))).read():
        pass
    with pytest.raises(StoreUnavailable), database(Pool("postgresql://u@/d?host=/nowhere")).read():
        pass


def test_a_superuser_acts_as_the_role_that_row_level_security_holds_for(postgres_server: Server) -> None:
    name = postgres_server.database()
    pool = Pool(postgres_server.url(name, SUPERUSER))
    try:
        with database(pool, "a").write() as connection:
            connection.execute(PUT, ("k", "a's"))
            assert connection.execute("SELECT current_user").fetchone()[0] == "fonte_app"
        assert value(database(pool, "b")) is None
    finally:
        pool.close()
        postgres_server.drop(name)


# --- statements ------------------------------------------------------------------------------------------------------


def test_statements_are_translated() -> None:
    assert translated(PUT).startswith("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (tenant, key)")
    assert translated("SELECT 1 WHERE ? IN (?, ?)") == "SELECT 1 WHERE $1 IN ($2, $3)"


def test_rows_come_as_sqlite_gives_them(pool: Pool) -> None:
    with database(pool).write() as connection:
        found = connection.executemany(PUT, [("k", "1"), ("l", "2")])
        assert found.rowcount == 2
        rows = connection.execute("SELECT key, value FROM meta ORDER BY key")
        assert [tuple(row) for row in rows] == [("k", "1"), ("l", "2")]
        assert dict(connection.execute("SELECT key, value FROM meta").fetchall()) == {"k": "1", "l": "2"}
        assert connection.execute(GET, ("absent",)).fetchone() is None
        assert connection.execute("DELETE FROM meta").rowcount == 2
        typed = connection.execute(
            "SELECT CAST(? AS bigint), CAST(? AS bytea), CAST(? AS boolean), CAST(? AS text)",
            (2**40, b"\0a", True, None),
        )
        assert tuple(typed.fetchone()) == (2**40, b"\0a", True, None)


def test_texts_that_cannot_be_kept_are_refused_and_the_connection_goes_on(pool: Pool) -> None:
    one = database(pool)
    for text in ("null \0", "half \ud800"):
        with pytest.raises(InputError), one.write() as connection:
            connection.execute(PUT, ("k", text))
    with one.write() as connection:
        connection.execute(PUT, ("k", "città 😀"))
    assert value(one) == "città 😀"


def test_errors_of_statements_have_their_kinds(pool: Pool) -> None:
    for sql, kind in (
        ("SELECT * FROM absent", SchemaMismatch),
        ("INSERT INTO clock (one, now) VALUES (2, 1)", CorruptIndex),
        ("INSERT INTO meta (tenant, key, value) VALUES ('b', 'k', 'v')", ConfigError),
        ("CREATE TABLE mine (a bigint)", ConfigError),
    ):
        with pytest.raises(kind), database(pool).write() as connection:
            connection.execute(sql)
    assert value(database(pool)) is None


def test_every_told_state_is_an_error_of_ours() -> None:
    assert all(issubclass(kind, errors.FonteError) and hint for kind, _, hint in errors._CLASSES.values())


# --- transactions ----------------------------------------------------------------------------------------------------


def test_a_transaction_is_kept_whole_or_not_at_all(pool: Pool) -> None:
    one = database(pool)
    with one.write() as connection:
        connection.execute(PUT, ("k", "kept"))
    with pytest.raises(ZeroDivisionError), one.write() as connection:
        connection.execute(PUT, ("k", "lost"))
        raise ZeroDivisionError
    assert value(one) == "kept"
    with pytest.raises(StoreUnavailable, match="read-only"), one.read() as connection:
        connection.execute(PUT, ("k", "lost"))


def test_the_tenant_is_never_left_on_a_connection(pool: Pool) -> None:
    with database(pool, "a").write() as connection:
        connection.execute(PUT, ("k", "a's"))
    assert value(database(pool, "a")) == "a's"
    assert value(database(pool, "b")) is None
    bare = pool.dedicated()
    kept = pool._idle[0]
    for connection in (bare, kept):
        assert connection.execute("SELECT * FROM meta").fetchall() == []
    bare.close()
    with SystemDatabase(pool).read() as connection:
        assert connection.execute("SELECT * FROM meta").fetchall() == []
        assert len(connection.execute("SELECT * FROM mark").fetchall()) == 1
    with database(pool, "a").read() as connection:
        assert connection.execute("SELECT * FROM mark").fetchall() == []


def test_what_is_read_stays_the_same_while_others_write(pool: Pool) -> None:
    one = database(pool)
    with one.write() as connection:
        connection.execute(PUT, ("k", "1"))
    with one.read() as reading:
        assert reading.execute(GET, ("k",)).fetchone()[0] == "1"
        with one.write() as connection:
            connection.execute(PUT, ("k", "2"))
        assert reading.execute(GET, ("k",)).fetchone()[0] == "1"
    assert value(one) == "2"


def test_writers_of_an_area_come_one_after_the_other(pool: Pool) -> None:
    one = database(pool)

    def count() -> None:
        for _ in range(20):
            with one.write() as connection:
                row = connection.execute(GET, ("k",)).fetchone()
                connection.execute(PUT, ("k", str(int(row[0]) + 1 if row else 1)))

    threads = [threading.Thread(target=count) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert value(one) == "40"


# --- the pool --------------------------------------------------------------------------------------------------------


def test_an_exhausted_pool_is_told_and_may_be_tried_again(pool: Pool) -> None:
    one = database(pool)
    with one.read(), one.read(), one.read():
        with pytest.raises(StoreUnavailable, match="3 connections") as error, one.read():
            pass
        assert error.value.retryable
    assert value(one) is None


def test_connections_are_used_again(pool: Pool) -> None:
    one = database(pool)
    numbers = set()
    for _ in range(5):
        with one.read() as connection:
            numbers.add(connection.execute("SELECT pg_backend_pid()").fetchone()[0])
    assert len(numbers) == 1


def test_sessions_that_the_server_ended_are_replaced(pool: Pool, postgres_server: Server) -> None:
    one = database(pool)
    with one.read(), one.read(), one.read():
        pass
    assert len(pool._idle) == 3
    postgres_server.kill_session("fonte", pool.address.database)
    assert value(one) is None


def test_a_session_that_ends_in_a_transaction_fails_it_whole(pool: Pool, postgres_server: Server) -> None:
    one = database(pool)
    with pytest.raises(StoreUnavailable) as error, one.write() as connection:
        connection.execute(PUT, ("k", "lost"))
        postgres_server.kill_session("fonte", pool.address.database)
        connection.execute(PUT, ("k", "lost too"))
    assert error.value.retryable
    assert value(one) is None


def test_a_killed_server_is_told_and_the_pool_recovers(pool: Pool, postgres_server: Server) -> None:
    one = database(pool)
    with one.write() as connection:
        connection.execute(PUT, ("k", "kept"))
    postgres_server.kill()
    for _ in range(2):
        with pytest.raises(StoreUnavailable) as error:
            value(one)
        assert error.value.retryable
    postgres_server.restart()
    assert value(one) == "kept"


CHILD = """
import os, sys, time
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.locks import TenantLock, numbered
from fonte.stores.postgres.pool import Pool
pool = Pool(sys.argv[1])
one = PostgresDatabase(pool, "a", area="catalog")
with TenantLock(pool, numbered("writer", "a")).hold(0), one.write() as connection:
    connection.execute("INSERT INTO meta (key, value) VALUES ('k', 'half')")
    print("in", flush=True)
    time.sleep(60)
"""


def test_a_client_that_is_killed_in_a_transaction_leaves_neither_rows_nor_locks(pool: Pool, postgres_url: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, postgres_url], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "in\n"
        lock = TenantLock(pool, numbered("writer", "a"))
        with pytest.raises(HomeLocked, match=f"fonte {child.pid}"), lock.hold(0):
            pass
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        child.communicate()
    with lock.hold(10):
        pass
    with database(pool).write() as connection:
        assert connection.execute(GET, ("k",)).fetchone() is None


# --- locks -----------------------------------------------------------------------------------------------------------


def test_the_write_lock_is_one_tenants_and_its_thread_may_take_it_again(pool: Pool) -> None:
    lock, other = (TenantLock(pool, numbered("writer", tenant)) for tenant in "ab")
    with lock.hold(0), lock.hold(0), other.hold(0):
        with pytest.raises(HomeLocked) as error, TenantLock(pool, numbered("writer", "a")).hold(0):
            pass
        assert error.value.retryable
    with TenantLock(pool, numbered("writer", "a")).hold(0):
        pass


def test_a_writer_whose_lock_was_lost_writes_no_more(pool: Pool, postgres_server: Server) -> None:
    lock = TenantLock(pool, numbered("writer", "a"))
    one = database(pool, lock=lock)
    with lock.hold(0):
        with one.write() as connection:
            connection.execute(PUT, ("k", "kept"))
        postgres_server.kill_session("fonte", pool.address.database)
        with pytest.raises(StoreUnavailable, match="write lock"), one.write() as connection:
            connection.execute(PUT, ("k", "lost"))
    assert value(one) == "kept"


# --- migrations ------------------------------------------------------------------------------------------------------

SHAPE = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
    array(SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid ORDER BY 1),
    array(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = c.oid ORDER BY 1),
    array(SELECT polname || pg_get_expr(polqual, polrelid) FROM pg_policy p WHERE p.polrelid = c.oid ORDER BY 1),
    c.relrowsecurity, c.relforcerowsecurity, array_to_string(c.relacl, ' ')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'fonte'::regnamespace ORDER BY 1, a.attnum
"""


def test_psql_applies_the_schema_and_each_migration_as_fonte_does(postgres_server: Server) -> None:
    folder = errors.SCHEMA_FILE.parent / "migrations"
    shapes = [postgres_server.run(SHAPE, database=TEMPLATE)]
    for files in ([errors.SCHEMA_FILE], [folder / name for _, name, _ in migrations()]):
        name = postgres_server.database(empty=True)
        postgres_server.run("CREATE EXTENSION vector", database=name)
        for file in files:
            postgres_server.psql(name, file)
        shapes.append(postgres_server.run(SHAPE, database=name))
        with pytest.raises(subprocess.CalledProcessError):
            postgres_server.psql(name, errors.SCHEMA_FILE)
        postgres_server.drop(name)
    assert shapes[0]
    assert shapes[1:] == [shapes[0], shapes[0]]


def test_missing_and_newer_tables_are_told_with_what_to_do(postgres_server: Server) -> None:
    name = postgres_server.database(empty=True)
    postgres_server.run("CREATE EXTENSION vector", database=name)
    try:
        with pytest.raises(SchemaMismatch) as error, database(Pool(postgres_server.url(name))).read():
            pass
        assert "psql" in error.value.hint
        assert len(migrate(postgres_server.url(name, OWNER))) == VERSION
        assert migrate(postgres_server.url(name, OWNER)) == []
        assert value(database(Pool(postgres_server.url(name)))) is None
        postgres_server.run("INSERT INTO fonte.versions (version, name) VALUES (9999, 'later')", database=name)
        with pytest.raises(SchemaMismatch, match="9999"), database(Pool(postgres_server.url(name))).read():
            pass
        with pytest.raises(SchemaMismatch, match="9999"):
            migrate(postgres_server.url(name, OWNER))
    finally:
        postgres_server.drop(name)


def test_a_migration_that_is_broken_off_leaves_the_version_before(postgres_server: Server) -> None:
    for number, _, sql in migrations():
        name = postgres_server.database(empty=True)
        postgres_server.run("CREATE EXTENSION vector", database=name)
        with postgres_server.connected(name, OWNER) as connection:
            for _, _, before in migrations()[: number - 1]:
                connection.run(before)
        before = postgres_server.run(SHAPE, database=name) if number > 1 else None
        with pytest.raises(Exception, match="broken off"), postgres_server.connected(name, OWNER) as connection:
            half = sql.rstrip().removesuffix("COMMIT;")
            assert half != sql
            connection.run(half + "DO $$ BEGIN RAISE EXCEPTION 'broken off'; END $$;")
        after = postgres_server.run("SELECT to_regnamespace('fonte')::text", database=name)
        assert after == [[None]] if number == 1 else postgres_server.run(SHAPE, database=name) == before
        assert len(migrate(postgres_server.url(name, OWNER))) == VERSION - number + 1
        postgres_server.drop(name)


def test_a_login_that_was_not_granted_the_role_is_told(postgres_server: Server) -> None:
    name = postgres_server.database()
    postgres_server.run("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(ConfigError) as error, database(Pool(postgres_server.url(name, "stranger"))).read():
            pass
        assert "fonte_app" in error.value.hint
    finally:
        postgres_server.run("DROP ROLE stranger")
        postgres_server.drop(name)


def test_the_files_are_where_the_hint_says() -> None:
    assert Path(errors.SCHEMA_FILE).is_file()
    assert [number for number, _, _ in migrations()] == list(range(1, VERSION + 1))
