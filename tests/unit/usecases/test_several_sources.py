"""Answers over pages of the web and over texts of another language than the question's."""

from __future__ import annotations

from pathlib import Path

from fonte import contract
from fonte.types import Answered, Principal
from quick_corpus import Shelf, Shelves, quick_corpus

PUBLIC = frozenset({"public"})
WHO = Principal()


def test_case_16_three_pages_of_the_web_have_three_ids_and_three_markers(tmp_path: Path) -> None:
    texts = {f"club.example/{name}": (f"The boat costs 40 euro a day, says {name}.", PUBLIC) for name in "abc"}
    shelf = Shelf(texts, root="https://")
    with quick_corpus(tmp_path, Shelves({"s": shelf})) as corpus:
        corpus.sync("memory://s")
        found = corpus.search("What does the boat cost a day?", principal=WHO).results
        assert len({one.stored.chunk.document_id for one in found}) == 3
        answer = corpus.ask("What does the boat cost a day?", principal=WHO)
        assert isinstance(answer, Answered)
        told = contract.answer(answer)["citations"]
    assert len({one["index"] for one in told}) == len({one["document_id"] for one in told}) == 3
    assert {one["source_uri"] for one in told} == {f"https://{name}" for name in texts}


def test_case_70_the_answer_speaks_the_questions_language_and_quotes_keep_the_sources(tmp_path: Path) -> None:
    texts = {"boat.md": ("The boat of the club costs 40 euro a day.", PUBLIC)}
    with quick_corpus(tmp_path, Shelves({"s": Shelf(texts)})) as corpus:
        corpus.sync("memory://s")
        answer = corpus.ask("Quanto costa al giorno la barca del club?", principal=WHO)
        assert isinstance(answer, Answered)
    assert answer.language == "it"
    assert [one.quote for one in answer.citations] == ["The boat of the club costs 40 euro a day."]
