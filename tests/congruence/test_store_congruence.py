"""The same corpus and questions give the same ids, and scores within 1e-3, in LanceDB and in the plain reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from congruence.random_corpus import Corpus, evolve
from contract.memory_index import MemoryIndex
from contract.ready_index import ReadyIndex
from contract.store_making import CODED, sealed

from fonte.stores.lance_index import LanceIndex
from fonte.types import Generation

RELATIVE = 1e-3


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
        expected, *others = (one.codes(ids, asked.principal, revoked=revoked) for one in readers)
        for found in others:
            assert list(found) == list(expected) == ids
            assert all(np.array_equal(found[key], expected[key]) for key in ids)
        texts, same = (one.chunks(ids, asked.principal, revoked=revoked) for one in readers[1:])
        assert [replace(one, vector=None) for one in texts.values()] == [
            replace(one, vector=None) for one in same.values()
        ]
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
