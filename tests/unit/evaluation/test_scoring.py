from __future__ import annotations

import pytest

from fonte.evaluation.answers import answer_rates, c_at_1_interval, faithfulness, is_correct, leaks, outcome_of, says
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Needle, Outcome, Retrieved
from fonte.evaluation.scoring import compare_scores, score

TEXT = "x" * 100


def chunk(document: str, start: int = 0, end: int = 50) -> Retrieved:
    return Retrieved(document, start, end, TEXT[start:end])


GOLDEN = GoldenSet(
    "g",
    (
        Question(
            "leave", ("w", "v"), needles=(Needle("a", TEXT[:10], 0, 10),), relevance={"a": 2, "c": 1}, segment="lexical"
        ),
        Question("pay", ("w",), relevance={"b": 1}, segment="semantic", language="it"),
        Question("nothing", ("w",), answerable=False, segment="absent"),
    ),
)


def test_each_measure_counts_only_the_queries_that_it_is_defined_for() -> None:
    found = {("leave", 0): [chunk("b"), chunk("a", 40, 90), chunk("a"), chunk("c")], ("nothing", 0): [chunk("a")]}
    scores = score(GOLDEN, found, ["recall@2", "needle@3", "mrr@5", "precision@1"])
    assert scores.values["recall@2"] == {("leave", 0): 0.5, ("leave", 1): 0.0, ("pay", 0): 0.0}
    assert scores.values["needle@3"] == {("leave", 0): 1.0, ("leave", 1): 0.0}
    assert scores.values["mrr@5"][("leave", 0)] == 0.5
    assert scores.excluded["recall@2"] == {"unanswerable": 1}
    assert scores.excluded["needle@3"] == {"unanswerable": 1, "no_needle": 1}
    assert scores.empty == (("leave", 1), ("pay", 0))
    assert scores.summary()["recall@2"].value == pytest.approx(1 / 6)
    assert scores.summary()["recall@2"].n == 3


def test_figures_by_segment_language_and_tenant() -> None:
    scores = score(GOLDEN, {("leave", 0): [chunk("a")], ("leave", 1): [chunk("a")]}, ["hit@5", "needle@5"])
    told = scores.by_facet()
    assert set(told) == {"segment:lexical", "segment:semantic", "language:und", "language:it"}
    assert (told["segment:lexical"]["hit@5"].value, told["segment:lexical"]["hit@5"].n) == (1.0, 2)
    assert (told["segment:semantic"]["hit@5"].value, told["segment:semantic"]["hit@5"].n) == (0.0, 1)
    assert "needle@5" not in told["segment:semantic"]


def test_what_the_asker_may_not_read_is_not_expected_and_is_counted_when_it_comes() -> None:
    def may_read(question: Question, document: str) -> bool:
        return document != "b" and not (question.id == "leave" and document == "c")

    found = {("leave", 0): [chunk("a"), chunk("b")], ("pay", 0): [chunk("b")]}
    scores = score(GOLDEN, found, ["recall@2"], may_read=may_read)
    assert scores.values["recall@2"] == {("leave", 0): 1.0, ("leave", 1): 0.0}
    assert scores.excluded["recall@2"] == {"unanswerable": 1, "unauthorized": 1}
    assert scores.unauthorized_hits == 2
    assert score(GOLDEN, found, ["recall@2"]).unauthorized_hits == 0


def test_a_set_without_answers_has_no_recall_and_no_division_by_zero() -> None:
    scores = score(GoldenSet("g", (Question("n", ("w",), answerable=False),)), {}, ["recall@5"])
    assert scores.summary() == {}
    assert scores.by_facet() == {}


@pytest.mark.parametrize("name", ["recall", "recall@0", "recall@05", "speed@5", "recall@5 ", "ndcg@-1"])
def test_unknown_measures_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no measure"):
        score(GOLDEN, {}, [name])


def test_results_of_strange_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="not in the golden set"):
        score(GOLDEN, {("leave", 2): []}, ["hit@1"])


def many(hits: set[int], n: int = 40) -> tuple[GoldenSet, dict[tuple[str, int], list[Retrieved]]]:
    questions = tuple(Question(f"q{number}", ("w",), relevance={"a": 1}) for number in range(n))
    return GoldenSet("g", questions), {
        (f"q{number}", 0): [chunk("a" if number in hits else "b")] for number in range(n)
    }


def test_equal_configurations_cannot_be_told_apart_and_better_ones_can() -> None:
    golden, base = many(set(range(10)))
    a = score(golden, base, ["hit@1", "mrr@10"])
    same = compare_scores(a, a)
    assert {one.verdict for one in same.values()} == {"cannot_tell"}
    assert same["hit@1"].p == 1
    b = score(golden, many(set(range(30)))[1], ["hit@1", "mrr@10"])
    better = compare_scores(a, b)["hit@1"]
    assert (better.verdict, better.wins, better.losses, better.a, better.b) == ("better", 20, 0, 0.25, 0.75)
    assert compare_scores(b, a)["hit@1"].verdict == "worse"


def test_holm_is_applied_over_all_measures() -> None:
    golden, base = many(set())
    a, b = (score(golden, found, ["hit@1", "hit@5"]) for found in (base, many(set(range(6)))[1]))
    one = compare_scores(a, b)["hit@1"]
    assert one.p == pytest.approx(2 / 64)
    assert one.p_adjusted == pytest.approx(4 / 64)
    assert one.verdict == "cannot_tell"


def test_a_set_of_ten_questions_is_too_small() -> None:
    golden, base = many({0, 1, 2}, 10)
    a, b = (score(golden, found, ["hit@1"]) for found in (base, many({0, 1, 2, 3, 4}, 10)[1]))
    one = compare_scores(a, b)["hit@1"]
    assert one.verdict == "cannot_tell"
    assert one.detectable is not None
    assert one.detectable > 0.6


def test_scores_of_different_queries_are_not_paired() -> None:
    golden, found = many({1})
    other, _ = many({1}, 20)
    with pytest.raises(ValueError, match="different queries"):
        compare_scores(score(golden, found, ["hit@1"]), score(other, {}, ["hit@1"]))
    with pytest.raises(ValueError, match="in common"):
        compare_scores(score(golden, found, ["hit@1"]), score(golden, found, ["hit@2"]))


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fact", "held"),
    [
        ("Full-time staff get 27 days.", "27", True),
        ("It was changed in 2027.", "27", False),
        ("27.5 days", "27", False),
        ("It costs 8,00 euro", "8.00", True),
        ("At least 14\n characters", "14 Characters", True),
        ("in version 1.27", "27", False),
        ("27, 28 or 29", "27", True),
        ("the days are 27.", "27", True),
        ("approvazione del capo", "Approvazione", True),
    ],
)
def test_a_fact_is_found_whatever_its_writing_and_only_whole(text: str, fact: str, held: bool) -> None:
    assert says(text, fact) is held


ASKED = Question("q", ("w",), relevance={"a": 1}, must_include=("27",), must_not_include=("26",))


def test_an_answer_is_correct_with_all_facts_and_no_forbidden_one() -> None:
    assert is_correct(ASKED, "27 days")
    assert not is_correct(ASKED, "27 days, once 26")
    assert not is_correct(ASKED, "some days")
    assert leaks(ASKED, "It is not 26.")
    with pytest.raises(ValueError, match="must_include"):
        is_correct(Question("q", ("w",), relevance={"a": 1}), "27")


def test_outcomes_are_judged_where_the_question_says_how() -> None:
    assert outcome_of(ASKED, answered=True, sufficient=True, text="27").correct is True
    assert outcome_of(ASKED, answered=True, sufficient=True, text="26").correct is False
    assert outcome_of(ASKED, answered=False, sufficient=False, text="27").correct is False
    open_one = Question("q", ("w",), relevance={"a": 1})
    assert outcome_of(open_one, answered=True, sufficient=True, text="27").correct is None


def test_rates_of_answers_and_refusals() -> None:
    absent = Question("absent", ("w",), answerable=False, must_not_include=("secret",))
    golden = GoldenSet("g", (ASKED, Question("r", ("w", "v"), relevance={"a": 1}, must_include=("x",)), absent))
    outcomes = {
        ("q", 0): outcome_of(ASKED, answered=True, sufficient=True, text="27"),
        ("r", 0): Outcome(True, False, False, False),
        ("r", 1): Outcome(True, True, True, False),
        ("absent", 0): Outcome(False, False, True),
    }
    texts = {("q", 0): "27", ("r", 0): "I do not know", ("r", 1): "y", ("absent", 0): "That is secret."}
    told = {name: (one.value, one.n) for name, one in answer_rates(golden, outcomes, texts).items()}
    assert told == {
        "abstention_correctness": (3 / 4, 4),
        "false_retrieval_rate": (1.0, 1),
        "bluff_rate": (0.0, 1),
        "answer_correctness": (1 / 3, 3),
        "c@1": (pytest.approx((1 + 1 / 3) / 3), 3),
        "leakage": (1 / 2, 2),
    }


def test_faithfulness_is_a_mean_over_answers_and_what_was_not_checked_counts_against_it() -> None:
    told = faithfulness({("a", 0): ["supported"], ("b", 0): ["supported", "not_checked", "partial"], ("c", 0): []})
    assert (told["faithfulness"].value, told["faithfulness"].n) == (pytest.approx(2 / 3), 2)
    assert faithfulness({}) == {}


def test_a_question_that_failed_is_no_refusal() -> None:
    golden = GoldenSet("g", (ASKED, Question("absent", ("w",), answerable=False)))
    held = {("q", 0): Outcome(True, True, True)}
    with pytest.raises(ValueError, match="1 queries have no outcome"):
        answer_rates(golden, held)
    with pytest.raises(ValueError, match="do not agree"):
        answer_rates(golden, held | {("absent", 0): Outcome(True, False, False)})
    with pytest.raises(ValueError, match="not judged"):
        answer_rates(golden, held | {("absent", 0): Outcome(False, False, False)})


def test_c_at_1_is_told_only_where_every_answer_is_judged() -> None:
    golden = GoldenSet("g", (ASKED, Question("open", ("w",), relevance={"a": 1})))
    told = answer_rates(golden, {("q", 0): Outcome(True, True, True, True), ("open", 0): Outcome(True, True, True)})
    assert told["answer_correctness"].n == 1
    assert "c@1" not in told


def test_the_interval_of_c_at_1_holds_it_and_narrows() -> None:
    right, wrong, refused = (
        Outcome(True, True, True, True),
        Outcome(True, True, True, False),
        Outcome(True, False, False),
    )
    few, many_ = (c_at_1_interval([right, right, wrong, refused] * n) for n in (3, 100))
    assert few.low < few.value < few.high
    assert many_.value == few.value == pytest.approx(0.5 + 0.25 * 0.5)
    assert many_.high - many_.low < 0.4 * (few.high - few.low)
    assert few == c_at_1_interval([right, right, wrong, refused] * 3)
