"""Languages of documents and questions, with and without the optional libraries."""

from __future__ import annotations

import pytest

from fonte.text import language
from fonte.text.language import detect, question_languages

ITALIAN = (
    "I dipendenti hanno diritto a ventisei giorni di ferie, che vanno chieste al responsabile con un mese di anticipo."
)
ENGLISH = "Employees are entitled to twenty-six days of leave, which they ask of their manager a month in advance."


@pytest.fixture(params=["libraries", "none"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "none":
        monkeypatch.setattr(language, "_paragraph_model", lambda: None)
        monkeypatch.setattr(language, "_question_model", lambda: None)
    return str(request.param)


def test_paragraphs(installed: str) -> None:
    assert detect(ITALIAN) == "it"
    assert detect(ENGLISH) == "en"
    assert detect(ITALIAN * 40) == "it"


def test_too_little_is_not_guessed(installed: str) -> None:
    assert detect("12.5 %") == "und"
    assert detect("", default="it") == "it"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Quanti giorni di ferie ho?", "it"),
        ("How many days of leave do I have?", "en"),
        ('Chi firma le fatture della Doctor Who "The Greatest Series of the Year"?', "it"),
        ("Where is the office?", "en"),
    ],
)
def test_clear_questions_have_one_language(question: str, wanted: str, installed: str) -> None:
    assert question_languages(question) == (wanted,)


@pytest.mark.parametrize("question", ["CVE-2024-1234", "AB-1234-X?", "Mario Rossi", "2024", "?"])
def test_codes_and_names_may_be_in_either(question: str, installed: str) -> None:
    assert {"en", "it"} <= set(question_languages(question))


def test_other_languages_are_told_when_the_libraries_are_there() -> None:
    pytest.importorskip("lingua")
    pytest.importorskip("fasttext")
    assert question_languages("¿Cuántos días de vacaciones tengo este año?") == ("es",)
    assert question_languages("Сколько дней отпуска мне положено?") == ("ru",)
