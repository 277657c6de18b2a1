"""Questions of several parts, told apart by rules."""

from __future__ import annotations

import pytest

from fonte.text.asking.parts import split_question
from fonte.types import Principal, Query, QuestionPart


def asked(text: str) -> list[str]:
    return [part.asked for part in split_question(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "How many days of annual leave do I get, and who approves the request?",
            ["How many days of annual leave do I get?", "who approves the request?"],
        ),
        (
            "Quante ore dura il corso di primo soccorso e ogni quanti anni si aggiorna?",
            ["Quante ore dura il corso di primo soccorso?", "ogni quanti anni si aggiorna?"],
        ),
        ("Where is the archive? Who has the key?", ["Where is the archive?", "Who has the key?"]),
        ("resta salvato quello che chiedo? e dopo quanto?", ["resta salvato quello che chiedo?", "dopo quanto?"]),
        ("How and when do I report an accident?", ["How do I report an accident?", "when do I report an accident?"]),
        (
            "What is the hotel limit in Italy and in the United Kingdom?",
            ["What is the hotel limit in Italy?", "What is the hotel limit in the United Kingdom?"],
        ),
        (
            "Qual è il preavviso per i dirigenti e per gli impiegati?",
            ["Qual è il preavviso per i dirigenti?", "Qual è il preavviso per gli impiegati?"],
        ),
        (
            "Tell me:\n- who signs the form\n- where do I send it\n- how long does it take",
            ["who signs the form?", "where do I send it?", "how long does it take?"],
        ),
        (
            "Who do I tell, what do I write and where is the form?",
            ["Who do I tell?", "what do I write?", "where is the form?"],
        ),
    ],
)
def test_what_is_asked_together_is_told_apart(text: str, parts: list[str]) -> None:
    assert asked(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "How many characters must a password have?",
        "If I am ill, how long may I stay at home?",
        "Quando scegliamo un fornitore, quanto pesa il prezzo?",
        "What is the difference between sick leave and annual leave?",
        "How hard do I pump the tyres, how many bar?",
        "Quale articolo del D.Lgs. n. 81/2008 parla dei dispositivi e delle visiere?",
        "Che sanzione ha avuto il Dott. R.V. del reparto organici?",
        "Can I take a long break from my job and have it back afterwards?",
        "Who wrote “What is it and how does it work?”",
        "and",
        "?",
        "e",
    ],
)
def test_what_asks_one_thing_stays_whole(text: str) -> None:
    assert split_question(text) == ()


def test_what_is_said_first_belongs_to_every_part() -> None:
    first, second = split_question("I work in Exeter. How much leave do I get and who approves my leave request?")
    assert first.text == "I work in Exeter: How much leave do I get?"
    assert second.text == "I work in Exeter: who approves my leave request?"


def test_a_part_that_points_back_is_told_what_it_is_about() -> None:
    _, second = split_question("Which form is needed for a sabbatical, and who signs it?")
    assert second.asked == "who signs it?"
    assert second.text == "who signs it? (form needed sabbatical)"


def test_a_letter_full_of_questions_stays_whole() -> None:
    assert split_question(" ".join(f"Who wrote chapter {number}?" for number in range(9))) == ()


def test_a_query_never_has_a_single_part() -> None:
    with pytest.raises(ValueError, match="one part"):
        Query("Who?", Principal(), parts=(QuestionPart("Who?", "Who?"),))
    with pytest.raises(ValueError, match="needs text"):
        QuestionPart(" ", "Who?")


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("What is the hotel limit in London, and how long must a password be?", "how long must a password be?"),
        ("Dove stanno gli acidi e quanti abitanti ha il Giappone?", "quanti abitanti ha il Giappone?"),
        ("What does error GO-2041-B mean and what do I do for INC-1207-C?", "what do I do for INC-1207-C?"),
        ("Quanto vale il buono pasto e quanto costa la mensa?", "quanto costa la mensa?"),
        ("Quanto dura l'aspettativa e chi decide?", "chi decide? (dura l'aspettativa)"),
        ("Per quanto tempo si conservano i metalli e dove?", "dove? (tempo conservano metalli)"),
        ("How many days can I buy, and which form do I need for that?", "which form do I need for that? (days buy)"),
    ],
)
def test_only_a_part_without_a_subject_of_its_own_is_lent_one(text: str, second: str) -> None:
    assert split_question(text)[1].text == second
