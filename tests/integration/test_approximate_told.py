"""A search that may miss something says so, in its notes and in what status tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte import Principal, contract
from quick_corpus import quick_corpus


@pytest.mark.parametrize(("most", "told"), [(0, "approximate"), (2, "exact")])
def test_status_and_notes_tell_whether_dense_search_is_approximate(home: Path, most: int, told: str) -> None:
    folder = home.parent / "docs"
    folder.mkdir()
    for name in ("pump", "valve"):
        (folder / f"{name}.txt").write_text(f"The {name} stands in hall 3.")
    (home.parent / "fonte.toml").write_text(f"[retrieval]\nexact_chunks = {most}\n")
    with quick_corpus(home) as corpus:
        assert contract.status(corpus.status())["dense_search"] is None
        corpus.sync(str(folder))
        assert contract.status(corpus.status())["dense_search"] == told
        found = corpus.search("Where is the pump?", principal=Principal())
        assert [one.stored.document_name for one in found.results][:1] == ["pump.txt"]
        assert [note for note in found.notes if "approximate" in note] == (
            ["dense search was approximate: 2 chunks"] if told == "approximate" else []
        )
        words = corpus.search("Where is the pump?", principal=Principal(), mode="bm25")
        assert not [note for note in words.notes if "approximate" in note]
