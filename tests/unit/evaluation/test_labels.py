"""Labels: drawn by kind, kept without text, read whole or told line by line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.evaluation.golden import Question
from fonte.evaluation.labels import (
    Item,
    Label,
    Labels,
    draw,
    drawn_line,
    item_of,
    label_line,
    read_labels,
    read_sheet,
    sheet_row,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ANSWERABLE = Question("q1", ("Where is it?",), relevance={"a.md": 1}, must_include=("room 12",))


def item(name: str, kind: str = "right", *, answered: bool = True, sentences: int = 1) -> Item:
    texts = tuple((f"It says {name} {at}.", "supported") for at in range(sentences)) if answered else ()
    return Item(
        name, f"What is {name}?", f"It is \u2028 {name}.", answered, texts, ((1, "a.md", "quote"),), kind, "correct",
        {"generation": "g1"},
    )  # fmt: skip


def told(text: str, *, answered: bool = True, quote: str = "behind room 12") -> dict[str, object]:
    cited = [{"index": 1, "label": "a.md", "quote": quote}] if answered else []
    said = [{"text": text, "support": "not_checked"}] if answered else []
    nearest = [{"label": "a.md", "content": quote}]
    return {
        "question": "Where is it?", "answered": answered, "answer": text, "sentences": said, "citations": cited,
        "abstention": None if answered else {"nearest": nearest},
    }  # fmt: skip


def kept(*items: Item) -> Labels:
    labels, faults = read_labels("".join(drawn_line(one, NOW) for one in items))
    assert faults == []
    return labels


@pytest.mark.parametrize(
    ("question", "text", "answered", "kind", "automatic"),
    [
        (ANSWERABLE, "Behind room 12 [1].", True, "right", "correct"),
        (ANSWERABLE, "Behind room 13 [1].", True, "wrong", "wrong"),
        (ANSWERABLE, "I cannot find it.", False, "wrongly refused", "wrong"),
        (replace(ANSWERABLE, must_include=()), "Behind room 12 [1].", True, "answered, not judged", None),
        (Question("q2", ("?",), answerable=False), "Behind room 12 [1].", True, "bluffed", "should_have_refused"),
        (Question("q2", ("?",), answerable=False), "I cannot.", False, "rightly refused", "rightly_refused"),
        (None, "Behind room 12 [1].", True, "answered", None),
        (None, "I cannot.", False, "refused", None),
    ],
)
def test_what_the_measures_say_of_an_answer(question, text, answered, kind, automatic):
    found = item_of(told(text, answered=answered), {}, question)
    assert (found.kind, found.automatic, found.answered) == (kind, automatic, answered)


def test_an_answer_is_another_when_its_words_or_its_quotes_are():
    one = item_of(told("In room 12."), {"generation": "g1"}, ANSWERABLE)
    assert item_of(told("In room 12."), {"generation": "g2"}, ANSWERABLE).id == one.id
    others = [
        item_of(told("In room 13."), {}, ANSWERABLE),
        item_of(told("In room 12.", quote="in room 12"), {}, ANSWERABLE),
        item_of(told("In room 12."), {}, replace(ANSWERABLE, id="q9")),
    ]
    assert len({one.id, *(other.id for other in others)}) == 4


@given(
    st.lists(st.sampled_from(["right", "wrong", "bluffed", "refused"]), min_size=1, max_size=60),
    st.integers(0, 3),
    st.integers(1, 60),
)
def test_a_sample_holds_every_kind_grows_with_its_count_and_follows_the_shares(kinds, seed, count):
    items = [item(f"i{at}", kind) for at, kind in enumerate(kinds)]
    sample = draw(items, count, seed)
    assert len(sample) == len({one.id for one in sample}) == min(count, len(items))
    assert draw(items, count + 5, seed)[: len(sample)] == sample
    assert draw(list(reversed(items)), count, seed) == sample
    present = Counter(one.kind for one in sample)
    if count >= len(set(kinds)):
        assert set(present) == set(kinds)
        for kind, size in Counter(kinds).items():
            assert abs(present[kind] - count * size / len(kinds)) <= len(set(kinds)) or count > len(kinds)


def test_another_seed_is_another_sample_and_a_double_is_drawn_once():
    items = [item(f"i{at}") for at in range(50)]
    assert draw(items, 10, 0) != draw(items, 10, 1)
    assert len(draw([*items, *items], 100, 0)) == 50


def test_what_is_kept_holds_no_text_and_comes_back():
    one, refused = item("a", sentences=2), replace(item("b", "refused", answered=False), automatic="rightly_refused")
    lines = drawn_line(one, NOW) + drawn_line(refused, NOW)
    assert "It is" not in lines
    assert "What is" not in lines
    assert "quote" not in lines
    labels = kept(one, refused)
    assert (labels.drawn["a"].support, labels.drawn["b"].support) == (("supported", "supported"), ())
    assert (labels.drawn["b"].automatic, labels.drawn["b"].answered) == ("rightly_refused", False)
    given_ = Label("a", "anna \u2028 né", "partly", (True, False), True, "half \n of it")
    again, faults = read_labels(lines + label_line(given_, NOW))
    assert faults == []
    assert again.judged == {("a", "anna \u2028 né"): given_}
    assert again.by("anna \u2028 né") == {"a"}
    assert again.by("anna") == frozenset()


def test_the_last_word_counts_and_half_a_line_is_left_out():
    first, second = Label("a", "anna", "wrong", (False,), False), Label("a", "anna", "correct", (True,), True)
    text = drawn_line(item("a"), NOW) + label_line(first, NOW) + label_line(second, NOW)
    labels, faults = read_labels(text + label_line(first, NOW)[:-5])
    assert (labels.judged["a", "anna"], faults) == (second, [])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "json"),
        ("[1]", "shape"),
        ('{"drawn": "b"}', "shape"),
        ('{"drawn": "b", "answered": 1, "kind": "k", "automatic": null, "support": [], "source": {}}', "shape"),
        ('{"judged": "b", "by": "anna"}', "unknown_answer"),
        ('{"judged": "a", "verdict": "correct", "supported": [true], "task_done": true}', "by"),
        ('{"judged": "a", "by": "anna", "verdict": "fine", "supported": [true], "task_done": true}', "verdict"),
        ("[" * 100_000, "json"),
    ],
)
def test_a_damaged_file_is_told_by_its_line(line, code):
    _, faults = read_labels(drawn_line(item("a"), NOW) + line + "\n")
    assert [(one.line, one.code) for one in faults] == [(2, code)]


def sheet(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def filled(one: Item, **more: object) -> dict[str, object]:
    row = sheet_row(one)
    sentences = [{**each, "supported": True} for each in row["sentences"]]  # type: ignore[union-attr]
    return {**row, "verdict": one.allowed[0], "sentences": sentences, "task_done": True, **more}


def test_a_sheet_shows_nothing_of_the_measures_and_comes_back_filled():
    one, other = item("a", sentences=2), item("b", "refused", answered=False)
    labels = kept(one, other)
    assert "supported" not in json.dumps([value for key, value in sheet_row(one).items() if key != "sentences"])
    assert not {"automatic", "kind"} & sheet_row(one).keys()
    assert read_sheet(sheet(sheet_row(one), sheet_row(other)), labels, "anna") == ([], 2, [])
    found, unfilled, faults = read_sheet(sheet(filled(one, note="n"), sheet_row(other)), labels, "anna")
    assert (found, unfilled, faults) == ([Label("a", "anna", "correct", (True, True), True, "n")], 1, [])
    assert read_sheet("\ufeff".strip("\ufeff") + "\n \n" + sheet(filled(other)), labels, "b")[0][0].supported == ()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "zz"}, "unknown_answer"),
        ({"id": ["a"]}, "unknown_answer"),
        ({"verdict": "rightly_refused"}, "verdict"),
        ({"verdict": None}, "verdict"),
        ({"verdict": ["correct"]}, "verdict"),
        ({"sentences": [{"text": "x", "supported": "yes"}]}, "supported"),
        ({"sentences": []}, "supported"),
        ({"sentences": "x"}, "shape"),
        ({"sentences": [True]}, "shape"),
        ({"task_done": "yes"}, "task_done"),
        ({"task_done": None}, "task_done"),
        ({"note": 5}, "note"),
        ({"note": "x" * 2001}, "note"),
    ],
)
def test_every_fault_of_a_sheet_has_its_line(change, code):
    one, other = item("a"), item("b")
    text = sheet(filled(other)) + "\n" + sheet(filled(one, **change), filled(other))
    _, _, faults = read_sheet(text, kept(one, other), "anna")
    assert [(fault.line, fault.code) for fault in faults] == [(3, code), (4, "duplicate")]
    assert all("\n" not in fault.message for fault in faults)


def test_a_refusal_shows_what_was_near_and_who_asked_and_stays_the_same_when_that_changes():
    question = Question("q2", ("?",), answerable=False, user="anna", roles=frozenset({"hr"}))
    one = item_of(told("I cannot.", answered=False), {}, question)
    assert (one.asker, one.citations) == ("anna, hr", ((0, "a.md", "behind room 12"),))
    row = sheet_row(one)
    assert (row["asker"], "citations" in row) == ("anna, hr", False)
    assert row["nearest"] == [{"index": None, "label": "a.md", "quote": "behind room 12"}]
    assert item_of(told("I cannot.", answered=False, quote="else"), {}, question).id == one.id
