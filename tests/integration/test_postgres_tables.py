"""Tables of passages that other programs keep (source, chunk_index, content, embedding): written and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integration.command import Ran, fonte
from postgres_server import OWNER, Server

from fonte.models import registry
from fonte.stores.postgres.address import Address
from quick_corpus import WordEmbedder

SCHEMA = """
CREATE TABLE doc_chunks (id bigserial PRIMARY KEY, source text NOT NULL, chunk_index int NOT NULL,
    content text NOT NULL, embedding vector({}) NOT NULL);
CREATE INDEX doc_chunks_embedding_idx ON doc_chunks USING hnsw (embedding vector_cosine_ops)
"""
SIZE, OVERLAP = 1200, 200


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch, _one_model: None) -> None:
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: WordEmbedder())


@pytest.fixture
def other(postgres_server: Server) -> Any:
    """A database that is nothing of fonte's."""
    name = postgres_server.database(empty=True)
    postgres_server.run("CREATE EXTENSION vector", database=name)
    yield name
    postgres_server.drop(name)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "hr").mkdir(parents=True)
    (docs / "pumps.md").write_text("# Pumps\n\nPump P-7 runs at 21 bar.\n\n## Care\n\nThe filter is changed weekly.\n")
    (docs / "hr" / "pay.md").write_text("# Pay\n\nThe bonus is 900 euros.\n")
    (docs / "old.md").write_text("# Old\n\nPump P-1 was scrapped.\n")
    (tmp_path / "fonte.toml").write_text('[[sources]]\nmatch = "hr/**"\nroles = ["hr"]\n')
    made = tmp_path / "home"
    told(fonte(made, "sync", str(docs)))
    told(fonte(made, "delete", "old.md"))
    return made


def told(ran: Ran) -> Any:
    assert ran.status == 0, ran.out + ran.err
    return ran.json


def rows(server: Server, database: str, table: str = "doc_chunks") -> list[list[Any]]:
    sql = f"SELECT source, chunk_index, content, embedding::text FROM {table} ORDER BY id"
    return server.run(sql, database=database)


def test_a_table_shows_what_its_asker_may_read_and_no_more(home: Path, other: str, postgres_server: Server) -> None:
    url = postgres_server.url(other, OWNER)
    said = told(fonte(home, "export", "--to", url))
    found = rows(postgres_server, other)
    assert said == {"table": "doc_chunks", "rows": len(found), "dimensions": WordEmbedder().space.dimensions}
    assert {source for source, *_ in found} == {"pumps.md"}, "neither what HR reads nor what was deleted"
    shown = told(fonte(home, "search", "pump filter bar weekly", "--k", "9"))["results"]
    assert {(one["chunk_index"], one["content"]) for one in shown} == {(at, content) for _, at, content, _ in found}
    assert [at for _, at, _, _ in found] == sorted(at for _, at, _, _ in found)
    for *_, embedding in found:
        assert np.linalg.norm(json.loads(embedding)) == pytest.approx(1, abs=1e-5)
    told(fonte(home, "export", "--to", url, "--table", "of_hr", "--roles", "hr"))
    assert {source for source, *_ in rows(postgres_server, other, "of_hr")} == {"pumps.md", "hr/pay.md"}
    nobodys = fonte(home, "export", "--to", url, "--table", "of_acme", "--tenant", "acme", "--roles", "hr")
    assert (nobodys.status, nobodys.json["error"]["code"]) == (1, "not_found")


def test_a_table_is_written_over_only_where_that_is_asked_for(home: Path, other: str, postgres_server: Server) -> None:
    dimensions = WordEmbedder().space.dimensions
    for statement in SCHEMA.format(dimensions).split(";"):
        postgres_server.run(statement, database=other, user=OWNER)
    values = f"'mine', 0, 'x', array_fill(1, ARRAY[{dimensions}])::vector"
    mine = f"INSERT INTO doc_chunks (source, chunk_index, content, embedding) VALUES ({values})"
    postgres_server.run(mine, database=other, user=OWNER)
    url = postgres_server.url(other, OWNER)
    refused = fonte(home, "export", "--to", url)
    assert (refused.status, "holds rows already" in refused.err) == (2, True)
    assert [source for source, *_ in rows(postgres_server, other)] == ["mine"]
    told(fonte(home, "export", "--to", url, "--replace"))
    assert {source for source, *_ in rows(postgres_server, other)} == {"pumps.md"}
    for statement in SCHEMA.format(1536).replace("doc_chunks", "wide").split(";"):
        postgres_server.run(statement, database=other, user=OWNER)
    assert "vector(1536)" in fonte(home, "export", "--to", url, "--table", "wide").err
    assert fonte(home, "export", "--to", url, "--table", 'a"; DROP TABLE wide; --').status == 2
    assert rows(postgres_server, other, "wide") == []


def test_an_index_in_postgres_is_exported_too(
    home: Path, other: str, postgres_server: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(fonte(home, "export", "--to", postgres_server.url(other, OWNER), "--table", "of_home", "--roles", "hr"))
    monkeypatch.setenv("FONTE_DATABASE_URL", postgres_url)
    files = home.parent / "files"
    told(fonte(files, "sync", str(home.parent / "docs")))
    told(fonte(files, "delete", "old.md"))
    told(fonte(files, "export", "--to", postgres_server.url(other, OWNER), "--table", "of_database", "--roles", "hr"))
    one, two = (rows(postgres_server, other, name) for name in ("of_home", "of_database"))
    assert one == two
    assert len(one) > 2


def test_a_table_of_overlapping_chunks_comes_in_as_the_documents_that_were_cut(
    tmp_path: Path, other: str, postgres_server: Server
) -> None:
    texts = {
        name: " ".join(f"{word}{at} stands in hall {at % 7}." for at in range(300))
        for name, word in (("halls.md", "Pump"), ("short.md", "Valve"))
    }
    texts["short.md"] = texts["short.md"][:700].strip()
    for statement in SCHEMA.format(3).split(";"):
        postgres_server.run(statement, database=other, user=OWNER)
    for source, text in texts.items():
        for index, start in enumerate(range(0, max(len(text) - OVERLAP, 1), SIZE - OVERLAP)):
            content = text[start : start + SIZE]
            postgres_server.run(
                "INSERT INTO doc_chunks (source, chunk_index, content, embedding)"
                f" VALUES ('{source}', {index}, '{content}', '[1,2,3]')",
                database=other,
                user=OWNER,
            )
    address = Address.of(postgres_server.url(other, OWNER))
    (tmp_path / "fonte.toml").write_text(f'''
[[queries]]
name = "chunks"
url = "postgresql+pg8000://{OWNER}@/{other}?unix_sock={address.socket}"
query = """SELECT source, string_agg(CASE chunk_index WHEN 0 THEN content ELSE substr(content, {OVERLAP + 1}) END, ''
    ORDER BY chunk_index) AS text FROM doc_chunks GROUP BY source"""
id = "source"
text = ["text"]
''')
    home = tmp_path / "home"
    told(fonte(home, "sync", "sql://chunks"))
    documents = told(fonte(home, "documents"))
    assert len(documents["documents"]) == 2
    for one in documents["documents"]:
        shown = told(fonte(home, "show", one["document_id"]))["text"].strip()
        assert shown == texts[next(name for name in texts if name in one["source_uri"])]
    found = told(fonte(home, "search", "Pump299 hall"))["results"]
    assert "Pump299" in found[0]["content"]
