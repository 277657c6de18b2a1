"""The same corpus and questions give the same ids, and scores within 1e-3, in LanceDB and in the plain reference."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.memory_index import MemoryIndex
from contract.ready_index import ReadyIndex
from contract.store_making import CODED, question, random_codes, random_units, sealed, stored

from fonte.stores.lance_index import LanceIndex
from fonte.types import Generation

RELATIVE = 1e-3
ROLES = ("public", "staff", "hr", "legal")


class Corpus:
    """Random documents whose words follow Zipf's law, and random questions over them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = [f"it:w{at}" for at in range(60)]
        self.weights = [1 / (at + 1) for at in range(60)]
        self.version = 0

    def document(self, name: str) -> tuple[list[Any], list[list[str]], Any, list[Any]]:
        self.version += 1
        roles = self.random.sample(ROLES, self.random.randint(0, 2))
        language = self.random.choice(["it", "en"])
        size = self.random.randint(1, 4)
        days = [f"202{year}-0{month}-15" for year in range(6) for month in (1, 7)]
        first, last = sorted(self.random.choices(days, k=2))
        valid = {"valid_from": self.random.choice(["", first]), "valid_to": self.random.choice(["", last])}
        chunks = [
            stored(f"{name}-{self.version}-{at}", name, roles, f"text {at}", index=at, language=language, **valid)
            for at in range(size)
        ]
        terms = [self.random.choices(self.words, self.weights, k=self.random.randint(0, 25)) for _ in chunks]
        codes = random_codes([self.random.randint(0, 40) for _ in chunks], self.random.randint(0, 2**31))
        return chunks, terms, random_units(size, self.random.randint(0, 2**31)), codes

    def questions(self, count: int) -> list[tuple[list[str], Any, Any, list[str]]]:
        return [
            (
                self.random.choices(self.words, self.weights, k=self.random.randint(1, 6)),
                random_units(1, self.random.randint(0, 2**31))[0],
                replace(
                    question(
                        self.random.sample(ROLES, self.random.randint(0, 3)),
                        languages=self.random.choice([(), ("it",), ("it", "en")]),
                    ),
                    as_of=self.random.choice([None, date(2021, 7, 15), date(2023, 3, 1)]),
                ),
                self.random.sample([f"d{at}" for at in range(20)], self.random.randint(0, 3)),
            )
            for _ in range(count)
        ]


def evolve(corpus: Corpus, stores: list[Any], bases: list[Generation | None], name: str) -> list[Generation]:
    """One sync: some documents go, some change, some change their roles, the same in every store."""
    documents = [f"d{at}" for at in range(20)]
    gone = corpus.random.sample(documents, 4)
    changed = corpus.random.sample(documents, 6)
    roles = {one: frozenset(corpus.random.sample(ROLES, 1)) for one in corpus.random.sample(documents, 3)}
    new = [corpus.document(one) for one in (documents if bases[0] is None else changed)]
    after = []
    for store, base in zip(stores, bases):
        writer = store.begin(CODED, base)
        writer.set_roles(roles)
        writer.remove_documents(gone)
        for chunks, terms, vectors, codes in new:
            writer.remove_documents([chunks[0].chunk.document_id])
            writer.add(chunks, terms, vectors, codes)
        after.append(sealed(writer, name, CODED))
    return after


def compare(corpus: Corpus, readers: list[Any]) -> int:
    hits = 0
    for terms, vector, asked, revoked in corpus.questions(10):
        for k in (3, 50):
            by_table, from_memory = (one.bm25(terms, asked, revoked=revoked, k=k) for one in readers[1:])
            assert [hit.chunk_id for hit in from_memory] == [hit.chunk_id for hit in by_table]
            assert [hit.score for hit in from_memory] == pytest.approx([hit.score for hit in by_table], rel=1e-6)
            words = [one.bm25(terms, asked, revoked=revoked, k=k) for one in readers[:2]]
            near = [one.dense(vector, asked, revoked=revoked, k=k) for one in readers[:2]]
            for expected, found in (words, near):
                assert [hit.score for hit in found] == pytest.approx(
                    [hit.score for hit in expected], rel=RELATIVE, abs=2e-6
                )
                # Scores that differ only beyond their last digit may change places.
                assert {hit.chunk_id: round(hit.score, 4) for hit in found if hit.score - found[-1].score > 1e-4} == {
                    hit.chunk_id: round(hit.score, 4) for hit in expected if hit.score - expected[-1].score > 1e-4
                } or sorted(hit.chunk_id for hit in found) == sorted(hit.chunk_id for hit in expected)
                hits += len(found)
        ids = [hit.chunk_id for hit in near[0]]
        assert readers[1].distances(vector, ids) == pytest.approx(readers[0].distances(vector, ids), abs=2e-6)
        assert list(readers[1].chunks(ids, asked.principal, revoked=revoked)) == ids
        expected, found = (one.codes(ids, asked.principal, revoked=revoked) for one in readers[:2])
        assert list(found) == list(expected) == ids
        assert all(np.array_equal(found[key], expected[key]) for key in ids)
        counted = [one.document_frequencies(terms) for one in readers]
        assert counted[2] == counted[1] == counted[0]
    assert dict(readers[1].languages()) == dict(readers[0].languages())
    return hits


@pytest.mark.parametrize("seed", range(3))
def test_lance_by_table_and_from_memory_equals_the_reference_through_syncs(seed: int, tmp_path: Path) -> None:
    corpus, stores = Corpus(seed), [MemoryIndex(), LanceIndex(tmp_path / "a"), ReadyIndex(tmp_path / "b")]
    generations: list[Generation | None] = [None] * 3
    hits = 0
    for step in range(3):
        generations = list(evolve(corpus, stores, generations, f"g{step}"))
        assert len({one.chunks for one in generations}) == 1
        hits += compare(corpus, [store.open(one) for store, one in zip(stores, generations)])
    assert hits > 200


def test_scores_after_updates_equal_those_of_a_fresh_build(tmp_path: Path) -> None:
    corpus, store = Corpus(99), LanceIndex(tmp_path / "lance")
    documents = {f"d{at}": corpus.document(f"d{at}") for at in range(20)}
    base = None
    for batch in (list(documents)[:12], list(documents)[6:]):
        writer = store.begin(CODED, base)
        writer.remove_documents(batch)
        for name in batch:
            writer.add(*documents[name])
        base = sealed(writer, "g", CODED)
    fresh = store.begin(CODED, None)
    for one in documents.values():
        fresh.add(*one)
    updated, new = store.open(base), store.open(sealed(fresh, "f", CODED))
    for terms, vector, asked, revoked in corpus.questions(30):
        for k in (3, 50):
            assert updated.bm25(terms, asked, revoked=revoked, k=k) == new.bm25(terms, asked, revoked=revoked, k=k)
            assert updated.dense(vector, asked, revoked=revoked, k=k) == new.dense(vector, asked, revoked=revoked, k=k)
