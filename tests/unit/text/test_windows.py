"""Texts cut for an encoder's window: everything is read, nothing twice, nothing too long."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fonte.text.windows import cut_to_fit, windows

TEXTS = st.text(alphabet="ab \n.é\u0301", max_size=80)


@given(TEXTS, st.integers(1, 12), st.lists(st.integers(0, 80), max_size=6))
def test_stretches_hold_every_letter_once_and_fit(text: str, room: int, borders: list[int]) -> None:
    found = windows(text, 0, len(text), sorted(borders), lambda part: len(part) <= room)
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(text.split())
    assert all(0 < end - start <= room for start, end in found)
    assert all(first[1] <= second[0] for first, second in pairwise(found))


def test_stretches_end_at_borders_where_they_can() -> None:
    text = "One two. Three four. Five six. Seven eight."
    found = windows(text, 0, len(text), [9, 21, 31], lambda part: len(part) <= 25)
    assert [text[start:end] for start, end in found] == ["One two. Three four.", "Five six. Seven eight."]


def test_what_is_too_long_by_itself_is_cut_between_words() -> None:
    text = "alpha beta gamma delta"
    assert [text[a:b] for a, b in cut_to_fit(text, 0, len(text), lambda part: len(part) <= 11)] == [
        "alpha beta",
        "gamma delta",
    ]
