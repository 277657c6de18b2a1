"""The claims that the support checks are measured with, and floors on a part of them that everybody has."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "evaluation"))

import make_perturbations
import run_support

from fonte.support import SupportChecker

EVERY = 6
"""Of this many claims one is judged here; all of them in docs/support.md."""


@pytest.fixture(scope="module")
def corpora() -> dict[str, list[make_perturbations.Place]]:
    return make_perturbations.load(None)


@pytest.fixture(scope="module")
def claims(corpora: dict[str, list[make_perturbations.Place]]) -> list[make_perturbations.Claim]:
    return make_perturbations.build(corpora)


def test_there_are_enough_of_every_kind_and_no_document_is_on_both_sides(
    claims: list[make_perturbations.Claim],
) -> None:
    assert len(claims) >= 1000
    assert min(Counter(one.kind for one in claims).values()) >= 50
    halves = {half: {one.document for one in claims if one.half == half} for half in ("development", "held_out")}
    assert not halves["development"] & halves["held_out"]
    faithful = [one for one in claims if one.kind == "faithful" and one.base == "paraphrase"]
    assert len(faithful) >= 150
    assert sum(one.language != one.source_language for one in faithful) >= 30


def test_the_same_files_give_the_same_claims(
    corpora: dict[str, list[make_perturbations.Place]], claims: list[make_perturbations.Claim]
) -> None:
    assert make_perturbations.fingerprint(make_perturbations.build(corpora)) == make_perturbations.fingerprint(claims)


def test_a_change_changes_something(claims: list[make_perturbations.Claim]) -> None:
    for one in claims:
        assert (one.said == one.source) == (one.kind == "faithful")


def test_floors_of_what_is_found_and_of_false_alarms(
    corpora: dict[str, list[make_perturbations.Place]], claims: list[make_perturbations.Claim]
) -> None:
    passages = {
        (place.document.uri, place.chunk.start, place.chunk.end): make_perturbations.passage_of(
            place.document, place.chunk
        )
        for places in corpora.values()
        for place in places
    }
    judged = run_support.judge(claims[::EVERY], passages, SupportChecker())
    found: dict[str, list[bool]] = {}
    for one in judged:
        found.setdefault(one.claim.kind, []).append(one.flagged)
    shares = {kind: sum(flags) / len(flags) for kind, flags in found.items()}
    assert shares.pop("faithful") <= 0.06
    floors = {"number": 0.9, "unit": 0.9, "currency": 0.9, "date": 0.85, "code": 0.9, "entity": 0.6}
    floors |= {"negation_added": 0.9, "negation_removed": 0.8, "opposite": 0.6}
    assert {kind: shares[kind] for kind, floor in floors.items() if shares[kind] < floor} == {}


def test_the_invented_documents_have_a_paraphrase_of_every_sentence_and_share_none_between_halves() -> None:
    texts = {half: list(make_perturbations.fresh_texts(half)) for half in ("development", "held_out")}
    titles = {half: {title for _, title, _ in own} for half, own in texts.items()}
    assert not titles["development"] & titles["held_out"]
    sentences = [row for _, _, rows in texts["held_out"] for row in rows]
    assert len(sentences) >= 300
    assert sum(language == "it" for language, *_ in texts["held_out"]) >= 10
    assert all(sentence != claim for sentence, _, claim in sentences)


def test_the_half_that_was_measured_once_is_as_it_was() -> None:
    claims = make_perturbations.build(make_perturbations.load_fresh("held_out"))
    assert make_perturbations.fingerprint(claims) == "9f1b1ed34bfef453"
    assert {one.half for one in claims} == {"held_out"}
    counts = Counter(one.kind for one in claims)
    assert min(counts[kind] for kind in run_support.GOALS) >= 80
