"""The signs of evidence: what is asked for, which words are there, which codes are not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fonte.ranking.evidence import (
    NO_ANSWER,
    Piece,
    Word,
    alignment,
    answer_odds,
    asks_for_number,
    coverage,
    holds_number,
    holds_numbers_of,
    missing_identifiers,
    only_quoted,
    pooled,
    rows_of,
    weakest_word,
)
from fonte.text.terms import folded
from fonte.types import Reading, TokenVectors


def _terms(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _words(*names: str) -> list[Word]:
    return [Word(name, frozenset({name}), 1.0) for name in names]


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave?",
        "When does it close?",
        "Quanti giorni di ferie ho?",
        "Entro quando va consegnato?",
        "what percentage is paid",
        "A che ora apre?",
        "ogni quanto si fa la taratura",
    ],
)
def test_questions_for_a_number_or_a_time(question: str) -> None:
    assert asks_for_number(question)


@pytest.mark.parametrize("question", ["Who approves it?", "Dove si trova il modulo?", "Can I accept a gift?"])
def test_other_questions(question: str) -> None:
    assert not asks_for_number(question)


@pytest.mark.parametrize("text", ["26 days", "entro aprile", "three weeks", "ogni lunedì"])
def test_texts_with_a_number(text: str) -> None:
    assert holds_number(text)


def test_coverage_weighs_by_rarity() -> None:
    words = [Word("pump", frozenset({"pump"}), 1.0), Word("cavitation", frozenset({"cavitation"}), 3.0)]
    assert coverage(words, {"pump"}) == pytest.approx(0.25)
    assert coverage(words, {"cavitation", "pump"}) == 1.0
    assert coverage([], {"x"}) == 1.0


@pytest.mark.parametrize(
    ("question", "texts", "missing"),
    [
        ("What is INC-2115-B?", ["INC-2115-A: spill"], 1.0),
        ("What is INC-2115-B?", ["INC-2115-A", "code inc-2115-b: leak"], 0.0),
        ("INC-2115-B or TE-2026?", ["TE-2026 is in force"], 0.5),
        ("How many days in 2026?", ["none"], 0.0),
        ("Cos'è il modulo MT-204-B?", ["il MT-204-BIS è nuovo"], 1.0),
        ("What is CVE-2024-1234", ["see CVE-2024-1234."], 0.0),
        ("Is ISO\u20119001 met?", ["ISO-9001 is met"], 0.0),
        ("Is ISO-9001 met?", ["ISO\u20119001 is met"], 0.0),
        ("Is ISO\u20119001 met?", ["ISO-9002 is met"], 1.0),
    ],
)
def test_codes_of_the_question_that_no_text_holds(question: str, texts: list[str], missing: float) -> None:
    assert missing_identifiers(question, texts, folded) == missing


def test_words_that_stand_only_in_quotations() -> None:
    asked = _words("capital", "france")
    manual = 'A question like "what is the capital of France?" needs no search.'
    assert only_quoted(asked, manual, _terms) == 1.0
    assert only_quoted(asked, "Paris is the capital of France.", _terms) == 0.0
    assert only_quoted(asked, manual + " The capital is discussed elsewhere.", _terms) == 0.5
    assert only_quoted(_words("absent"), manual, _terms) == 0.0


def test_alignment_is_the_mean_of_the_best_matches() -> None:
    question = np.eye(2, dtype=np.float32)
    text = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    assert alignment(question, text) == pytest.approx((1.0 + 0.8) / 2)
    assert alignment(question, text[:0]) == 0.0


def test_rows_of_a_sentence_are_those_of_its_characters() -> None:
    tokens = TokenVectors(((0, 2), (3, 5), (6, 8)), np.eye(3, dtype=np.float32))
    assert rows_of(tokens, Piece(0, 3, 6, "two")) == [1]
    assert rows_of(tokens, Piece(0, 1, 4, "two")) == [0, 1]
    assert rows_of(tokens, Piece(0, 9, 12, "far")) == []
    assert pooled(tokens.vectors[[]], np.ones(3, dtype=np.float32)).tolist() == [1, 1, 1]
    assert float(np.linalg.norm(pooled(tokens.vectors, np.ones(3, dtype=np.float32)))) == pytest.approx(1)


def test_odds_of_a_sentence_are_its_best_start_with_an_end_that_follows() -> None:
    reading = Reading(np.array([9.0, 1.0, 3.0, 0.0]), np.array([0.0, 4.0, -2.0, 2.0]))
    assert answer_odds(reading, [1, 2, 3]) == pytest.approx(5.0)  # starts at 2, ends at 3; or at 1 and 1
    assert answer_odds(reading, [2]) == pytest.approx(1.0)
    assert answer_odds(reading, []) == NO_ANSWER
    backwards = Reading(np.array([0.0, 8.0]), np.array([8.0, 0.0]))
    assert answer_odds(backwards, [0, 1]) == pytest.approx(8.0), "an end before its start makes no answer"


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("What is due within 30 days?", "Fees are due within 30 days.", True),
        ("What is due within 60 days?", "Fees are due within 30 days.", False),
        ("What does clause 3.2 say of 10 %?", "Clause 3.2: 10 % of the price.", True),
        ("What does clause 3.2 say of 10 %?", "Clause 3.20: 10 % of the price.", False),
        ("Who signs?", "The director signs.", True),
    ],
)
def test_numbers_of_a_question_stand_whole_in_a_text(question: str, text: str, *, held: bool) -> None:
    assert holds_numbers_of(question, text) is held


def test_the_weakest_word_is_the_one_that_the_text_lacks() -> None:
    question = "pump seal vendor"
    tokens = TokenVectors(((0, 4), (5, 7), (7, 9), (10, 16)), np.eye(4, dtype=np.float32))
    text = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.8]], dtype=np.float32)
    assert weakest_word(question, _words("pump", "seal"), tokens, text) == pytest.approx((1 + 0.6) / 2)
    assert weakest_word(question, _words("pump", "seal", "vendor"), tokens, text) == pytest.approx(0.8)
    assert weakest_word(question, _words("pump"), tokens, text) == pytest.approx(1.0)
    assert weakest_word(question, [], tokens, text) == 1.0
    assert weakest_word(question, _words("pump"), tokens, text[:0]) == 0.0
    weightless = [Word("vendor", frozenset({"vendor"}), 0.0)]
    assert weakest_word(question, weightless, tokens, text) == 1.0
