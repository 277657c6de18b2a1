"""Passages for a prompt: whole, numbered, within the budget."""

from __future__ import annotations

from fonte.context import build_passages
from fonte.retrieve import Found
from fonte.types import ChunkingRecipe, Document
from usecase_making import document, passage

LONG = document("x" * 3200, "long.md")
SHORT = document("y" * 320, "short.md")


def _found(source: Document, start: int, end: int, *, merged: tuple[int, int] | None = None) -> Found:
    made = passage(source, start=start, end=end)
    low, high = merged or (start, end)
    parts = (made.stored.chunk.id,) if merged is None else (made.stored.chunk.id, "other")
    return Found(made.hit, made.stored, low, high, parts)


def _built(*found: Found, budget: int) -> list[tuple[int, str, int, int]]:
    built = build_passages(found, {one.id: one for one in (LONG, SHORT)}, token_budget=budget)
    assert all(one.content == one.document.text[one.start : one.end] for one in built)
    return [(one.marker, one.document.name, one.start, one.end) for one in built]


def test_what_does_not_fit_is_left_out_whole_and_markers_have_no_gap() -> None:
    found = [_found(SHORT, 0, 320), _found(LONG, 0, 3200), _found(SHORT, 0, 100)]
    assert _built(*found, budget=400) == [(1, "short.md", 0, 320), (2, "short.md", 0, 100)]


def test_a_merged_stretch_that_does_not_fit_gives_way_to_its_best_chunk() -> None:
    wide = _found(LONG, 640, 960, merged=(0, 3200))
    assert _built(wide, _found(SHORT, 0, 320), budget=400) == [(1, "long.md", 640, 960), (2, "short.md", 0, 320)]
    (built, *_) = build_passages([wide], {LONG.id: LONG}, token_budget=400)
    assert built.parts == (wide.stored.chunk.id,)
    assert _built(wide, budget=1100) == [(1, "long.md", 0, 3200)]


def test_the_first_passage_is_handed_out_at_any_size() -> None:
    assert _built(_found(LONG, 0, 3200), _found(SHORT, 0, 320), budget=100) == [(1, "long.md", 0, 3200)]


PAGE = document("# A\n\n" + "One boat lies here. " * 30 + "\n\n# B\n\nTwo cranes lift.", "page.md")
PARENTS = ChunkingRecipe("parent_child", 64, parent_characters=2000)


def test_a_parent_is_shown_once_for_all_that_was_found_in_it_and_counts_as_such() -> None:
    first, second = _found(PAGE, 25, 45), _found(PAGE, 105, 125)
    (shown,) = build_passages([first, second], {PAGE.id: PAGE}, token_budget=3000, chunking=PARENTS)
    assert shown.content == PAGE.text
    assert shown.found == (25, 45)
    assert shown.parts == (first.stored.chunk.id, second.stored.chunk.id)
    assert shown.stored is first.stored


def test_a_parent_that_does_not_fit_gives_way_to_its_children() -> None:
    found = [_found(PAGE, 25, 45), _found(PAGE, 105, 125)]
    shown = build_passages(found, {PAGE.id: PAGE}, token_budget=200, chunking=PARENTS)
    assert [(one.start, one.end, one.found) for one in shown] == [(25, 45, None), (105, 125, None)]
