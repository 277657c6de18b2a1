"""Wrong use and broken surroundings: one clear line, the right exit status, and a home that stays whole."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from command import fonte
from fonte.cli.arguments import LATER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One document."""
    made = tmp_path / "docs"
    made.mkdir()
    (made / "a.md").write_text("# A\n\nThe key hangs behind the door of room 12.\n", encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["sync", "absent-folder"], 1, "source_unreadable"),
        (["search", "x"], 2, "input"),
        (["ask", "x"], 2, "input"),
        (["show", "x"], 2, "input"),
        (["frobnicate"], 2, "usage"),
        (["sync"], 2, "usage"),
        (["search", "x", "--k", "0"], 2, "usage"),
        (["search", "x", "--k", "many"], 2, "usage"),
        (["search", "x", "--mode", "magic"], 2, "usage"),
        (["search", "x", "--max-distance", "9"], 2, "usage"),
        (["search", "x", "--bogus"], 2, "usage"),
        (["ask", "x", "--as-of", "1 March"], 2, "usage"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_no_home(tmp_path: Path, arguments: list[str], status: int, code: str) -> None:
    home = tmp_path / "home"
    ran = fonte(home, *arguments)
    assert (ran.status, ran.json["error"]["code"]) == (status, code)
    assert ran.json["error"]["message"]
    assert ran.json["error"]["hint"]
    assert len(ran.err.strip().splitlines()) == 1
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["snyc", "docs"], "sync"),
        (["keys", "crate"], "create"),
        (["search", "x", "--mode", "hybird"], "hybrid"),
        (["search", "x", "--filter", "lang=it"], "language"),
    ],
)
def test_a_slip_of_the_pen_is_told_what_was_meant(tmp_path: Path, arguments: list[str], meant: str) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    ran = fonte(tmp_path / "home", *arguments)
    assert ran.status == 2
    assert meant in ran.json["error"]["hint"]
    slip = "snyc" if "snyc" in arguments else arguments[-1]
    assert slip in ran.json["error"]["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        *([command, "x"] for command in sorted(LATER)),
    ],
)
def test_what_a_later_version_does_is_refused_as_not_built_yet(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home"
    ran = fonte(home, *arguments)
    assert (ran.status, ran.json["error"]["code"]) == (2, "config")
    assert "not built yet in this version" in ran.json["error"]["message"]
    assert not home.exists()


@pytest.mark.parametrize("words", [["g1"], ["diff", "g1"], ["diff", "a", "b", "c"]])
def test_other_words_after_generations_are_wrong_use(tmp_path: Path, words: list[str]) -> None:
    ran = fonte(tmp_path / "home", "generations", *words)
    assert (ran.status, ran.json["error"]["code"]) == (2, "usage")


def test_status_works_without_the_model_and_says_what_it_does_not_know(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    known = fonte(home, "status").json
    assert (known["stale"], known["stale_unknown"]) == ([], None)
    absent, down = tmp_path / "absent.toml", tmp_path / "down.toml"
    absent.write_text('[embedding]\nsource = "path:no-such-folder"\n', encoding="utf-8")
    down.write_text('[embedding]\nsource = "openai:m"\nbase_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
    for config in (absent, down):
        ran = fonte(home, "status", "--config", str(config))
        assert (ran.status, ran.json["stale"]) == (0, None)
        assert ran.json["stale_unknown"]
        assert ran.json["documents"] == known["documents"]
        spoken = fonte(home, "status", "--config", str(config), json_mode=False)
        assert "stale: not known" in spoken.out


def test_wrong_settings_name_the_file_and_the_key(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "fonte.toml"
    config.write_text("[chunking]\nsizee = 3\n", encoding="utf-8")
    ran = fonte(tmp_path / "home", "sync", str(folder), "--config", str(config))
    assert (ran.status, ran.json["error"]["code"]) == (2, "config")
    assert "sizee" in ran.err
    assert "size" in ran.json["error"]["hint"]


def test_an_unknown_model_is_named_and_the_known_ones_are_told(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "fonte.toml"
    config.write_text('[embedding]\nsource = "package:no-such-model"\n', encoding="utf-8")
    ran = fonte(tmp_path / "home", "sync", str(folder), "--config", str(config))
    assert (ran.status, ran.json["error"]["code"]) == (1, "model_not_installed")
    assert "multilingual-e5-small" in ran.json["error"]["hint"]


def test_a_second_writer_is_turned_away_and_readers_are_not(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    (lock,) = (home / "tenants" / "default").glob("*.lock")
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = fonte(home, "sync", str(folder))
        assert (ran.status, ran.json["error"]["code"], ran.json["error"]["retryable"]) == (1, "home_locked", True)
        assert fonte(home, "search", "key").json["results"]
    assert fonte(home, "sync", str(folder)).status == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_one_failure(folder: Path, tmp_path: Path) -> None:
    (folder / "secret.md").write_text("# S\n\nhidden\n", encoding="utf-8")
    (folder / "secret.md").chmod(0)
    ran = fonte(tmp_path / "home", "sync", str(folder))
    assert ran.status == 3
    assert ran.json["documents"]["failed"] == 1


def test_an_endpoint_that_is_down_ends_the_sync_and_the_index_answers_as_before(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = fonte(home, "sync", str(folder)).json["generation"]
    config = tmp_path / "other.toml"
    config.write_text(
        '[embedding]\nsource = "openai:some-model"\nbase_url = "http://127.0.0.1:9/v1"\ntimeout_seconds = 0.5\n'
        "dimensions = 8\n",
        encoding="utf-8",
    )
    ran = fonte(home, "sync", str(folder), "--config", str(config))
    assert (ran.status, ran.json["error"]["code"], ran.json["error"]["retryable"]) == (1, "model_unavailable", True)
    assert fonte(home, "generations").json["active"] == before
    assert fonte(home, "search", "key").json["results"]


def test_settings_of_another_model_are_no_hindrance_to_asking(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    config = tmp_path / "other.toml"
    config.write_text('[embedding]\nsource = "package:all-MiniLM-L6-v2"\n', encoding="utf-8")
    found = [fonte(home, "search", "key", *extra).json["results"] for extra in ([], ["--config", str(config)])]
    assert found[0]
    assert found[0] == found[1]


def test_a_home_that_is_a_file_is_said(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder")
    ran = fonte(home, "sync", str(folder))
    assert ran.status == 1
    assert ran.json["error"]["code"] == "store_unavailable"


def test_tenants_do_not_meet(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder), "--tenant", "one")
    assert fonte(home, "search", "key", "--tenant", "two").json["results"] == []
    assert fonte(home, "ask", "Where does the key hang?", "--tenant", "two").json["answered"] is False
    assert fonte(home, "search", "key", "--tenant", "../one").json["results"] == []
    assert not (home / "tenants" / "two").exists(), "reading makes nothing"
    assert fonte(home, "search", "key", "--tenant", "one").json["results"]
