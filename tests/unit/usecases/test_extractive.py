"""Extractive answers: which sentences are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fonte.models.extractive import MAX_SENTENCES, ROW_WITHIN, WITHIN, ExtractiveGenerator
from fonte.ranking.evidence import Piece, Scored
from fonte.types import Passage, Principal, Query, QuestionPart
from usecase_making import document, passage

TEXT = "One is first. Two comes second. Three is third. Four is last. Five was added. Six too."
QUERY = Query("Which?", Principal())


def scored(text: str, score: float, *, row: bool = False, within: int = 0) -> Scored:
    start = TEXT.find(text)
    assert start >= 0
    return Scored(Piece(within, start, start + len(text), text, row), score, score, score, 0.0, fits=True)


def taken(found: Sequence[Scored], passages: Sequence[Passage] | None = None) -> list[str]:
    draft = ExtractiveGenerator(lambda query, shown: found).draft(
        QUERY, passages or [passage(document(TEXT))], language="en"
    )
    return [one.text for one in draft.taken]


def test_the_best_sentence_then_those_that_come_close_in_reading_order() -> None:
    near, far = 1 - WITHIN + 0.001, 1 - WITHIN - 0.001
    found = [
        scored("Three is third.", 1.0),
        scored("Four is last.", 0.99),
        scored("One is first.", near),
        scored("Two comes second.", far),
    ]
    assert taken(found) == ["Three is third.", "One is first.", "Four is last."]


def test_parts_are_answered_one_after_the_other_and_what_answers_two_stands_once() -> None:
    by_part = {
        "who": [scored("Three is third.", 1.0), scored("Four is last.", 0.5)],
        "when": [scored("One is first.", 1.0)],
        "why": [scored("Three is third.", 1.0), scored("Six too.", 0.5)],
    }
    query = replace(QUERY, parts=tuple(QuestionPart(text, text) for text in by_part))
    draft = ExtractiveGenerator(lambda query, shown: by_part[query.text]).draft(
        query, [passage(document(TEXT))], language="en"
    )
    assert [one.text for one in draft.taken] == ["Three is third.", "One is first."]


@pytest.mark.parametrize(("below", "count"), [(ROW_WITHIN - 0.001, 2), (ROW_WITHIN + 0.001, 1)])
def test_another_row_of_the_same_table_has_to_come_closer(below: float, count: int) -> None:
    found = [scored("One is first.", 1.0, row=True), scored("Two comes second.", 1.0 - below, row=True)]
    assert len(taken(found)) == count


def test_a_row_beside_prose_and_rows_of_two_documents_come_as_near_as_any_sentence() -> None:
    near = 1.0 - WITHIN + 0.001
    mixed = [scored("One is first.", 1.0), scored("Two comes second.", near, row=True)]
    assert len(taken(mixed)) == 2
    two = [passage(document(TEXT)), passage(document(TEXT, "other.md"), 2)]
    apart = [scored("One is first.", 1.0, row=True), scored("Two comes second.", near, row=True, within=1)]
    assert len({one.document.id for one in two}) == 2
    assert len(set(taken(apart, two))) == 2


def test_no_more_than_a_few_and_none_without_evidence() -> None:
    sentences = [f"{part}." for part in TEXT.rstrip(".").split(". ")]
    assert len(set(taken([scored(one, 1.0) for one in sentences]))) == MAX_SENTENCES
    assert taken([]) == []
