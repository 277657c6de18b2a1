"""Windows that overlap: every token in one, every run shorter than the overlap whole in one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.text.windows import sliding


def offsets(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


@given(st.integers(1, 200), st.integers(2, 40), st.data())
def test_windows_fit_cover_everything_and_keep_runs_whole(words: int, room: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, room - 1))
    text = " ".join(f"w{at}" for at in range(words))
    places = offsets(text)
    ranges = sliding(text, places, room, overlap, lambda part: len(part.split()) <= room)
    assert all(len(text[start:end].split()) <= room for start, end in ranges)
    assert [start for start, _ in ranges] == sorted(start for start, _ in ranges)
    run = max(1, overlap)
    for first in range(max(1, words - run + 1)):
        low, high = places[first][0], places[min(first + run, words) - 1][1]
        assert any(start <= low and high <= end for start, end in ranges)


def test_a_text_that_fits_is_one_window_and_white_space_none() -> None:
    assert sliding(" a b ", offsets(" a b "), 4, 1, lambda _: True) == [(1, 4)]
    assert sliding("  ", [], 4, 1, lambda _: True) == []


def test_an_overlap_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot overlap"):
        sliding("a b", offsets("a b"), 2, 2, lambda _: True)
