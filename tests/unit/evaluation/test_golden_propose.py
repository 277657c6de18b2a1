from __future__ import annotations

import pytest

from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_check import check_golden
from fonte.evaluation.propose import Draft, propose
from fonte.text.sentences import sentences
from fonte.types import Acl, BlockKind, Document, Section, Span


def document(*paragraphs: str, name: str = "a.md", roles: tuple[str, ...] = ("public",), heading: str = "") -> Document:
    text, spans = heading, [Span(BlockKind.HEADING, 0, len(heading))] if heading else []
    for paragraph in paragraphs:
        text += "\n\n" if text else ""
        spans.append(Span(BlockKind.PARAGRAPH, len(text), len(text) + len(paragraph)))
        text += paragraph
    section = Section((heading or "top",), 0, 0, len(text))
    return Document(
        name,
        "default",
        name,
        name,
        "v",
        "t",
        text,
        Acl(frozenset(roles)),
        "en",
        spans=tuple(spans),
        sections=(section,),
    )


def facts(*paragraphs: str) -> list[str]:
    return sorted(one.fact for one in propose([document(*paragraphs)], sentences, 50))


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("Full-time staff get 27 working days of leave every year.", "27"),
        ("The board adopted this code of conduct on 9 October 2024 in Milan.", "9 October 2024"),
        ("Questa è la versione del regolamento approvata a giugno 2026 dal consiglio.", "giugno 2026"),
        ("Leave that is carried over must have been used by 30 June at the latest.", "30 June"),
        ("A gift from a customer may be worth up to €1,200.50 in a calendar year.", "€1,200.50"),
        ("A rejected sample needs the form MOD-40-R, signed by the customer himself.", "MOD-40-R"),
        ("The fault of the gateway is known as CVE-2024-1234 and it was repaired.", "CVE-2024-1234"),
        ("The canteen opens at 11:30 and serves until nothing is left of the soup.", "11:30"),
        ("The rate of staff who come by bicycle has now reached 12 % of the total.", "12 %"),
    ],
)
def test_one_fact_makes_a_draft(sentence: str, fact: str) -> None:
    (draft,) = propose([document("A sentence that holds no figure at all.", sentence)], sentences, 5)
    assert (draft.needle.text, draft.fact) == (sentence, fact)
    assert draft.gapped == sentence.replace(fact, "…")
    assert draft.document.text[draft.needle.start : draft.needle.end] == sentence


@pytest.mark.parametrize(
    "paragraph",
    [
        "Between 27 and 30 days of leave are given to everybody here.",
        "There are twenty-seven days of leave, as everybody knows by heart.",
        "Only 27 days.",
        "2. Press the red button until the lamp beside the door goes out.",
        "The lamp of type x27y stands beside the door of the archive room.",
    ],
)
def test_two_facts_or_none_make_no_draft(paragraph: str) -> None:
    assert facts(paragraph) == []


def test_what_stands_twice_or_in_a_heading_makes_no_draft() -> None:
    line = "Full-time staff get 27 working days of leave every year."
    assert facts(line, line) == []
    assert propose([document("No figure in the whole of this text.", heading=line)], sentences, 5) == []


def test_documents_take_turns_and_equal_seeds_draw_equally() -> None:
    def many(name: str, count: int) -> Document:
        return document(
            *(f"The lamp in {name} of kind {chr(97 + n)} has stood there for {n + 20} years." for n in range(count)),
            name=name,
        )

    found = propose([many("long", 20), many("short", 2)], sentences, 6)
    assert [one.document.name for one in found] == ["long", "short", "long", "short", "long", "long"]
    assert found == propose([many("short", 2), many("long", 20)], sentences, 6)
    assert found != propose([many("long", 20), many("short", 2)], sentences, 6, seed=1)
    assert len(propose([many("short", 2)], sentences, 6)) == 2
    with pytest.raises(ValueError, match="at least one"):
        propose([], sentences, 0)


@pytest.mark.parametrize("roles", [("public", "hr"), ("hr", "it"), ("user:anna",)])
def test_what_a_person_takes_is_a_sound_question(roles: tuple[str, ...]) -> None:
    one = document("Full-time staff get 27 working days of leave every year.", roles=roles)
    (draft,) = propose([one], sentences, 1)
    assert isinstance(draft, Draft)
    question = draft.question("q1", "How much leave do I get?", "lexical")
    faults = check_golden(GoldenSet("g", (question,)), [one])
    assert {fault.code for fault in faults if not fault.warning} == set()
    assert (question.must_include, question.language) == (("27",), "en")
