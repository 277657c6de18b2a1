"""Section B of the cases: stale answers, duplicates, deletes, updates. A test for each row, named after it.

Each runs over a home and over PostgreSQL.

Rows 27 (gone everywhere) and 30 (delete and sync again) are in test_cli_life.py, 33 also in test_sync_faults.py (1,000
documents), 39's damaged rows in unit/stores/test_store_home.py, 43's worker killed in mid sync in test_sync_kill.py.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from property.quick_corpus import WIDE_OPEN, WordEmbedder

from command import fonte
from fonte import wiring
from fonte.corpus import OpenCorpus
from fonte.errors import NotFound
from fonte.models import registry
from fonte.stores.postgres.address import Address
from fonte.text.normalise import search_form
from fonte.types import Answered, Principal, Source, StoredChunk, sha256_hex
from fonte.wiring import Corpus

WHO = Principal()
PUMP = "# Pumps\n\nThe pump in hall 4 runs at 40 bar and is checked every Monday.\n"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """Words as vectors; it keeps the texts that it was asked for."""
    made = WordEmbedder()
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: made)
    return made


@pytest.fixture(autouse=True, params=["home", "database"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the stores are."""
    if request.param == "database":
        monkeypatch.setenv("FONTE_DATABASE_URL", request.getfixturevalue("postgres_url"))
    return str(request.param)


@pytest.fixture
def counts(place: str, home: Path, request: pytest.FixtureRequest) -> Callable[[], dict[str, int]]:
    """How many rows there are, by table: of the catalog in a home, of all tables in a database."""

    def in_home() -> dict[str, int]:
        with closing(sqlite3.connect(home / "tenants" / "default" / "catalog.sqlite")) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return {one: connection.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in names}

    def in_database() -> dict[str, int]:
        server = request.getfixturevalue("postgres_server")
        database = Address.of(os.environ["FONTE_DATABASE_URL"]).database
        listed = server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'fonte'", database=database)
        return {one: server.run(f"SELECT count(*) FROM fonte.{one}", database=database)[0][0] for (one,) in listed}

    return in_home if place == "home" else in_database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def found(home: Path, query: str, *options: str) -> list[dict]:
    return fonte(home, "search", query, *options).json["results"]


def names(home: Path, query: str, *options: str) -> list[str]:
    return [one["document_name"] for one in found(home, query, *options)]


def opened(home: Path) -> Corpus:
    named = "FONTE_DATABASE_URL"
    return Corpus.open(home, environ={named: os.environ[named]} if named in os.environ else {})


def table_rows(corpus: OpenCorpus) -> dict[str, StoredChunk]:
    """Every row of the active generation's table, by chunk id."""
    store = corpus._store_of("default")
    active = store.catalog.active()
    assert active is not None
    rows = list(store.index.open(active).stored_chunks())
    assert len({row.chunk.id for row in rows}) == len(rows)
    return {row.chunk.id: row for row in rows}


def bytes_of(home: Path, *, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(without)
    }


def test_case_27_after_a_delete_the_second_answer_is_a_refusal(model: WordEmbedder, folder: Path, home: Path) -> None:
    put(folder, pump=PUMP, door="# Doors\n\nThe door is green.\n")
    fonte(home, "sync", str(folder))
    question = "At how many bar does the pump in hall 4 run?"
    first = fonte(home, "ask", question, "--k", "1").json
    assert "40 bar" in json.dumps([first["answer"], first["abstention"]])
    fonte(home, "delete", "pump.md")
    second = fonte(home, "ask", question).json
    assert "40 bar" not in json.dumps(second)
    (folder / "pump.md").unlink()
    fonte(home, "sync", str(folder))
    with opened(home) as corpus:
        assert [row.document_name for row in table_rows(corpus).values()] == ["door.md"]
        assert [state.name for state in corpus.documents()] == ["door.md"]


def test_case_28_what_a_source_holds_no_more_is_gone_from_search(
    model: WordEmbedder, folder: Path, home: Path, tmp_path: Path
) -> None:
    put(folder, one=PUMP, two="# Doors\n\nThe door is green.\n")
    records = tmp_path / "corpus.jsonl"
    lines = ['{"_id": "r1", "text": "The lamp is blue."}\n', '{"_id": "r2", "text": "The lamp is red."}\n']
    records.write_text("".join(lines))
    fonte(home, "sync", str(folder))
    fonte(home, "sync", str(records), "--records")
    (folder / "two.md").unlink()
    assert fonte(home, "sync", str(folder)).json["documents"]["deleted"] == 1
    records.write_text(lines[0])
    assert fonte(home, "sync", str(records), "--records").json["documents"]["deleted"] == 1
    assert sorted(names(home, "pump door lamp", "--k", "20")) == ["one.md", "r1"]


def test_case_29_when_all_is_removed_no_row_and_no_text_is_left(model: WordEmbedder, folder: Path, home: Path) -> None:
    put(folder, one=PUMP, two="# Doors\n\nThe door is green.\n")
    fonte(home, "sync", str(folder))
    for path in folder.iterdir():
        path.unlink()
    report = fonte(home, "sync", str(folder)).json
    assert (report["documents"]["deleted"], report["chunks"]["total"]) == (2, 0)
    with opened(home) as corpus:
        assert table_rows(corpus) == {}
        assert corpus.documents() == []
    assert found(home, "pump") == []
    assert fonte(home, "ask", "Where is the pump?").json["abstention"]["reason"] == "nothing_retrieved"


def test_case_31_of_two_identical_files_one_is_removed_and_the_other_stays(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    put(folder, a=PUMP, b=PUMP)
    fonte(home, "sync", str(folder))
    (folder / "a.md").unlink()
    assert fonte(home, "sync", str(folder)).json["documents"]["deleted"] == 1
    (one,) = found(home, "pump bar")
    assert (one["document_name"], one["duplicates"]) == ("b.md", [])
    assert fonte(home, "show", "b.md").json["text"] == PUMP.strip("# \n")
    assert fonte(home, "show", "a.md").status == 1


def test_case_32_every_chunk_of_a_document_survives_repeated_changes(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    parts = [f"## Part {number}\n\n" + f"Sentence of part {number} about pumps. " * 30 for number in range(3)]
    for turn in range(3):
        put(folder, long="# Long\n\n" + "\n\n".join(parts) + f"\n\nTurn {turn}.\n")
        fonte(home, "sync", str(folder))
        with opened(home) as corpus:
            rows = table_rows(corpus)
            assert sorted(row.chunk.index for row in rows.values()) == list(range(len(rows)))
            assert {row.chunk.section[-1] for row in rows.values()} >= {"Part 0", "Part 1", "Part 2"}
            assert len({row.source_version for row in rows.values()}) == 1


def test_case_33_running_twice_piles_nothing_up(
    model: WordEmbedder, folder: Path, home: Path, counts: Callable[[], dict[str, int]]
) -> None:
    put(folder, a=PUMP, b="# Doors\n\nThe door is green.\n")
    fonte(home, "sync", str(folder))
    before, rows = bytes_of(home, without=("-shm", "-wal", ".lock")), counts()
    for _ in range(3):
        report = fonte(home, "sync", str(folder)).json
        assert (report["chunks"]["added"], report["chunks"]["removed"], report["embedded_texts"]) == (0, 0, 0)
    assert bytes_of(home, without=("-shm", "-wal", ".lock")).keys() == before.keys()
    assert counts() == rows
    assert len(names(home, "pump door")) == 2


def test_case_34_and_35_a_copy_under_another_name_is_said_and_both_names_resolve(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    put(folder, a=PUMP)
    fonte(home, "sync", str(folder))
    embedded = len(model.texts)
    shutil.copy(folder / "a.md", folder / "b.md")
    report = fonte(home, "sync", str(folder))
    assert report.status == 0
    assert report.json["documents"]["added"] == 1
    assert report.json["embedded_texts"] == 0
    assert len(model.texts) == embedded
    assert report.json["notes"] == ["b.md has the same content as a.md"]
    assert "b.md has the same content as a.md" in report.err
    assert fonte(home, "show", "a.md").json["text"] == fonte(home, "show", "b.md").json["text"] == PUMP.strip("# \n")
    (one,) = found(home, "pump bar")
    other = {"a.md": "b.md", "b.md": "a.md"}[one["document_name"]]
    assert [copy["source_uri"].rsplit("/", 1)[1] for copy in one["duplicates"]] == [other]
    assert fonte(home, "sync", str(folder)).json["notes"] == [], "said once, when it came"


SHARED = "Every visitor signs the book at the north gate and wears a badge until leaving."


def test_case_36_a_passage_that_stands_in_two_documents_is_embedded_once_and_cited_as_both(
    model: WordEmbedder, folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "gate_for", lambda _space: WIDE_OPEN)
    other = tmp_path / "other"
    other.mkdir()
    long = "The pump in hall 4 is checked on Monday. " * 30
    put(folder, guests=f"# Rules\n\n## Gate\n\n{SHARED}\n\n## Pumps\n\n{long}\n")
    put(other, guards=f"# Rules\n\n## Gate\n\n{SHARED}\n\n## Lamps\n\nThe lamp is blue. {long[::-1]}\n")
    fonte(home, "sync", str(folder))
    fonte(home, "sync", str(other), "--allow", "guard")
    assert len([text for text in model.texts if search_form(SHARED) in text and "Gate" in text]) == 1
    (citation,) = [
        one
        for one in fonte(home, "ask", "Where does every visitor sign the book?", "--roles", "guard").json["citations"]
        if one["quote"] == SHARED
    ]
    (copy,) = citation["duplicates"]
    assert {citation["source_uri"].rsplit("/", 1)[1], copy["source_uri"].rsplit("/", 1)[1]} == {
        "guests.md",
        "guards.md",
    }
    public = fonte(home, "ask", "Where does every visitor sign the book?")
    (citation,) = [one for one in public.json["citations"] if one["quote"] == SHARED]
    assert (citation["document_name"], citation["duplicates"]) == ("guests.md", [])
    assert "guards" not in public.out + fonte(home, "search", "visitor badge").out


def test_case_37_one_file_by_two_routes_is_one_document_embedded_once(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    put(folder, a=PUMP)
    fonte(home, "sync", str(folder))
    embedded = len(model.texts)
    for route in (str(folder / "a.md"), f"{folder}/*.md", (folder / "a.md").as_uri(), f"{folder}/../docs"):
        report = fonte(home, "sync", route).json
        assert (report["documents"]["added"], report["embedded_texts"]) == (0, 0), route
    both = fonte(home, "sync", str(folder), str(folder / "a.md")).json
    assert both["documents"]["unchanged"] == 1
    assert len(model.texts) == embedded
    assert names(home, "pump") == ["a.md"]


def test_case_38_of_a_changed_document_only_the_changed_chunks_are_embedded(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    parts = [f"## Part {number}\n\n" + f"Sentence of part {number} about pumps. " * 30 for number in range(4)]
    put(folder, long="# Long\n\n" + "\n\n".join(parts))
    first = fonte(home, "sync", str(folder)).json
    put(folder, long="# Long\n\n" + "\n\n".join(parts).replace("part 2 about pumps. S", "part 2 about valves. S", 1))
    second = fonte(home, "sync", str(folder)).json
    assert 1 <= second["embedded_texts"] < first["embedded_texts"]
    assert all("part 2" in text for text in model.texts[first["embedded_texts"] :])
    assert second["documents"]["modified"] == 1
    assert "about valves" in found(home, "valves", "--mode", "bm25")[0]["content"]


def test_case_39_every_vector_belongs_to_the_text_that_it_stands_beside(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    """Through edits, moves and reverts: the stored vector is the one that the stored text gives today."""
    for turn, text in enumerate((PUMP, PUMP.replace("40", "41"), PUMP.replace("hall 4", "hall 5"), PUMP)):
        put(folder, a=text, b=f"# Turn\n\nThis is turn {turn}.\n")
        fonte(home, "sync", str(folder))
        with opened(home) as corpus:
            reader = corpus.asker(WHO, k=None, mode=None, max_distance=None).reader
            ids = list(table_rows(corpus))
            for stored in reader.chunks(ids, WHO, revoked=()).values():
                fresh = model.embed_query(search_form(stored.chunk.text))
                assert stored.vector @ fresh > 1 - 1e-5
        wanted = {sha256_hex(text) for text in model.texts if "Pumps" in text or "Turn" in text}
        with opened(home) as corpus:
            cache = corpus._store_of("default").cache
            assert cache.get(model.space.key, sorted(wanted)).keys() == wanted
            assert cache.count() == len(wanted)


def test_case_40_a_filter_acts_before_k_in_both_legs(model: WordEmbedder, folder: Path, home: Path) -> None:
    put(folder, **{f"n{number}": f"# Note {number}\n\nThe pump runs at {number} bar.\n" for number in range(70)})
    fonte(home, "sync", str(folder))
    for mode in ("hybrid", "bm25", "dense"):
        got = names(home, "pump bar", "--mode", mode, "--k", "1", "--filter", "document=n66.md")
        assert got == ["n66.md"], mode


def test_case_41_what_failed_once_is_said_every_time_and_read_again_when_it_changes_or_on_request(
    model: WordEmbedder, folder: Path, home: Path
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    put(folder, a=PUMP)
    for _ in range(2):
        ran = fonte(home, "sync", str(folder))
        assert ran.status == 3
        assert [one["state"] for one in ran.json["failures"]] == ["failed"]
        assert ran.json["failures"][0]["reason"]
    assert fonte(home, "retry").json["documents"]["failed"] == 1
    (folder / "broken.pdf").write_text("The lamp is blue.")
    assert fonte(home, "sync", str(folder)).status == 0
    assert names(home, "lamp", "--mode", "bm25") == ["broken.pdf"]
    (state,) = [one for one in fonte(home, "documents").json["documents"] if one["document_name"] == "broken.pdf"]
    assert (state["state"], state["reason"]) == ("ready", None)


def test_case_42_the_read_path_writes_nothing_and_ask_only_its_answer(
    model: WordEmbedder, folder: Path, home: Path, counts: Callable[[], dict[str, int]]
) -> None:
    put(folder, a=PUMP)
    fonte(home, "sync", str(folder))
    (folder / "a.md").write_text("# Changed\n\nNobody asked for a new index.\n")
    before, rows = bytes_of(home, without=("-shm", "-wal")), counts()
    embedded = model.calls
    for mode in ("hybrid", "bm25", "dense"):
        assert found(home, "pump", "--mode", mode)
    for command in (["show", "a.md"], ["documents"], ["status"], ["generations"]):
        assert fonte(home, *command).status == 0
    assert bytes_of(home, without=("-shm", "-wal")) == before
    assert model.calls == embedded, "no passage is embedded by a search"
    for _ in range(2):
        assert "40 bar" in fonte(home, "ask", "At how many bar does the pump run?").out
    after = counts()
    assert {name for name, number in after.items() if rows[name] != number} == {"answers"}
    assert after["answers"] == rows["answers"] + 2
    lance = {name: body for name, body in before.items() if "lance" in name}
    assert {name: body for name, body in bytes_of(home).items() if "lance" in name} == lance


def test_case_43_a_parser_killed_in_mid_document_is_one_failure_and_the_next_try_is_ready(
    model: WordEmbedder, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fonte.parsers import pool

    put(folder, a=PUMP, b="# Doors\n\nThe door is green.\n", c="# Lamps\n\nThe lamp is blue.\n")
    ask: Callable[..., object] = pool._Child.ask

    def killed(child: pool._Child, task: bytes, source: Source, *given: object) -> object:
        if source.name == "b.md":
            os.kill(child._process.pid, signal.SIGKILL)
        return ask(child, task, source, *given)

    with monkeypatch.context() as patch:
        patch.setattr(pool._Child, "ask", killed)
        ran = fonte(home, "sync", str(folder))
    assert ran.status == 3
    (failure,) = ran.json["failures"]
    assert (failure["state"], failure["retryable"]) == ("failed", True)
    assert sorted(names(home, "pump door lamp")) == ["a.md", "c.md"]
    assert fonte(home, "retry").status == 0
    assert {one["state"] for one in fonte(home, "documents").json["documents"]} == {"ready"}
    assert sorted(names(home, "pump door lamp")) == ["a.md", "b.md", "c.md"]
    assert not [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]


def test_case_44_stale_names_the_documents_and_the_field_that_differs(
    model: WordEmbedder, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, a=PUMP, b="# Doors\n\nThe door is green.\n")
    fonte(home, "sync", str(folder))
    other = WordEmbedder()
    other.space = type(other.space)("other", "other-words", "2", other.space.dimensions, other.space.window)
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: other)
    stale = fonte(home, "status").json["stale"]
    assert [one["document_name"] for one in stale] == ["a.md", "b.md"]
    for one in stale:
        said = " ".join(one["differs"])
        assert "embedding_model: words -> other-words" in said
        assert "chunking" not in said
    ran = fonte(home, "search", "pump")
    assert (ran.status, ran.json["error"]["code"]) == (1, "space_mismatch")
    report = fonte(home, "sync", str(folder)).json
    assert (report["documents"]["modified"], report["documents"]["added"]) == (2, 0)
    assert fonte(home, "status").json["stale"] == []


def test_case_45_overlapping_chunks_come_back_as_one_stretch(model: WordEmbedder, folder: Path, home: Path) -> None:
    sentences = " ".join(f"Sentence {number} says that pump {number} is checked." for number in range(60))
    put(folder, long=f"# Long\n\n{sentences}\n")
    home.mkdir()
    (home / "fonte.toml").write_text('[chunking]\nstrategy = "blind"\nsize = 400\noverlap = 200\n')
    fonte(home, "sync", str(folder))
    text = fonte(home, "show", "long.md").json["text"]
    got = [(one["locator"]["from"], one["locator"]["to"], one["content"]) for one in found(home, "pump is checked")]
    assert all(content == text[start:end] for start, end, content in got)
    spans = sorted((start, end) for start, end, _ in got)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    with opened(home) as corpus:
        answer = corpus.ask("Which pump is checked?", principal=WHO)
        cited = answer.citations if isinstance(answer, Answered) else ()
        spans = sorted((one.locator.start, one.locator.end) for one in cited)
        assert all(left[1] <= right[0] for left, right in pairwise(spans))


def test_the_python_face_gives_a_document_and_the_status(model: WordEmbedder, folder: Path, home: Path) -> None:
    put(folder, a=PUMP, b="# Doors\n\nThe door is green.\n")
    with opened(home) as corpus:
        before = corpus.status()
        assert (before.active, dict(before.documents), before.stale) == (None, {}, ())
        report = corpus.sync(str(folder))
        document = corpus.document("b.md", principal=WHO)
        assert "The door is green." in document.text
        status = corpus.status()
        assert status.active is not None
        assert (status.active.id, dict(status.documents), status.stale) == (report.generation, {"ready": 2}, ())
        with pytest.raises(NotFound):
            corpus.document("c.md", principal=WHO)
