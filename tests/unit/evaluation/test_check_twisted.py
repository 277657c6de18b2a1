from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "evaluation"))

import check_twisted as checker

PASSAGE = "Il faro di Brenta fu costruito nel 1872 da Anna Corvi. La lampada consuma quaranta litri di olio al mese."
GOOD = {
    "id": "t1",
    "source_query": "q1",
    "doc": "d1",
    "question": "Chi costruì il faro di Adria?",
    "changed": "entity",
    "note": "Only the lighthouse of Brenta is named.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "squad-it"
    place.mkdir()
    start = PASSAGE.index("Anna Corvi")
    rows = {
        "corpus": [
            {"_id": "d1", "title": "Faro", "text": PASSAGE},
            {"_id": "d2", "title": "Porto", "text": "Il porto chiude a mezzanotte."},
        ],
        "queries": [
            {"_id": "q1", "text": "Chi costruì il faro di Brenta?", "answerable": True, "answers": ["Anna Corvi"]},
            {"_id": "q2", "text": "Chi dipinse il faro?", "answerable": False, "answers": []},
        ],
        "spans": [{"query_id": "q1", "doc": "d1", "start": start, "end": start + 10, "text": "Anna Corvi"}],
    }
    for name, some in rows.items():
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    return place


def codes(folder: Path, *rows: dict[str, str], fewest: int = 1) -> list[str]:
    numbered = list(enumerate(rows, start=1))
    return [fault.code for fault in checker.check(numbered, checker.Sources.of(folder), fewest)]


def test_a_question_about_another_thing_of_the_same_passage_passes(folder):
    assert codes(folder, GOOD) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"changed": "colour"}, "changed"),
        ({"question": "Chi costruì il faro di Adria"}, "no_question"),
        ({"source_query": "q9"}, "no_source"),
        ({"source_query": "q2"}, "source_not_answerable"),
        ({"doc": "d2"}, "not_gold"),
        ({"question": "chi  costruì il faro, di Brenta?"}, "not_changed"),
        ({"question": "Quando parte il treno notturno per Vienna?"}, "far"),
        ({"question": "Chi, Anna Corvi, costruì il faro di Brenta nel 1872?"}, "answered"),
    ],
)
def test_each_fault_is_told_by_its_code(folder, change, code):
    assert codes(folder, GOOD | change) == [code]


def test_ids_and_questions_stand_once(folder):
    again = GOOD | {"question": "Chi costruì il faro di Trieste?"}
    assert codes(folder, GOOD, again) == ["id_twice"]
    assert codes(folder, GOOD, GOOD | {"id": "t2"}) == ["duplicate"]


def test_a_file_needs_enough_questions(folder):
    assert codes(folder, GOOD, fewest=2) == ["too_few"]


def test_what_is_no_row_is_told_with_its_line(tmp_path):
    path = tmp_path / "twisted.jsonl"
    lines = [json.dumps(GOOD), "{", json.dumps(GOOD | {"note": " "}), "[]"]
    path.write_text("\n".join(lines), encoding="utf-8")
    rows, faults = checker.read(path)
    assert [line for line, _ in rows] == [1]
    assert [(fault.line, fault.code) for fault in faults] == [(2, "json"), (3, "fields"), (4, "fields")]


def test_suspicions_are_listed_and_no_fault(folder, tmp_path, capsys):
    path = tmp_path / "twisted.jsonl"
    far = GOOD | {"question": "Quando parte il treno notturno per Vienna?"}
    path.write_text(json.dumps(far), encoding="utf-8")
    given = [str(path), str(folder), "--fewest", "1"]
    assert checker.main(given) == 0
    assert "0 faults, 1 to be read by people" in capsys.readouterr().out
    path.write_text(json.dumps(GOOD | {"doc": "d2"}), encoding="utf-8")
    assert checker.main(given) == 1
