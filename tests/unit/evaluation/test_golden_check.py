from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.evaluation import golden_reading
from fonte.evaluation.golden import GoldenSet, Question, anchored
from fonte.evaluation.golden_check import check_golden
from fonte.evaluation.golden_files import load_golden, read_golden
from fonte.evaluation.measures import Needle
from fonte.evaluation.near_duplicates import near_duplicates
from fonte.types import Acl, BlockKind, Document, Span

TEXT = "Leave policy\n\nStaff get 26 days, or 30 days after ten years."


def document(
    name: str = "a.md", text: str = TEXT, roles: Sequence[str] = ("public",), tenant: str = "default"
) -> Document:
    heading = Span(BlockKind.HEADING, 0, 12)
    acl = Acl(frozenset(roles))
    return Document("d1", tenant, f"file:///{name}", name, "v", "t", text, acl, spans=(heading,))


def question(identity: str = "q", wording: str = "How much leave?", **more: object) -> Question:
    values: dict[str, object] = {"needles": (Needle("a.md", "26 days"),), "relevance": {"a.md": 1}, "segment": "s"}
    return Question(identity, (wording,), **(values | more))  # type: ignore[arg-type]  # each test varies other fields


NOTHING = question("nothing", "What does the canteen cost?", answerable=False, needles=(), relevance={})


def codes(*questions: Question, documents: Sequence[Document] | None = (document(),)) -> list[str]:
    return [fault.code for fault in check_golden(GoldenSet("g", questions), documents)]


def test_a_good_set_has_no_fault() -> None:
    assert codes(question(), NOTHING) == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"needles": (Needle("a.md", "27 days"),)}, "no_needle"),
        ({"needles": (Needle("a.md", "days"),)}, "many_needles"),
        ({"needles": (Needle("a.md", "Leave policy"),)}, "heading"),
        ({"needles": (Needle("a.md", "26 days", 25, 32),)}, "span_mismatch"),
        ({"needles": (Needle("a.md", "26 days", 9000, 9007),)}, "span_mismatch"),
        ({"needles": (Needle("b.md", "x"),), "relevance": {"b.md": 1}}, "no_document"),
        ({"needles": (), "relevance": {"b.md": 1}}, "no_document"),
        ({"must_include": ("31",)}, "no_answer_text"),
        ({"roles": frozenset({"user:anna"})}, "bad_asker"),
        ({"half": "tune"}, "halves"),
        ({"segment": ""}, "no_segment"),
        ({"segment": "t"}, "small_segment"),
        ({"wordings": ("Leave?", "leave? ")}, "same_wording"),
    ],
)
def test_each_fault_has_its_code(more: dict[str, object], code: str) -> None:
    values: dict[str, object] = {"needles": (Needle("a.md", "26 days"),), "relevance": {"a.md": 1}, "segment": "s"}
    faulty = Question("q", **({"wordings": ("How much leave?",)} | values | more))  # type: ignore[arg-type]  # each test varies other fields
    assert set(codes(faulty, NOTHING, question("other", "Quite another thing?"))) == {code}


def test_a_span_without_words_gets_the_words_that_stand_there() -> None:
    golden = GoldenSet("g", (question(needles=(Needle("a.md", "", 24, 31),)),))
    found, faults = anchored(golden, {"a.md": TEXT})
    assert faults == ()
    assert found.questions[0].needles == (Needle("a.md", "26 days", 24, 31),)
    assert found.fingerprint == golden.fingerprint
    assert anchored(found, {"a.md": TEXT})[0] == found


def test_who_may_read_nothing_relevant_cannot_be_answered() -> None:
    secret = document(roles=["hr"])
    assert codes(question(), NOTHING, documents=[secret]) == ["not_readable"]
    assert codes(question(roles=frozenset({"hr"})), NOTHING, documents=[secret]) == []
    assert codes(question(user="anna"), NOTHING, documents=[document(roles=["user:anna"])]) == []


def test_a_needle_is_looked_for_in_its_own_tenant() -> None:
    mine, theirs = document(), document(text="Nothing here.", tenant="other")
    assert codes(question(), NOTHING, documents=[theirs, mine]) == []
    assert codes(question(tenant="other"), NOTHING, documents=[theirs, mine]) == ["no_needle"]
    assert codes(question(), NOTHING, documents=[mine, mine]) == ["several_documents"]


def test_near_copies_are_told_with_the_line_of_the_first() -> None:
    first = question("one", "How many days of leave do the staff in Milan get every year?", line=7)
    second = question("two", "How many days of leave do all the staff in Milan get every year?", line=21)
    faults = check_golden(GoldenSet("g", (first, second, NOTHING), file="golden.yaml"), [document()])
    assert [(fault.code, fault.line, fault.question, fault.warning) for fault in faults] == [
        ("near_duplicate", 21, "two", True)
    ]
    assert "one (line 7)" in faults[0].message
    assert str(faults[0]).startswith("golden.yaml:21: question two:")


def test_the_same_words_for_other_askers_or_other_codes_are_no_copies() -> None:
    wording = "How many days of leave do the staff in Milan get every year?"
    assert codes(question("one", wording), question("two", wording, roles=frozenset({"hr"})), NOTHING) == []
    patched = [question(f"q{n}", f"Which release of the firmware repairs the fault CVE-2024-{n}?") for n in (11, 12)]
    assert codes(*patched, NOTHING) == []


def test_a_twisted_question_may_look_like_its_model_but_not_be_it() -> None:
    model = question("model", "How many days of leave do the staff in Milan get every year?")
    twisted = Question(
        "twisted", ("How many days of leave do the staff in Turin get every year?",), answerable=False, segment="s"
    )
    same = Question("same", model.wordings, answerable=False, segment="s")
    assert codes(model, twisted) == []
    assert codes(model, same) == ["contradiction"]


def test_sets_of_one_kind_and_without_documents_are_told() -> None:
    assert set(codes(question())) == {"one_kind", "small_segment"}
    assert set(codes(NOTHING, NOTHING_TOO)) == {"one_kind"}
    assert codes(question(), NOTHING, documents=None) == ["unchecked"]


NOTHING_TOO = question("nothing too", "Who painted the hall?", answerable=False, needles=(), relevance={})


def test_spans_are_checked_in_the_corpus_that_came_with_the_set() -> None:
    wrong = question(needles=(Needle("a.md", "26 days", 25, 32),))
    golden = GoldenSet("g", (wrong, NOTHING), {"a.md": TEXT})
    assert [fault.code for fault in check_golden(golden)] == ["span_mismatch"]


words = st.lists(st.sampled_from("a b c d e f g h1".split()), min_size=0, max_size=9).map(" ".join)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), words), max_size=25), st.sampled_from([0.51, 0.8, 1.0]))
def test_near_duplicates_equal_comparing_all_with_all(texts: list[tuple[int, int, str]], threshold: float) -> None:
    found, complete = near_duplicates(texts, threshold=threshold)
    assert complete
    sets = [frozenset(text.split()) for _, _, text in texts]
    expected: dict[int, int] = {}
    for later, mine in enumerate(sets):
        near = [
            earlier
            for earlier in range(later)
            if mine
            and texts[earlier][0] != texts[later][0]
            and texts[earlier][1] == texts[later][1]
            and ("h1" in mine) == ("h1" in sets[earlier])
            and len(mine & sets[earlier]) / len(mine | sets[earlier]) >= threshold
        ]
        if near:
            expected[later] = next((one for one in near if sets[one] == mine), near[0])
    assert {one.later: one.earlier for one in found} == expected


def test_a_limit_on_pairs_is_told() -> None:
    texts = [(n, 0, f"what is the name of the thing called {chr(97 + n)}") for n in range(20)]
    assert near_duplicates(texts, max_pairs=3)[1] is False
    with pytest.raises(ValueError, match="threshold"):
        near_duplicates(texts, threshold=0.5)


# --- reading: every fault at once -----------------------------------------------------------------------------------

BAD = """\
name: bad
questions:
  - id: a
    question: "A?"
    relevant: [{document: d, needle: "n", grade: 0}]
  - id: b
    question: "B?"
  - id: c
    question: "C?"
    answerable: false
  - id: c
    question: "C again?"
    answerable: false
  - id: d
    question: ""
    answerable: false
  - id: e
    question: "E?"
    answerable: false
    relevant: [{document: d}]
  - id: f
    question: "F?"
    relevant: [{document: d, needle: "four", span: [0, 3]}]
  - id: g
    question: "G?"
    colour: red
  - 17
"""


def told(path: Path) -> list[tuple[str, int, str]]:
    reading = read_golden(path)
    assert reading.golden is None
    return [(fault.code, fault.line, fault.question) for fault in reading.faults]


def test_every_fault_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text(BAD, encoding="utf-8")
    assert told(path) == [
        ("grade", 5, "a"),
        ("no_relevant", 6, "b"),
        ("duplicate_id", 11, "c"),
        ("incomplete", 14, "d"),
        ("not_answerable", 17, "e"),
        ("span_mismatch", 23, "f"),
        ("shape", 26, "g"),
        ("shape", 27, ""),
    ]
    assert read_golden(path).questions == 9


def test_faults_before_broken_yaml_are_told_with_it(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text(BAD.replace("  - 17", "  - ["), encoding="utf-8")
    assert told(path)[-1][0] == "yaml"
    assert len(told(path)) == 8


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_set"),
        ("name: x", "empty_set"),
        ("questions: []", "empty_set"),
        ("[" * 100_000, "yaml"),
        ("questions: &a [*a]", "yaml"),
        ("questions: !!python/object:os.system []", "yaml"),
        ("questions: {}", "shape"),
        ("questions: []\nquestions: []", "shape"),
        ("name: a\nquestions: []\n---\nname: b", "shape"),
        ("name: \x00", "yaml"),
        ("questions: [{id: a", "yaml"),
    ],
)
def test_what_is_no_golden_set_is_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text(text, encoding="utf-8")
    assert [one[0] for one in told(path)] == [code]


def test_wrong_encoding_has_a_line_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_bytes(b"name: x\nquestions:\n  - id: caff\xe8")
    assert told(path) == [("encoding", 3, "")]
    (tmp_path / "qrels.tsv").write_text("q\td\t1\n")
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q", "text": "x"}\n{"_id": "p", "text": "caff\xe8"}\n')
    assert ("encoding", 2, "") in told(tmp_path)


def test_too_many_questions_and_too_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "golden.yaml"
    lines = "".join(f"  - {{id: q{n}, question: q, answerable: false}}\n" for n in range(5))
    path.write_text(f"questions:\n{lines}", encoding="utf-8")
    assert read_golden(path).questions == 5
    monkeypatch.setattr(golden_reading, "MAX_QUESTIONS", 3)
    assert told(path) == [("too_large", 5, "")]
    monkeypatch.setattr(golden_reading, "MAX_BYTES", 10)
    assert told(path) == [("too_large", 0, "")]


def test_five_thousand_questions_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    rows = (
        f'  - id: q{n}\n    question: "Which {n:b} is it, and who said so at {n}?"\n    segment: s\n'
        f'    relevant: [{{document: a.md, needle: "number {n} ends"}}]\n'
        for n in range(5_000)
    )
    path.write_text("questions:\n" + "".join(rows), encoding="utf-8")
    golden = load_golden(path)
    text = "\n".join(f"number {n} ends" for n in range(5_000) if n != 777)
    faults = check_golden(golden, [document(text=text)])
    assert Counter(fault.code for fault in faults) == {"no_needle": 1, "one_kind": 1}
    needle = next(fault for fault in faults if fault.code == "no_needle")
    assert (needle.question, needle.line) == ("q777", 2 + 777 * 4 + 3)


def test_the_first_fault_and_their_number_are_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text(BAD, encoding="utf-8")
    with pytest.raises(Exception, match=r"golden\.yaml:5: question a: grade .* \(and 7 more"):
        load_golden(path)
