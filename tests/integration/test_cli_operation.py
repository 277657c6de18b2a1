"""erase, backup, restore and check as one types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from faults.small_corpus import MODEL, begin, open_corpus

from fonte.cli import main
from fonte.config import load_settings
from fonte.serving import at_work, make_served
from fonte.stores.home import Home


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small home, synced once."""
    place = tmp_path_factory.mktemp("operation")
    (place / "fonte.toml").write_text(MODEL, encoding="utf-8")
    begin(place / "docs", 4)
    with open_corpus(place / "home") as corpus:
        corpus.sync(str(place / "docs"))
    return place


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(made / "home", tmp_path / "home")
    shutil.copy(made / "fonte.toml", tmp_path / "fonte.toml")
    return tmp_path / "home"


def test_erase_needs_to_be_told_what(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["erase", "--home", str(home)]) == 2
    assert main(["erase", "n01.md", "--user", "ada", "--home", str(home)]) == 2
    assert main(["erase", "nothing.md", "--home", str(home)]) == 1
    assert "error[not_found]" in capsys.readouterr().err


def test_a_document_and_then_the_tenant(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["erase", "n01.md", "--home", str(home), "--json"]) == 0
    (gone,) = json.loads(capsys.readouterr().out)["erased"]
    assert main(["check", "--home", str(home)]) == 0
    entries = Home(home).audit().entries("default")
    assert [(entry.action, entry.subject) for _, entry in entries] == [("fonte erase", gone)]
    assert main(["erase", "--user", "ada", "--home", str(home)]) == 0
    assert main(["erase", "--tenant", "default", "--home", str(home)]) == 0
    assert not (home / "tenants" / "default").exists()
    assert [entry.subject for _, entry in Home(home).audit().entries("default")] == ["tenant default"]


def test_backup_restore_check(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, new = home.parent / "b.tar.gz", home.parent / "new"
    assert main(["backup", str(file), "--home", str(home), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tenants"] == 1
    assert main(["restore", str(file), "--home", str(new)]) == 0
    assert main(["restore", str(file), "--home", str(new)]) == 2
    capsys.readouterr()
    assert main(["check", "--home", str(new), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"whole": True, "faults": []}


def test_a_server_completes_an_erasure_that_was_killed(home: Path) -> None:
    with open_corpus(home) as corpus:
        doomed = next(one for one in corpus.documents() if one.name == "n02.md")
        store = Home(home).tenant("default")
        store.eraser._begun([doomed])
        assert Home(home).unerased() == ["default"]
        settings = load_settings(None, home, {})
        with at_work(home, settings, make_served(home, settings, corpus, None)):
            assert Home(home).unerased() == []
            assert "n02.md" not in {one.name for one in corpus.documents()}
        store.close()
