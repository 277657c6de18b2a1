"""The gate: more than one sign, and never a fused score."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.gate import DEFAULT_GATE, NOTHING, GateModel, gate_for, part_is_there
from fonte.types import GateVerdict, Principal, Query, Space
from quick_corpus import Shelf, Shelves, quick_corpus


def test_the_default_gate_is_uncalibrated_and_looks_at_more_than_a_distance() -> None:
    assert DEFAULT_GATE.calibrated is False
    assert len(DEFAULT_GATE.weights) > 2
    assert not {"rrf", "score", "fusion"} & set(DEFAULT_GATE.weights)
    assert NOTHING.sufficient is False


def test_without_evidence_the_gate_in_force_is_named() -> None:
    other = gate_for(Space("s", "some-model", "1", 8, 64))
    assert other.stamp != DEFAULT_GATE.stamp
    verdict = other.nothing()
    assert (verdict.sufficient, verdict.stamp, verdict.threshold) == (False, other.stamp, other.threshold)
    assert NOTHING.stamp == ""


def test_case_50_fused_scores_are_not_looked_at() -> None:
    signs = dict.fromkeys(DEFAULT_GATE.weights, 0.8)
    assert DEFAULT_GATE.judge(signs).score == DEFAULT_GATE.judge({**signs, "rrf": 99.0}).score


def test_the_stamp_follows_every_number() -> None:
    one = GateModel({"a": 1.0}, 0.0, 0.5)
    assert one.stamp == GateModel({"a": 1.0}, 0.0, 0.5).stamp
    assert (
        len(
            {
                one.stamp,
                *(
                    m.stamp
                    for m in (
                        GateModel({"a": 1.1}, 0.0, 0.5),
                        GateModel({"a": 1.0}, 0.1, 0.5),
                        GateModel({"a": 1.0}, 0.0, 0.6),
                    )
                ),
            }
        )
        == 4
    )


@given(st.dictionaries(st.sampled_from(sorted(DEFAULT_GATE.weights)), st.floats(-1e6, 1e6)))
def test_the_score_is_a_share_whatever_the_signs(signs: dict[str, float]) -> None:
    verdict = DEFAULT_GATE.judge(signs)
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.sufficient == (verdict.score >= verdict.threshold)


@pytest.mark.parametrize(
    ("sign", "direction"), [("code_missing", -1), ("quoted", -1), ("sentence", 1), ("similarity", 1)]
)
def test_signs_point_the_way_that_they_should(sign: str, direction: int) -> None:
    assert DEFAULT_GATE.weights[sign] * direction > 0


def test_the_gate_sees_how_near_passages_are_also_where_words_alone_found_them(tmp_path: Path) -> None:
    corpus = quick_corpus(
        tmp_path / "home", Shelves({"docs": Shelf({"a.txt": ("pump tower hall", frozenset({"public"}))})})
    )
    corpus.sync("docs")
    seen = []
    for mode in ("dense", "bm25"):
        asker = corpus.asker(Principal(), k=None, mode=mode, max_distance=None)
        assert asker is not None
        seen.append(asker.prepare(Query("pump tower", Principal())).verdict.features["similarity"])
    assert seen[0] > 0.3
    assert seen[1] == pytest.approx(seen[0])


E5 = Space("e5", "multilingual-e5-small", "1", 384, 512)


def verdict_of(score: float, **features: float) -> GateVerdict:
    return GateVerdict(score >= 0.5, score, 0.5, calibrated=False, stamp="", features=features)


def test_a_part_is_there_by_signs_of_its_own() -> None:
    assert part_is_there(E5, verdict_of(0.2, late=0.8, sentence_coverage=0.7), lengthened=False)
    assert not part_is_there(E5, verdict_of(0.9, late=0.6, sentence_coverage=0.3), lengthened=False)
    assert part_is_there(E5, verdict_of(0.9, late=0.6, sentence_coverage=0.3), lengthened=True)
    assert not part_is_there(E5, verdict_of(0.4, late=0.6, sentence_coverage=0.3), lengthened=True)


@pytest.mark.parametrize("space", [E5, Space("other", "another", "1", 8, 512)])
def test_without_its_signs_a_part_needs_half_of_what_a_question_does(space: Space) -> None:
    assert part_is_there(space, verdict_of(0.25, sentence_coverage=0.1), lengthened=False)
    assert not part_is_there(space, verdict_of(0.24, sentence_coverage=1.0), lengthened=False)
    assert not part_is_there(space, GateModel({}, -9.0, 0.5).nothing(), lengthened=False)
