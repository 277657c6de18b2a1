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
        (
            "What are the tyre pressures of the buses in winter?",
            "And of the electric ones?",
            "What are the tyre pressures of the electric ones in winter?",
        ),
    ],
)
def test_what_is_left_out_comes_from_the_question_before(before: str, text: str, whole: str) -> None:
    assert read(before, text) == whole


@pytest.mark.parametrize(
    ("before", "text", "whole"),
    [
        ("How often is the seal changed?", "And the oil?", "How often is the oil changed?"),
        ("How often is the seal of the pump changed?", "The oil?", "How often is the oil of the pump changed?"),
        ("How much does the reserve pump deliver?", "And the main pump?", "How much does the main pump deliver?"),
        ("Who changes the seal every year?", "What about the oil?", "Who changes the oil every year?"),
        ("Where is the safety document kept?", "And the manual?", "Where is the manual kept?"),
        ("Who is responsible for the seal?", "And the oil?", "Who is responsible for the oil?"),
        ("What is the price of the pump?", "And the valve?", "What is the price of the valve?"),
        ("Ogni quanto si cambia la guarnizione?", "E l'olio?", "Ogni quanto si cambia l'olio?"),
        (
            "Ogni quanto si cambia la guarnizione della pompa?",
            "E il filtro?",
            "Ogni quanto si cambia il filtro della pompa?",
        ),
        ("Qual è il prezzo della pompa?", "E la valvola?", "Qual è il prezzo della valvola?"),
        ("Chi si occupa della guarnizione?", "E l’olio?", "Chi si occupa dell'olio?"),
        ("Dove si tengono gli acidi?", "E i solventi?", "Dove si tengono i solventi?"),
        (
            "Per quanto si conserva l'acqua dopo il rapporto?",
            "E il fango?",
            "Per quanto si conserva il fango dopo il rapporto?",
        ),
    ],
)
def test_a_noun_takes_the_place_of_the_one_that_played_its_part(before: str, text: str, whole: str) -> None:
    assert read(before, text) == whole


@pytest.mark.parametrize(
    ("before", "text", "required"),
    [
        ("How often is the seal changed?", "And the oil?", ("oil",)),
        # It cannot be told what gives way: the new words are put behind, and have to stand in what is found.
        ("Does the seal or the bearing fail first?", "And the shaft?", ("shaft",)),
        ("How long is maternity leave in the UK?", "And the other parent?", ("parent",)),
        ("How many days do full-time staff get?", "And part-time staff?", ("part-time",)),
        ("Ogni quanto si cambia la guarnizione?", "E l'olio?", ("l'olio",)),
    ],
)
def test_what_is_asked_about_now_has_to_stand_in_what_is_found(
    before: str, text: str, required: tuple[str, ...]
) -> None:
    found = rewritten(text, [Said(before)])
    assert found is not None
    assert found.required == required
    assert all(word.split("'")[-1] in found.text for word in required)


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
