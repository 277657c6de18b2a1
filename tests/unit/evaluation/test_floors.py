"""Floors: read whole or not at all, judged in three outcomes, never of another corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.errors import InputError
from fonte.evaluation.floors import (
    Floors,
    corpus_fingerprint,
    difference,
    judge_floors,
    judge_pairs,
    load_floors,
    save_floors,
    smallest_margin,
    tango,
)
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.scoring import Scores
from fonte.evaluation.statistics import Interval, wilson

FLOORS = Floors("f1", {"needle@5": 0.8}, {"bluff_rate": 0.1}, margin=0.05)


def scores(values: list[float]) -> Scores:
    return Scores({"needle@5": {(f"q{at}", 0): one for at, one in enumerate(values)}}, {}, {}, (), 0)


def test_a_value_at_its_floor_passes_and_one_below_fails():
    fine = {"needle@5": wilson(80, 100), "bluff_rate": wilson(10, 100)}
    assert judge_floors(FLOORS, fine, "f1").outcome == "pass"
    low = judge_floors(FLOORS, fine | {"needle@5": wilson(79, 100)}, "f1")
    assert low.outcome == "fail"
    assert "below its floor 0.8" in low.reasons[0]
    high = judge_floors(FLOORS, fine | {"bluff_rate": wilson(11, 100)}, "f1")
    assert high.outcome == "fail"
    assert "above its ceiling 0.1" in high.reasons[0]


def test_a_sum_of_floats_does_not_fall_below_its_own_floor():
    thirds = sum([0.1] * 3)
    floors = Floors("f1", {"ndcg@10": thirds})
    assert judge_floors(floors, {"ndcg@10": Interval(0.3, 0.2, 0.4, 3)}, "f1").outcome == "pass"


def test_what_was_not_measured_cannot_be_told_but_a_fault_elsewhere_still_fails():
    assert judge_floors(FLOORS, {"needle@5": wilson(9, 10)}, "f1").outcome == "cannot_tell"
    assert judge_floors(FLOORS, {"needle@5": wilson(1, 10)}, "f1").outcome == "fail"


def test_floors_of_another_corpus_are_not_compared():
    found = judge_floors(FLOORS, {"needle@5": wilson(0, 10), "bluff_rate": wilson(10, 10)}, "f2")
    assert (found.outcome, found.fits) == ("cannot_tell", False)
    assert "f1" in found.reasons[0]
    assert "f2" in found.reasons[0]
    assert found.as_json()["lines"][0]["value"] is None


def test_a_candidate_that_lost_nothing_passes_where_the_set_is_large_enough_to_say_so():
    large = scores([1.0] * 150 + [0.0] * 50)
    assert judge_pairs(FLOORS, large, large).outcome == "pass"
    small = scores([1.0] * 8 + [0.0] * 2)
    verdict = judge_pairs(FLOORS, small, small)
    assert verdict.outcome == "cannot_tell"
    assert "cannot tell" in verdict.reasons[0]


def test_a_clear_loss_fails_and_a_gain_passes():
    before, after = scores([1.0] * 100), scores([1.0] * 80 + [0.0] * 20)
    assert judge_pairs(FLOORS, before, after).outcome == "fail"
    assert judge_pairs(FLOORS, after, before).outcome == "pass"


def test_pairs_of_other_queries_are_refused_and_a_missing_measure_cannot_be_told():
    with pytest.raises(ValueError, match="different queries"):
        judge_pairs(FLOORS, scores([1.0]), scores([1.0, 1.0]))
    nothing = Scores({}, {}, {}, (), 0)
    assert judge_pairs(FLOORS, nothing, nothing).outcome == "cannot_tell"


def test_tango_of_no_difference_has_its_closed_form():
    # Where nothing differs the interval has a closed form: z² / (n + z²).
    low, high = tango(0, 0, 73)
    z2 = 1.959963984540054**2
    assert high == pytest.approx(z2 / (73 + z2), abs=1e-9)
    assert low == pytest.approx(-high, abs=1e-9)


def test_tango_turns_its_sign_with_the_pair_and_holds_the_value():
    for wins, losses, n in [(9, 3, 14), (1, 0, 10), (0, 10, 10), (10, 0, 10), (20, 20, 200)]:
        low, high = tango(wins, losses, n)
        assert low <= (wins - losses) / n <= high
        turned = tango(losses, wins, n)
        assert (-turned[1], -turned[0]) == pytest.approx((low, high), abs=1e-9)
    with pytest.raises(ValueError, match="not paired"):
        tango(3, 3, 5)


def test_wordings_of_one_question_are_not_several_questions():
    before, after = [1.0] * 40, [1.0] * 40
    apart = difference(before, after, [str(at) for at in range(40)])
    together = difference(before, after, [str(at // 4) for at in range(40)])
    assert together.low < apart.low < 0
    graded = difference([0.5] * 100, [0.5] * 99 + [0.4], [str(at) for at in range(100)])
    assert graded.low < -0.001, "one small loss of a hundred does not make the others sure"


def test_the_fingerprint_is_of_the_questions_and_their_documents_only():
    golden = GoldenSet("g", (Question("q1", ("what?",), relevance={"a.md": 1}),))
    known = corpus_fingerprint(golden, {"a.md": "v1"})
    assert corpus_fingerprint(golden, {"a.md": "v1", "b.md": "v9"}) == known
    assert corpus_fingerprint(golden, {"a.md": "v2"}) != known
    assert corpus_fingerprint(golden, {}) != known
    other = GoldenSet("g", (Question("q1", ("who?",), relevance={"a.md": 1}),))
    assert corpus_fingerprint(other, {"a.md": "v1"}) != known


def test_a_file_gives_back_what_was_saved(tmp_path: Path):
    save_floors(FLOORS, tmp_path / "floors.json")
    assert load_floors(tmp_path / "floors.json") == FLOORS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("[]", "one JSON object"),
        ('{"fingerprint": "f", "floor": {}}', "no key floor"),
        ('{"floors": {"needle@5": 0.5}}', "fingerprint"),
        ('{"fingerprint": "f"}', "at least one measure"),
        ('{"fingerprint": "f", "floors": {"needle@5": 80}}', "0..1"),
        ('{"fingerprint": "f", "floors": {"needle@5": true}}', "should be a number"),
        ('{"fingerprint": "f", "floors": {"needle@5": NaN}}', "should be a number"),
        ('{"fingerprint": "f", "floors": [1]}', "object of numbers"),
        ('{"fingerprint": "f", "floors": {"a": 0.5}, "margin": 0}', "margin"),
        ('{"fingerprint": 7, "floors": {"a": 0.5}}', "should be text"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_wrong_file_is_refused_with_its_fault(tmp_path: Path, text: str, told: str):
    path = tmp_path / "floors.json"
    path.write_text(text)
    with pytest.raises(InputError, match=told.replace(".", r"\.")):
        load_floors(path)


def test_a_file_that_is_not_there_or_not_utf8_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        load_floors(tmp_path / "none.json")
    (tmp_path / "floors.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match="UTF-8"):
        load_floors(tmp_path / "floors.json")


def test_the_smallest_margin_is_ruled_out_by_questions_that_all_agree_and_a_hundredth_less_is_not():
    for questions in range(1, 73):
        margin = smallest_margin(questions)
        low, _ = tango(0, 0, questions)
        assert -margin < low <= -(margin - 0.01) + 1e-12
    assert smallest_margin(73) == smallest_margin(5000) == 0.05
    with pytest.raises(ValueError, match="not paired"):
        smallest_margin(0)
