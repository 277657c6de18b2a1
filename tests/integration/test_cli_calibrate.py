"""fonte calibrate: figures for programs and for people, a gate in force with the next question, refusals in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import fonte
from fonte.models import registry
from quick_corpus import WordEmbedder

PLACES = "Arona Biella Crema Desio Erba Fano Gela Imola Jesi Lodi Massa Narni Orte Pisa Rieti Susa Terni Udine".split()
MODEL = WordEmbedder()


@pytest.fixture(autouse=True)
def _word_model(_one_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "make_embedder", lambda *_, **__: MODEL)


def question(identity: str, text: str, **more: object) -> str:
    return json.dumps({"id": identity, "question": text, "language": "en", **more})


def golden(folder: Path, *, unanswerable: int) -> str:
    known = [
        question(
            f"{thing}-{place}",
            f"When was the {thing} of {place} opened?",
            relevant=[{"document": f"{place}.md", "needle": f"The {thing} of {place} was opened"}],
        )
        for place in PLACES
        for thing in ("bridge", "market")
    ]
    absent = [
        question(f"no-{at}", f"What does a {word} cost on moon {at}?", answerable=False)
        for at, word in enumerate(("ticket meal visa tent lamp " * 5).split()[:unanswerable])
    ]
    path = folder / "golden.yaml"
    path.write_text("name: towns\nquestions:\n" + "".join(f"  - {one}\n" for one in [*known, *absent]))
    return str(path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "towns"
    folder.mkdir()
    for number, place in enumerate(PLACES):
        text = f"The bridge of {place} was opened in {1800 + number}.\n\nThe market of {place} was opened in 1700.\n"
        (folder / f"{place}.md").write_text(text)
    home = tmp_path / "home"
    assert fonte(home, "sync", str(folder)).status == 0
    return home


def test_figures_a_gate_in_force_and_what_status_says(tmp_path: Path, home: Path) -> None:
    before = fonte(home, "status").json
    assert before["gate"] == {"calibrated": False, "note": None, "calibration": None}
    file = golden(tmp_path, unanswerable=22)
    ran = fonte(home, "calibrate", file, "--cost-wrong", "3", "--cost-abstain", "1")
    assert ran.status == 0, ran.err
    told = ran.json
    assert (told["n_answerable"], told["n_unanswerable"], told["grouped_by"]) == (36, 22, told["grouped_by"])
    assert told["auroc"]["low"] <= told["auroc"]["value"] <= told["auroc"]["high"]
    assert told["baseline_auroc"] == told["baselines"]["best_single"]["auroc"]["value"]
    assert set(told["baselines"]) == {"best_single", "dense_distance", "gate_before"}
    point = told["operating_point"]
    assert point["threshold"] == 0.75
    assert 0 <= point["false_answer_rate"] <= 1
    assert set(point["intervals"]) >= {"coverage", "false_answer_rate", "answered", "cost"}
    assert all(len(one) == 2 for one in told["curve"])
    assert told["thresholds"]["distance"][0]["bluffs"] == 22
    answer = fonte(home, "ask", "What does a visa cost on moon 2?").json
    assert (answer["gate"]["calibrated"], answer["gate"]["stamp"]) == (True, told["stamp"])
    assert answer["notes"] == []
    status = fonte(home, "status").json["gate"]
    assert (status["calibrated"], status["calibration"]["stamp"]) == (True, told["stamp"])
    assert status["calibration"]["golden"]["fingerprint"] == told["golden"]["fingerprint"]
    assert "gate: calibrated on towns (58 queries" in fonte(home, "status", json_mode=False).out
    narrow = fonte(home, "ask", "What does a visa cost on moon 2?", "--k", "2").json
    assert narrow["gate"]["calibrated"] is False
    assert "the widths of retrieval changed" in narrow["notes"][0]
    config = tmp_path / "other.toml"
    config.write_text("[retrieval]\nper_document = 1\n[gate]\ncost_wrong = 1\ncost_abstain = 9\n")
    changed = fonte(home, "status", "--config", str(config), json_mode=False)
    assert "gate: uncalibrated: since its calibration the widths of retrieval changed" in changed.out
    page = tmp_path / "made" / "page.html"
    people = fonte(home, "calibrate", file, "--config", str(config), "--report", str(page), json_mode=False)
    assert people.status == 0
    assert "fonte calibrate: towns" in page.read_text()
    for words in (
        "plain dense distance",
        "FALSE ANSWERS AT 80% ANSWERED",
        "BLUFFS",
        "in force: an answer from",
        "0.100",
    ):
        assert words in people.out, words
    assert "gate: calibrated" in fonte(home, "status", "--config", str(config), json_mode=False).out


def test_too_few_questions_and_wrong_costs_are_refused(tmp_path: Path, home: Path) -> None:
    ran = fonte(home, "calibrate", golden(tmp_path, unanswerable=3))
    assert (ran.status, ran.json["error"]["code"]) == (2, "input")
    assert "of the questions 36 can be answered and 3 cannot" in ran.json["error"]["message"]
    assert "17 more unanswerable" in ran.json["error"]["hint"]
    for cost in ("0", "-1", "nan", "inf", "much"):
        assert fonte(home, "calibrate", "x.yaml", "--cost-wrong", cost).status == 2
    assert fonte(home, "status").json["gate"]["calibration"] is None
    assert fonte(tmp_path / "none", "calibrate", golden(tmp_path, unanswerable=20)).status == 2
