"""Overlaps merged, copies grouped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fonte.ranking.diversity import Candidate, diversify


def one(key: str, document: str, start: int, end: int, content: str | None = None) -> Candidate:
    return Candidate(key, document, start, end, content or f"{document} says {start} to {end}")


def test_case_45_overlapping_spans_of_one_document_become_one() -> None:
    (group,) = diversify([one("b", "d", 50, 120), one("a", "d", 0, 60), one("c", "d", 110, 160)])
    assert (group.key, group.start, group.end, group.parts) == ("b", 0, 160, ("b", "a", "c"))


def test_a_span_that_joins_two_groups_merges_them_into_the_better() -> None:
    (group,) = diversify([one("a", "d", 0, 50), one("b", "d", 60, 90), one("c", "d", 40, 70)])
    assert (group.key, group.start, group.end, group.parts) == ("a", 0, 90, ("a", "c", "b"))


def test_equal_ranges_of_two_documents_stay_apart() -> None:
    assert len(diversify([one("a", "d", 0, 50), one("b", "e", 0, 50)])) == 2


def test_case_6_copies_are_grouped_and_all_kept() -> None:
    same = "The fee is 10 euro."
    groups = diversify(
        [one("a", "d", 0, 19, same), one("b", "e", 5, 24, "The  fee is\n10 EURO"), one("c", "f", 0, 19, same)]
    )
    assert [(group.key, group.copies) for group in groups] == [("a", ("b", "c"))]


def test_numbers_make_a_difference() -> None:
    assert len(diversify([one("a", "d", 0, 9, "Fee: 10"), one("b", "e", 0, 9, "Fee: 11")])) == 2


@given(st.lists(st.tuples(st.sampled_from("de"), st.integers(0, 40), st.integers(1, 12)), max_size=12))
def test_groups_never_overlap_and_hold_each_key_once(spans: list[tuple[str, int, int]]) -> None:
    ranked = [one(str(index), name, start, start + size) for index, (name, start, size) in enumerate(spans)]
    groups = diversify(ranked)
    keys = [key for group in groups for key in (*group.parts, *group.copies)]
    assert len(keys) == len(set(keys))
    by_key = {candidate.key: candidate for candidate in ranked}
    for group in groups:
        assert group.parts[0] == group.key
        assert group.start == min(by_key[key].start for key in group.parts)
        assert group.end == max(by_key[key].end for key in group.parts)
        for other in groups:
            apart = other.end <= group.start or group.end <= other.start
            assert other is group or other.document != group.document or apart


LONG = "Staff of every office may take their leave in summer, in two parts, if the head of the office agrees by {}."


def near(key: str, document: str, day: str, *readers: str) -> Candidate:
    return Candidate(key, document, 0, 90, LONG.format(day), frozenset(readers))


def test_near_copies_are_shown_once_where_that_is_asked_for() -> None:
    three = [near("a", "d", "the end of May", "staff"), near("b", "e", "the end of March", "staff")]
    assert len(diversify(three)) == 2
    (group,) = diversify(three, near_once=True)
    assert (group.key, group.copies) == ("a", ("b",))


def test_near_copies_with_other_numbers_readers_or_of_one_document_stay_apart() -> None:
    first = near("a", "d", "day 5", "staff")
    for other in (
        near("b", "e", "day 6", "staff"),
        near("b", "e", "day 5 at last", "guests"),
        near("b", "e", "day 5 at last", "staff", "guests"),
        Candidate("b", "d", 200, 290, LONG.format("day 5 at last"), frozenset({"staff"})),
        Candidate("b", "e", 0, 90, "Quite another passage, though also of day 5.", frozenset({"staff"})),
    ):
        assert [group.copies for group in diversify([first, other], near_once=True)] == [(), ()]
