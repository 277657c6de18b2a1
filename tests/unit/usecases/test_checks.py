"""What data checks make of rows that are odd and yet right, and of a catalog that contradicts itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from contract.memory_index import MemoryIndex
from contract.store_making import CODE_WIDTH, CODED, document, random_codes, sealed, stored, unit

from fonte.checks import contradictions, leg_faults, row_faults, table_faults
from fonte.text.terms import Analyser
from fonte.types import DocumentState, DocumentStatus, Generation, GenerationState

TERMS = Analyser()
RECIPE = replace(CODED, terms=TERMS.version)


def _built(*rows: tuple[str, str, list[str]]) -> tuple[MemoryIndex, Generation]:
    """Chunks by id, text and roles, each in a document of its own."""
    store = MemoryIndex()
    writer = store.begin(RECIPE, None)
    made = [stored(name, f"d-{name}", roles, text, context="", language="en") for name, text, roles in rows]
    terms = [TERMS.document_terms(one.chunk.text, "en") for one in made]
    codes = [
        one if words else np.zeros((0, CODE_WIDTH), np.int8)
        for one, words in zip(random_codes([3] * len(made), 1), terms)
    ]
    writer.add(made, terms, np.stack([unit(1, at + 1) for at in range(len(made))]), codes)
    return store, sealed(writer, recipe=RECIPE)


@pytest.mark.parametrize("roles", [["public"], ["staff", "hr"], ["user:ada"]])
def test_rows_that_are_right_give_no_fault_whoever_may_read_them(roles: list[str]) -> None:
    store, generation = _built(("c1", "the pump runs", roles), ("c2", "— … —", roles), ("c3", "the pump runs", roles))
    reader = store.open(generation)
    rows = reader.whole_rows(["c1", "c2", "c3"])
    assert row_faults(generation, rows, TERMS) == []
    assert leg_faults(reader, [row for row in rows if row.terms], reader.facts(), TERMS) == []


def test_terms_of_an_analyser_of_before_are_not_compared_with_those_of_now() -> None:
    store, generation = _built(("c1", "the pump runs", ["public"]))
    (row,) = store.open(generation).whole_rows(["c1"])
    other = replace(row, terms=("en:valve",))
    assert [one.code for one in row_faults(generation, [other], TERMS)] == ["terms"]
    before = replace(generation, recipe=replace(RECIPE, terms="of before"))
    assert row_faults(before, [other], TERMS) == []


def _states(count: int, prefix: str = "d") -> list[DocumentState]:
    return [document(f"{prefix}{number}", ["public"])[0] for number in range(count)]


def _generation(chunks: int) -> Generation:
    return Generation("g1", "default", GenerationState.CANDIDATE, RECIPE, "t", 1, datetime.now(UTC), chunks=chunks)


@pytest.mark.parametrize(("kept", "gone"), [(6, False), (5, True), (0, True)])
def test_half_of_the_documents_gone_is_a_fault(kept: int, gone: bool) -> None:
    before = _states(10)
    codes = {one.code for one in contradictions(_generation(0), 0, before[:kept], before)}
    assert ("disappeared" in codes) is gone
    few = before[:4]
    assert "disappeared" not in {one.code for one in contradictions(_generation(0), 0, few[:1], few)}


def test_the_catalog_and_the_table_are_held_against_each_other() -> None:
    store, generation = _built(("c1", "one", ["public"]), ("c2", "two", ["public"]))
    facts = store.open(generation).facts()
    (state, *_) = _states(1)
    mine = replace(state, document_id="d-c1", chunks=1, status=DocumentStatus.READY)
    assert [one.code for one in table_faults(facts, [mine])] == ["orphans"]
    gone = replace(mine, document_id="d-c2", status=DocumentStatus.DELETED, chunks=0)
    assert table_faults(facts, [mine, gone]) == [], "a deleted document's chunks are there until it is removed"
    assert [one.code for one in table_faults(facts, [replace(mine, chunks=2), gone])] == ["incomplete"]
    codes = [one.code for one in contradictions(generation, 3, [replace(mine, stamp=None, chunks=0)], [])]
    assert codes == ["counts", "hollow", "stamps"]
