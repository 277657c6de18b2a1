"""Facts of a sentence as they are read, in Italian and English."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fonte.text.claims.figures import same_quantity
from fonte.text.claims.numerals import english, italian, roman
from fonte.text.claims.reading import statement


@pytest.mark.parametrize(
    ("words", "value", "used"),
    [
        ("twenty five days", 25, 2),
        ("one hundred and twenty", 120, 4),
        ("two thousand and five", 2005, 4),
        ("two three", 2, 1),
        ("and five", 0, 0),
        ("nine hundred and then", 900, 2),
    ],
)
def test_english_numbers_in_words(words: str, value: int, used: int) -> None:
    assert english(words.split()) == (value, used)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("ventisette", 27), ("ventuno", 21), ("ventun", 21), ("quarantotto", 48), ("centotto", 108), ("novanta", 90),
        ("centottanta", 180), ("duecentocinquanta", 250), ("milleduecento", 1200), ("sessantamila", 60_000),
        ("mille", 1000), ("mila", None), ("ventina", None),
    ],
)  # fmt: skip
def test_italian_numbers_in_words(word: str, value: int | None) -> None:
    assert italian(word) == value


def test_roman_numerals_of_two_signs_and_more() -> None:
    assert [roman(one) for one in ("XVIII", "IV", "XC", "II", "I", "CIVIL", "MIX")] == [18, 4, 90, 2, None, None, None]


SAME = [
    ("1,5 kg", "it", "1.5 kg", "en"),
    ("1500 g", "it", "1.5 kg", "en"),
    ("30%", "en", "il 30 per cento", "it"),
    ("half of it", "en", "il 50 per cento", "it"),
    ("mezz'ora", "it", "30 minutes", "en"),
    ("24 hours", "en", "un giorno e ventiquattro ore", "it"),
    ("€ 1.250,50", "it", "1,250.50 euros", "en"),
    ("2.5 million euro", "en", "2.500.000 euro", "it"),
    ("twenty-five pence", "en", "25 pence", "en"),
    ("eighteen months", "en", "18 mesi", "it"),
    ("0,5 metri al secondo", "it", "0.5 m/s", "en"),
    ("5 to 10 km", "en", "5000 m", "en"),
]


@pytest.mark.parametrize(("one", "language", "other", "their_language"), SAME)
def test_equal_quantities_written_otherwise_are_equal(one: str, language: str, other: str, their_language: str) -> None:
    mine, theirs = statement(one, language).figures, statement(other, their_language).figures
    assert any(same_quantity(left, right) for left in mine for right in theirs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "30 weeks"),
        ("€185", "£185"),
        ("5 km", "5 m"),
        ("30 days", "a month of 31 days"),
        ("47 cents", "47 pence"),
        ("8 °C", "8 °F"),
        ("40%", "40‰"),
        ("24 days", "24 hours out of 24"),
    ],
)
def test_other_units_are_other_quantities(one: str, other: str) -> None:
    right = [figure for figure in statement(other, "en").figures if figure.unit]
    assert not any(same_quantity(left, figure) for left in statement(one, "en").figures for figure in right)


def test_what_is_a_date_an_hour_or_a_code_is_no_quantity() -> None:
    read = statement("By 31 March 2026 at 08:30 send form TR-12 under D.Lgs. n. 81/2008, 12/03/2026.", "en")
    assert [one.text for one in read.days] == ["31 March 2026", "12/03/2026"]
    assert [one.text for one in read.hours] == ["08:30"]
    assert [one.text for one in read.codes] == ["TR-12", "81/2008"]
    assert read.figures == ()


def test_a_range_of_days_has_one_month() -> None:
    read = statement("dal 1 al 5 giugno", "it")
    assert [day.meant for day in read.days] == [frozenset({(0, 6, 1)}), frozenset({(0, 6, 5)})]


def test_a_number_in_a_line_below_its_unit_is_read_with_it() -> None:
    (figure,) = statement("più di dieci\nanni di anzianità", "it").figures
    assert figure.numbers == {Decimal(10)}
    assert figure.unit is not None


@pytest.mark.parametrize(
    ("text", "language", "cues"),
    [
        ("Fines are not paid at all.", "en", ["not"]),
        ("You can't and don't.", "en", ["can't", "don't"]),
        ("Not only trains but also planes.", "en", []),
        ("No more than five days.", "en", []),
        ("See no. 5.", "en", []),
        ("Nessuno lo sa.", "it", ["Nessuno"]),
        ("Non lo sa nessuno.", "it", ["Non"]),
        ("Non serve e non va mandato.", "it", ["Non", "non"]),
        ("Non oltre il 30 aprile.", "it", []),
        ("Finché la controversia non finisce.", "it", []),
        ("Si paga, salvo accordo.", "it", ["salvo"]),
        ("Ne ha 28.", "it", []),
        ("Apart from a coffee.", "en", ["Apart"]),
    ],
)
def test_negations_and_what_only_looks_like_one(text: str, language: str, cues: list[str]) -> None:
    assert [cue.text for cue in statement(text, language).turns.cues] == cues


def test_a_sentence_of_another_language_has_no_negation_that_we_know() -> None:
    assert statement("Das ist nicht so.", "de").turns.cues == ()


@pytest.mark.parametrize(
    ("text", "language", "minutes"),
    [
        ("It begins at half past nine.", "en", {570, 1290}),
        ("It begins at a quarter to six in the evening.", "en", {1065}),
        ("We close at ten o'clock at night.", "en", {1320}),
        ("Si chiude alle nove di sera.", "it", {1260}),
        ("Si apre alle sei meno un quarto.", "it", {345, 1065}),
        ("Dalle otto e mezza del mattino.", "it", {510}),
    ],
)
def test_hours_in_words(text: str, language: str, minutes: set[int]) -> None:
    said = statement(text, language)
    assert [set(one.minutes) for one in said.hours] == [minutes]
    assert said.figures == ()


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [
        ("An hour and a half.", "en", "90 minutes"),
        ("A quarter of an hour.", "en", "15 minutes"),
        ("Two and a half hours.", "en", "150 minutes"),
        ("2 hours and 38 minutes.", "en", "158 minutes"),
        ("For a fortnight.", "en", "14 days"),
        ("Un'ora e un quarto.", "it", "75 minuti"),
        ("Tre quarti d'ora.", "it", "45 minuti"),
        ("Una settimana.", "it", "7 giorni"),
    ],
)
def test_quantities_in_several_parts_or_without_a_number(text: str, language: str, other: str) -> None:
    figure = statement(other, language).figures[0]
    assert any(same_quantity(figure, whole) for whole in statement(text, language).wholes)
    other_figure = statement(f"1{other}", language).figures[0]
    assert not any(same_quantity(other_figure, whole) for whole in statement(text, language).wholes)


def test_an_hour_and_a_half_is_not_an_hour() -> None:
    hour = statement("60 minutes", "en").figures[0]
    assert not any(same_quantity(hour, whole) for whole in statement("It takes an hour and a half.", "en").wholes)


def test_each_language_groups_figures_in_its_own_way() -> None:
    assert statement("1.400 metri", "it").figures[0].numbers == {Decimal(1400)}
    assert statement("1,400 metres", "en").figures[0].numbers == {Decimal(1400)}
    assert statement("1.400 metres", "en").figures[0].numbers == {Decimal(1400), Decimal("1.4")}


def test_ages_are_no_codes() -> None:
    assert statement("Under-25s pay less.", "en").codes == ()
    assert [one.text for one in statement("Form TR-25 is enough.", "en").codes] == ["TR-25"]
