"""Models that compete for the gate: chosen on what they never saw, in plain numbers, and only from enough questions."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fonte.evaluation.calibrating import Case, Costs, Fitted, Kept, Prior, TooFew, calibrate, folds, missing, select
from fonte.gate import GateModel

PRIOR = Prior(("sentence",), {"code_missing": -4.0}, {"sentence": 1, "coverage": 1, "code_missing": -1})
Signs = Callable[[random.Random, bool], dict[str, float]]


def cases(signs: Signs, *, can: int = 60, cannot: int = 40, wordings: int = 2, seed: int = 1) -> list[Case]:
    source = random.Random(seed)
    found = []
    for number in range(can + cannot):
        answerable = number < can
        features = signs(source, answerable)
        for wording in range(wordings):
            shaken = {name: value + source.gauss(0, 0.001) for name, value in features.items()}
            shaken["code_missing"] = features.get("code_missing", 0.0)
            near = 1 - shaken["sentence"]
            passages = (Kept(near, answerable and source.random() < 0.8),)
            query = (f"q{number}", wording)
            found.append(
                Case(
                    query,
                    f"d{number % 30}",
                    answerable,
                    shaken,
                    shaken["sentence"],
                    near,
                    passages,
                    answerable,
                    wordings,
                )
            )
    return found


def telling(source: random.Random, can: bool) -> dict[str, float]:
    """Two signs that say more together than either alone."""
    hard = source.gauss(0, 0.05)
    return {"sentence": 0.8 + 0.05 * can + hard, "coverage": 0.5 + 0.2 * can - 4 * hard + source.gauss(0, 0.05)}


def blind(source: random.Random, can: bool) -> dict[str, float]:
    del can
    return {"sentence": source.random(), "coverage": source.random()}


def test_two_signs_together_beat_the_best_of_them_and_the_plain_distance() -> None:
    found = calibrate(cases(telling), PRIOR, Costs(2, 1), threshold_before=0.82)
    assert found.auroc.low > 0.9
    assert found.auroc.n == 200
    for name in ("best_single", "dense_distance", "gate_before"):
        assert found.baselines[name].difference.low > 0, name
        assert found.baselines[name].p < 0.01, name
    assert found.best_single == max(found.singles, key=lambda name: found.singles[name])
    assert found.model.name.startswith("logistic over all")
    assert sum(found.chosen.values()) == 5
    assert found.point.threshold == pytest.approx(2 / 3)
    assert found.point.cost.value < found.before.cost.value
    assert found.at_kept["model"].false_answer_rate.value < found.at_kept["dense_distance"].false_answer_rate.value
    assert all(0 <= one <= 1 for one in found.probabilities)
    assert found.by_distance[0].threshold is None
    assert found.by_distance[0].bluffs == 80
    assert [row.answered for row in found.by_gate] == sorted((row.answered for row in found.by_gate), reverse=True)


def test_signs_that_say_nothing_are_told_to_say_nothing() -> None:
    """Choosing among models on the very queries that are then judged would find order in noise."""
    areas = [calibrate(cases(blind, seed=seed), PRIOR, Costs(), threshold_before=0.5).auroc for seed in (1, 2)]
    assert all(area.low <= 0.5 <= area.high for area in areas), areas


def test_the_same_questions_give_the_same_gate() -> None:
    one, two = (calibrate(cases(telling), PRIOR, Costs(), threshold_before=0.8) for _ in range(2))
    assert one == two


def test_no_group_and_no_question_stands_on_both_sides() -> None:
    data = cases(telling)
    seen: list[int] = []
    for train, test in folds(data, 0):
        assert not {data[at].group for at in train} & {data[at].group for at in test}
        assert not {data[at].query[0] for at in train} & {data[at].query[0] for at in test}
        assert {data[at].answerable for at in test} == {True, False}
        seen += test
    assert sorted(seen) == list(range(len(data)))


def test_the_plain_numbers_mean_the_same_to_the_gate() -> None:
    data = cases(telling)
    step = Fitted("steps", {"sentence": 1.0}, 0.0, ((0.75, 0.1), (0.8, 0.4), (0.9, 0.95)))
    for model in (select(data, PRIOR, 0), step):
        gate = GateModel(model.weights, model.intercept, 0.5, calibrated=True, steps=model.steps)
        assert [gate.judge(case.features).score for case in data] == pytest.approx(model.probabilities(data).tolist())


def test_a_scale_that_bends_is_fitted_along_steps() -> None:
    def bent(source: random.Random, can: bool) -> dict[str, float]:
        """Nearly sure from 0.5 on, at chance below, whatever the value."""
        value = source.uniform(0.5, 1) if can and source.random() < 0.7 else source.uniform(0, 0.5)
        return {"sentence": value}

    found = select(cases(bent, can=150, cannot=150), PRIOR, 0)
    assert found.name == "isotonic over sentence"
    values = [value for _, value in found.steps]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 1


def test_a_sign_too_rare_to_be_weighed_keeps_its_weight_and_still_refuses() -> None:
    def coded(source: random.Random, can: bool) -> dict[str, float]:
        return telling(source, can) | {"code_missing": float(not can and source.random() < 0.05)}

    model = select(cases(coded), PRIOR, 0)
    assert model.weights["code_missing"] == -4.0
    sure = Case(("q", 0), "d", True, {"sentence": 0.9, "coverage": 0.9}, 0.9, 0.1)
    missed = Case(("q", 0), "d", False, {"sentence": 0.85, "coverage": 0.8, "code_missing": 1.0}, 0.9, 0.1)
    assert model.probabilities([sure])[0] > 0.9
    bent = Fitted("x", {"sentence": 1.0, "code_missing": -4.0}, 0.0, ((0.7, 0.05), (0.9, 0.9)))
    assert bent.probabilities([missed])[0] == 0.05


def test_a_weight_against_what_is_known_of_its_sign_is_left_out() -> None:
    def contrary(source: random.Random, can: bool) -> dict[str, float]:
        return {
            "sentence": 0.8 + 0.03 * can + source.gauss(0, 0.03),
            "coverage": 0.5 - 0.2 * can + source.gauss(0, 0.1),
        }

    model = select(cases(contrary), PRIOR, 0)
    assert model.weights.get("coverage", 0.0) == 0.0
    assert model.weights["sentence"] > 0
    free = select(cases(contrary), Prior(("sentence",)), 0)
    assert free.weights["coverage"] < 0


def test_where_nothing_was_found_nothing_can_be_answered() -> None:
    data = cases(telling)
    data += [Case((f"n{number}", 0), f"n{number}", False, {}, 0.0, None) for number in range(5)]
    found = calibrate(data, PRIOR, Costs(), threshold_before=0.8)
    assert found.probabilities[-5:] == (0.0,) * 5
    assert found.auroc.value > 0.9


@pytest.mark.parametrize(
    ("can", "cannot", "lacking"),
    [(60, 19, {"unanswerable": 1}), (3, 40, {"answerable": 17}), (0, 0, {"answerable": 20, "unanswerable": 20})],
)
def test_too_few_questions_are_told_with_how_many_more(can: int, cannot: int, lacking: dict[str, int]) -> None:
    data = cases(telling, can=can, cannot=cannot, wordings=3)
    assert missing(data) == lacking
    with pytest.raises(
        TooFew, match=" and ".join(f"{number} more {name} questions" for name, number in lacking.items())
    ):
        calibrate(data, PRIOR, Costs(), threshold_before=0.8)
