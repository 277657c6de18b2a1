"""Copies: equal and nearly equal texts, told by hashes and sketches, never over the border of a group."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.text.likeness import HASHES, NEAR, Copy, copies_among, likeness_of

VOCABULARY = [f"parola{at}" for at in range(4000)]


def text_of(seed: int, words: int = 300) -> list[str]:
    return random.Random(seed).choices(VOCABULARY, k=words)


def changed(words: list[str], share: float, seed: int = 1) -> list[str]:
    """The words with a stretch at the end replaced, so that about ``share`` of their runs are others."""
    keep = round(len(words) * (1 - share))
    return words[:keep] + [f"altro{seed}x{at}" for at in range(len(words) - keep)]


def jaccard(one: list[str], two: list[str]) -> float:
    runs = [{tuple(words[at : at + 3]) for at in range(len(words) - 2)} for words in (one, two)]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


def told(*texts: tuple[str, str, list[str]]) -> list[Copy]:
    return copies_among([(key, group, likeness_of(" ".join(words))) for key, group, words in texts])


def test_an_equal_text_is_a_copy_and_a_nearly_equal_one_is_told_how_near() -> None:
    words = text_of(1)
    near = changed(words, 0.05)
    assert told(("a", "g", words), ("b", "g", words), ("c", "g", text_of(2))) == [Copy("b", "a", 1.0)]
    (copy,) = told(("a", "g", words), ("b", "g", near))
    assert (copy.key, copy.of) == ("b", "a")
    assert NEAR <= copy.similarity < 1
    assert abs(copy.similarity - jaccard(words, near)) < 0.1


def test_texts_of_two_groups_are_never_compared() -> None:
    words = text_of(1)
    assert told(("a", "staff", words), ("b", "public", words), ("c", "staff, public", changed(words, 0.03))) == []


def test_copies_name_the_first_of_their_kind_and_never_each_other() -> None:
    words = text_of(1)
    found = told(
        ("a", "g", words), ("b", "g", changed(words, 0.04)), ("c", "g", changed(words, 0.04)), ("d", "g", words)
    )
    assert [(copy.key, copy.of) for copy in found] == [("b", "a"), ("c", "a"), ("d", "a")]


def test_short_texts_are_copies_only_where_they_are_equal() -> None:
    assert told(("a", "g", ["Opening", "hours", "9"]), ("b", "g", ["Opening", "hours", "8"])) == []
    assert told(("a", "g", ["Opening", "hours"]), ("b", "g", ["Opening", "hours"])) == [Copy("b", "a", 1.0)]


def test_case_and_marks_make_a_near_copy_that_is_not_called_equal() -> None:
    words = text_of(1)
    (copy,) = told(("a", "g", words), ("b", "g", [word.upper() + "," for word in words]))
    assert copy.similarity == 0.99


def test_pairs_above_the_line_are_found_and_pairs_far_below_are_not() -> None:
    missed = wrong = 0
    for seed in range(200):
        words = text_of(seed)
        near, far = changed(words, 0.04, seed), changed(words, 0.3, seed)
        assert jaccard(words, near) > 0.9
        missed += not told(("a", "g", words), ("b", "g", near))
        wrong += bool(told(("a", "g", words), ("b", "g", far)))
    assert wrong == 0
    assert missed <= 2, "an estimate can be three standard errors too low"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.6))
def test_the_estimate_lies_near_the_true_likeness(seed: int, share: float) -> None:
    words = text_of(seed)
    other = changed(words, share, seed)
    true = jaccard(words, other)
    found = told(("a", "g", words), ("b", "g", other))
    margin = 4.5 * (true * (1 - true) / HASHES) ** 0.5 + 0.02
    if true > NEAR + margin:
        assert found
    if true < NEAR - margin:
        assert not found
    assert all(abs(copy.similarity - true) <= margin for copy in found)


def test_a_likeness_is_the_same_on_every_machine() -> None:
    """Kept in catalogs: other numbers would make every document of an old home unlike its copies."""
    kept = likeness_of(" ".join(f"word{at}" for at in range(60)))
    assert len(kept) == 32 + HASHES * 2 * 5 // 4
    assert kept[:32] == "780759452fa170d4268af4895cf29455"
    assert kept[32:72] == "0l%SYO}!JLgdO<tDh}JSG#;4opmXOSmEqAFTynrc"
