"""What ask tells people beside an answer: how a follow-up was read, what judged it, in whose language."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import fonte


@pytest.fixture
def asked(home: Path, tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pump.md").write_text(
        "# Pump\n\nThe filter of the pump is replaced every 400 hours.\n\n"
        "The oil of the pump is replaced every 90 days.\n",
        encoding="utf-8",
    )
    (docs / "rooms.csv").write_text("room,floor\nAster,1\nBirch,2\nCedar,2\n", encoding="utf-8")
    assert fonte(home, "sync", str(docs)).status == 0
    return home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize("json_mode", [True, False])
def test_a_follow_up_tells_how_it_was_read(asked: Path, json_mode: bool) -> None:
    first = fonte(asked, "ask", "How often is the filter of the pump replaced?", "--conversation", "new")
    assert "read as" not in first.err
    named = first.json["conversation_id"]
    again = fonte(asked, "ask", "And the oil?", "--conversation", named, json_mode=json_mode)
    assert "read as: How often is the oil of the pump replaced?" in again.err.splitlines()
    whole = fonte(asked, "ask", "How often is the oil of the pump replaced?", "--conversation", named)
    assert "read as" not in whole.err


def test_what_was_computed_is_not_said_to_be_judged_by_the_gate(asked: Path) -> None:
    ran = fonte(asked, "ask", "How many rooms are there in rooms.csv?", json_mode=False)
    assert "3 rows" in ran.out
    assert "computed over the table, not judged by the gate" in ran.err
    assert "evidence" not in ran.err
    refused = fonte(asked, "ask", "Who won the football world cup of 1994?", json_mode=False)
    assert "evidence" in refused.err and "computed" not in refused.err


def test_a_refusal_speaks_the_language_of_the_question(asked: Path) -> None:
    refused = fonte(asked, "ask", "Quanto costa il biglietto per la partita di domenica?", json_mode=False)
    assert "I passaggi più vicini, che non contengono la risposta:" in refused.out
    assert "Nearest" not in refused.out
