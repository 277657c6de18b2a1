"""Questions that lean on the one before, read with it; and those that do not, left alone."""

from __future__ import annotations

import pytest

from fonte.text.asking.followup import rewritten
from fonte.types import Said

LEAVE = "How many working days of annual leave do full-time staff get a year?"
HOTEL = "What is the hotel limit per night in London?"
NOTICE = "Qual è il preavviso per i dirigenti?"


def read(before: str, text: str, *sentences: str) -> str | None:
    found = rewritten(text, [Said(before, tuple((one, (f"d{at}",)) for at, one in enumerate(sentences)))])
    return found.text if found else None


@pytest.mark.parametrize(
    ("before", "text", "whole"),
    [
        (HOTEL, "And in Rome?", "What is the hotel limit per night in Rome?"),
        (HOTEL, "What about Milan?", "What is the hotel limit per night in Milan?"),
        (NOTICE, "E per gli impiegati?", "Qual è il preavviso per gli impiegati?"),
        ("Quanto costa in Italia il pacchetto?", "E nel Regno Unito?", "Quanto costa nel Regno Unito il pacchetto?"),
        (LEAVE, "Who approves it?", "Who approves it? (working days annual leave full-time staff year)"),
        (NOTICE, "Chi lo firma?", "Chi lo firma? (preavviso dirigenti)"),
        (NOTICE, "Da quando?", "Da quando? (preavviso dirigenti)"),
        ("How many days of leave do I get?", "Why?", "Why? (days leave)"),
    ],
)
def test_what_is_left_out_comes_from_the_question_before(before: str, text: str, whole: str) -> None:
    assert read(before, text) == whole


@pytest.mark.parametrize(
    "text",
    [
        "How long must a password be?",
        "If my laptop is stolen, whom do I tell about it?",
        "Is it possible to work from home?",
        "Cosa succede se la luce blu lampeggia?",
        "Quanti caratteri deve avere una password?",
        "What is on the second floor of the building?",
        "The second one?",
    ],
)
def test_a_question_that_lacks_nothing_or_is_not_sure_stays_as_it_is(text: str) -> None:
    assert read(LEAVE, text) is None


def test_without_a_history_nothing_is_read_otherwise() -> None:
    assert rewritten("And for part-timers?", ()) is None


def test_an_ordinal_names_what_the_answer_listed_and_remembers_whose_text_it_is() -> None:
    said = Said(LEAVE, (("Cats sleep.", ("d1",)), ("Dogs bark loudly.", ("d2", "d3"))), ("d9",))
    found = rewritten("Why the second one?", [said])
    assert found is not None
    assert found.text == "Why the second one? (Dogs bark loudly)"
    assert found.documents == ("d9", "d2", "d3")


def test_whose_text_came_in_before_is_remembered_further_on() -> None:
    found = rewritten("Who approves it?", [Said(LEAVE, (), ("d9",))])
    assert found is not None
    assert found.documents == ("d9",)
