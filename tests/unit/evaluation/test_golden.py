from __future__ import annotations

import json
from pathlib import Path

import pytest

from fonte.errors import InputError
from fonte.evaluation.golden import HELD_OUT, TUNE, GoldenSet, Question, anchored
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Needle

GOOD = """\
name: small
questions:
  - id: leave
    question: "How much leave?"
    wordings: ["how long may i be away"]
    language: en
    segment: lexical
    half: tune
    roles: [staff]
    relevant:
      - document: leave.md
        needle: "26 days"
        grade: 2
      - document: old.md
    reference_answer: 26 days a year.
    must_include: [26]
    must_not_include: ["30"]
  - id: pension
    question: "What of my pension?"
    half: held_out
    answerable: false
    relevant: []
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "golden.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_our_form_becomes_questions(tmp_path: Path) -> None:
    golden = load_golden(write(tmp_path, GOOD))
    leave, pension = golden.questions
    assert golden.name == "small"
    assert leave.wordings == ("How much leave?", "how long may i be away")
    assert leave.needles == (Needle("leave.md", "26 days"),)
    assert leave.relevance == {"leave.md": 2, "old.md": 1}
    assert leave.roles == {"staff"}
    assert (leave.must_include, leave.must_not_include) == (("26",), ("30",))
    assert leave.line == 3
    assert not pension.answerable
    assert [(question.id, number) for question, number, _ in golden.queries()] == [
        ("leave", 0),
        ("leave", 1),
        ("pension", 0),
    ]


def test_the_authors_halves_are_kept(tmp_path: Path) -> None:
    tune, held_out = load_golden(write(tmp_path, GOOD)).halves()
    assert [question.id for question in tune.questions] == ["leave"]
    assert [question.id for question in held_out.questions] == ["pension"]
    assert (tune.name, held_out.name) == (f"small ({TUNE})", f"small ({HELD_OUT})")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("half: held_out", "haf: held_out", 20, "no key haf"),
        ("id: pension", "id: leave", 18, "stands already in line 3"),
        ("answerable: false", "answerable: no way", 21, "true or false"),
        ("grade: 2", "grade: 0", 13, "at least 1"),
        ("grade: 2", "grade: much", 13, "whole number"),
        ("answerable: false", "answerable: true", 18, "needs a needle or a relevant document"),
        ('needle: "26 days"', 'nedle: "26 days"', 12, "no key nedle"),
        ('needle: "26 days"', 'needle: " "', 12, "needle needs text"),
        ("      - document: old.md", "      - needle: old", 14, "needs document"),
        ('question: "How much leave?"', 'question: ""', 3, "none of them empty"),
        ("roles: [staff]", "roles: staff", 9, "should be a list"),
        ("id: pension", "id: pension\n    id: twice", 19, "id twice"),
        ("language: en", "language: null", 6, "should be text"),
        ("name: small", "name: [", 3, "not valid YAML"),
        ("questions:", "question:", 2, "no key question"),
    ],
)  # fmt: skip
def test_a_fault_names_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_golden(path)
    assert words in caught.value.message
    assert f"golden.yaml:{line}:" in caught.value.message


@pytest.mark.parametrize("text", ["", "[]", "name: x", "questions: []"])
def test_a_set_without_questions_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        load_golden(write(tmp_path, text))


def test_missing_and_undecodable_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_golden(tmp_path / "absent.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caff\xe8")
    with pytest.raises(InputError, match="not UTF-8"):
        load_golden(tmp_path / "latin.yaml")


def beir(folder: Path, *, queries: str, qrels: str = "query-id\tcorpus-id\tscore\nq1\td1\t1\n") -> Path:
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_beir_layout_with_spans_corpus_and_unanswerable_questions(tmp_path: Path) -> None:
    rows = [
        {"_id": "q1", "text": "Where?", "lang": "en", "answers": ["Rome"], "segment": "s", "extra": 1},
        {"_id": "q2", "text": "Why?", "answerable": False},
    ]
    folder = beir(tmp_path, queries="\n".join(map(json.dumps, rows)))
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "t", "text": "It is in Rome."}\n', encoding="utf-8")
    span = {"query_id": "q1", "doc": "d1", "start": 9, "end": 13, "text": "Rome"}
    (folder / "spans.jsonl").write_text(json.dumps(span), encoding="utf-8")
    golden = load_golden(folder)
    first, second = golden.questions
    assert first.needles == (Needle("d1", "Rome", 9, 13),)
    assert (first.relevance, first.language, first.reference_answer) == ({"d1": 1}, "en", "Rome")
    assert not second.answerable
    found, faults = anchored(golden, {"d1": "t\n\nIt is in Rome. Rome!"})
    assert faults == ()
    assert (found.questions[0].needles[0].start, found.questions[0].needles[0].end) == (12, 16)


@pytest.mark.parametrize(
    ("queries", "qrels", "where"),
    [
        ("{", "q1\td1\t1", "queries.jsonl:1"),
        ('{"_id": "q1"}', "q1\td1\t1", "queries.jsonl:1"),
        ('\n{"_id": "q9", "text": "x"}', "q1\td1\t1", "queries.jsonl:2"),
        ('{"_id": "q1", "text": "x"}', "q1 d1 1", "qrels.tsv:1"),
        ('{"_id": "q1", "text": "x"}\n{"_id": "q1", "text": "y"}', "q1\td1\t1", "queries.jsonl:2"),
        ('{"_id": "q1", "text": "x", "answerable": "no"}', "q1\td1\t1", "queries.jsonl:1"),
        ("[]", "q1\td1\t1", "queries.jsonl:1"),
        ("", "q1\td1\t1", "queries.jsonl:1"),
    ],
)
def test_a_beir_fault_names_file_and_line(tmp_path: Path, queries: str, qrels: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        load_golden(beir(tmp_path, queries=queries, qrels=qrels))
    assert where in caught.value.message


def one(needle: str, **more: object) -> GoldenSet:
    question = Question("q", ("w",), needles=(Needle("a.md", needle),), relevance={"a.md": 1}, **more)  # type: ignore[arg-type]
    return GoldenSet("g", (question,))


@pytest.mark.parametrize(
    ("golden", "code"),
    [
        (one("absent"), "no_needle"),
        (one("days"), "many_needles"),
        (one("Leave policy"), "heading"),
        (one("26 days", must_include=("27",)), "no_answer_text"),
        (GoldenSet("g", (Question("q", ("w",), relevance={"b.md": 1}),)), "no_document"),
    ],
)
def test_what_makes_a_needle_worthless_is_said(golden: GoldenSet, code: str) -> None:
    text = "Leave policy\n\n26 days, or 30 days."
    _, faults = anchored(golden, {"a.md": text}, {"a.md": [(0, 12)]})
    assert [fault.code for fault in faults] == [code]


def test_an_anchored_needle_slices_its_document() -> None:
    text = "\U0001f469 è vero: 26 giorni"
    found, faults = anchored(one("26 giorni"), {"a.md": text})
    needle = found.questions[0].needles[0]
    assert faults == ()
    assert needle.start is not None
    assert text[needle.start : needle.end] == "26 giorni"


def test_hashed_halves_are_even_in_every_kind_and_stable() -> None:
    questions = tuple(
        Question(f"q{n}", ("w",), answerable=n % 3 > 0, relevance={"a": 1} if n % 3 else {}, segment="xy"[n % 2])
        for n in range(61)
    )
    tune, held_out = GoldenSet("g", questions).halves()
    assert len(tune.questions) == 31
    assert {question.id for question in tune.questions}.isdisjoint(question.id for question in held_out.questions)
    for answerable in (True, False):
        shares = [sum(q.answerable == answerable for q in half.questions) for half in (tune, held_out)]
        assert abs(shares[0] - shares[1]) <= 2
    assert GoldenSet("g", tuple(reversed(questions))).halves()[0].fingerprint != ""
    again = {question.id for question in GoldenSet("g", tuple(reversed(questions))).halves()[0].questions}
    assert again == {question.id for question in tune.questions}


def test_a_set_divided_in_part_is_refused() -> None:
    questions = (Question("a", ("w",), relevance={"d": 1}, half=TUNE), Question("b", ("w",), relevance={"d": 1}))
    with pytest.raises(ValueError, match="every question"):
        GoldenSet("g", questions).halves()


def test_the_fingerprint_follows_what_is_asked_and_expected() -> None:
    base = one("26 days")
    assert base.fingerprint == one("26 days", note="x", line=7).fingerprint
    for other in (one("27 days"), one("26 days", must_include=("26",)), one("26 days", roles=frozenset({"hr"}))):
        assert other.fingerprint != base.fingerprint


def test_the_handbooks_golden_set_is_readable_and_large_enough(project_root: Path) -> None:
    path = project_root / "evaluation" / "golden" / "handbook.yaml"
    golden = load_golden(path)
    assert len(golden.questions) >= 60
    assert sum(not question.answerable for question in golden.questions) >= 20
    assert all(len(question.wordings) >= 2 for question in golden.questions)
    assert all(question.needles for question in golden.questions if question.answerable)
    tune, held_out = golden.halves()
    assert min(len(tune.questions), len(held_out.questions)) >= 30
