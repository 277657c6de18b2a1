"""The embedded store and PostgreSQL give the same ids in the same order outside ties, and scores within 1e-3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from congruence.random_corpus import ROLES, Corpus, evolve
from contract.ready_index import ReadyIndex
from contract.store_making import postgres_index

from fonte.types import Generation, Hit, Principal

TIE = 3e-6
"""Scores that differ by no more are equal but for their last digits."""
RELATIVE = 1e-3


@pytest.fixture
def stores(tmp_path: Path, postgres_url: str) -> Iterator[list[Any]]:
    with postgres_index(postgres_url) as index:
        yield [ReadyIndex(tmp_path / "lance"), index]


def principals(corpus: Corpus, count: int) -> list[Principal]:
    return [
        Principal(user=f"u{at}", roles=frozenset(corpus.random.sample(ROLES, corpus.random.randint(0, 3))))
        for at in range(count)
    ]


def groups(hits: list[Hit]) -> list[set[str]]:
    """Ids in order, those together whose scores are equal."""
    found = [{hits[0].chunk_id}] if hits else []
    for before, hit in pairwise(hits):
        if before.score - hit.score > TIE:
            found.append(set())
        found[-1].add(hit.chunk_id)
    return found


def same(expected: list[Hit], found: list[Hit]) -> bool:
    """Of the last group, which k cuts, other ids may have come; all else is equal."""
    wanted, given = groups(expected), groups(found)
    return (
        wanted[:-1] == given[:-1]
        and [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], rel=RELATIVE, abs=TIE)
    ) or (
        # Two groups that touch within the tolerance.
        [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=TIE)
        and {hit.chunk_id for hit in found} == {hit.chunk_id for hit in expected}
    )


def compare(corpus: Corpus, readers: list[Any], questions: int, people: list[Principal]) -> int:
    """Ask both the same; how many hits were compared."""
    embedded, other = readers
    hits = 0
    for terms, vector, asked, revoked in corpus.questions(questions):
        for person in people:
            query = replace(asked, principal=person)
            k = corpus.random.choice([3, 10, 50])
            pairs = [
                [one.bm25(terms, query, revoked=revoked, k=k) for one in readers],
                [one.dense(vector, query, revoked=revoked, k=k) for one in readers],
            ]
            for expected, found in pairs:
                assert same(expected, found), (terms, query, revoked, k, expected, found)
                hits += len(found)
        ids = [hit.chunk_id for hit in pairs[1][0]]
        expected, found = (one.chunks(ids, people[-1], revoked=revoked) for one in readers)
        assert [replace(one, vector=None) for one in found.values()] == [
            replace(one, vector=None) for one in expected.values()
        ]
        assert all(np.array_equal(found[one].vector, expected[one].vector) for one in ids)
        assert embedded.distances(vector, ids) == pytest.approx(other.distances(vector, ids), abs=2e-6)
        assert embedded.document_frequencies(terms) == other.document_frequencies(terms)
    assert dict(embedded.languages()) == dict(other.languages())
    for language, (mean, count) in embedded.centroids().items():
        assert other.centroids()[language][1] == count
        assert other.centroids()[language][0] == pytest.approx(mean, abs=1e-6)
    return hits


def histories(corpus: Corpus, stores: list[Any]) -> list[list[Generation]]:
    """Three syncs one upon the other, and one upon the first after a rollback."""
    made: list[list[Generation]] = []
    for name in ("g0", "g1", "g2"):
        made.append(evolve(corpus, stores, made[-1] if made else [None, None], name))
    made.append(evolve(corpus, stores, made[0], "g3"))
    return made


def opened(stores: list[Any], generations: list[Generation]) -> list[Any]:
    assert len({one.chunks for one in generations}) == 1
    return [store.open(one) for store, one in zip(stores, generations, strict=True)]


@pytest.mark.parametrize("seed", range(2))
def test_both_say_the_same_through_syncs_and_a_rollback(seed: int, stores: list[Any]) -> None:
    corpus = Corpus(seed)
    made = histories(corpus, stores)
    people = principals(corpus, 5)
    assert sum(compare(corpus, opened(stores, one), 4, people) for one in made) > 500
    for store, keep in zip(stores, zip(made[1], made[3], strict=True), strict=True):
        store.drop(keep)
    for kept in (made[1], made[3]):
        assert compare(corpus, opened(stores, kept), 6, people) > 100
    after = evolve(corpus, stores, made[3], "g4")
    assert compare(corpus, opened(stores, after), 6, people) > 100


def test_twenty_principals_get_the_same(stores: list[Any]) -> None:
    corpus = Corpus(7, documents=120)
    generation = histories(corpus, stores)[-1]
    assert compare(corpus, opened(stores, generation), 10, principals(corpus, 20)) > 1000


@pytest.mark.soak
def test_five_hundred_queries_by_twenty_principals_get_the_same(stores: list[Any]) -> None:
    corpus = Corpus(8, documents=1500)
    generation = histories(corpus, stores)[-1]
    assert compare(corpus, opened(stores, generation), 500, principals(corpus, 20)) > 100_000
