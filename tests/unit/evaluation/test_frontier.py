from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[3] / "evaluation"))

import run_frontier
from run_frontier import recursive_ranges


def parts(text: str, size: int) -> list[str]:
    return [text[start:end] for start, end in recursive_ranges(text, size)]


def test_the_recursive_splitter_takes_the_outermost_border_and_packs_what_fits() -> None:
    assert parts("one two\n\nthree four\n\nfive", 24) == ["one two\n\nthree four", "\n\nfive"]
    assert parts("one two\n\nthree four\n\nfive", 100) == ["one two\n\nthree four\n\nfive"]


def test_a_paragraph_that_is_too_long_is_parted_at_its_sentences_then_its_words_then_anywhere() -> None:
    some = [part.strip() for part in parts("Short.\n\nIt rains here. It snows there", 16)]
    assert [part for part in some if part] == ["Short.", "It rains here", ". It snows there"]
    assert parts("aaaa bbbb cccc", 9) == ["aaaa bbbb", " cccc"]
    assert parts("abcdefghij", 4) == ["abcd", "efgh", "ij"]


@given(st.text(alphabet="ab .\n?!", max_size=200), st.integers(1, 60))
def test_ranges_cover_the_text_in_order_and_none_is_too_long(text: str, size: int) -> None:
    ranges = recursive_ranges(text, size)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(0 < end - start <= size for start, end in ranges)
    assert all(left[1] == right[0] for left, right in pairwise(ranges))


def test_the_cuts_compared_are_ours_at_its_default_and_both_kinds_over_the_same_sizes() -> None:
    cuts = run_frontier.cuts()
    assert run_frontier.BASE in cuts
    assert {one.size for name, one in cuts.items() if name.startswith("boundaries")} == set(run_frontier.SIZES)
    assert not any(one.header for name, one in cuts.items() if name.startswith("recursive"))
