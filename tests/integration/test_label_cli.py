"""fonte label from the outside, over the fake encoder: at a terminal, by a sheet, over stored answers, and reported."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import Ran, fonte
from evaluating_making import WORDS, Quick, synced, written
from fonte.access.records import Feedback, Verdict
from fonte.stores.home import Home

Typed = Callable[..., None]
HOSTILE = "# Keys\n\nThe key of the archive \x1b[2J\u202e hangs behind the door of room 12.\n"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fonte.wiring.make_parts", Quick())


@pytest.fixture
def set_(home: Path, tmp_path: Path) -> str:
    synced(home).close()
    return str(written(tmp_path))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    def given(*lines: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return given


def label(home: Path, *arguments: str, json_mode: bool = True) -> Ran:
    return fonte(home, "label", *arguments, json_mode=json_mode)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def filled(path: Path, **more: Any) -> None:
    """Every row of a sheet judged: the first verdict that fits, all sentences supported, the task done."""
    made = [
        {
            **row,
            "verdict": row["choices"][0],
            "task_done": True,
            "sentences": [{**one, "supported": True} for one in row["sentences"]],
            **more,
        }
        for row in rows(path)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")


def test_at_a_terminal_every_verdict_is_kept_and_nobody_is_asked_twice(home: Path, set_: str, typed: Typed) -> None:
    # The first answer judged after two slips, the second left out, then the person stops.
    typed("x", "c", "maybe", "y", "y", "from the leave page", "", "q")
    ran = label(home, "draw", set_, "--by", "anna", json_mode=False)
    assert ran.status == 0, ran.err
    assert ran.out.count("one of c, p, w, s; Enter leaves this answer out, q stops") == 1
    assert ran.out.count("one of y, n;") == 1
    assert "verdicts of anna recorded: 1, in " in ran.out
    kept = Path(set_).with_name("golden.labels.jsonl")
    assert [next(iter(row)) for row in rows(kept)] == ["drawn", "judged"]
    assert rows(kept)[1]["note"] == "from the leave page"
    assert "archive" not in kept.read_text(), "labels hold no text of documents"
    first = rows(kept)[1]["judged"]
    again = label(home, "draw", set_, "--by", "anna").json
    assert (again["sample"], again["left"], first in {row["id"] for row in again["rows"]}) == (6, 5, False)
    other = label(home, "draw", set_, "--by", "bruno").json
    assert first in {row["id"] for row in other["rows"]}
    typed()  # the input ends at once
    assert label(home, "draw", set_, "--by", "anna", json_mode=False).status == 0


def test_what_documents_say_cannot_speak_to_the_terminal(home: Path, tmp_path: Path, typed: Typed) -> None:
    synced(home, WORDS | {"keys.md": (HOSTILE, frozenset({"public"}))}).close()
    typed("q")
    ran = label(home, "draw", str(written(tmp_path)), "--by", "anna", json_mode=False)
    assert "key of the archive" in ran.out
    assert "«" in ran.out
    assert not {"\x1b", "\u202e"} & set(ran.out)


def test_a_sheet_goes_out_is_filled_in_and_comes_back_once(home: Path, set_: str, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    out = label(home, "draw", set_, "--by", "anna", "--count", "4", "--out", str(sheet)).json
    assert (out["sample"], out["left"], out["rows"], len(rows(sheet))) == (4, 4, [], 4)
    assert label(home, "draw", set_, "--by", "anna", "--out", str(sheet)).status == 2, "nothing is overwritten"
    nothing = label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json
    assert (nothing["recorded"], nothing["unfilled"], nothing["faults"]) == (0, 4, [])
    filled(sheet)
    done = label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json
    assert (done["recorded"], done["known"], done["unfilled"]) == (4, 0, 0)
    kept = Path(set_).with_name("golden.labels.jsonl")
    before = kept.read_bytes()
    twice = label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json
    assert (twice["recorded"], twice["known"]) == (0, 4)
    assert kept.read_bytes() == before
    filled(sheet, note="thought again")
    assert label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json["recorded"] == 4
    assert kept.read_bytes().startswith(before), "the file only grows"
    all_done = label(home, "draw", set_, "--by", "anna", "--count", "4", json_mode=False)
    assert "has judged all 4 answers" in all_done.err


def test_one_fault_in_a_sheet_and_nothing_is_recorded(home: Path, set_: str, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    label(home, "draw", set_, "--by", "anna", "--out", str(sheet))
    kept = Path(set_).with_name("golden.labels.jsonl")
    before = kept.read_bytes()
    filled(sheet)
    lines = sheet.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"verdict": "splendid"})
    lines[3] = "{"
    sheet.write_text("\n".join(lines))
    ran = label(home, "draw", set_, "--by", "anna", "--in", str(sheet))
    assert (ran.status, ran.json["recorded"]) == (1, 0)
    assert [(one["line"], one["code"]) for one in ran.json["faults"]] == [(2, "verdict"), (4, "json")]
    assert kept.read_bytes() == before
    shown = label(home, "draw", set_, "--by", "anna", "--in", str(sheet), json_mode=False)
    assert f"fault[verdict]: {sheet}:2: " in shown.out
    sheet.write_bytes(b"\xff\xfe")
    assert label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json["error"]["code"] == "input"
    sheet.unlink()
    assert label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).status == 2


def test_the_report_of_two_labellers(home: Path, set_: str, tmp_path: Path) -> None:
    nothing = label(home, "report", set_)
    assert (nothing.status, nothing.json["error"]["code"]) == (1, "not_found")
    for name in ("anna", "bruno"):
        sheet = tmp_path / f"{name}.jsonl"
        label(home, "draw", set_, "--by", name, "--out", str(sheet))
        filled(sheet)
        assert label(home, "draw", set_, "--by", name, "--in", str(sheet)).json["recorded"] == 6
    told = label(home, "report", set_).json
    assert (told["labelled"], told["drawn"], told["labellers"]) == (6, 6, {"anna": 6, "bruno": 6})
    assert len(told["generations"]) == 1
    # All six were answered, two of them although nothing answers them: people who say "correct" contradict that.
    assert told["verdicts"]["correct"]["value"] == 1.0
    assert set(told["kinds"]) >= {"bluffed", "right"}
    automatic = told["automatic"]["verdict"]
    assert automatic["table"]["correct"]["should_have_refused"] == 2
    assert set(automatic) == {"n", "raw", "kappa", "kappa_low", "kappa_high", "table"}
    assert told["automatic"]["support"]["n"] >= 1
    [pair] = told["between"]
    assert (pair["a"], pair["b"], pair["agreement"]["verdict"]["raw"]["value"]) == ("anna", "bruno", 1.0)
    assert pair["agreement"]["verdict"]["kappa"] is None
    shown = label(home, "report", set_, json_mode=False).out
    assert "6 answers labelled of 6 drawn; by anna (6), bruno (6)" in shown
    assert "automatic measures" in shown
    assert "MEASURES SAY should have refused" in shown
    assert label(home, "report", set_, "--by", "anna").json["between"] == []
    assert label(home, "report", set_, "--by", "carla").status == 1


def test_stored_answers_are_drawn_for_their_own_asker(home: Path, tmp_path: Path) -> None:
    synced(home).close()
    assert label(home, "draw", "--by", "anna").json["error"]["code"] == "not_found"
    fonte(home, "ask", "Where does the key of the archive hang?")
    fonte(home, "ask", "Where does the key of the archive hang?")
    fonte(home, "ask", "What is the alarm code of the archive?", "--roles", "guards", "--user", "gus")
    drawn = label(home, "draw", "--by", "anna").json
    assert drawn["answers"] == 1, "the same answer twice is one, and another's is not ours to see"
    assert "4711" not in json.dumps(drawn)
    guards = label(home, "draw", "--by", "anna", "--roles", "guards", "--user", "gus").json
    assert "4711" in json.dumps(guards)
    sheet = tmp_path / "sheet.jsonl"
    label(home, "draw", "--by", "anna", "--out", str(sheet))
    filled(sheet)
    assert label(home, "draw", "--by", "anna", "--in", str(sheet)).json["recorded"] == 1
    told = label(home, "report").json
    assert (told["labelled"], told["drawn"], set(told["automatic"])) == (1, 2, {"support"})
    kept = Path(told["labels"])
    assert kept.parent.parent.name == "tenants"
    assert kept.stat().st_mode & 0o077 == 0
    assert "4711" not in kept.read_text()
    fonte(home, "delete", "keys.md")
    assert label(home, "draw", "--by", "anna").json["error"]["code"] == "not_found"


def test_answers_that_askers_said_something_of_are_drawn_by_it(home: Path, tmp_path: Path) -> None:
    synced(home).close()
    assert label(home, "draw", "--feedback", "--by", "anna").json["error"]["code"] == "not_found"
    asked = ("Where does the key of the archive hang?", "Where does the spare key of the archive hang?")
    own = [fonte(home, "ask", question, "--user", "bob").json["answer_id"] for question in asked]
    fonte(home, "ask", "How many days of leave?", "--user", "bob")
    guards = ("--roles", "guards", "--user", "gus")
    closed = fonte(home, "ask", "What is the alarm code of the archive?", *guards).json["answer_id"]
    kept = Home(home).feedback("default")
    for answer, verdict in ((own[0], Verdict.WRONG), (own[1], Verdict.RIGHT), (closed, Verdict.UNSAFE)):
        kept.say(Feedback(answer, "key:x", "bob", verdict, "", datetime(2026, 11, 30, tzinfo=UTC)))
    kept.say(Feedback("a" * 21, "key:x", "bob", Verdict.WRONG, "", datetime(2026, 11, 30, tzinfo=UTC)))
    kept.close()
    drawn = label(home, "draw", "--feedback", "--by", "anna").json
    assert drawn["answers"] == 2, "what the labeller may not read is not drawn, nor what nobody spoke of"
    assert "4711" not in json.dumps(drawn)
    assert {row["question"] for row in drawn["rows"]} == set(asked)
    assert "asker said" not in json.dumps(drawn), "a labeller judges without being told"
    assert "4711" in json.dumps(label(home, "draw", "--feedback", "--by", "anna", "--roles", "guards").json)
    sheet = tmp_path / "sheet.jsonl"
    label(home, "draw", "--feedback", "--by", "anna", "--out", str(sheet))
    filled(sheet)
    assert label(home, "draw", "--by", "anna", "--in", str(sheet)).json["recorded"] == 2
    kinds = label(home, "report").json["kinds"]
    assert {name: one["n"] for name, one in kinds.items()} == {"asker said right": 1, "asker said wrong": 1}
    assert label(home, "draw", "golden.yaml", "--feedback").status == 2


def test_a_file_of_labels_that_was_damaged_is_refused_and_half_a_line_is_no_damage(
    home: Path, set_: str, tmp_path: Path
) -> None:
    sheet, kept = tmp_path / "sheet.jsonl", Path(set_).with_name("golden.labels.jsonl")
    label(home, "draw", set_, "--by", "anna", "--out", str(sheet))
    whole = kept.read_bytes()
    kept.write_bytes(whole + b'{"judged": "half of a li')
    filled(sheet)
    assert label(home, "draw", set_, "--by", "anna", "--in", str(sheet)).json["recorded"] == 6
    assert kept.read_bytes().startswith(whole + b'{"judged"')
    assert label(home, "report", set_).json["labelled"] == 6
    kept.write_bytes(whole + b"not json\n")
    ran = label(home, "report", set_)
    assert (ran.status, ran.json["error"]["code"]) == (2, "input")
    assert "golden.labels.jsonl:7: is not JSON" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("label", "draw", "--in", "a", "--out", "b"),
        ("label", "report", "--out", "b"),
        ("label", "draw", "--by", " "),
        ("label", "judge"),
        ("label", "draw", "--count", "0"),
    ],
)
def test_wrong_use(home: Path, arguments: tuple[str, ...]) -> None:
    home.mkdir()
    assert fonte(home, *arguments).json["error"]["code"] == "usage"
