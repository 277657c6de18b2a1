"""What sync, retry and delete say and end with when not all is well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from property.quick_corpus import WordEmbedder

from command import fonte
from fonte.models import registry
from fonte.stores.home import Home


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch, _one_model: Iterator[None]) -> None:
    model = WordEmbedder()
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: model)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(6):
        (made / f"n{number}.md").write_text(f"# Note {number}\n\nPump P-{number} runs at {number * 3} bar.\n")
    return made


def test_a_sync_that_is_held_back_says_why_even_when_quiet(home: Path, folder: Path) -> None:
    active = fonte(home, "sync", str(folder)).json["generation"]
    for path in sorted(folder.iterdir())[1:]:
        path.unlink()
    ran = fonte(home, "sync", str(folder), "--quiet")
    assert ran.status == 1
    (line,) = ran.err.splitlines()
    assert line.startswith("error[gate_failed]: generation g")
    assert "5 of 6 documents have disappeared" in line
    assert ran.json["published"] is False
    assert ran.json["documents"]["deleted"] == 5, "one JSON document: the report, with the error"
    assert ran.json["error"]["code"] == "gate_failed"
    assert "--override" in ran.json["error"]["hint"]
    assert fonte(home, "generations").json["active"] == active
    told = fonte(home, "sync", str(folder), json_mode=False)
    assert told.status == 1
    assert [line.startswith("error[gate_failed]") for line in told.err.splitlines()] == [True]
    assert fonte(home, "sync", str(folder), "--no-publish").status == 0, "nobody wanted it to be published"


@pytest.mark.parametrize(
    "command",
    [
        ["sync", "."],
        ["delete", "x"],
        ["generations"],
        ["documents"],
        ["status"],
        ["retry"],
        ["rollback"],
        ["search", "x"],
    ],
)
def test_a_tenant_without_a_name_is_wrong_use(home: Path, folder: Path, command: list[str]) -> None:
    fonte(home, "sync", str(folder))
    ran = fonte(home, *command, "--tenant", "")
    assert ran.status == 2
    assert "tenant" in ran.json["error"]["message"]
    assert len(ran.err.strip().splitlines()) == 1


def test_a_delete_goes_through_while_a_sync_holds_the_lock(home: Path, folder: Path) -> None:
    fonte(home, "sync", str(folder))
    store = Home(home).tenant("default")
    with store.catalog.writer():
        assert fonte(home, "sync", str(folder)).json["error"]["code"] == "home_locked"
        assert fonte(home, "delete", "n1.md").status == 0
        assert "n1.md" not in fonte(home, "search", "pump P-1").out
    store.close()


def test_a_retry_that_could_not_reach_its_source_ends_with_3(home: Path, folder: Path, tmp_path: Path) -> None:
    (folder / "empty.md").touch()
    assert fonte(home, "sync", str(folder)).status == 0, "an empty file is no failure"
    folder.rename(tmp_path / "away")
    ran = fonte(home, "retry")
    assert ran.status == 3
    (failure,) = ran.json["failures"]
    assert (failure["state"], failure["retryable"]) == ("failed", True)
    assert failure["source_uri"].endswith("/empty.md")
    (tmp_path / "away").rename(folder)
    assert fonte(home, "retry").status == 0


def test_documents_of_nothing_say_why_there_are_none(home: Path, folder: Path) -> None:
    fonte(home, "sync", str(folder), "--no-publish")
    ran = fonte(home, "documents", "--tenant", "other", json_mode=False)
    assert (ran.status, "nothing was synced yet: run fonte sync" in ran.err) == (0, True)
    ran = fonte(home, "documents")
    assert ran.json == {"documents": []}
    assert "is built and waits: fonte publish g" in ran.err


def test_documents_while_the_first_build_runs_say_that_it_runs(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    model = WordEmbedder()
    embed = model.embed_passages

    def looked(texts: list[str]) -> object:
        told.append(fonte(home, "documents", json_mode=False).err)
        return embed(texts)

    monkeypatch.setattr(model, "embed_passages", looked)
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: model)
    assert fonte(home, "sync", str(folder)).status == 0
    assert told
    assert "is being built, unless its sync was broken off" in told[0]
    assert fonte(home, "documents").err == ""


def test_files_that_give_no_text_say_so_in_plain_words(home: Path, folder: Path) -> None:
    (folder / "zero.pdf").touch()
    (folder / "spaces.txt").write_text(" \n")
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "torn.pdf").write_bytes(b"%PDF-1.7\n" + b"\x00\x01 torn " * 40)
    report = fonte(home, "sync", str(folder)).json
    reasons = {one["source_uri"].rsplit("/", 1)[-1]: one["reason"] for one in report["failures"]}
    assert reasons["zero.pdf"] == "the file is empty: 0 bytes"
    assert reasons["spaces.txt"] == "it holds no text"
    assert "fonte reads no files of this kind" in reasons["noise.bin"]
    assert "yet" not in reasons["noise.bin"]
    assert reasons["torn.pdf"].endswith("cannot be opened as PDF, nor repaired: it is damaged, or is no PDF")


def test_a_sidecar_that_is_cut_fails_its_document_with_the_reason(home: Path, folder: Path) -> None:
    (folder / "n1.md.fonte.yaml").write_text("roles: {hr: yes\n")
    ran = fonte(home, "sync", str(folder))
    (failure,) = ran.json["failures"]
    assert failure["source_uri"].endswith("/n1.md")
    assert failure["state"] == "failed"
    assert "n1.md.fonte.yaml cannot be understood: '{hr: yes' is neither text nor a list" in failure["reason"]
    assert not [note for note in ran.json["notes"] if "nobody" in note]
