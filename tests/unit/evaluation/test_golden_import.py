from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.golden_import import Imported, import_beir, import_squad, import_trec
from fonte.evaluation.golden_write import write_folder, write_yaml
from fonte.evaluation.measures import Needle

CONTEXT = "Rome \U0001f3db is in Italy. Rome is old."


def squad(folder: Path, *qas: dict[str, object], context: object = CONTEXT) -> Path:
    path = folder / "dev.json"
    paragraphs = [{"context": context, "qas": list(qas)}, {"context": "Another paragraph.", "qas": []}]
    root = {"version": "v2.0", "data": [{"title": "Rome", "paragraphs": paragraphs}]}
    path.write_text(json.dumps(root, indent=1), encoding="utf-8")
    return path


def asked(identity: str, *answers: tuple[str, int], **more: object) -> dict[str, object]:
    given_answers = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": identity, "question": f"{identity}?", "answers": given_answers} | more


def codes(found: Imported) -> list[tuple[str, str]]:
    assert found.golden is None
    assert not found.documents
    return [(fault.code, fault.question) for fault in found.faults]


def test_squad_becomes_paragraphs_and_spans(tmp_path: Path) -> None:
    first = asked("q1", ("Rome", 20), ("Rome", 0), ("Rome", 0))
    nothing = asked("q2", is_impossible=True, plausible_answers=[{"text": "Italy", "answer_start": 13}])
    found = import_squad(squad(tmp_path, first, nothing), "en")
    assert found.golden is not None
    one, two = found.golden.questions
    name = "Rome#00000"
    assert one.needles == (Needle(name, "Rome", 20, 24), Needle(name, "Rome", 0, 4))
    assert CONTEXT[20:24] == "Rome"
    assert (one.language, one.relevance, one.reference_answer) == ("en", {name: 1}, "Rome")
    assert not two.answerable
    assert found.documents[name] == ("Rome", CONTEXT)
    assert list(found.documents) == [name, "Rome#00001"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (asked("bad", ("Rome", 2)), "span_mismatch"),
        (asked("bad", ("Rome", -4)), "span_mismatch"),
        (asked("bad", ("Rome", True)), "shape"),
        (asked("bad"), "no_relevant"),
        (asked("bad", ("Rome", 0), is_impossible=True), "not_answerable"),
        (asked("bad", ("Rome", 0), question=""), "shape"),
        (asked("good", ("Rome", 0)), "duplicate_id"),
    ],
)
def test_a_fault_in_squad_is_told_with_its_line_and_nothing_is_imported(
    tmp_path: Path, row: dict[str, object], code: str
) -> None:
    path = squad(tmp_path, asked("good", ("Rome", 0)), row)
    found = import_squad(path)
    assert codes(found) == [(code, row["id"])]
    lines = path.read_text(encoding="utf-8").split("\n")
    assert f'"{row["id"]}"' in lines[found.faults[0].line - 1]


@pytest.mark.parametrize("text", ["", "[]", '{"data": 1}', '{"data": [{"paragraphs": [{"qas": []}]}]}', "[" * 100_000])
def test_what_is_no_squad_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dev.json"
    path.write_text(text, encoding="utf-8")
    assert [code for code, _ in codes(import_squad(path))] in (["json"], ["shape"])


TAGGED = """\
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations.
<narr> Narrative: A <title of> things &amp; more.
</top>

<top>
<num> Number: 302
<title> Polio &amp; Post-Polio
<desc> Description: x
</top>
"""
XML = """\
<?xml version="1.0"?>
<topics task="covid">
<topic number="301"><query>International Organized Crime</query><question>what is it?</question></topic>
<topic number="302"><query>Polio &amp; Post-Polio</query></topic>
</topics>
"""
COLUMNS = "301\tInternational Organized Crime\n302\tPolio & Post-Polio\n"


@pytest.mark.parametrize(("text", "lines"), [(TAGGED, (1, 10)), (XML, (3, 4)), (COLUMNS, (1, 2))])
def test_trec_topics_of_every_form(tmp_path: Path, text: str, lines: tuple[int, int]) -> None:
    (tmp_path / "topics").write_text(text, encoding="utf-8")
    (tmp_path / "qrels").write_text("301 0 FT1 2\n301 0 FT2 0\n302 0 FT1 1\n302 0 FT3 -1\n999 0 X 1\n")
    found = import_trec(tmp_path / "topics", tmp_path / "qrels")
    assert found.golden is not None
    assert [(one.id, one.wordings, one.relevance, one.line) for one in found.golden.questions] == [
        ("301", ("International Organized Crime",), {"FT1": 2}, lines[0]),
        ("302", ("Polio & Post-Polio",), {"FT1": 1}, lines[1]),
    ]
    assert found.notes == ("1 judged topics that the topics do not hold (999, …)",)


def test_topics_without_a_relevant_document_are_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text(COLUMNS)
    (tmp_path / "qrels").write_text("301 0 FT1 2\n302 0 FT1 0\n")
    found = import_trec(tmp_path / "topics", tmp_path / "qrels")
    assert found.golden is not None
    assert [one.id for one in found.golden.questions] == ["301"]
    assert found.notes == ("1 topics without a relevant document",)
    (tmp_path / "qrels").write_text("301 0 FT1 0\n")
    assert codes(import_trec(tmp_path / "topics", tmp_path / "qrels")) == [("empty_set", "")]


@pytest.mark.parametrize(
    ("topics", "qrels", "code", "line"),
    [
        (COLUMNS, "301 0 FT1\n", "shape", 1),
        (COLUMNS, "301 0 FT1 1\n301 0 FT1 2\n", "grade", 2),
        ("301 no tab\n", "301 0 FT1 1\n", "shape", 1),
        (TAGGED.replace("<title> Polio &amp; Post-Polio", ""), "301 0 FT1 1\n", "shape", 10),
        (COLUMNS + "301\tagain\n", "301 0 FT1 1\n302 0 FT1 1\n", "duplicate_id", 3),
    ],
)
def test_a_fault_in_trec_is_told_with_its_line(tmp_path: Path, topics: str, qrels: str, code: str, line: int) -> None:
    (tmp_path / "topics").write_text(topics)
    (tmp_path / "qrels").write_text(qrels)
    found = import_trec(tmp_path / "topics", tmp_path / "qrels")
    assert found.golden is None
    assert [(fault.code, fault.line) for fault in found.faults] == [(code, line)]


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "of another split"}\n')
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "T", "text": "x"}\n{"_id": "d2", "text": "y"}\n')
    return folder


def test_beir_as_it_is_shipped_takes_the_splits_queries(tmp_path: Path) -> None:
    found = import_beir(beir(tmp_path))
    assert found.golden is not None
    assert [(one.id, one.relevance) for one in found.golden.questions] == [("q1", {"d1": 2})]
    assert found.documents == {"d1": ("T", "x"), "d2": ("", "y")}
    assert found.notes == ("1 queries that the split does not judge",)
    assert [code for code, _ in codes(import_beir(tmp_path, "dev"))] == ["unreadable"]


def test_ids_that_are_not_there_are_told(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    with (folder / "qrels" / "test.tsv").open("a") as stream:
        stream.write("q7\td1\t1\nq2\td7\t1\n")
    spans = [
        {"query_id": "q8", "doc": "d1", "start": 0, "end": 1, "text": "x"},
        {"query_id": "q1", "doc": "d2", "start": 0, "end": 1, "text": "y"},
    ]
    (folder / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    assert sorted((fault.code, fault.line, Path(fault.file).name) for fault in import_beir(folder).faults) == [
        ("no_document", 2, "queries.jsonl"),
        ("not_relevant", 1, "queries.jsonl"),
        ("unknown_query", 1, "spans.jsonl"),
        ("unknown_query", 4, "test.tsv"),
    ]


@pytest.mark.parametrize(
    "row",
    [
        '{"_id": "q1", "text": "x", "roles": "staff"}',
        '{"_id": "q1", "text": "x", "answers": "y"}',
        '{"_id": "q1", "text": "half \\ud800"}',
        '{"_id": 1, "text": "x"}',
        "[" * 100_000,
    ],
)
def test_values_of_the_wrong_kind_are_no_questions(tmp_path: Path, row: str) -> None:
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\n")
    (tmp_path / "queries.jsonl").write_text(row)
    with pytest.raises(InputError, match=r"queries\.jsonl:1"):
        load_golden(tmp_path)


# --- written and read again -----------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30).filter(
    str.strip
)
awkward = st.sampled_from(
    ["1,200", "yes", "~", "null", "2026-01-01", "- a: b", "#x", "'", '"', " a ", "a: b", "é\u2028x"]
)
anything = texts | awkward
names = st.text("abcxyz/. -_é", min_size=1, max_size=8).filter(str.strip)


@st.composite
def questions(draw: st.DrawFn, *, ranged: bool) -> Question:
    answerable = draw(st.booleans())
    needles = []
    for name, text in draw(st.lists(st.tuples(names, anything), max_size=2)) if answerable else []:
        start = draw(st.integers(0, 99)) if ranged or draw(st.booleans()) else None
        needles.append(Needle(name, text, start, None if start is None else start + len(text)))
    relevance = {needle.document: draw(st.integers(1, 3)) for needle in needles}
    if answerable:
        relevance |= draw(st.dictionaries(names, st.integers(1, 3), min_size=0 if needles else 1, max_size=2))
    return Question(
        id=draw(names),
        wordings=tuple(draw(st.lists(anything, min_size=1, max_size=3))),
        answerable=answerable,
        needles=tuple(needles),
        relevance=relevance,
        tenant=draw(st.sampled_from(["default", "acme"])),
        user=draw(st.none() | texts),
        roles=frozenset(draw(st.lists(texts, max_size=2))),
        segment=draw(st.just("") | anything),
        language=draw(st.sampled_from(["und", "it", "en"])),
        reference_answer=draw(st.none() | anything),
        must_include=tuple(draw(st.lists(anything, max_size=2))),
        must_not_include=tuple(draw(st.lists(anything, max_size=2))),
        half=draw(st.sampled_from(["", "tune"])),
        note=draw(st.just("") | anything),
    )


def sets(*, ranged: bool) -> st.SearchStrategy[GoldenSet]:
    listed = st.lists(questions(ranged=ranged), min_size=1, max_size=4, unique_by=lambda one: one.id)
    return listed.map(lambda found: GoldenSet("g", tuple(found)))


@settings(max_examples=50)
@given(golden=sets(ranged=False))
def test_our_form_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, golden: GoldenSet) -> None:
    path = tmp_path_factory.mktemp("y") / "golden.yaml"
    write_yaml(golden, path)
    again = load_golden(path)
    assert again.fingerprint == golden.fingerprint
    assert [(one.half, one.note) for one in again.questions] == [(one.half, one.note) for one in golden.questions]


@settings(max_examples=50)
@given(golden=sets(ranged=True))
def test_the_folder_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, golden: GoldenSet) -> None:
    folder = tmp_path_factory.mktemp("f") / "golden"
    write_folder(golden, {}, folder)
    assert load_golden(folder).fingerprint == golden.fingerprint
    assert [path.name for path in folder.parent.iterdir()] == ["golden"]


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    golden = GoldenSet("g", (Question("q", ("w",), needles=(Needle("d", "x"),), relevance={"d": 1}),))
    place = tmp_path / "out"
    with pytest.raises(InputError, match="no range"):
        write_folder(golden, {}, place)
    tabbed = GoldenSet("g", (Question("q", ("w",), relevance={"a\tb": 1}),))
    with pytest.raises(InputError, match="tab"):
        write_folder(tabbed, {}, place)
    assert list(tmp_path.iterdir()) == []
    place.write_text("mine")
    with pytest.raises(InputError, match="there already"):
        write_yaml(golden, place)
    assert place.read_text() == "mine"
