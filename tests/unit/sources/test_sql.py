"""Rows of queries: SQLite by the standard library, others by SQLAlchemy where it is installed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from fonte.config import load_settings
from fonte.errors import ConfigError, SourceUnreadable
from fonte.sources.opening import Opener
from fonte.sources.rules import SourceRule
from fonte.sources.sql import RowQuery, SqlSource
from fonte.sources.taking import Taking
from fonte.types import RECORD_MEDIA_TYPE, Source

COLUMNS = {"title": "subject", "roles": "readers", "valid_to": "until", "tenant": "client"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "tickets.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id, subject, body, notes, readers, until, client)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (1, "Pump", "The pump leaks.", "Twice.", "staff, hr", "2027-01-31", "acme"),
                (2, None, "The door squeaks.", None, None, None, "acme"),
                (3, None, None, "", "staff", None, "acme"),
                (None, "x", "y", None, "staff", None, "acme"),
                (1, "x", "y", None, "staff", None, "acme"),
                ("a/b", "é", b"bytes \xc3\xa8", 7.5, '["staff"]', None, None),
            ],
        )
        connection.commit()
    return path


@pytest.fixture(params=["sqlite:///", "sqlite+pysqlite:///"])
def url(request: pytest.FixtureRequest, database: Path) -> str:
    if "+" in request.param and find_spec("sqlalchemy") is None:
        pytest.skip("SQLAlchemy is not installed")
    return f"{request.param}{database}"


def reader(url: str, select: str = "SELECT * FROM t", text=("body", "notes"), **more) -> SqlSource:
    return SqlSource(RowQuery("tickets", url, select, "id", text, more.pop("said", COLUMNS)), Taking(**more))


def test_rows_are_records_with_rights_of_their_own(url: str) -> None:
    source = reader(url)
    items = list(source.scan())
    found = {item.name: item for item in items if isinstance(item, Source)}
    one = found["1"]
    assert (one.uri, one.media_type, one.tenant) == ("sql://tickets#1", RECORD_MEDIA_TYPE, "acme")
    assert json.loads(one.body or b"") == {"_id": "1", "title": "Pump", "text": "The pump leaks.\n\nTwice."}
    assert one.acl.roles == {"staff", "hr"}
    assert one.metadata == {"valid_to": "2027-01-31", "file": "tickets"}
    assert found["2"].acl.roles == frozenset()
    assert found["3"].body == b""
    assert (found["a/b"].uri, found["a/b"].acl.roles, found["a/b"].tenant) == ("sql://tickets#a%2Fb", {"staff"}, "")
    assert json.loads(found["a/b"].body or b"")["text"] == "bytes è\n\n7.5"
    assert [item[1] for item in items if isinstance(item, tuple)] == ["tickets, row 4", "tickets, row 5"]
    assert source.notes == (
        "1 document is readable by nobody: the row itself names no role that the rules give (2)",
    )  # fmt: skip


def test_roles_of_rows_only_narrow(url: str) -> None:
    rules = [SourceRule("tickets", frozenset({"staff"}), language="it")]
    source = reader(url, rules=rules)
    found = {item.name: item for item in source.scan() if isinstance(item, Source)}
    assert found["1"].acl.roles == {"staff"}
    assert found["1"].language == "it"
    assert source.acl_of("sql://tickets#1", "1") == found["1"].acl


@pytest.mark.parametrize(
    "select",
    ["DELETE FROM t RETURNING *", "PRAGMA user_version", "", "ATTACH 'x.db' AS x", "-- remark\nDROP TABLE t"],
)
def test_other_statements_than_reading_ones_are_refused(url: str, select: str) -> None:
    with pytest.raises(ConfigError, match="should begin with SELECT"):
        list(reader(url, select).scan())


def test_a_reading_statement_cannot_write(database: Path) -> None:
    for select in ("WITH a AS (SELECT 1) DELETE FROM t RETURNING *", "SELECT 1; DROP TABLE t", "VALUES (1); SELECT 2"):
        with pytest.raises(SourceUnreadable):
            list(reader(f"sqlite:///{database}", select).scan())
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (6,)


def test_what_cannot_be_read_ends_the_scan(url: str, database: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="gives no column nix"):
        list(reader(url, text=("nix",)).scan())
    with pytest.raises(SourceUnreadable, match="no such table"):
        list(reader(url, "SELECT * FROM nowhere").scan())
    missing = tmp_path / "gone.db"
    with pytest.raises(SourceUnreadable):
        list(reader(f"sqlite:///{missing}").scan())
    assert not missing.exists()
    database.write_bytes(b"no database" * 100)
    with pytest.raises(SourceUnreadable):
        list(reader(url).scan())


def test_queries_stand_in_the_settings(tmp_path: Path, database: Path) -> None:
    file = tmp_path / "fonte.toml"
    file.write_text(
        '[[queries]]\nname = "tickets"\nurl = "sqlite:///tickets.db"\nquery = "SELECT * FROM t"\nid = "id"\n'
        'text = ["body"]\n'
    )
    (query,) = load_settings(file, tmp_path / "home", {}).queries
    assert query.url == f"sqlite:///{database}"
    file.write_text(file.read_text().replace("sqlite:///tickets.db", "postgresql://me:secret@host/db"))
    with pytest.raises(ConfigError, match="holds a password"):
        load_settings(file, tmp_path / "home", {})
    with pytest.raises(ConfigError, match="no query 'other'"):
        Opener(tmp_path).open("sql://other")


@pytest.mark.skipif(find_spec("sqlalchemy") is not None, reason="SQLAlchemy is installed")
def test_other_databases_say_what_they_need() -> None:
    with pytest.raises(ConfigError, match="needs SQLAlchemy"):
        list(reader("postgresql+psycopg://host/db").scan())
