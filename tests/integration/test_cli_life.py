"""A corpus' life through the command line: sync, ask, change, delete, publish, roll back."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from command import fonte, shown_of

LEAVE = """# Leave

## Annual leave

Full-time staff get 26 days of annual leave a year. Requests go to the line manager two weeks ahead.

## Sick leave

A doctor's note is needed from the third day of sickness.
"""
FERIE = """# Permessi

Il personale può chiedere fino a tre giorni di permesso per trasloco.
Il modulo MT-204-B va consegnato all'ufficio personale entro il 30 aprile 2026.
"""
SALARIES = "# Salaries\n\nThe director of the Cremona office earns 84,000 euro a year.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small folder of documents."""
    made = tmp_path / "docs"
    made.mkdir()
    (made / "leave.md").write_text(LEAVE, encoding="utf-8")
    (made / "permessi.md").write_text(FERIE, encoding="utf-8")
    (made / "travel.txt").write_text("Trains are booked in second class.\n\nTaxis need a receipt.\n", encoding="utf-8")
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the index will live."""
    return tmp_path / "home"


def test_first_sync_then_nothing_to_do_then_only_what_changed(folder: Path, home: Path) -> None:
    first = fonte(home, "sync", str(folder))
    assert first.status == 0
    assert first.json["published"] is True
    assert first.json["documents"]["added"] == 3
    assert first.json["chunks"]["added"] == first.json["chunks"]["total"] > 0
    assert first.json["embedded_texts"] == first.json["chunks"]["added"]

    second = fonte(home, "sync", str(folder)).json
    assert second["generation"] == first.json["generation"]
    assert second["documents"] == {**second["documents"], "added": 0, "modified": 0, "deleted": 0, "unchanged": 3}
    assert (second["chunks"]["added"], second["chunks"]["removed"], second["embedded_texts"]) == (0, 0, 0)

    (folder / "leave.md").write_text(LEAVE.replace("third day", "fourth day"), encoding="utf-8")
    third = fonte(home, "sync", str(folder)).json
    assert third["documents"]["modified"] == 1
    assert third["documents"]["unchanged"] == 2
    assert third["embedded_texts"] == 1, "only the text that changed is embedded"
    assert third["chunks"]["total"] == first.json["chunks"]["total"]


def test_an_answer_is_cited_to_the_character(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    told = fonte(home, "ask", "How many days of annual leave do full-time staff get?").json
    assert told["answered"] is True
    assert "26" in told["answer"]
    assert told["language"] == "en"
    citation = told["citations"][0]
    shown = shown_of(home, citation)
    assert shown["text"] == citation["quote"]
    assert hashlib.sha256(citation["quote"].encode()).hexdigest() == citation["quote_sha256"]
    assert citation["document_name"] == "leave.md"
    assert citation["locator"]["lines"] is not None
    assert all(sentence["support"] == "supported" for sentence in told["sentences"])
    assert told["gate"]["calibrated"] is False


def test_an_italian_question_is_answered_and_refused_in_italian(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    told = fonte(home, "ask", "Entro quando va consegnato il modulo MT-204-B?").json
    assert told["answered"] is True
    assert "30 aprile 2026" in told["answer"]
    refused = fonte(home, "ask", "Qual è il prezzo di un biglietto per la partita di calcio di domenica?").json
    assert refused["answered"] is False
    assert refused["answer"] == "Non trovo informazioni sufficienti nelle fonti autorizzate."
    assert refused["citations"] == []
    assert refused["abstention"]["reason"] == "weak_evidence"
    assert 0 < len(refused["abstention"]["nearest"]) <= 3
    strict = fonte(home, "ask", "Qual è il prezzo di un biglietto per la partita di calcio?", "--fail-on-abstain")
    assert strict.status == 4


def test_case_27_a_removed_file_and_a_deleted_document_are_gone_everywhere(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    (folder / "travel.txt").unlink()
    assert fonte(home, "sync", str(folder)).json["documents"]["deleted"] == 1
    assert fonte(home, "delete", "permessi.md").status == 0
    for name, words in (("travel.txt", "second class trains"), ("permessi.md", "modulo MT-204-B")):
        names = [one["document_name"] for one in fonte(home, "search", words).json["results"]]
        assert name not in names
        gone = fonte(home, "show", name)
        assert (gone.status, gone.json["error"]["code"]) == (1, "not_found")
    rolled = fonte(home, "rollback")
    assert rolled.status == 0
    names = [one["document_name"] for one in fonte(home, "search", "modulo MT-204-B").json["results"]]
    assert "permessi.md" not in names, "a delete holds in every generation"
    assert "travel.txt" in [one["document_name"] for one in fonte(home, "search", "second class").json["results"]]


def test_case_30_delete_then_sync_again_is_accepted(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    fonte(home, "delete", "leave.md")
    again = fonte(home, "sync", str(folder))
    assert again.status == 0
    assert "leave.md" in [one["document_name"] for one in fonte(home, "search", "annual leave").json["results"]]


def test_roles_are_asked_of_every_command(folder: Path, home: Path) -> None:
    private = folder.parent / "private"
    private.mkdir()
    (private / "salaries.md").write_text(SALARIES, encoding="utf-8")
    fonte(home, "sync", str(folder))
    fonte(home, "sync", str(private), "--allow", "hr")
    question = "How much does the director of the Cremona office earn?"
    assert "84,000" in fonte(home, "ask", question, "--roles", "hr").json["answer"]
    outside = fonte(home, "ask", question).json
    assert outside["answered"] is False
    assert "salaries.md" not in str(outside)
    assert fonte(home, "search", "director salary", "--roles", "staff").out.find("salaries.md") == -1
    forbidden, absent = fonte(home, "show", "salaries.md"), fonte(home, "show", "absent.md")
    assert forbidden.out.replace("salaries.md", "X") == absent.out.replace("absent.md", "X")
    assert (forbidden.status, absent.status) == (1, 1)
    assert "name your roles with --roles" in forbidden.err


def test_narrowed_rights_hold_before_and_after_publication(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    fonte(home, "sync", str(folder), "--allow", "hr", "--no-publish")
    assert fonte(home, "search", "annual leave").json["results"] == [], "narrowing does not wait for the alias"
    fonte(home, "sync", str(folder), "--allow", "hr")
    assert fonte(home, "search", "annual leave").json["results"] == []
    assert fonte(home, "search", "annual leave", "--roles", "hr").json["results"]


def test_a_candidate_that_lost_most_documents_is_held_back(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(6):
        (folder / f"n{number}.txt").write_text(f"Note number {number} about pump {number}.", encoding="utf-8")
    first = fonte(home, "sync", str(folder)).json
    for number in range(1, 6):
        (folder / f"n{number}.txt").unlink()
    held = fonte(home, "sync", str(folder))
    assert held.status == 1
    assert held.json["published"] is False
    assert fonte(home, "generations").json["active"] == first["generation"]
    assert len(fonte(home, "search", "pump", "--k", "10").json["results"]) == 6
    refused = fonte(home, "publish", held.json["generation"])
    assert (refused.status, refused.json["error"]["code"]) == (1, "gate_failed")
    told = fonte(home, "publish", held.json["generation"], "--override", "we moved to the new site")
    assert told.json == {"generation": held.json["generation"], "previous": first["generation"]}
    assert len(fonte(home, "search", "pump", "--k", "10").json["results"]) == 1


def test_a_broken_document_does_not_break_the_folder_and_is_retried(folder: Path, home: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 this is not a pdf at all")
    (folder / "empty.md").write_bytes(b"")
    first = fonte(home, "sync", str(folder))
    assert first.status == 3
    assert first.json["documents"] == {
        "added": 4,
        "unchanged": 0,
        "modified": 0,
        "deleted": 0,
        "failed": 1,
        "partial": 0,
        "empty": 1,
        "needs_ocr": 0,
    }
    states = {one["document_name"]: one for one in fonte(home, "documents").json["documents"]}
    assert states["broken.pdf"]["state"] == "failed"
    assert states["broken.pdf"]["reason"]
    assert states["empty.md"]["state"] == "empty"
    assert states["leave.md"]["state"] == "ready"
    assert states["leave.md"]["ledger"]["balanced"] is True
    second = fonte(home, "sync", str(folder))
    assert second.status == 3, "a failure is said every time"
    assert second.json["documents"]["failed"] == 1
    assert second.json["documents"]["unchanged"] == 4, "what failed stands among failed, not also among unchanged"
    assert [one["source_uri"].rsplit("/", 1)[1] for one in second.json["failures"]] == ["broken.pdf", "empty.md"]
    (folder / "broken.pdf").write_text("The gate is blue.", encoding="utf-8")
    assert fonte(home, "sync", str(folder)).json["documents"]["failed"] == 0
    assert "broken.pdf" in [one["document_name"] for one in fonte(home, "search", "blue gate").json["results"]]


def test_after_a_rollback_documents_show_who_may_read_them_now(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder), "--allow", "staff,guests")
    (folder / "leave.md").write_text(LEAVE + "\nOne more line.\n", encoding="utf-8")
    fonte(home, "sync", str(folder), "--allow", "staff")
    assert fonte(home, "rollback").status == 0
    roles = {tuple(one["roles"]) for one in fonte(home, "documents").json["documents"]}
    assert roles == {("staff",)}, "narrowed rights hold in every generation, so they are what is told"
    assert fonte(home, "search", "annual leave", "--roles", "guests").json["results"] == []


def test_the_gate_says_in_words_how_it_judged(folder: Path, home: Path) -> None:
    fonte(home, "sync", str(folder))
    answered = fonte(home, "ask", "How many days of annual leave do full-time staff get?", json_mode=False)
    refused = fonte(home, "ask", "Who won the football match on Sunday?", json_mode=False)
    for told in (answered, refused):
        assert "there is an answer; the gate is uncalibrated: fonte calibrate GOLDEN" in told.err
    assert "evidence 0." in refused.err
    assert "gate: uncalibrated: " in fonte(home, "status", json_mode=False).out


def test_status_names_what_is_stale_and_which_field_differs(folder: Path, home: Path, tmp_path: Path) -> None:
    fonte(home, "sync", str(folder))
    assert fonte(home, "status").json["stale"] == []
    config = tmp_path / "other.toml"
    config.write_text('[chunking]\nstrategy = "blind"\nsize = 512\n', encoding="utf-8")
    stale = fonte(home, "status", "--config", str(config)).json["stale"]
    assert [one["document_name"] for one in stale] == ["leave.md", "permessi.md", "travel.txt"]
    assert all("chunking" in " ".join(one["differs"]) for one in stale)
    rebuilt = fonte(home, "sync", str(folder), "--config", str(config)).json
    assert rebuilt["published"] is True
    assert fonte(home, "status", "--config", str(config)).json["stale"] == []


def test_records_become_documents_and_their_spans_slice(home: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        '{"_id": "r1", "title": "Pumps", "text": "  The P-11 pump runs at 40 bar."}\n'
        '{"_id": "r2", "title": "Valves", "text": "The V-7 valve closes in 3 s."}\n',
        encoding="utf-8",
    )
    report = fonte(home, "sync", str(corpus), "--records").json
    assert report["documents"]["added"] == 2
    shown = fonte(home, "show", "r1").json
    assert shown["text"] == "  The P-11 pump runs at 40 bar."
    best = fonte(home, "search", "P-11 pressure").json["results"][0]
    assert (best["document_name"], best["title"]) == ("r1", "Pumps")
    assert best["content"] == shown["text"][best["locator"]["from"] : best["locator"]["to"]]


def test_a_sync_that_widens_rights_says_so(folder: Path, home: Path) -> None:
    assert fonte(home, "sync", str(folder), "--allow", "staff").json["notes"] == []
    (folder / "leave.md").write_text(LEAVE + "\nOne more line.\n", encoding="utf-8")
    wider = fonte(home, "sync", str(folder))
    told = [note for note in wider.json["notes"] if "documents are readable by" in note]
    assert told == ["3 documents are readable by other roles than before, first leave.md: staff before, public now"]
    notes = fonte(home, "sync", str(folder), "--allow", "staff").json["notes"]
    (narrower,) = [note for note in notes if "documents are readable by" in note]
    assert "public before, staff now" in narrower
    assert fonte(home, "sync", str(folder), "--allow", "staff").json["notes"] == []
    alone = folder / "leave.md"
    fonte(home, "sync", str(alone), "--allow", "staff")
    notes = fonte(home, "sync", str(alone), "--allow", "hr").json["notes"]
    assert "1 document is readable by other roles than before, first leave.md: staff before, hr now" in notes
