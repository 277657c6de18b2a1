from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.evaluation import measures
from fonte.evaluation.measures import Needle, Outcome, Retrieved


def test_worked_example_of_document_b_recall_precision_rank() -> None:
    ranking, relevance = ["B", "A", "D", "C", "E"], {"A": 1, "C": 1}
    assert measures.recall_at(ranking, relevance, 3) == 1 / 2
    assert measures.precision_at(ranking, relevance, 3) == 1 / 3
    assert measures.reciprocal_rank_at(ranking, relevance, 3) == 1 / 2


def test_worked_example_of_document_b_graded_gain() -> None:
    ideal = 3 / math.log2(2) + 1 / math.log2(3)
    assert measures.ndcg_at(["A", "B", "C"], {"A": 3, "C": 1}, 3) == pytest.approx(3.5 / ideal, abs=1e-15)


def test_gain_is_linear_not_exponential() -> None:
    linear = (1 / 1 + 3 / math.log2(3)) / (3 / 1 + 1 / math.log2(3))
    assert measures.ndcg_at(["low", "high"], {"low": 1, "high": 3}, 2) == pytest.approx(linear)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[str], dict[str, int], int]:
    names = [f"d{number}" for number in range(12)]
    ranking = draw(st.permutations(names))[: draw(st.integers(0, 12))]
    relevance = draw(st.dictionaries(st.sampled_from(names), st.integers(0, 4), min_size=1))
    relevance[draw(st.sampled_from(names))] = draw(st.integers(1, 4))
    return list(ranking), relevance, draw(st.integers(1, 15))


def test_all_measures_equal_trec_eval_on_random_runs() -> None:
    pytest.importorskip("ir_measures", reason="trec_eval has no wheel for this machine")
    import ir_measures
    from ir_measures import RR, P, R, Success, nDCG

    generated: list[tuple[list[str], dict[str, int]]] = []

    @given(runs())
    def collect(run: tuple[list[str], dict[str, int], int]) -> None:
        generated.append(run[:2])

    collect()
    # trec_eval leaves out a query that returned nothing; ours counts it as zero.
    generated = [(ranking, relevance) for ranking, relevance in generated if ranking]
    assert len(generated) > 50
    qrels = {str(i): relevance for i, (_, relevance) in enumerate(generated)}
    scored = {
        str(i): {name: float(100 - rank) for rank, name in enumerate(ranking)}
        for i, (ranking, _) in enumerate(generated)
    }
    cuts = (1, 3, 5, 10)
    ours = {R: measures.recall_at, P: measures.precision_at, nDCG: measures.ndcg_at, RR: measures.reciprocal_rank_at}
    ours[Success] = measures.hit_at
    seen = 0
    for value in ir_measures.iter_calc([measure @ k for measure in ours for k in cuts], qrels, scored):
        ranking, relevance = generated[int(value.query_id)]
        measure = next(kind for kind in ours if value.measure.NAME == kind.NAME)
        mine = ours[measure](ranking, relevance, value.measure["cutoff"])
        assert mine == pytest.approx(value.value, abs=1e-4), (value, ranking, relevance)
        seen += 1
    assert seen == len(generated) * len(ours) * len(cuts)


@given(runs())
def test_measures_stay_in_range_and_an_ideal_ranking_gains_one(run: tuple[list[str], dict[str, int], int]) -> None:
    ranking, relevance, k = run
    every = (measures.recall_at, measures.precision_at, measures.hit_at, measures.reciprocal_rank_at, measures.ndcg_at)
    for measure in every:
        assert 0 <= measure(ranking, relevance, k) <= 1 + 1e-12
    ideal = sorted((name for name, grade in relevance.items() if grade), key=lambda name: -relevance[name])
    assert measures.ndcg_at(ideal, relevance, k) == pytest.approx(1)
    assert measures.recall_at(ideal, relevance, len(ideal)) == 1


@pytest.mark.parametrize("relevance", [{}, {"A": 0}])
def test_a_question_without_relevant_documents_is_refused_not_counted_as_zero(relevance: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no recall"):
        measures.recall_at(["A"], relevance, 5)


def test_a_ranking_that_repeats_a_document_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        measures.precision_at(["A", "A"], {"A": 1}, 2)


@pytest.mark.parametrize("k", [0, -1])
def test_k_counts_from_one(k: int) -> None:
    with pytest.raises(ValueError, match="counts from 1"):
        measures.hit_at(["A"], {"A": 1}, k)
    with pytest.raises(ValueError, match="counts from 1"):
        measures.needle_at([], [Needle("A", "x")], k)


TEXT = "Leave is 26 days. Leave is 26 days a year."


def chunk(start: int, end: int, document: str = "a") -> Retrieved:
    return Retrieved(document, start, end, TEXT[start:end])


def test_needle_counts_only_where_one_chunk_holds_it_whole() -> None:
    needle = Needle("a", "26 days a year", 27, 41)
    assert TEXT[27:41] == needle.text
    assert measures.needle_at([chunk(0, 30), chunk(30, 42)], [needle], 5) == 0
    assert measures.needle_at([chunk(0, 30), chunk(18, 42)], [needle], 2) == 1
    assert measures.needle_at([chunk(0, 30), chunk(18, 42)], [needle], 1) == 0
    assert measures.needle_rank([chunk(0, 30), chunk(18, 42)], [needle]) == 2
    assert measures.needle_rank([chunk(0, 30)], [needle]) is None


def test_needle_is_judged_by_offset_not_by_equal_words_elsewhere() -> None:
    needle = Needle("a", "Leave is 26 days", 18, 34)
    assert not chunk(0, 17).holds(needle)
    assert chunk(0, 17).holds(Needle("a", "Leave is 26 days"))
    assert not chunk(18, 42, document="b").holds(needle)


def test_two_needles_count_as_a_share() -> None:
    needles = [Needle("a", "Leave", 0, 5), Needle("a", "year", 37, 41)]
    assert measures.needle_at([chunk(0, 17)], needles, 5) == 0.5


def test_a_needle_refuses_a_range_that_is_not_its_own() -> None:
    with pytest.raises(ValueError, match="length"):
        Needle("a", "abc", 0, 4)
    with pytest.raises(ValueError, match="both ends"):
        Needle("a", "abc", 0, None)
    with pytest.raises(ValueError, match="needs text"):
        Needle("a", " ")


def test_documents_stand_by_their_best_chunk() -> None:
    order = [chunk(0, 5, "b"), chunk(0, 5, "a"), chunk(5, 9, "b"), chunk(0, 5, "c")]
    assert measures.documents_in_order(order) == ["b", "a", "c"]


ANSWERED = Outcome(answerable=True, answered=True, sufficient=True, correct=True)
WRONG = Outcome(answerable=True, answered=True, sufficient=True, correct=False)
REFUSED = Outcome(answerable=True, answered=False, sufficient=False)
HELD = Outcome(answerable=False, answered=False, sufficient=False)
CAUGHT_LATE = Outcome(answerable=False, answered=False, sufficient=True)
BLUFF = Outcome(answerable=False, answered=True, sufficient=True)


def test_rates_of_refusal() -> None:
    outcomes = [ANSWERED, WRONG, REFUSED, HELD, CAUGHT_LATE, BLUFF]
    assert measures.false_retrieval_rate(outcomes) == 2 / 3
    assert measures.bluff_rate(outcomes) == 1 / 3
    assert measures.abstention_correctness(outcomes) == 4 / 6


def test_c_at_1_rewards_a_refusal_over_a_wrong_answer() -> None:
    assert measures.c_at_1([ANSWERED, WRONG]) == 1 / 2
    assert measures.c_at_1([ANSWERED, REFUSED]) == (1 + 1 * 1 / 2) / 2
    assert measures.c_at_1([ANSWERED, ANSWERED]) == 1
    assert measures.c_at_1([REFUSED, HELD]) == 0


def test_c_at_1_needs_judged_answers() -> None:
    with pytest.raises(ValueError, match="judged"):
        measures.c_at_1([Outcome(answerable=True, answered=True, sufficient=True)])


def test_rates_without_their_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="no unanswerable question"):
        measures.bluff_rate([ANSWERED])
    with pytest.raises(ValueError, match="no question"):
        measures.abstention_correctness([])


def test_an_impossible_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="only an answer"):
        Outcome(answerable=False, answered=True, sufficient=True, correct=True)


def test_characters_are_counted_as_a_prompt_holds_them() -> None:
    needle = Needle("d", "x" * 10, 100, 110)
    whole, half, other = (Retrieved(name, start, start + 20, "") for name, start in (("d", 95), ("d", 85), ("e", 95)))
    assert measures.characters_of([whole], [needle]) == (1.0, 0.5, 0.5)
    assert measures.characters_of([half, other], [needle]) == (0.5, 5 / 40, 5 / 45)
    assert measures.characters_of([half], [needle]) == (0.5, 5 / 20, 5 / 25)
    assert measures.characters_of([whole, half], [needle]) == (1.0, 10 / 40, 10 / 40)
    assert measures.characters_of([], [needle]) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="no characters to find"):
        measures.characters_of([whole], [Needle("d", "words")])


def test_a_budget_of_characters_is_used_up_and_not_passed() -> None:
    first, second = Retrieved("d", 100, 130, "a" * 30), Retrieved("e", 0, 30, "b" * 30)
    assert measures.first_characters([first, second], 40) == [first, Retrieved("e", 0, 10, "b" * 10)]
    assert measures.first_characters([first, second], 30) == [first]
    assert measures.first_characters([first, second], 7) == [Retrieved("d", 100, 107, "a" * 7)]
    assert measures.first_characters([first, second], 100) == [first, second]
    with pytest.raises(ValueError, match="counts from 1"):
        measures.first_characters([first], 0)
