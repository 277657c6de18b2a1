"""Numbers and dates of a sentence against its sources, in Italian and English."""

from __future__ import annotations

import pytest

from fonte.support import missing_figures
from fonte.text.claims.numerals import readings


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("26", {"26"}),
        ("1.250,50", {"1250.5"}),
        ("1,250.50", {"1250.5"}),
        ("1.250", {"1250", "1.25"}),
        ("1,250", {"1250", "1.25"}),
        ("3,5", {"3.5"}),
        ("3.50", {"3.5"}),
        ("007", {"7"}),
        ("0,5", {"0.5"}),
        ("1.234.567", {"1234567"}),
        ("81.2008.1", {"81.2008.1"}),
    ],
)
def test_a_number_is_read_in_every_way_it_may_be_meant(written: str, meant: set[str]) -> None:
    assert readings(written) == meant


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("You get 26 days.", "Full-time staff get 26 days of leave."),
        ("The limit is 1,250.50 euro.", "Il limite è 1.250,50 euro."),
        ("Entro il 30 aprile 2026.", "by 30 April 2026"),
        ("By April 30, 2026.", "entro il 30/04/2026"),
        ("On 2026-04-30.", "il 30 aprile 2026"),
        ("art. 5 del D.Lgs. n. 81/2008", "Ai sensi dell'art. 5 del D.Lgs. n. 81/2008"),
        ("No figure here.", ""),
    ],
)
def test_figures_that_the_source_holds_in_another_form_are_found(sentence: str, source: str) -> None:
    assert missing_figures(sentence, [source]) == []


@pytest.mark.parametrize(
    ("sentence", "source", "missing"),
    [
        ("You get 27 days.", "Full-time staff get 26 days.", ["27 days"]),
        ("By 30 April 2027.", "by 30 April 2026", ["30 April 2027"]),
        ("It costs 1.250 euro.", "It costs 125 euro.", ["1.250 euro"]),
        ("Between 10 and 12.", "Between 10 and 11.", ["12"]),
        ("30 aprile 2026 e 31 maggio 2026", "30 aprile 2026", ["31 maggio 2026"]),
    ],
)
def test_a_changed_figure_is_missing(sentence: str, source: str, missing: list[str]) -> None:
    assert missing_figures(sentence, [source]) == missing


@pytest.mark.parametrize("written", ["31/02/2031", "2031-02-31", "31 February 2031", "February 31, 2031"])
def test_a_day_that_no_calendar_has_does_not_hide_its_figures(written: str) -> None:
    assert missing_figures(f"By {written}.", ["No figure here."]) != []
    assert missing_figures(f"By {written}.", [f"Due by {written}"]) == []


@pytest.mark.parametrize(
    "written", ["1 augu\u017ft 2026", "augu\u017ft 1, 2026", "1 apr\u0131le 2026", "1 APR\u0130LE 2026"]
)
def test_letters_that_only_look_like_those_of_a_month_are_read_or_left(written: str) -> None:
    assert missing_figures(written, ["1 May 2025"]) != []
    assert missing_figures(written, [written]) == []


def test_an_old_s_is_an_s() -> None:
    assert missing_figures("On 1 augu\u017ft 2026.", ["1 August 2026"]) == []
