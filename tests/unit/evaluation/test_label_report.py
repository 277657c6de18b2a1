"""What verdicts come to; kappa beside scikit-learn's."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from fonte.evaluation.agreement import agreement
from fonte.evaluation.label_report import report_of
from fonte.evaluation.labels import Item, Label, Labels, drawn_line, label_line, read_labels
from fonte.evaluation.statistics import wilson

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def test_kappa_is_cohens_on_a_thousand_random_pairs_of_judges():
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(5)
    for _ in range(1000):
        words = "abcde"[: draw.randint(2, 5)]
        pairs = [(draw.choice(words), draw.choice(words)) for _ in range(draw.randint(2, 40))]
        firsts, seconds = zip(*pairs, strict=True)
        if len({*firsts, *seconds}) == 1:
            continue
        found = agreement(pairs)
        assert found.kappa == pytest.approx(metrics.cohen_kappa_score(firsts, seconds), abs=1e-9)
        same = sum(first == second for first, second in pairs)
        assert found.raw == wilson(same, len(pairs))
        assert sum(sum(row.values()) for row in found.table.values()) == len(pairs)


def test_kappa_by_hand():
    # Observed 140 of 200; by chance (120 * 130 + 60 * 50 + 20 * 20) / 200² = 0.475; (0.7 - 0.475) / (1 - 0.475).
    counts = {"ss": 106, "sn": 10, "so": 4, "ns": 22, "nn": 28, "no": 10, "os": 2, "on": 12, "oo": 6}
    found = agreement([(pair[0], pair[1]) for pair, number in counts.items() for _ in range(number)])
    assert found.kappa == pytest.approx(0.225 / 0.525)
    assert found.raw.value == 0.7
    assert found.kappa_low is not None
    assert found.kappa_high is not None
    assert found.kappa_low < found.kappa < found.kappa_high
    assert (found.table["n"]["s"], found.n) == (22, 200)


def test_one_word_only_has_no_kappa_and_nothing_has_no_agreement():
    found = agreement([("a", "a")] * 5)
    assert (found.kappa, found.kappa_low, found.raw.value) == (None, None, 1.0)
    assert agreement([("a", "b")] * 5).kappa == 0.0
    one_sided = agreement([("a", "a"), ("a", "b")] * 5)
    assert (one_sided.kappa, one_sided.kappa_low) == (0.0, None), "0 whatever the other says is no finding"
    with pytest.raises(ValueError, match="nothing"):
        agreement([])


def labels() -> Labels:
    """Four answers: anna judged all, bruno two and once otherwise."""

    def item(name: str, kind: str, automatic: str | None, *support: str) -> Item:
        sentences = tuple((f"{name}{at}", one) for at, one in enumerate(support))
        answered = bool(support)
        return Item(name, "q", "a", answered, sentences, (), kind, automatic, {"generation": "g1"})  # type: ignore[arg-type]

    drawn = [
        item("a", "right", "correct", "supported", "not_checked"),
        item("b", "wrong", "wrong", "partial"),
        item("c", "bluffed", "should_have_refused", "unsupported"),
        item("d", "rightly refused", "rightly_refused"),
        item("e", "right", "correct", "supported"),
    ]
    given = [
        Label("a", "anna", "wrong", (False, False), False),
        Label("a", "anna", "correct", (True, False), True),
        Label("b", "anna", "partly", (True,), True),
        Label("b", "bruno", "partly", (False,), False),
        Label("c", "anna", "should_have_refused", (False,), False),
        Label("d", "anna", "rightly_refused", (), True),
        Label("a", "bruno", "correct", (True, True), True),
    ]
    text = "".join(drawn_line(one, NOW) for one in drawn) + "".join(label_line(one, NOW) for one in given)
    found, faults = read_labels(text)
    assert faults == []
    return found


def test_every_answer_counts_once_by_its_first_labellers_last_word():
    found = report_of(labels())
    assert (found.drawn, found.right.n, dict(found.labellers)) == (5, 4, {"anna": 4, "bruno": 2})
    assert {name: one.value for name, one in found.shares.items()} == {
        "correct": 0.25, "partly": 0.25, "wrong": 0.0, "should_have_refused": 0.25, "rightly_refused": 0.25,
    }  # fmt: skip
    assert found.shares["correct"] == wilson(1, 4)
    assert (found.right.value, found.task_done.value) == (0.5, 0.75)
    assert found.supported is not None
    assert (found.supported.value, found.supported.n) == (0.5, 4)
    assert found.supported.low <= wilson(2, 4).low < wilson(2, 4).high <= found.supported.high
    assert found.kinds["bluffed"].value == 0.0


def test_measures_and_people_are_compared_where_both_speak():
    found = report_of(labels()).automatic
    assert (found["verdict"].n, found["verdict"].raw.value) == (4, 0.75)
    assert found["verdict"].table["partly"] == {"wrong": 1}
    assert found["right"].raw.value == 1.0
    # The unchecked sentence of a says nothing; a partial one is not supported, and anna says that it is.
    assert (found["support"].n, found["support"].raw.value) == (3, pytest.approx(2 / 3))


def test_two_labellers_are_compared_over_what_both_judged():
    found = report_of(labels())
    both = found.between["anna", "bruno"]
    assert (both["verdict"].n, both["verdict"].raw.value) == (2, 1.0)
    assert (both["support"].n, both["support"].raw.value) == (3, pytest.approx(1 / 3))
    assert both["task_done"].raw.value == 0.5
    only = report_of(labels(), "bruno")
    assert (only.right.n, only.between) == (2, {})
    with pytest.raises(ValueError, match="nothing"):
        report_of(labels(), "carla")
    plain = found.as_json()
    assert plain["labelled"] == 4
    assert plain["between"][0]["agreement"]["verdict"]["table"] == {"correct": {"correct": 1}, "partly": {"partly": 1}}  # type: ignore[index]
