from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "evaluation"))

import run_document_a
import tell_document_a

from quick_corpus import WordEmbedder

SPLIT = "the amber lantern opens at dawn"
WIKI = " = Harbour = \n Boats lie here . \n = = Customs = = \n The customs house closes at noon sharp . \n"
LETTER = "A letter about lanterns\n\n" + "Some words of no use. " * 21 + f"And then {SPLIT}. " + "More words. " * 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "letters"
    place.mkdir()
    rows = {
        "corpus": [{"_id": "wiki", "title": "Wiki", "text": WIKI}, {"_id": "letter", "title": "", "text": LETTER}],
        "queries": [
            {"_id": "q1", "text": "when does the amber lantern open", "lang": "en"},
            {"_id": "q2", "text": "when does the customs house close", "lang": "en"},
        ],
        "spans": [span("q1", "letter", LETTER, f" {SPLIT}"), span("q2", "wiki", WIKI, "closes at noon sharp ")],
    }
    for name, some in rows.items():
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    (place / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tletter\t1\nq2\twiki\t1\n", encoding="utf-8")
    return place


def span(query: str, name: str, text: str, words: str) -> dict[str, object]:
    start = text.index(words)
    return {"query_id": query, "doc": name, "start": start, "end": start + len(words), "text": words}


def test_a_set_in_beir_layout_keeps_its_characters_and_its_headings(folder: Path) -> None:
    assert LETTER.index(SPLIT) < 512 < LETTER.index(SPLIT) + len(SPLIT)
    corpus = run_document_a.public(folder)
    wiki, letter = corpus.documents
    assert (wiki.text, letter.text) == (WIKI, LETTER)
    assert [section.path for section in wiki.sections if section.path] == [("Harbour",), ("Harbour", "Customs")]
    assert letter.title == "A letter about lanterns"
    assert [needle.text for question in corpus.golden.questions for needle in question.needles] == [
        SPLIT,
        "closes at noon sharp",
    ]


def test_a_blind_cut_destroys_a_needle_overlap_saves_it_and_a_header_costs_tokens(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_document_a, "make_embedder", lambda _: WordEmbedder())
    found = run_document_a.evaluate(run_document_a.public(folder), "e5", tmp_path)
    forms = found["forms"]
    assert [forms[form]["destroyed"] for form in "ABCDEF"] == [1, 0, 0, 0, 0, 0]
    assert [forms[form]["header tokens"] > 0 for form in "ABCDEF"] == [False] * 4 + [True] * 2
    assert forms["A"]["legs"]["bm25"]["needle@20"]["value"] == 0.5
    assert forms["C"]["legs"]["bm25"]["needle@20"]["value"] == 1.0
    best = found["pairs"]["bm25"]["needle@20"]["E against A"]
    assert (best["wins"], best["losses"], best["verdict"]) == (1, 0, "cannot_tell")

    (tmp_path / "document-a-covidqa-e5.json").write_text(json.dumps(found), encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tell_document_a.START}\nold\n{tell_document_a.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tell", "--results", str(tmp_path), "--page", str(page)])
    assert tell_document_a.main() == 0
    told = page.read_text(encoding="utf-8")
    assert told.startswith("before\n") and told.endswith("\nafter\n") and "\nold\n" not in told
    assert "Not run yet: `evaluation/run_document_a.py --data ../shared/data --sets sample --encoders minilm" in told
    assert "| A | 1 of 2 | 0 |" in told
    assert (tmp_path / "document-a-covidqa.png").read_bytes().startswith(b"\x89PNG")
