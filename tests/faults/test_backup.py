"""A backup taken while a sync runs is whole, is refused once a byte of it changed, and answers as its home did."""

from __future__ import annotations

import random
import shutil
import sqlite3
import tarfile
import threading
from pathlib import Path

import pytest
from faults.small_corpus import begin, edit, open_corpus, told

from fonte.cli import main
from fonte.errors import InputError, NotFound
from fonte.stores.backup import backup, restore
from fonte.stores.checking import check
from fonte.types import Principal


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a synced home and its backup."""
    place = tmp_path_factory.mktemp("backup")
    begin(place / "docs", 12)
    with open_corpus(place / "home") as corpus:
        corpus.sync(str(place / "docs"))
        corpus.ask("What is the pressure of pump P-7?", principal=Principal(user="ada"), conversation="new")
    backup(place / "home", place / "b.tar.gz", "1")
    return place


def test_a_restored_home_answers_the_same(made: Path, tmp_path: Path) -> None:
    found = restore(made / "b.tar.gz", tmp_path / "new")
    assert found.tenants == 1
    assert told(tmp_path / "new").difference(told(made / "home")) == ""
    assert list(check(tmp_path / "new")) == []
    assert (tmp_path / "new").stat().st_mode & 0o77 == 0
    assert (made / "b.tar.gz").stat().st_mode & 0o77 == 0
    with open_corpus(tmp_path / "new") as corpus:
        assert len(corpus.answers(principal=Principal(user="ada"))) == 1


def test_nothing_is_overwritten(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there already"):
        backup(made / "home", made / "b.tar.gz", "1")
    with pytest.raises(InputError, match="there already"):
        restore(made / "b.tar.gz", made / "home")
    with pytest.raises(NotFound):
        restore(tmp_path / "none.tar.gz", tmp_path / "new")


def test_a_cut_or_altered_file_is_refused(made: Path, tmp_path: Path) -> None:
    body, draw = (made / "b.tar.gz").read_bytes(), random.Random(7)
    other = tmp_path / "other.tar.gz"
    cuts = [body[: draw.randrange(len(body))] for _ in range(12)] + [body[:-1], b"", b"no archive"]
    altered = []
    for _ in range(25):
        at = draw.randrange(10, len(body))
        altered.append(body[:at] + bytes([body[at] ^ (1 << draw.randrange(8))]) + body[at + 1 :])
    for number, one in enumerate([*cuts, *altered]):
        other.write_bytes(one)
        with pytest.raises(InputError):
            restore(other, tmp_path / f"new{number}")
    assert list(tmp_path.iterdir()) == [other]


def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    for name in ("../evil", "/etc/evil", "a/../../evil"):
        with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as archive:
            archive.addfile(tarfile.TarInfo(name))
        with pytest.raises(InputError, match="leads elsewhere"):
            restore(tmp_path / "evil.tar.gz", tmp_path / "new")
        (tmp_path / "evil.tar.gz").unlink()
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as archive:
        archive.addfile(link)
    with pytest.raises(InputError):
        restore(tmp_path / "evil.tar.gz", tmp_path / "new")


def test_backups_while_a_sync_runs_are_whole(made: Path, tmp_path: Path) -> None:
    home, docs, draw = tmp_path / "home", tmp_path / "docs", random.Random(3)
    shutil.copytree(made / "docs", docs)
    with open_corpus(home) as corpus:
        corpus.sync(str(docs))
        over = threading.Event()

        def sync() -> None:
            for number in range(5):
                edit(docs, draw, number + 1)
                corpus.sync(str(docs))
            over.set()

        beside = threading.Thread(target=sync)
        beside.start()
        taken = 0
        while not over.is_set():
            backup(home, tmp_path / f"b{taken}.tar.gz", "1")
            taken += 1
        beside.join()
    assert taken >= 2
    for number in sorted({0, taken - 1, *draw.sample(range(taken), min(3, taken))}):
        restore(tmp_path / f"b{number}.tar.gz", tmp_path / f"new{number}")
        assert list(check(tmp_path / f"new{number}")) == []
        told(tmp_path / f"new{number}")


def test_check_says_what_is_wrong(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    shutil.copytree(made / "home", home)
    assert main(["check", "--home", str(home)]) == 0
    folder = home / "tenants" / "default"
    (folder / "lance" / "chunks-x-0.lance").mkdir()
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        connection.execute("UPDATE entries SET chunks = chunks + 1 WHERE name = 'n03.md'")
    connection.close()
    capsys.readouterr()
    assert main(["check", "--home", str(home)]) == 1
    said = capsys.readouterr().out
    assert "belongs to no generation" in said
    assert "the index holds" in said
    table = next((folder / "lance").glob("chunks-*[!0].lance"))
    shutil.rmtree(table)
    assert main(["check", "--home", str(home)]) == 1
    assert "is gone" in capsys.readouterr().out
