"""The ledger as people and programs see it: documents --ledger and show --ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import fonte

PAGES = "One page of the handbook has 12 words.\fThe second page holds the rest of it.\f\fThe fourth is short."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "pages.txt").write_text(PAGES, encoding="utf-8")
    (folder / "staff.csv").write_text("Name,Days\nAnn,26\nBob,22\n", encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 not a pdf")
    fonte(tmp_path / "home", "sync", str(folder))
    return tmp_path / "home"


def test_every_stage_of_a_document_is_counted_up_to_the_index(home: Path) -> None:
    rows = {one["document_name"]: one for one in fonte(home, "documents", "--ledger").json["documents"]}
    assert rows["broken.pdf"]["ledger"] is None
    for name, pages, table in (("pages.txt", 3, 0), ("staff.csv", 0, 3)):
        ledger = rows[name]["ledger"]
        assert ledger["balanced"] is True
        assert ledger["parsed"]["words"] == ledger["canonical"]["words"] == ledger["index"]["words"] > 0
        assert [ledger[stage]["rows"] for stage in ("source", "canonical", "chunks", "index")] == [table] * 4
        assert [ledger[stage]["pages"] for stage in ("canonical", "chunks", "index")] == [pages] * 3
    assert rows["pages.txt"]["ledger"]["source"]["pages"] == 4, "the blank one is a page too, and told"
    told = fonte(home, "documents", "--ledger", json_mode=False).out
    assert "words 20, numbers 1, pages 4→3→3→3→3, blank_page 1" in told
    assert fonte(home, "documents").json["documents"][1]["ledger"]["index"] is None, "counted only when asked for"


def test_show_tells_the_books_of_one_document(home: Path) -> None:
    shown = fonte(home, "show", "pages.txt", "--ledger")
    assert shown.json["ledger"]["losses"] == [{"code": "blank_page", "message": "pages without text: 3", "count": 1}]
    lines = fonte(home, "show", "pages.txt", "--ledger", json_mode=False).out.splitlines()
    assert lines[0].split() == ["STAGE", "CHARACTERS", "WORDS", "NUMBERS", "ROWS", "PAGES"]
    assert [line.split()[0] for line in lines[1:6]] == ["source", "parsed", "canonical", "chunks", "index"]
    assert lines[6:] == ["balanced", "blank_page: pages without text: 3"]
    assert "ledger" not in fonte(home, "show", "pages.txt").json
