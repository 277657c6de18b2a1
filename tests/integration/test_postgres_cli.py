"""Every command over PostgreSQL, and the same commands over a home: they say the same."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from integration.command import Ran, fonte
from postgres_server import OWNER, Server

from fonte.models import registry
from quick_corpus import WordEmbedder

NOTES = {
    "pumps.md": "# Pumps\n\nPump P-7 runs at 21 bar in hall 3.\n\n## Care\n\nIts filter is changed every 4 weeks.\n",
    "valves.md": "# Valves\n\nThe valve V-2 is checked by team blue on Mondays.\n",
    "travel.md": "# Travel\n\nThe limit for a hotel night in London is 140 pounds.\n",
}
_FLEETING = {
    "generation", "id", "base", "created_at", "seconds", "timings_ms", "trace_id", "answer_id", "active", "previous",
}  # fmt: skip
"""What two runs never have in common."""


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch, _one_model: None) -> None:
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: WordEmbedder())


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def in_database(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FONTE_DATABASE_URL", postgres_url)
    return postgres_url


def plain(told: Any) -> Any:
    """Without what two runs never have in common, and with scores rounded."""
    if isinstance(told, dict):
        return {key: plain(value) for key, value in told.items() if key not in _FLEETING}
    if isinstance(told, list):
        return [plain(one) for one in told]
    return round(told, 4) if isinstance(told, float) else told


def told(ran: Ran) -> Any:
    assert ran.status == 0, ran.out + ran.err
    return ran.json


def life(home: Path, docs: Path) -> list[Any]:
    """What the commands say over a life of an index."""
    said = [told(fonte(home, "sync", str(docs)))]
    question = "filter changed weeks"
    said += [told(fonte(home, "search", question, "--mode", mode)) for mode in ("hybrid", "bm25", "dense")]
    said += [told(fonte(home, "ask", one)) for one in (question, "valve checked team")]
    said += [told(fonte(home, "documents")), told(fonte(home, "show", "pumps.md"))]
    (docs / "pumps.md").write_text(NOTES["pumps.md"].replace("21 bar", "22 bar"), encoding="utf-8")
    (docs / "travel.md").unlink()
    (docs / "halls.md").write_text("# Halls\n\nHall 3 is closed on Fridays.\n", encoding="utf-8")
    said.append(told(fonte(home, "sync", str(docs), "--allow", "staff")))
    said += [told(fonte(home, "search", "pump bar", *who)) for who in ((), ("--roles", "staff"))]
    listed = told(fonte(home, "generations"))
    said += [listed, told(fonte(home, "generations", "diff", *(one["id"] for one in listed["generations"])))]
    said += [told(fonte(home, "rollback")), told(fonte(home, "search", "pump bar", "--roles", "staff"))]
    said += [told(fonte(home, "publish", listed["active"])), told(fonte(home, "delete", "halls.md"))]
    said += [told(fonte(home, "search", "hall closed", "--roles", "staff")), told(fonte(home, "documents"))]
    said += [told(fonte(home, "check")), told(fonte(home, "conversation"))]
    return said


def test_a_life_says_the_same_in_a_database_as_in_a_home(
    tmp_path: Path, docs: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    over_home = plain(life(tmp_path / "home", docs))
    for file in docs.iterdir():
        file.unlink()
    for name, text in NOTES.items():
        (docs / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("FONTE_DATABASE_URL", postgres_url)
    over_database = plain(life(tmp_path / "files", docs))
    for one, other in zip(over_home, over_database, strict=True):
        assert one == other
    assert not list((tmp_path / "files").rglob("*.sqlite")) if (tmp_path / "files").exists() else True
    assert not list((tmp_path / "files").rglob("*.lance")) if (tmp_path / "files").exists() else True


def test_tenants_share_a_database_and_nothing_else(in_database: str, tmp_path: Path, docs: Path) -> None:
    home = tmp_path / "files"
    told(fonte(home, "sync", str(docs)))
    assert told(fonte(home, "search", "pump bar", "--tenant", "acme"))["results"] == []
    (docs / "pumps.md").write_text("# Pumps\n\nPump P-7 runs at 99 bar.\n", encoding="utf-8")
    told(fonte(home, "sync", str(docs), "--tenant", "acme"))
    seen = {who: told(fonte(home, "search", "pump bar", "--tenant", who))["results"] for who in ("default", "acme")}
    assert ("21 bar" in seen["default"][0]["content"], "99 bar" in seen["acme"][0]["content"]) == (True, True)
    told(fonte(home, "erase", "--tenant", "default"))
    assert told(fonte(home, "search", "pump bar"))["results"] == []
    assert told(fonte(home, "search", "pump bar", "--tenant", "acme"))["results"]


def test_conversations_keys_and_status(in_database: str, tmp_path: Path, docs: Path) -> None:
    home = tmp_path / "files"
    told(fonte(home, "sync", str(docs)))
    asked = told(fonte(home, "ask", "filter changed weeks", "--conversation", "new", "--user", "ada"))
    (head,) = told(fonte(home, "conversation", "--user", "ada"))["conversations"]
    assert told(fonte(home, "conversation", "--user", "bob"))["conversations"] == []
    assert told(fonte(home, "conversation", head["conversation_id"], "--user", "ada"))["turns"][0]["answer"] == asked
    told(fonte(home, "conversation", head["conversation_id"], "--delete", "--user", "ada"))
    made = told(fonte(home, "keys", "create", "--user", "ada"))
    assert [one["id"] for one in told(fonte(home, "keys", "list"))["keys"]] == [made["id"]]
    assert told(fonte(home, "status"))["documents"]["ready"] == 3
    checks = {one["name"]: one for one in fonte(home, "doctor").json["checks"]}
    assert checks["database"]["ok"]
    assert "1 tenant" in checks["database"]["detail"]


def test_what_was_erased_is_in_no_file_of_the_database(
    in_database: str, tmp_path: Path, docs: Path, postgres_server: Server
) -> None:
    home, secret = tmp_path / "files", "Zanzibarquartz"
    (docs / "secret.md").write_text(f"# Secret\n\nThe code is {secret} in hall 3.\n", encoding="utf-8")
    told(fonte(home, "sync", str(docs)))
    told(fonte(home, "ask", f"code {secret}", "--conversation", "new"))
    assert _files_with(postgres_server, secret)
    told(fonte(home, "erase", "secret.md"))
    deadline = time.monotonic() + 20
    while (found := _files_with(postgres_server, secret)) and time.monotonic() < deadline:
        time.sleep(0.2)  # the server removes files of tables that were written anew at its next checkpoint
    assert not found
    assert not told(fonte(home, "search", secret, "--mode", "bm25"))["results"]
    assert told(fonte(home, "check"))["whole"]


def _files_with(server: Server, word: str) -> list[str]:
    """Files of tables that hold a word; the write-ahead log is written over by the server in its own time."""
    server.run("CHECKPOINT")
    files = [one for one in (server.folder / "data" / "base").rglob("*") if one.is_file()]
    return [str(one) for one in files if one.exists() and word.encode() in one.read_bytes()]


def test_backup_is_told_to_be_the_databases_own(in_database: str, tmp_path: Path) -> None:
    for command in (["backup", str(tmp_path / "b")], ["restore", str(tmp_path / "b")]):
        ran = fonte(tmp_path / "files", *command)
        assert ran.status == 2
        assert "pg_" in ran.json["error"]["hint"]


def test_a_dump_is_a_backup(in_database: str, tmp_path: Path, docs: Path, postgres_server: Server) -> None:
    home = tmp_path / "files"
    told(fonte(home, "sync", str(docs)))
    found = plain(told(fonte(home, "search", "pump bar")))
    with pytest.raises(subprocess.CalledProcessError):
        postgres_server.tool("pg_dump", "-Fc", "-n", "fonte", "-f", str(tmp_path / "o"), in_database)
    source = in_database.replace("fonte_login@", "postgres@")
    postgres_server.tool("pg_dump", "-Fc", "-n", "fonte", "-f", str(tmp_path / "corpus.dump"), source)
    name = postgres_server.database(empty=True)
    try:
        postgres_server.run("CREATE EXTENSION vector", database=name)
        restored = postgres_server.url(name, OWNER)
        postgres_server.tool("pg_restore", "-d", postgres_server.url(name, "postgres"), str(tmp_path / "corpus.dump"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FONTE_DATABASE_URL", restored)
            assert plain(told(fonte(home, "search", "pump bar"))) == found
            assert told(fonte(home, "check"))["whole"]
    finally:
        postgres_server.drop(name)


def test_missing_tables_are_told_and_migrate_makes_them(
    postgres_server: Server, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = postgres_server.database(empty=True)
    try:
        postgres_server.run("CREATE EXTENSION vector", database=name)
        monkeypatch.setenv("FONTE_DATABASE_URL", postgres_server.url(name))
        refused = fonte(tmp_path / "files", "sync", str(docs)).json["error"]
        assert (refused["code"], "fonte migrate" in refused["hint"]) == ("schema_mismatch", True)
        assert "fonte migrate" in next(
            one["hint"] for one in fonte(tmp_path / "files", "doctor").json["checks"] if one["name"] == "database"
        )
        monkeypatch.setenv("FONTE_DATABASE_URL", postgres_server.url(name, OWNER))
        assert told(fonte(tmp_path / "files", "migrate"))["applied"]
        assert told(fonte(tmp_path / "files", "migrate"))["applied"] == []
        told(fonte(tmp_path / "files", "sync", str(docs)))  # the owner may use it too: it acts as the application
        assert told(fonte(tmp_path / "files", "search", "pump"))["results"]
    finally:
        postgres_server.drop(name)


def test_a_database_that_is_away_is_told_without_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FONTE_DATABASE_URL", "postgresql://ada:hidden@127.0.0.1:9/corpus")
    ran = fonte(tmp_path / "files", "search", "pump")
    assert ran.json["error"]["code"] == "store_unavailable"
    assert ran.json["error"]["retryable"]
    assert "hidden" not in ran.out + ran.err
