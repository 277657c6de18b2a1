"""The quality gate from the outside: sync and publish with a golden set configured, over the fake encoder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import Ran, fonte
from evaluating_making import Quick
from fonte.config import Settings
from fonte.evaluating import Evaluation, evaluate
from fonte.parts import Parts
from quick_corpus import WordEmbedder

ROOMS = 12
"""Enough questions to rule out a loss of 0.3; for the usual 0.05 it would take seventy-three."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    made = Quick()
    monkeypatch.setattr("fonte.wiring.make_parts", made)
    return made


@pytest.fixture
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fonte.judging.DEFAULT_MARGIN", 0.3)


def _documents(folder: Path, rooms: int) -> Path:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for number in range(rooms):
        _write(docs, number)
    return docs


def _write(docs: Path, number: int, place: str = "hangs behind door") -> None:
    (docs / f"room{number}.md").write_text(
        f"# Room {number}\n\nThe key k{number}k of room r{number}r {place} d{number}d.\n", encoding="utf-8"
    )


def _golden(folder: Path, rooms: int) -> Path:
    questions = [
        {
            "id": f"q{number}",
            "question": f"Where does the key k{number}k of room r{number}r hang?",
            "segment": "lexical",
            "relevant": [{"document": f"room{number}.md", "needle": f"behind door d{number}d"}],
        }
        for number in range(rooms)
    ]
    path = folder / "golden.yaml"
    path.write_text(json.dumps({"name": "rooms", "questions": questions}), encoding="utf-8")
    return path


def _configured(folder: Path, *, floors: bool = False) -> None:
    text = "[golden]\npath = 'golden.yaml'\n" + ("floors = 'floors.json'\n" if floors else "")
    (folder / "fonte.toml").write_text(text, encoding="utf-8")


def _sync(home: Path, docs: Path, *more: str) -> Ran:
    return fonte(home, "sync", str(docs), *more)


def _generations(home: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = fonte(home, "generations").json["generations"]
    return found


def _active(home: Path) -> str:
    return str(fonte(home, "generations").json["active"])


def test_without_a_golden_set_nothing_is_measured_and_all_is_as_before(home: Path, tmp_path: Path) -> None:
    assert _sync(home, _documents(tmp_path, 3)).status == 0
    [one] = _generations(home)
    told = "passed: data checks (all 3 chunks, 3 of them closely, 3 asked of both legs, 3 of the model)"
    assert (one["verdict"], one["judgment"]) == (told, None)
    assert one["checks"] == {"faults": [], "chunks": 3, "read": 3, "searched": 3, "embedded": 3}


def test_a_first_generation_is_judged_by_floors_alone(home: Path, tmp_path: Path) -> None:
    docs, set_, floors = _documents(tmp_path, 6), _golden(tmp_path, 6), tmp_path / "floors.json"
    elsewhere = tmp_path / "elsewhere"
    assert fonte(elsewhere, "sync", str(docs)).status == 0
    assert fonte(elsewhere, "eval", str(set_), "--save-floors", str(floors)).status == 0
    kept = json.loads(floors.read_text())
    assert kept["margin"] == 0.4, "six questions that agree rule out a loss of 0.4, and none of 0.39"
    _configured(tmp_path, floors=True)
    ran = _sync(home, docs)
    assert (ran.status, ran.json["published"]) == (0, True), ran.err
    [one] = _generations(home)
    assert one["verdict"].startswith("passed: data checks (all 6 chunks, ")
    assert "); golden set rooms passes it: " in one["verdict"]
    assert one["judgment"]["outcome"] == one["judgment"]["floors"]["outcome"] == "pass"
    assert (one["judgment"]["against"], one["judgment"]["pairs"]) == (None, None)
    assert one["judgment"]["measures"]["needle@5"] == {"value": 1.0, "low": 0.609666, "high": 1.0, "n": 6}
    floors.write_text(json.dumps(kept | {"floors": {"needle@5": 1.0, "bluff_rate": 0.5}}))
    other = tmp_path / "other"
    held = _sync(other, docs)
    assert (held.status, held.json["published"], held.json["error"]["code"]) == (1, False, "gate_failed")
    assert "bluff_rate was not measured" in held.json["error"]["message"]
    assert held.err.count("error[gate_failed]: ") == 1
    assert fonte(other, "generations").json["active"] is None
    assert _generations(other)[0]["judgment"]["outcome"] == "cannot_tell"


def test_a_first_generation_without_floors_is_published_and_said_to_be_not_judged(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, 3)
    _golden(tmp_path, 3)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    [one] = _generations(home)
    assert "not judged: golden set rooms has no floors" in one["verdict"]
    assert "pass" not in one["verdict"].replace("passed: data checks", "")
    assert one["judgment"]["outcome"] is None


@pytest.mark.usefixtures("_wide")
def test_what_loses_nothing_passes_what_loses_much_fails_and_an_override_is_kept(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    first = _active(home)
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    good = _sync(home, docs)
    assert (good.status, good.json["published"]) == (0, True), good.err
    second = _generations(home)[-1]
    assert "golden set rooms passes it: less than 0.3 lost of needle@5" in second["verdict"]
    assert (second["judgment"]["outcome"], second["judgment"]["against"]) == ("pass", first)
    for number in range(10):
        _write(docs, number, "was lost, says")
    bad = _sync(home, docs)
    assert (bad.status, bad.json["published"]) == (1, False)
    message = bad.json["error"]["message"]
    assert "golden set rooms fails it: needle@5 changed by -0.8333" in message
    assert "\n" not in message
    assert _active(home) == second["id"]
    candidate = bad.json["generation"]
    again = fonte(home, "publish", candidate)
    assert (again.status, again.json["error"]["message"]) == (1, message)
    done = fonte(home, "publish", candidate, "--override", "keys were moved")
    assert (done.status, done.json["generation"]) == (0, candidate)
    shown = next(one for one in _generations(home) if one["id"] == candidate)
    assert shown["verdict"].startswith("published by override (keys were moved) in spite of: golden set rooms fails it")
    assert shown["judgment"]["outcome"] == "fail"
    assert "keys were moved" in fonte(home, "generations", json_mode=False).out


def test_too_few_questions_cannot_tell_and_say_what_they_could(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, 10)
    _golden(tmp_path, 10)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    first = _active(home)
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    held = _sync(home, docs)
    assert (held.status, _active(home)) == (1, first)
    message = held.json["error"]["message"]
    assert "golden set rooms cannot tell: needle@5 changed by +0.0000" in message
    assert "can only rule out a loss of 0.28" in message
    assert _generations(home)[-1]["judgment"]["pairs"]["outcome"] == "cannot_tell"
    floors = tmp_path / "floors.json"
    assert fonte(home, "eval", str(tmp_path / "golden.yaml"), "--save-floors", str(floors)).status == 0
    _configured(tmp_path, floors=True)
    assert fonte(home, "publish", held.json["generation"]).status == 0
    assert "less than 0.28 lost of" in _generations(home)[-1]["verdict"]


@pytest.mark.usefixtures("_wide")
def test_a_document_that_is_gone_is_a_loss_and_new_ones_are_read_as_published(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    for number in range(10):  # others, so that those that go are not most of all
        (docs / f"other{number}.md").write_text(f"# Other {number}\n\nNothing hangs here, {number} says.\n")
    for number in range(10):
        (docs / f"room{number}.md").unlink()
    assert _sync(home, docs).status == 0
    _documents(tmp_path, ROOMS)
    _configured(tmp_path)
    came = _sync(home, docs)
    assert came.status == 0, came.err
    pairs = _generations(home)[-1]["judgment"]["pairs"]["lines"]
    assert [(one["outcome"], one["value"] > 0.8, one["n"]) for one in pairs] == [("pass", True, ROOMS)]
    for number in range(10):
        (docs / f"room{number}.md").unlink()
    gone = _sync(home, docs)
    assert gone.status == 1
    assert "fails it: needle@5 changed by -0.8" in gone.json["error"]["message"]


def test_roles_narrowed_by_a_sync_are_a_loss_of_both_and_not_of_the_candidate(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    # Narrowed rights are live at once in every generation, so nobody in the set may read anything any more.
    held = _sync(home, docs, "--allow", "hr")
    assert held.status == 1
    assert "needle@5 was not measured" in held.json["error"]["message"]
    judged = _generations(home)[-1]["judgment"]
    assert (judged["outcome"], judged["unauthorized_hits"], judged["measures"]) == ("cannot_tell", 0, {})


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("gone", "golden.yaml: cannot be read"),
        ("empty", "golden.yaml"),
        ("floors gone", "floors.json: cannot be read"),
        ("floors damaged", "floors.json: is not JSON"),
        ("floors of another corpus", "the floors are of corpus 0123456789abcdef"),
        ("floors of no measure", "the floors name needle@0"),
    ],
)
def test_what_cannot_be_measured_is_held_back_and_never_passed(
    home: Path, tmp_path: Path, broken: str, words: str
) -> None:
    docs, set_, floors = _documents(tmp_path, 4), _golden(tmp_path, 4), tmp_path / "floors.json"
    assert _sync(home, docs).status == 0
    first = _active(home)
    assert fonte(home, "eval", str(set_), "--save-floors", str(floors)).status == 0
    kept = json.loads(floors.read_text())
    _configured(tmp_path, floors=True)
    if broken == "gone":
        set_.unlink()
    elif broken == "empty":
        set_.write_text("")
    elif broken == "floors gone":
        floors.unlink()
    elif broken == "floors damaged":
        floors.write_text("{")
    elif broken == "floors of another corpus":
        floors.write_text(json.dumps(kept | {"fingerprint": "0123456789abcdef"}))
    else:
        floors.write_text(json.dumps(kept | {"floors": {"needle@0": 0.1}}))
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    held = _sync(home, docs)
    assert (held.status, held.json["published"], _active(home)) == (1, False, first)
    assert words in held.json["error"]["message"]
    assert _generations(home)[-1]["judgment"]["outcome"] == "cannot_tell"
    assert _generations(home)[-1]["verdict"].startswith("held back: ")
    done = fonte(home, "publish", held.json["generation"], "--override", "the set is being rewritten")
    assert done.status == 0
    assert "the set is being rewritten" in _generations(home)[-1]["verdict"]


def test_a_kill_between_judging_and_publishing_leaves_the_active_generation(home: Path, tmp_path: Path) -> None:
    docs, set_ = _documents(tmp_path, 4), _golden(tmp_path, 4)
    assert _sync(home, docs).status == 0
    assert fonte(home, "eval", str(set_), "--save-floors", str(tmp_path / "floors.json")).status == 0
    _configured(tmp_path, floors=True)
    first = _active(home)
    before = fonte(home, "search", "key k3k").json["results"]
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    here = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), here)))}
    command = [sys.executable, "-m", "faults.gate_worker", "sync", str(docs), "--home", str(home), "--quiet"]
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=170)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert _active(home) == first
    assert fonte(home, "search", "key k3k").json["results"] == before
    assert fonte(home, "search", "Lunch is at noon").json["results"][0]["document_name"] != "canteen.md"
    left = _generations(home)[-1]
    assert (left["state"], left["judgment"]["outcome"]) == ("candidate", "pass")
    assert fonte(home, "publish", left["id"]).status == 0
    assert fonte(home, "search", "Lunch is at noon").json["results"][0]["document_name"] == "canteen.md"


def test_another_tenant_is_not_judged_by_questions_that_are_not_its_own(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, 4)
    _golden(tmp_path, 4)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    assert fonte(home, "sync", str(docs), "--tenant", "acme").status == 0
    [one] = fonte(home, "generations", "--tenant", "acme").json["generations"]
    assert "not judged: golden set rooms asks nothing of acme" in one["verdict"]


def test_rates_of_gate_and_answers_are_measured_where_a_floor_names_one(home: Path, tmp_path: Path) -> None:
    docs, set_, floors = _documents(tmp_path, 3), _golden(tmp_path, 3), tmp_path / "floors.json"
    kept = json.loads(set_.read_text())
    for question in kept["questions"]:
        question["must_include"] = [question["relevant"][0]["needle"].split()[-1]]
    kept["questions"].append({"id": "lunch", "question": "What is for lunch?", "answerable": False})
    set_.write_text(json.dumps(kept))
    elsewhere = tmp_path / "elsewhere"
    assert fonte(elsewhere, "sync", str(docs)).status == 0
    assert fonte(elsewhere, "eval", str(set_), "--save-floors", str(floors)).status == 0
    measured = json.loads(floors.read_text())
    _configured(tmp_path, floors=True)
    for name, bounds, there, absent in (
        ("ranks", {"floors": {"needle@3": 0.5}, "ceilings": {}}, "needle@3", "bluff_rate"),
        ("gate", {"floors": {"needle@3": 0.5}, "ceilings": {"bluff_rate": 1.0}}, "bluff_rate", "answer_correctness"),
        ("answers", {"floors": {"answer_correctness": 0.1}, "ceilings": {}}, "answer_correctness", "ndcg@10"),
    ):
        floors.write_text(json.dumps(measured | bounds))
        other = tmp_path / name
        assert _sync(other, docs).status == 0
        [one] = _generations(other)
        assert one["judgment"]["outcome"] == "pass"
        assert there in one["judgment"]["measures"]
        assert absent not in one["judgment"]["measures"]
    floors.write_text(json.dumps(measured | {"floors": {}, "ceilings": {"bluff_rate": 0.0}}))
    held = _sync(home, docs)
    assert held.status == 1
    assert "bluff_rate is 1.0000 over 1 queries, above its ceiling 0" in held.json["error"]["message"]


@pytest.mark.parametrize("known", [True, False])
def test_another_embedding_model_is_compared_with_the_old_one_where_that_can_be_made(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0

    def other_model(place: Path, settings: Settings) -> Parts:
        model = WordEmbedder()
        model.space = replace(model.space, id="words-2", model="words-2")
        old = WordEmbedder() if known else model
        return replace(Quick()(place, settings), make_embedder=lambda: model, embedder_from=lambda _told: old)

    monkeypatch.setattr("fonte.wiring.make_parts", other_model)
    held = _sync(home, docs)
    assert held.status == 1
    if known:  # compared, and equal, by a set of twelve questions that can rule out no small loss
        assert "needle@5 changed by +0.0000" in held.json["error"]["message"]
        return
    assert "was built with words, the settings name words-2" in held.json["error"]["message"]
    assert fonte(home, "publish", held.json["generation"], "--override", "compared by hand").status == 0


def test_a_result_that_its_asker_may_not_read_fails_whatever_the_figures(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    _configured(tmp_path)
    assert _sync(home, docs).status == 0
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")

    def leaking(*arguments: Any) -> Evaluation:
        found = evaluate(*arguments)
        return replace(found, scores=replace(found.scores, unauthorized_hits=1))

    monkeypatch.setattr("fonte.judging.evaluate", leaking)
    held = _sync(home, docs)
    assert held.status == 1
    assert "fails it: 1 results were shown to askers who may not read them" in held.json["error"]["message"]
