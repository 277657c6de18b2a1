from __future__ import annotations

import argparse
import os
import tomllib
from pathlib import Path

import pytest

import fonte.doctor
from fonte.cli.arguments import GENERATORS
from fonte.cli.looking import doctor
from fonte.cli.output import Output
from fonte.doctor import ENOUGH_BYTES, EXTRAS, Check, examine
from fonte.wiring import _GENERATORS

ROOT = Path(__file__).resolve().parents[3]
WITHOUT_MODEL = '[embedding]\nsource = "path:nowhere"\n'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings whose model is not there, so that none is loaded."""
    file = tmp_path / "fonte.toml"
    file.write_text(WITHOUT_MODEL, encoding="utf-8")
    return file


def told(home: Path, config: Path) -> dict[str, Check]:
    return {one.name: one for one in examine(str(home), str(config))}


def test_every_extra_is_told_with_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_their_own = {"all", "e5", "minilm", "language"}
    assert set(project["optional-dependencies"]) - of_their_own == set(EXTRAS)


def test_a_missing_extra_is_told_with_its_command(tmp_path: Path, config: Path, monkeypatch) -> None:
    monkeypatch.setattr(fonte.doctor, "_installed", lambda name: name != "scikit-learn")
    found = told(tmp_path / "home", config)
    assert (found["extra calibrate"].ok, found["extra calibrate"].required) == (False, False)
    assert "scikit-learn" in found["extra calibrate"].detail
    assert found["extra calibrate"].hint == "pip install 'fonte[calibrate]'"
    assert found["extra serve"].ok


def test_without_tesseract_it_says_what_is_lost_and_what_to_install(tmp_path: Path, config: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    config.write_text(WITHOUT_MODEL + '[parsing]\nocr_languages = "fra+chi_sim"\n', encoding="utf-8")
    found = told(tmp_path / "home", config)["ocr"]
    assert (found.ok, found.required) == (False, False)
    assert "needs_ocr" in found.detail
    packages = "tesseract-ocr tesseract-ocr-fra tesseract-ocr-chi-sim tesseract-ocr-osd"
    assert found.hint.endswith(f"apt-get install {packages}")


def test_a_language_of_pictures_that_is_missing_is_named(tmp_path: Path, config: Path, monkeypatch) -> None:
    program = tmp_path / "tesseract"
    program.write_text('#!/bin/sh\necho "tesseract 5.3.0"\necho eng\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    found = told(tmp_path / "home", config)["ocr"]
    assert not found.ok
    assert "without ita" in found.detail
    assert found.hint == "on Debian: apt-get install tesseract-ocr-ita"


def test_a_home_that_others_may_read_is_told(tmp_path: Path, config: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    assert "home permissions" not in told(home, config)
    home.chmod(0o755)
    found = told(home, config)["home permissions"]
    assert (found.ok, found.hint) == (False, f"chmod 700 {home}")
    assert "0755" in found.detail


def test_a_place_where_no_home_can_be_made_is_told(tmp_path: Path, config: Path, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    found = told(tmp_path / "a" / "home", config)["home"]
    assert (found.ok, found.required) == (False, True)
    assert str(tmp_path) in found.detail
    assert "--home" in found.hint


def test_a_home_that_may_not_be_written_is_told(tmp_path: Path, config: Path, monkeypatch) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != home or not mode & os.W_OK)
    found = told(home, config)["home"]
    assert (found.ok, found.required) == (False, False), "it answers all the same"
    assert "may be read by you and not written" in found.detail
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != home)
    found = told(home, config)["home"]
    assert (found.ok, found.required) == (False, True)
    assert "may not be read" in found.detail


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path, config: Path, monkeypatch) -> None:
    for free, enough in ((ENOUGH_BYTES, True), (ENOUGH_BYTES - 1, False)):
        monkeypatch.setattr("shutil.disk_usage", lambda path, free=free: argparse.Namespace(free=free))
        assert told(tmp_path / "home", config)["disk"].ok is enough


def test_a_cache_that_may_not_be_written_is_told(tmp_path: Path, config: Path, monkeypatch) -> None:
    monkeypatch.setenv("FONTE_CACHE", str(tmp_path / "cache"))
    assert told(tmp_path / "home", config)["model cache"].ok
    monkeypatch.setattr("os.access", lambda path, mode: False)
    found = told(tmp_path / "home", config)["model cache"]
    assert (found.ok, found.required) == (False, False)
    assert "FONTE_CACHE" in found.hint


def test_what_to_do_stands_below_what_is_missing(tmp_path: Path, config: Path, capsysbinary) -> None:
    options = argparse.Namespace(home=str(tmp_path / "home"), config=str(config))
    assert doctor(options, Output(json_mode=False, quiet=False)) == 1
    lines = capsysbinary.readouterr().out.decode().split("\n")
    at = next(index for index, line in enumerate(lines) if line.startswith("NO  embedding"))
    assert "there is no model folder" in lines[at]
    assert lines[at + 1].startswith("   ")
    assert lines[-2] == "needed, and not as it should be: embedding"


def test_the_generators_of_the_command_line_are_those_that_there_are() -> None:
    assert set(GENERATORS) == set(_GENERATORS)
