"""fonte golden: a set against the index and against itself; imports, whole or not at all."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from command import fonte

GOLDEN = """\
name: doors
questions:
  - id: key
    question: "Where does the key of the archive hang?"
    segment: lexical
    relevant: [{document: a.md, needle: "behind the door of room 12"}]
  - id: secret
    question: "What is the alarm code?"
    segment: lexical
    roles: [guards]
    relevant: [{document: b.md, needle: "The code is 4711"}]
  - id: canteen
    question: "What is for lunch on Friday?"
    segment: lexical
    answerable: false
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two documents, one for guards only."""
    for name, text in (("a.md", "# Keys\n\nIt hangs behind the door of room 12.\n"), ("b.md", "The code is 4711.\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    home = tmp_path / "home"
    assert fonte(home, "sync", str(tmp_path / "a.md")).status == 0
    assert fonte(home, "sync", str(tmp_path / "b.md"), "--allow", "guards").status == 0
    return home


def golden(folder: Path, text: str) -> str:
    path = folder / "golden.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_check_looks_in_the_index_whoever_may_read_it(tmp_path: Path, home: Path) -> None:
    ran = fonte(home, "golden", "check", golden(tmp_path, GOLDEN))
    assert (ran.status, ran.json["questions"], ran.json["faults"]) == (0, 3, [])
    assert ran.json["checked_against"] == "index"
    wrong = GOLDEN.replace("room 12", "room 13").replace("roles: [guards]", "roles: [staff]").replace("4711", "4712")
    ran = fonte(home, "golden", "check", golden(tmp_path, wrong))
    assert ran.status == 1
    assert [(fault["line"], fault["id"], fault["code"]) for fault in ran.json["faults"]] == [
        (6, "key", "no_needle"),
        (7, "secret", "not_readable"),
        (11, "secret", "no_needle"),
    ]
    assert all(fault["message"] and fault["hint"] for fault in ran.json["faults"])
    told = fonte(home, "golden", "check", golden(tmp_path, wrong), json_mode=False)
    assert "fault[no_needle]" in told.out
    assert "golden.yaml:6: question key" in told.out
    assert "3 questions, 3 faults, 0 warnings" in told.out


def test_check_without_an_index_says_so_and_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "none"
    ran = fonte(home, "golden", "check", golden(tmp_path, GOLDEN))
    assert (ran.status, [fault["code"] for fault in ran.json["faults"]]) == (0, ["unchecked"])
    assert ran.json["checked_against"] is None
    broken = fonte(home, "golden", "check", golden(tmp_path, GOLDEN.replace("id: secret", "id: key")))
    assert (broken.status, [(one["line"], one["code"]) for one in broken.json["faults"]]) == (1, [(7, "duplicate_id")])
    assert not home.exists()
    absent = fonte(home, "golden", "check", str(tmp_path / "absent.yaml"))
    assert (absent.status, absent.json["error"]["code"]) == (2, "input")


def squad(folder: Path, start: int) -> str:
    answer = {"text": "room 12", "answer_start": start}
    qas = [
        {"id": "q1", "question": "Where?", "answers": [answer]},
        {"id": "q2", "question": "Why?", "is_impossible": True, "answers": []},
    ]
    path = folder / "dev.json"
    path.write_text(json.dumps({"data": [{"title": "Keys", "paragraphs": [{"context": "In room 12.", "qas": qas}]}]}))
    return str(path)


def test_an_imported_set_can_be_synced_and_checked(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "made"
    ran = fonte(home, "golden", "import", squad(tmp_path, 3), "--out", str(out), "--language", "en")
    assert (ran.status, ran.json["questions"], ran.json["documents"]) == (0, 2, 1)
    assert fonte(home, "sync", str(out / "corpus.jsonl"), "--records").status == 0
    checked = fonte(home, "golden", "check", str(out))
    assert checked.status == 0
    assert (checked.json["checked_against"], checked.json["fingerprint"]) == ("index", ran.json["fingerprint"])
    again = fonte(home, "golden", "import", squad(tmp_path, 3), "--out", str(out))
    assert (again.status, again.json["error"]["code"]) == (2, "input")


def test_a_faulty_import_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "made"
    ran = fonte(tmp_path / "home", "golden", "import", squad(tmp_path, 4), "--out", str(out))
    assert (ran.status, ran.json["out"]) == (1, None)
    assert [(fault["id"], fault["code"]) for fault in ran.json["faults"]] == [("q1", "span_mismatch")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.json"]


def test_trec_into_our_form(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\twhere is the key\n")
    (tmp_path / "qrels.txt").write_text("1 0 a.md 2\n")
    out = tmp_path / "made" / "set.yaml"
    ran = fonte(
        tmp_path / "home",
        "golden",
        "import",
        str(tmp_path / "topics.tsv"),
        "--qrels",
        str(tmp_path / "qrels.txt"),
        "--out",
        str(out),
    )
    assert ran.status == 0
    assert "document: a.md" in out.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["golden"],
        ["golden", "frobnicate", "x"],
        ["golden", "propose", "x.txt"],
        ["golden", "propose", "x.yaml"],
        ["golden", "import", "x.json"],
        ["golden", "import", "x.json", "--format", "trec", "--out", "y"],
        ["golden", "import", "x.json", "--format", "squad", "--qrels", "q", "--out", "y"],
        ["golden", "import", "x.json", "--format", "beir", "--out", "y"],
    ],
)
def test_wrong_use(tmp_path: Path, arguments: list[str]) -> None:
    ran = fonte(tmp_path / "home", *arguments)
    assert ran.status == 2
    assert ran.json["error"]["hint"]
    assert not (tmp_path / "home").exists()


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_proposed_questions_are_taken_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"The archive of the {place} office holds {n} boxes of letters."
        for n, place in enumerate(("Turin", "Milan", "Leeds"), 11)
    ]
    (tmp_path / "a.md").write_text("# Boxes\n\n" + "\n\n".join(lines), encoding="utf-8")
    (tmp_path / "b.md").write_text("The vault of the board holds 99 sealed envelopes at present.\n", encoding="utf-8")
    home, out = tmp_path / "home", tmp_path / "golden.yaml"
    fonte(home, "sync", str(tmp_path / "a.md"))
    fonte(home, "sync", str(tmp_path / "b.md"), "--allow", "board")
    shown = fonte(home, "golden", "propose", str(out))
    assert (shown.status, sorted(one["fact"] for one in shown.json["drafts"])) == (0, ["11", "12", "13"])
    assert len(fonte(home, "golden", "propose", str(out), "--roles", "board", "--count", "4").json["drafts"]) == 4
    assert not out.exists()
    typed(monkeypatch, "How many boxes are there?\n\nq\n")
    taken = fonte(home, "golden", "propose", str(out), json_mode=False)
    assert taken.status == 0
    assert "1 question in" in taken.out
    checked = fonte(home, "golden", "check", str(out))
    assert (checked.status, checked.json["questions"]) == (0, 1)
    again = fonte(home, "golden", "propose", str(out), json_mode=False)
    assert (again.status, "there already" in again.err) == (2, True)
    typed(monkeypatch, "")
    nothing = fonte(home, "golden", "propose", str(tmp_path / "other.yaml"), json_mode=False)
    assert nothing.status == 0
    assert not (tmp_path / "other.yaml").exists()
