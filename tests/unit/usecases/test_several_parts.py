"""Questions of several parts: each is looked for, judged and answered for itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluating_making import synced
from fonte.contract import answer as as_json
from fonte.corpus import OpenCorpus
from fonte.gate import GateModel
from fonte.processing import Processing
from fonte.types import Abstained, Answered, Principal

WHO = Principal()
BOTH = "Where does the key of the archive hang, and how many working days of annual leave do staff get?"
HALF = "Where does the key of the archive hang, and who feeds the office parrot on Sundays?"
WORDS_OF_IT = GateModel({"coverage": 10.0}, -6.0, 0.5)
"""Opens where a passage holds most of the words."""


@pytest.fixture
def corpus(tmp_path: Path) -> OpenCorpus:
    made = synced(tmp_path / "home")
    settings = replace(made._parts.answers, processing=Processing(parts=True))
    made._parts = replace(made._parts, answers=settings, gate_for=lambda _space: WORDS_OF_IT)
    return made


def test_every_part_is_answered_and_nothing_is_missing(corpus: OpenCorpus) -> None:
    answer = corpus.ask(BOTH, principal=WHO)
    assert isinstance(answer, Answered)
    found = corpus.search(BOTH, principal=WHO).results
    assert {one.stored.document_name for one in found[:2]} == {"keys.md", "leave.md"}
    assert answer.missing == ()
    assert answer.question == BOTH
    (step,) = answer.trace.steps
    assert (step.name, len(step.texts)) == ("parts", 2)
    assert "fused" not in {ranking.stage for ranking in answer.trace.rankings}
    assert {"dense of part 1", "bm25 of part 2"} <= {ranking.stage for ranking in answer.trace.rankings}


def test_a_part_without_evidence_is_named_and_the_other_answered(corpus: OpenCorpus) -> None:
    answer = corpus.ask(HALF, principal=WHO)
    assert isinstance(answer, Answered)
    assert answer.missing == ("who feeds the office parrot on Sundays?",)
    assert as_json(answer)["missing"] == ["who feeds the office parrot on Sundays?"]
    assert {one.document_name for one in answer.citations} == {"keys.md"}


def test_parts_that_nothing_answers_are_an_abstention(corpus: OpenCorpus) -> None:
    answer = corpus.ask("Who feeds the office parrot, and what does the submarine cost?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert as_json(answer)["missing"] == []


def test_a_part_finds_only_what_its_asker_may_read(corpus: OpenCorpus) -> None:
    question = "Where does the key of the archive hang, and what is the alarm code of the archive?"
    stranger = corpus.search(question, principal=WHO)
    guard = corpus.search(question, principal=Principal(roles={"guards"}))
    assert "alarm.md" not in {one.stored.document_name for one in stranger.results}
    assert "alarm.md" in {one.stored.document_name for one in guard.results[:2]}
    assert stranger.steps == guard.steps


def test_the_setting_is_what_divides(tmp_path: Path) -> None:
    made = synced(tmp_path / "home")
    assert [one.name for one in made.ask(BOTH, principal=WHO).trace.steps] == ["parts"]
    settings = replace(made._parts.answers, processing=Processing(parts=False))
    made._parts = replace(made._parts, answers=settings)
    assert made.ask(BOTH, principal=WHO).trace.steps == ()
