"""What a search goes by is told: whether it may miss something, and whether words are answered from memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from waiting import wait_until

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


@pytest.mark.parametrize(("megabytes", "told"), [(1, "memory"), (0, "table")])
def test_a_process_that_stays_answers_words_from_memory_and_another_by_the_table(
    home: Path, megabytes: int, told: str
) -> None:
    folder = home.parent / "docs"
    folder.mkdir()
    for name in ("pump", "valve"):
        (folder / f"{name}.txt").write_text(f"The {name} stands in hall 3.")
    (home.parent / "fonte.toml").write_text(f"[retrieval]\nresident_mb = {megabytes}\n")

    def asked() -> list[tuple[str, float]]:
        found = corpus.search("Where is the valve?", principal=Principal(), mode="bm25")
        return [(one.stored.document_name, round(one.hit.score, 5)) for one in found.results]

    with quick_corpus(home) as corpus:
        assert contract.status(corpus.status())["word_search"] is None
        corpus.sync(str(folder))
        before = asked()
        assert before
        assert contract.status(corpus.status())["word_search"] == "table"
        corpus.warm()
        assert asked() == before
        wait_until(lambda: contract.status(corpus.status())["word_search"] == told)
        assert asked() == before
        # Another generation is made ready too, and what is deleted or erased is unseen at once, and gone.
        (folder / "third.txt").write_text("The other valve stands in hall 4, behind the first valve.")
        corpus.sync(str(folder))
        assert {name for name, _ in asked()} == {"valve.txt", "third.txt"}
        wait_until(lambda: contract.status(corpus.status())["word_search"] == told)
        corpus.delete("third.txt")
        assert {name for name, _ in asked()} == {"valve.txt"}
        corpus.erase("valve.txt")
        assert asked() == []
