"""Questions as of a day: what does not hold then is not found; without a day it is, and said."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from evaluating_making import PUBLIC, synced
from fonte import contract
from fonte.asked import out_of_force
from fonte.corpus import OpenCorpus
from fonte.types import Acl, Answered, Document, Principal

WHO = Principal()
OLD = "---\nvalid_from: 2024-01-01\nvalid_to: 2025-12-31\n---\n# Travel\n\nA hotel night in Rome: 120 euros.\n"
NEW = "---\nvalid_from: 2026-01-01\n---\n# Travel 2026\n\nA hotel night in Rome is paid up to 140 euros.\n"
QUESTION = "up to how many euros is a hotel night in Rome paid?"


@pytest.fixture
def corpus(tmp_path: Path) -> OpenCorpus:
    return synced(tmp_path / "home", {"old.md": (OLD, PUBLIC), "new.md": (NEW, PUBLIC)})


def names(corpus: OpenCorpus, day: date | None) -> list[str]:
    found = corpus.search(QUESTION, principal=WHO, as_of=day)
    return sorted(one.stored.document_name for one in found.results)


def test_a_day_chooses_the_version_that_holds_then(corpus: OpenCorpus) -> None:
    assert names(corpus, None) == ["new.md", "old.md"]
    assert names(corpus, date(2025, 6, 1)) == ["old.md"]
    assert names(corpus, date(2026, 1, 1)) == ["new.md"]
    assert names(corpus, date(2019, 1, 1)) == []


def test_an_answer_as_of_a_day_cites_only_what_holds_then(corpus: OpenCorpus) -> None:
    answer = corpus.ask(QUESTION, principal=WHO, as_of=date(2025, 6, 1))
    assert isinstance(answer, Answered)
    assert {one.document_name for one in answer.citations} == {"old.md"}
    told = contract.answer(answer)
    assert told["as_of"] == "2025-06-01"
    assert told["notes"] == []


def test_without_a_day_what_no_longer_holds_is_found_and_said(
    corpus: OpenCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fonte.answer.now", lambda: datetime(2026, 5, 1, tzinfo=UTC))
    answer = corpus.ask("hotel night Rome 120 euros", principal=WHO)
    assert isinstance(answer, Answered)
    cited = {one.document_name: (one.valid_from, one.valid_to) for one in answer.citations}
    assert cited["old.md"] == ("2024-01-01", "2025-12-31")
    assert "old.md: held until 2025-12-31" in answer.trace.notes
    assert not any(note.startswith("new.md") for note in answer.trace.notes)


@pytest.mark.parametrize(
    ("told", "first", "last"),
    [
        ("2024-03-05", "2024-03-05", "2024-03-05"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-03-05T10:00:00", "2024-03-05", "2024-03-05"),
        ("2024-13", "", ""),
        ("next spring", "", ""),
    ],
)
def test_validity_is_read_as_days(told: str, first: str, last: str) -> None:
    said = {"valid_from": told, "valid_to": told}
    one = Document("d", "default", "file:///d", "d", "v", "T", "text", Acl(), metadata=said)
    assert (one.valid_from, one.valid_to) == (first, last)


def test_the_first_and_the_last_day_hold() -> None:
    assert out_of_force("2024-01-01", "2024-12-31", date(2024, 1, 1)) == ""
    assert out_of_force("2024-01-01", "2024-12-31", date(2024, 12, 31)) == ""
    assert out_of_force("2024-01-01", "2024-12-31", date(2025, 1, 1)) == "held until 2024-12-31"
    assert out_of_force("2024-01-01", "", date(2023, 12, 31)) == "holds from 2024-01-01"
    assert out_of_force("", "", date(2024, 1, 1)) == ""
