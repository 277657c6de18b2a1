"""Case 85 of the collection: soft hyphens neither hide a word from a search nor move the place that is cited."""

from __future__ import annotations

from pathlib import Path

from fonte.types import Answered, Principal
from quick_corpus import Shelf, Shelves, quick_corpus

TEXT = "The teams of both towers co\u00adoperate with the harbor office on every second Monday."


def test_case_85_a_word_with_a_soft_hyphen_is_found_and_quoted_as_it_stands(tmp_path: Path) -> None:
    shelf = Shelf({"teams.txt": (TEXT, frozenset({"public"}))})
    with quick_corpus(tmp_path / "home", Shelves({"docs": shelf})) as made:
        made.sync("docs")
        found = made.search("cooperate", principal=Principal(), mode="bm25").results
        assert len(found) == 1
        document, _, _ = made.show(found[0].stored.chunk.document_id, principal=Principal())
        place = found[0].locator
        assert "co\u00adoperate" in found[0].content == document.text[place.start : place.end]
        answer = made.ask("Who do the teams of both towers cooperate with?", principal=Principal())
        assert isinstance(answer, Answered)
        cited = answer.citations[0]
        assert cited.quote == document.text[cited.locator.start : cited.locator.end]
        assert "co\u00adoperate" in cited.quote
