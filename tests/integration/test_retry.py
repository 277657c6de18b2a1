"""Trying again what failed, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from property.quick_corpus import Shelf, Shelves, quick_corpus

from fonte.corpus import OpenCorpus
from fonte.errors import NotFound, SourceUnreadable
from fonte.types import DocumentState, DocumentStatus, Principal, Source

WHO = Principal()
PUBLIC = frozenset({"public"})


def names(corpus: OpenCorpus, query: str) -> set[str]:
    return {one.stored.document_name for one in corpus.search(query, principal=WHO, k=20).results}


def states(corpus: OpenCorpus) -> dict[str, DocumentState]:
    return {one.name: one for one in corpus.documents()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "top.txt").write_text("The pump stands in hall 3.")
    (made / "sub" / "deep.txt").write_text("The valve stands in hall 4.")
    return made


def retried(home: Path, folder: Path, *more: Path) -> OpenCorpus:
    """A corpus whose folder holds a broken document among others."""
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    corpus = quick_corpus(home)
    corpus.sync(str(folder), *map(str, more))
    assert states(corpus)["broken.pdf"].status is DocumentStatus.FAILED
    return corpus


def test_a_retry_changes_nothing_else(home: Path, folder: Path) -> None:
    with retried(home, folder) as corpus:
        corpus.delete("sub/deep.txt")
        (folder / "top.txt").write_text("The pump was moved.")
        (folder / "new.txt").write_text("The crane is new.")
        (folder / "broken.pdf").write_text("The gate is blue.")
        report = corpus.retry()
        assert (report.published, report.failures) == (True, ())
        assert report.documents == {**dict.fromkeys(report.documents, 0), "modified": 1}
        assert report.chunks_added == 1
        known = states(corpus)
        assert set(known) == {"top.txt", "sub/deep.txt", "broken.pdf"}
        assert known["sub/deep.txt"].status is DocumentStatus.DELETED
        assert names(corpus, "gate pump crane valve") == {"broken.pdf", "top.txt"}
        assert corpus.show("top.txt", principal=WHO)[0].text == "The pump stands in hall 3."
        with pytest.raises(NotFound, match="deleted"):
            corpus.retry("sub/deep.txt")
        assert corpus.retry().generation == report.generation, "nothing is left to try again"


def test_a_retry_of_a_file_that_has_gone_removes_it_and_no_other(home: Path, folder: Path) -> None:
    with retried(home, folder) as corpus:
        (folder / "broken.pdf").unlink()
        (folder / "top.txt").unlink()
        assert corpus.retry().documents["deleted"] == 1
        assert set(states(corpus)) == {"top.txt", "sub/deep.txt"}


def test_a_source_that_vanished_stops_no_retry_of_another(home: Path, folder: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "lost.pdf").write_bytes(b"%PDF-1.4 nothing")
    with retried(home, folder, away) as corpus:
        away.rename(tmp_path / "moved")
        (folder / "broken.pdf").write_text("The gate is blue.")
        report = corpus.retry()
        assert report.published
        assert names(corpus, "gate") >= {"broken.pdf"}
        (failure,) = report.failures
        assert failure.source_uri.endswith("/lost.pdf")
        assert failure.reason.startswith("not tried again: ")
        assert "away cannot be read" in failure.reason
        assert report.documents["failed"] == 1
        assert "lost.pdf" in states(corpus)
        assert corpus.retry().failures == (failure,), "the same when nothing else is to be done"


def test_a_retry_opens_only_the_sources_that_it_needs(home: Path) -> None:
    opened: list[str] = []

    class Watched(Shelf):
        def scan(self) -> Iterator[Source]:
            opened.append(self.root)
            return super().scan()

    shelf = Shelves(
        {
            "one": Watched({"a.txt": ("", PUBLIC)}, root="memory://one/"),
            "two": Watched({"b.txt": ("The valve.", PUBLIC)}, root="memory://two/"),
        }
    )
    with quick_corpus(home, shelf) as corpus:
        corpus.sync("one", "two")
        opened.clear()
        shelf.by_name["one"] = Watched({"a.txt": ("The pump.", PUBLIC)}, root="memory://one/")
        assert corpus.retry().documents["modified"] == 1
        assert opened == ["memory://one/"]


def test_a_retry_under_another_recipe_keeps_every_document(home: Path, folder: Path) -> None:
    retried(home, folder).close()
    (home.parent / "fonte.toml").write_text("[chunking]\nsize = 100\n")
    (folder / "broken.pdf").write_text("The gate is blue.")
    with quick_corpus(home) as corpus:
        assert corpus.retry().published
        assert names(corpus, "gate pump valve") == {"broken.pdf", "top.txt", "sub/deep.txt"}


def test_a_root_that_fails_while_it_is_read_is_told_by_a_retry(home: Path) -> None:
    class Failing(Shelf):
        def scan(self) -> Iterator[Source]:
            raise SourceUnreadable("the share is away")

    shelf = Shelves({"one": Shelf({"a.txt": ("", PUBLIC)})})
    with quick_corpus(home, shelf) as corpus:
        corpus.sync("one")
        shelf.by_name["one"] = Failing({})
        (failure,) = corpus.retry().failures
        assert failure.reason == "not tried again: the share is away"
        assert set(states(corpus)) == {"a.txt"}
