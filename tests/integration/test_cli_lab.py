"""The real command with the real encoder, on some of its questions and two of its configurations."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from command import Ran, fonte
from fonte.cli import lab
from fonte.errors import ConfigError
from fonte.evaluation.html import plots

ASKED = ("module-r7", "monthly-2026", "panorama-dog", "u-tg7", "u-salary-public", "livia-trainer", "code-m24")


def few(monkeypatch: pytest.MonkeyPatch) -> None:
    load = lab.load_golden

    def some(path: Path) -> object:
        golden = load(path)
        return replace(golden, questions=tuple(one for one in golden.questions if one.id in ASKED))

    monkeypatch.setattr(lab, "load_golden", some)
    wanted = ("bm25", "hybrid", "hybrid + rerank")
    monkeypatch.setattr(lab, "CONFIGURATIONS", [one for one in lab.CONFIGURATIONS if one.name in wanted])


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    """One run for the whole module."""
    out = tmp_path_factory.mktemp("laboratory") / "lab"
    with pytest.MonkeyPatch.context() as patch:
        few(patch)
        return fonte(out.parent / "unused", "lab", "--out", str(out)), out


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_laboratory_runs_and_nothing_comes_out_that_should_not(ran: tuple[Ran, Path]) -> None:
    done, out = ran
    assert done.status == 0, done.err
    told = done.json
    assert told == json.loads((out / "lab.json").read_text(encoding="utf-8"))
    assert told["corpus"]["documents"] == 50
    assert told["golden"]["questions"] == len(ASKED)
    assert told["unauthorized"] == 0
    assert [one["name"] for one in told["configurations"]] == ["bm25", "hybrid", "hybrid + rerank"]
    assert all(one["measures"]["faithfulness"]["value"] == 1.0 for one in told["configurations"])
    for one in told["simulations"]:
        assert [check["what"] for check in one["checks"] if not check["held"]] == []
    assert all(one["questions"] and not one["unauthorized"] for one in told["trespasses"])
    assert "asking 7 questions: hybrid" in done.err


@pytest.mark.slow
def test_its_report_is_one_file_with_plots_that_needs_nothing_else(ran: tuple[Ran, Path]) -> None:
    page = (ran[1] / "lab.html").read_text(encoding="utf-8")
    tree = ET.fromstring(page.split("\n", 1)[1])
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}svg")) >= 6
    assert not re.search(r"<(?:script|img|link)\b|src=|@import|url\((?!#)", page)
    for heading in (
        "Configurations",
        "Verdicts",
        "Mistakes of this run",
        "Asked by those who may not know",
        "Simulations",
    ):
        assert heading in page
    assert "faithfulness" in page


@pytest.mark.slow
def test_its_folder_can_be_explored(ran: tuple[Ran, Path]) -> None:
    out = ran[1]
    assert {one.name for one in (out / "runs").iterdir()} == {
        "bm25.run",
        "hybrid.run",
        "hybrid-rerank.run",
        "qrels.txt",
    }
    checked = fonte(out / "home", "golden", "check", str(out / "golden.yaml"))
    assert (checked.status, checked.json["questions"], checked.json["faults"]) == (0, 60, [])
    found = fonte(out / "home", "search", "E-417", "--tenant", "serena", "--mode", "bm25").json
    assert all(not one["document_name"].startswith("staff/") for one in found["results"])
    found = fonte(out / "home", "search", "E-417", "--tenant", "serena", "--mode", "bm25", "--roles", "staff").json
    assert found["results"][0]["document_name"] == "staff/guasti-codici.md"


def test_a_folder_of_something_else_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = fonte(home, "lab", "--out", str(tmp_path))
    assert (done.status, done.json["error"]["code"]) == (2, "input")


def test_without_the_extra_for_plots_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> None:
        raise ConfigError("the plots of a report need matplotlib", hint="pip install 'fonte[report]'")

    monkeypatch.setattr(plots, "require", missing)
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = fonte(tmp_path / "home", "lab", "--out", str(tmp_path))
    assert "the report will have no plots" in done.err
