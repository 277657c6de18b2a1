"""Sentence boundaries: precision and recall 1.0 on the hand-written cases, and exact ranges over anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.text.sentences import sentences
from sentence_cases import ENGLISH, ITALIAN, OTHERS

CASES = [("it", case) for case in ITALIAN] + [("en", case) for case in ENGLISH] + list(OTHERS)


def _wanted(case: str) -> tuple[str, list[str]]:
    """The text and its sentences. A row's own bar is written twice at a boundary."""
    rows = case.startswith("| ")
    pieces = case.split("\n|") if rows else case.split("|")
    joined = ("\n" if rows else "").join(pieces)
    return joined, [piece.strip() for piece in pieces]


@pytest.mark.parametrize(("language", "case"), CASES)
def test_boundaries(language: str, case: str) -> None:
    text, wanted = _wanted(case)
    assert [text[start:end] for start, end in sentences(text, language)] == wanted


def test_there_are_sixty_cases_for_each_main_language() -> None:
    assert len(ITALIAN) >= 60
    assert len(ENGLISH) >= 60


@given(
    st.text(st.one_of(st.characters(), st.sampled_from(' .!?\n\t|-A1a"”。')), max_size=80),
    st.sampled_from(["it", "en", "und"]),
)
def test_only_white_space_lies_between_sentences(text: str, language: str) -> None:
    reached = 0
    for start, end in sentences(text, language):
        assert reached <= start < end <= len(text)
        assert not text[reached:start].strip()
        assert text[start:end] == text[start:end].strip()
        reached = end
    assert not text[reached:].strip()
