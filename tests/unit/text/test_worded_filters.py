"""Where a question's own words say to look; and other wordings of it."""

from __future__ import annotations

from datetime import date

import pytest

from fonte.text.asking.worded import worded
from fonte.text.asking.wordings import other_wordings, with_aliases

NAMES = (
    "travel/travel-policy-2024.md",
    "travel/travel-policy-2026.md",
    "people/ferie-e-permessi.txt",
    "quality/sampling-manual.pdf",
    "welcome/benvenuto.md",
)
TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("In the 2024 travel policy, what is the limit?", ["travel/travel-policy-2024.md"]),
        ("Secondo la policy trasferte del 2024, qual è il limite?", ["travel/travel-policy-2024.md"]),
        ("What does sampling-manual.pdf say of wells?", ["quality/sampling-manual.pdf"]),
        ("Nel documento ferie e permessi, quando si avvisa?", ["people/ferie-e-permessi.txt"]),
        ("What did the 2026 version change?", ["travel/travel-policy-2026.md"]),
    ],
)
def test_documents_are_read_by_their_names(text: str, documents: list[str]) -> None:
    found = worded(text, NAMES, TODAY)
    assert found is not None
    assert list(found.narrowed.filters.documents) == documents


@pytest.mark.parametrize(
    ("text", "language", "rest"),
    [
        ("In the Italian handbook, how long is the leave?", "it", "how long is the leave?"),
        ("Nei documenti in inglese, quanti giorni ci sono?", "en", "quanti giorni ci sono?"),
        ("Quanto dura, secondo il manuale inglese?", "en", "Quanto dura, ?"),
    ],
)
def test_languages_are_read_and_taken_out(text: str, language: str, rest: str) -> None:
    found = worded(text, NAMES, TODAY)
    assert found is not None
    assert (found.narrowed.filters.languages, found.narrowed.text) == ((language,), rest)


def test_kinds_of_files_are_read() -> None:
    found = worded("Nel foglio Excel, quanto costa?", NAMES, TODAY)
    assert found is not None
    assert "application/vnd.ms-excel" in found.narrowed.filters.media_types
    found = worded("In the PDF, which bottle is it?", NAMES, TODAY)
    assert found is not None
    assert found.narrowed.filters.media_types == ("application/pdf",)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("As of 1 March 2024, what was the limit?", date(2024, 3, 1)),
        ("Al 1 giugno 2025, quanto si rimborsava?", date(2025, 6, 1)),
        ("Quanto si rimborsava alla data del 01/06/2025?", date(2025, 6, 1)),
        ("As of the 1st of March 2024 what was the limit?", date(2024, 3, 1)),
        ("Which limit is currently in force?", TODAY),
        ("Quale limite è attualmente in vigore?", TODAY),
    ],
)
def test_a_day_is_read(text: str, day: date) -> None:
    found = worded(text, NAMES, TODAY)
    assert found is not None
    assert found.narrowed.as_of == day
    without = worded(text, NAMES, TODAY, days=False)
    assert without is None


@pytest.mark.parametrize(
    "text",
    [
        "How many days of leave do Italian colleagues get?",
        "What does the word excel mean in the text?",
        "How much turnover was made between January and June 2026?",
        "Is there a policy on gifts?",
        "Who was in the web team in 2024?",
        "Chi ha scritto il benvenuto?",
    ],
)
def test_nothing_is_read_where_nothing_is_said(text: str) -> None:
    assert worded(text, NAMES, TODAY) is None


def test_only_names_that_were_handed_in_are_read() -> None:
    assert worded("What does board-minutes.docx say?", NAMES, TODAY) is None


def test_other_wordings_keep_the_subject_and_speak_the_other_language() -> None:
    subject, translated = other_wordings("How many days of annual leave do I get?", ("en",))
    assert subject == "days annual leave"
    assert translated != subject
    assert other_wordings("How many days of annual leave do I get?", ("en", "it")) == (subject,)
    assert other_wordings("leave", ()) == ()


def test_aliases_stand_for_each_other_and_only_as_whole_words() -> None:
    table = {"PTO": ("paid time off", "annual leave")}
    assert with_aliases("How much PTO?", table) == ("How much paid time off?", "How much annual leave?")
    assert with_aliases("how much paid time off?", table) == ("how much PTO?", "how much annual leave?")
    assert with_aliases("laptops", table) == ()
