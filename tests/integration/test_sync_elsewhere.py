"""Rows of a database and objects of a store through whole syncs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from property.quick_corpus import quick_corpus

from fonte.corpus import OpenCorpus
from fonte.types import DocumentStatus, Principal

WHO = Principal()
SETTINGS = """
[[queries]]
name = "tickets"
url = "sqlite:///tickets.db"
query = "SELECT id, subject, body, readers FROM t ORDER BY id"
id = "id"
title = "subject"
text = ["body"]
roles = "readers"
"""


@pytest.fixture
def corpus(tmp_path: Path):
    (tmp_path / "fonte.toml").write_text(SETTINGS)
    change(
        tmp_path,
        "CREATE TABLE t (id INTEGER, subject TEXT, body TEXT, readers TEXT)",
        "INSERT INTO t VALUES (1, 'Pump', 'The pump leaks.', 'public')",
        "INSERT INTO t VALUES (2, 'Door', 'The door squeaks.', 'staff')",
        "INSERT INTO t VALUES (3, NULL, NULL, 'public')",
    )
    with quick_corpus(tmp_path / "home") as opened:
        yield opened


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "tickets.db")) as connection:
        for one in statements:
            connection.execute(one)
        connection.commit()


def found(corpus: OpenCorpus, query: str, principal: Principal = WHO) -> list[str]:
    return [one.label for one in corpus.search(query, principal=principal, mode="bm25").results]


def test_rows_come_change_and_go(corpus: OpenCorpus, tmp_path: Path) -> None:
    report = corpus.sync("sql://tickets")
    assert (report.documents["added"], report.documents["empty"], report.documents["failed"]) == (3, 1, 0)
    assert found(corpus, "pump") == ["1, tickets"]
    assert found(corpus, "door") == []
    assert found(corpus, "door", Principal(roles={"staff"})) == ["2, tickets"]
    change(tmp_path, "UPDATE t SET body = 'The pump is dry.' WHERE id = 1", "DELETE FROM t WHERE id > 1")
    report = corpus.sync("sql://tickets")
    assert (report.documents["modified"], report.documents["deleted"]) == (1, 2)
    assert found(corpus, "dry") == ["1, tickets"]
    assert corpus.sync("sql://tickets").generation == report.generation
    (tmp_path / "tickets.db").unlink()
    with pytest.raises(Exception, match="cannot be read"):
        corpus.sync("sql://tickets")
    assert found(corpus, "dry") == ["1, tickets"]


def test_a_source_that_the_settings_no_longer_know_stops_no_retry_of_others(corpus: OpenCorpus, tmp_path: Path) -> None:
    corpus.sync("sql://tickets")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    corpus.sync(str(tmp_path / "bad.pdf"))
    (tmp_path / "fonte.toml").write_text("")
    with quick_corpus(tmp_path / "home") as other:
        report = other.retry()
        told = {one.source_uri: one.reason for one in report.failures}
        assert "no query 'tickets'" in told["sql://tickets#3"]
        assert "not tried again" not in told[(tmp_path / "bad.pdf").as_uri()]


def test_objects_of_a_store_come_change_and_go(corpus: OpenCorpus) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.store.clear()
    try:
        memory.pipe("/docs/a.md", b"# Okapi\n\nThe okapi walks.")
        memory.pipe("/docs/sub/m.eml", b"From: a@example.com\nSubject: Hi\n\nThe lemur jumps.")
        report = corpus.sync("memory://docs")
        assert (report.documents["added"], report.documents["failed"]) == (2, 0)
        assert found(corpus, "okapi")[0].startswith("a.md")
        assert found(corpus, "lemur")[0].startswith("sub/m.eml")
        assert corpus.sync("memory://docs").generation == report.generation
        memory.rm("/docs/a.md")
        assert corpus.sync("memory://docs").documents["deleted"] == 1
        assert {one.status for one in corpus.documents()} == {DocumentStatus.READY}
    finally:
        memory.store.clear()
