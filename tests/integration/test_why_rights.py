"""why tells an asker nothing of what the asker may not read: the same bytes as if it were absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.text.expected import read_expected
from fonte.told_why import why_told
from fonte.types import Principal
from quick_corpus import Shelf, Shelves, quick_corpus

PUBLIC, BOARD = frozenset({"public"}), frozenset({"board"})
NEEDLE = "The merger costs 40 million euro."
OPEN = {
    "canteen.md": ("# Food\n\nThe canteen serves soup at noon.\n", PUBLIC),
    "parking.md": ("# Cars\n\nParking permits are handed out at the gate.\n", PUBLIC),
    "empty.md": ("\n", PUBLIC),
}
SECRETS = {
    "a document": {"secret.md": (f"# Merger\n\n{NEEDLE}\n", BOARD)},
    "a document of nobody": {"secret.md": (f"# Merger\n\n{NEEDLE}\n", frozenset())},
    "a document that failed": {"secret.bin": (f"\0\1\2{NEEDLE}", BOARD)},
    "text that the parser left out": {"secret.html": (f"<p>Look.</p><!-- {NEEDLE} -->", BOARD)},
    "an empty document": {"secret.md": ("\n", BOARD)},
}
EXPECTED = (
    (NEEDLE, ""),
    (NEEDLE, "secret.md"),
    (NEEDLE, "secret.bin"),
    ("secret.md#char=10,20", ""),
    ("secret.md#page=1", ""),
    ("", "secret.md"),
)
QUESTION = "What does the merger cost?"


def all_told(home: Path, texts, asked, *, principal=Principal(), admin: bool = False, delete=()) -> list[str]:  # noqa: B008 - frozen
    """What is said of everything that is expected, in one corpus."""
    with quick_corpus(home, Shelves({"shelf": Shelf(texts)})) as corpus:
        corpus.sync("shelf")
        if delete:
            corpus.delete(*delete)
        return [
            repr(why_told(corpus.why(QUESTION, read_expected(*one), principal=principal, tell_access=admin)))
            for one in asked
        ]


def told(home: Path, texts, **more) -> str:
    (only,) = all_told(home, texts, [(NEEDLE, "")], **more)
    return only


@pytest.mark.parametrize("secret", SECRETS)
def test_a_forbidden_document_is_told_as_an_absent_one(tmp_path: Path, secret: str) -> None:
    absent = all_told(tmp_path / "a", OPEN, EXPECTED)
    assert all_told(tmp_path / "f", OPEN | SECRETS[secret], EXPECTED) == absent
    assert all("'lost_at': 'canonical'" in one for one in absent)


def test_a_deleted_document_is_told_as_an_absent_one(tmp_path: Path) -> None:
    absent = told(tmp_path / "a", OPEN)
    texts = OPEN | {"gone.md": (NEEDLE, PUBLIC)}
    # Its source is still there, so that a parser may read it again: whoever deleted it meant all of it.
    assert told(tmp_path / "d", texts, delete=["gone.md"]) == absent


def test_who_may_read_it_and_who_runs_the_corpus_are_told(tmp_path: Path) -> None:
    texts = OPEN | SECRETS["a document"]
    board = told(tmp_path / "b", texts, principal=Principal(roles=BOARD))
    assert "'lost_at': None" in board
    admin = told(tmp_path / "c", texts, admin=True)
    assert "'lost_at': 'access'" in admin
    assert "secret.md may be read by board" in admin


def test_the_test_would_see_a_leak(tmp_path: Path) -> None:
    admin = told(tmp_path / "f", OPEN | SECRETS["a document"], admin=True)
    assert admin != told(tmp_path / "a", OPEN, admin=True)


def test_a_source_that_came_after_the_sync_is_judged_by_its_own_rights(tmp_path: Path) -> None:
    shelf = Shelf(OPEN)
    with quick_corpus(tmp_path / "home", Shelves({"shelf": shelf})) as corpus:
        corpus.sync("shelf")

        def asked() -> str:
            return repr(why_told(corpus.why("Merger?", read_expected(NEEDLE), principal=Principal())))

        absent = asked()
        shelf.texts = OPEN | SECRETS["a document"]
        assert asked() == absent
        shelf.texts = OPEN | {"new.md": (NEEDLE, PUBLIC)}
        assert "new.md holds it and is not in the index" in asked()


def test_rights_narrowed_in_the_source_hold_before_the_next_sync(tmp_path: Path) -> None:
    shelf = Shelf(OPEN | {"plan.md": ("# Plan\n\nOld.\n", PUBLIC)})
    with quick_corpus(tmp_path / "home", Shelves({"shelf": shelf})) as corpus:
        corpus.sync("shelf")
        shelf.texts = OPEN | {"plan.md": (f"# Plan\n\n{NEEDLE}\n", BOARD)}
        found = corpus.why("Merger?", read_expected(NEEDLE), principal=Principal())
    assert found.lost_at == "canonical"
    assert "plan.md" not in repr(found)
