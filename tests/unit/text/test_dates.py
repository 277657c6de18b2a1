"""Dates of metadata: ISO 8601 with the zone that was given, the original beside, and what is unclear told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fonte.text.canonical import canonicalise
from fonte.text.dates import iso_of, unclear_dates, with_iso_dates
from fonte.text.ledger import balance
from fonte.types import Chunk, Parsed
from making import paragraph, source


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("D:20240305143000+01'00'", "2024-03-05T14:30:00+01:00"),
        ("D:20240305143000-05'30", "2024-03-05T14:30:00-05:30"),
        ("D:20240305143000Z", "2024-03-05T14:30:00+00:00"),
        ("D:20240305143000", "2024-03-05T14:30:00"),
        ("D:20240305", "2024-03-05"),
        ("D:202403", "2024-03"),
        ("D:2024", "2024"),
        ("2024-03-05T14:30:00Z", "2024-03-05T14:30:00+00:00"),
        ("2024-03-05T14:30:00.500+02:00", "2024-03-05T14:30:00.500000+02:00"),
        ("2024-03-05", "2024-03-05"),
        ("2024-03", "2024-03"),
        ("1999", "1999"),
        ("Tue, 5 Mar 2024 14:30:00 +0100", "2024-03-05T14:30:00+01:00"),
        ("Tue, 5 Mar 2024 14:30:00 GMT", "2024-03-05T14:30:00+00:00"),
        ("5 March 2024", "2024-03-05"),
        ("5 marzo 2024", "2024-03-05"),
        ("05.03.2024", "2024-03-05"),
        ("D:20241305", None),
        ("D:20240305143000+99'00'", None),
        ("2024-02-30", None),
        ("2024-13", None),
        ("Tue, 45 Mar 2024 14:30:00 +0100", None),
        ("last spring", None),
        ("05/03/2024", None),
        ("", None),
    ],
)
def test_every_form_that_files_write(written: str, iso: str | None) -> None:
    assert iso_of(written) == iso


def test_the_original_stays_beside_the_date() -> None:
    told = with_iso_dates(
        {"created": "D:20240305143000+01'00'", "author": "1 May 2020", "modified": "2024-03-06"}, "en"
    )
    assert told == {
        "created": "2024-03-05T14:30:00+01:00",
        "created_original": "D:20240305143000+01'00'",
        "author": "1 May 2020",
        "modified": "2024-03-06",
    }
    assert with_iso_dates(told, "en") == told, "twice is as once"


def test_which_number_is_the_day_is_told_by_the_language_and_else_not_guessed() -> None:
    assert with_iso_dates({"date": "05/03/2024"}, "it")["date"] == "2024-03-05"
    assert with_iso_dates({"date": "05/03/2024"}, "en") == {"date": "05/03/2024"}
    assert with_iso_dates({"date": "05/03/2024", "lang": "it-IT"}, "en")["date_original"] == "05/03/2024"


def test_several_dates_of_a_book_are_read_one_by_one() -> None:
    told = with_iso_dates({"date": "2001; 5 March 2024"}, "en")
    assert (told["date"], told["date_original"]) == ("2001; 2024-03-05", "2001; 5 March 2024")


def test_an_unclear_date_is_kept_and_told_and_is_no_loss() -> None:
    parsed = Parsed((paragraph("Text."),), "test/1", metadata={"date": "last spring", "issued": "2024-03-05"})
    document = canonicalise(parsed, source(), tenant="t")
    assert document.metadata["date"] == "last spring"
    assert unclear_dates(document.metadata) == ["date: last spring"]
    entry = balance(parsed, document, [Chunk("c", document.id, 0, 0, 5, "Text.")], window=99)
    assert [loss.code for loss in entry.losses] == ["date_unclear"]
    assert "date: last spring" in entry.losses[0].message
    assert entry.balanced
    clear = replace(parsed, metadata={"date": "2024"})
    assert balance(clear, canonicalise(clear, source(), tenant="t"), [], window=99).losses[0].code == "not_in_chunks"
