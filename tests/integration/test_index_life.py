"""The life of an index: what a rollback holds, what is kept and what is removed, over the fake encoder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import fonte
from evaluating_making import Quick
from fonte import wiring
from fonte.stores.home import Home
from fonte.types import Principal


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    made = Quick()
    monkeypatch.setattr("fonte.wiring.make_parts", made)
    return made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(6):
        (made / f"room{number}.md").write_text(f"# Room {number}\n\nThe key of room {number} is number {number}.\n")
    return made


@pytest.mark.parametrize("answer", ["sync", "publish"])
def test_after_a_rollback_a_standing_job_publishes_nothing_until_a_person_does(
    home: Path, docs: Path, answer: str
) -> None:
    first = fonte(home, "sync", str(docs)).json["generation"]
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was lost.\n")
    second = fonte(home, "sync", str(docs)).json["generation"]
    assert fonte(home, "status").json["held"] is None
    rolled = fonte(home, "rollback")
    assert rolled.json == {"generation": first, "previous": second}
    assert "watches and schedules publish nothing" in rolled.err
    assert fonte(home, "status").json["held"]["left"] == second
    assert f"left {second}" in fonte(home, "status", json_mode=False).out
    with wiring.Corpus.open(home) as corpus:
        held = corpus.sync(str(docs), standing=True)
        assert (held.published, held.generation, held.embedded_texts) == (False, first, 0)
        assert held.held_back is not None
        assert f"left {second}" in held.held_back[0]
        assert [one.id for one in corpus.generations()[1]] == [first, second], "nothing was built either"
        assert corpus.resync(standing=True).held_back == held.held_back
        corpus.sync(str(docs), publish=False)
        assert corpus.status().held is not None, "a candidate that is not to be published answers nothing"
    if answer == "sync":
        assert fonte(home, "sync", str(docs)).json["published"] is True
    else:
        assert fonte(home, "publish", second).status == 0
    assert fonte(home, "status").json["held"] is None
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was found.\n")
    with wiring.Corpus.open(home) as corpus:
        assert corpus.sync(str(docs), standing=True).published is True
        assert "found" in corpus.search("key found", principal=Principal()).results[0].content


def test_an_erasure_does_not_answer_a_rollback(home: Path, docs: Path) -> None:
    fonte(home, "sync", str(docs))
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was lost.\n")
    fonte(home, "sync", str(docs))
    fonte(home, "rollback")
    held = fonte(home, "status").json["held"]
    assert held is not None
    fonte(home, "erase", "room5.md")
    (docs / "room5.md").unlink()
    assert fonte(home, "status").json["held"] == held
    with wiring.Corpus.open(home) as corpus:
        report = corpus.sync(str(docs), standing=True)
        assert (report.published, report.held_back is not None) == (False, True)


def test_a_sync_of_what_is_unchanged_answers_a_rollback_too(home: Path, docs: Path) -> None:
    fonte(home, "sync", str(docs))
    before = (docs / "room0.md").read_text()
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was lost.\n")
    fonte(home, "sync", str(docs))
    fonte(home, "rollback")
    (docs / "room0.md").write_text(before)
    assert fonte(home, "sync", str(docs / "nowhere")).status == 1
    assert fonte(home, "status").json["held"] is not None, "a sync that failed answers nothing"
    assert fonte(home, "sync", str(docs)).json["published"] is True
    assert fonte(home, "status").json["held"] is None


def _lost(docs: Path, what: str) -> None:
    (docs / "room0.md").write_text(f"# Room 0\n\nThe key of room 0 was lost in {what}.\n")


def _ids(home: Path) -> list[str]:
    return [one["id"] for one in fonte(home, "generations").json["generations"]]


def test_what_another_process_reads_is_kept_whole_until_it_ends(home: Path, docs: Path) -> None:
    first = fonte(home, "sync", str(docs)).json["generation"]
    (lance,) = home.glob("tenants/*/lance")
    (table,) = lance.glob("*.lance")
    here = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), here)))}
    command = [sys.executable, "-m", "faults.reader_worker", str(home)]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        made = []
        for number in range(6):
            _lost(docs, f"part {number}")
            made.append(fonte(home, "sync", str(docs)).json["generation"])
        assert _ids(home) == [first, *made[2:]], "three that are retired are kept, and the one that is read"
        assert table.is_dir()
        assert fonte(home, "check").json == {"whole": True, "faults": []}
        told, _ = other.communicate("\n")
    read = json.loads(told)
    assert (read["generation"], read["found"], read["read"]) == (first, 6, 6)
    assert read["texts"]["room0.md"] == "Room 0\n\nThe key of room 0 is number 0."
    _lost(docs, "the end")
    last = fonte(home, "sync", str(docs)).json["generation"]
    assert _ids(home) == [*made[3:], last]
    assert not table.exists()


def test_a_rollback_to_a_generation_whose_table_is_gone_changes_nothing(home: Path, docs: Path) -> None:
    fonte(home, "sync", str(docs))
    (lance,) = home.glob("tenants/*/lance")
    (table,) = lance.glob("*.lance")
    _lost(docs, "part 1")
    second = fonte(home, "sync", str(docs)).json["generation"]
    shutil.rmtree(table)
    refused = fonte(home, "rollback")
    assert (refused.status, refused.json["error"]["code"]) == (1, "corrupt_index")
    assert fonte(home, "generations").json["active"] == second
    assert fonte(home, "status").json["held"] is None


def test_who_overrode_what_and_why_stands_in_the_audit_log(home: Path, docs: Path) -> None:
    first = fonte(home, "sync", str(docs)).json["generation"]
    for number in range(5):
        (docs / f"room{number}.md").unlink()
    second = fonte(home, "sync", str(docs)).json["generation"]
    assert fonte(home, "publish", second).status == 1
    assert fonte(home, "publish", second, "--override", "the rooms were let").status == 0
    assert fonte(home, "rollback").status == 0
    log = Home(home).audit()
    back, published = (entry for _, entry in log.entries("default"))
    log.close()
    assert published.identity.startswith("command line: ")
    assert (published.action, published.outcome) == ("fonte publish", "ok")
    assert published.subject.startswith(f"{second}: published by override (the rooms were let) in spite of: 5 of 6")
    assert (back.action, back.subject) == ("fonte rollback", f"from {second} to {first}")


def test_what_two_generations_differ_in_is_told_whole_and_bounded(home: Path, docs: Path, tmp_path: Path) -> None:
    first = fonte(home, "sync", str(docs), "--allow", "staff").json["generation"]
    _lost(docs, "a fire. " * 200)
    (docs / "room1.md").write_bytes(b"")
    (docs / "room2.md").unlink()
    for number in range(3):
        (docs / f"hall{number}.md").write_text(f"# Hall {number}\n\nHall {number} is green.\n")
    settings = tmp_path / "smaller.toml"
    settings.write_text("[chunking]\nsize = 300\n")
    second = fonte(home, "sync", str(docs), "--allow", "staff,guests", "--config", str(settings)).json["generation"]
    found = fonte(home, "generations", "diff", first, second, "--limit", "2").json
    assert {one["field"]: (one["a"], one["b"]) for one in found["recipe"]} == {"chunking.size": (256, 300)}
    assert (found["a"]["id"], found["a"]["documents"], found["b"]["documents"]) == (first, 6, 8)
    lists = found["documents"]
    assert {name: one["total"] for name, one in lists.items() if name != "unchanged"} == {
        "added": 3,
        "removed": 1,
        "modified": 2,
        "other_state": 0,
        "otherwise": 3,
    }
    assert [one["document_name"] for one in lists["added"]["listed"]] == ["hall0.md", "hall1.md"]
    assert [one["document_name"] for one in lists["removed"]["listed"]] == ["room2.md"]
    lost, empty = lists["modified"]["listed"]
    assert (lost["document_name"], empty["document_name"], empty["state"]) == ("room0.md", "room1.md", "empty")
    fields = {one["field"]: (one["a"], one["b"]) for one in empty["differs"]}
    assert (fields["state"], fields["chunks"]) == (("ready", "empty"), (1, 0))
    fields = {one["field"]: (one["a"], one["b"]) for one in lists["otherwise"]["listed"][0]["differs"]}
    assert fields["roles"] == (["staff"], ["guests", "staff"])
    assert set(fields) == {"roles", "stamp.chunking"}
    assert (lists["unchanged"], found["measures"], found["same_questions"]) == (0, {}, None)
    words = fonte(home, "generations", "diff", first, second, "--limit", "2", json_mode=False).out
    assert "recipe: chunking.size: 256 -> 300\n" in words
    assert "documents only in B: 3\n  hall0.md\n  hall1.md\n  and 1 more: --limit N names more\n" in words
    assert "roles staff -> guests,staff" in words
    same = fonte(home, "generations", "diff", second, second).json
    assert (same["recipe"], same["documents"]["unchanged"]) == ([], 8)
    absent = fonte(home, "generations", "diff", first, "g0")
    assert (absent.status, absent.json["error"]["code"]) == (1, "not_found")
    for wrong in (["diff", first], ["differ", first, second], ["diff", first, second, "--limit", "-1"]):
        assert fonte(home, "generations", *wrong).status == 2


def test_kept_figures_stand_side_by_side(
    home: Path, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fonte.judging.DEFAULT_MARGIN", 0.5)
    questions = [
        {
            "id": f"q{number}",
            "question": f"Which number has the key of room {number}?",
            "segment": "lexical",
            "relevant": [{"document": f"room{number}.md", "needle": f"is number {number}"}],
        }
        for number in range(6)
    ]
    (tmp_path / "golden.yaml").write_text(json.dumps({"name": "rooms", "questions": questions}))
    (tmp_path / "fonte.toml").write_text("[golden]\npath = 'golden.yaml'\n")
    first = fonte(home, "sync", str(docs)).json["generation"]
    (docs / "hall.md").write_text("# Hall\n\nThe hall is green.\n")
    second = fonte(home, "sync", str(docs)).json["generation"]
    found = fonte(home, "generations", "diff", first, second).json
    assert (found["a"]["judged"], found["b"]["judged"], found["same_questions"]) == (None, "pass", True)
    assert found["measures"]["needle@5"] == {"a": 1.0, "b": 1.0}
    words = fonte(home, "generations", "diff", first, second, json_mode=False).out
    assert "kept figures, A and B (the same questions): judged -, pass\n" in words
    assert "  needle@5: 1.0000, 1.0000\n" in words
