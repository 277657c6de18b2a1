"""Dense search over a large index: signs or a graph choose what is compared, and what holds of exact search holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract.store_making import DIMENSIONS, RECIPE, postgres_index, question, sealed, stored
from postgres_server import OWNER

from fonte.stores import signs
from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_reader import LanceReader
from fonte.stores.postgres import index_reader
from fonte.stores.postgres.address import Address
from fonte.types import Generation, Space

WIDE = 256
RECIPE_WIDE = replace(RECIPE, space=Space("space-wide", "toy", "1", WIDE, 512))
ROWS = 1500
DOCUMENTS = 150
K = 10


def clustered(count: int, seed: int) -> np.ndarray:
    """Unit vectors around a hundred centres, all of them far from the origin as an encoder's are."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((100, WIDE))
    drawn = (
        8 * np.ones(WIDE) / np.sqrt(WIDE) + centres[draw.integers(0, 100, count)] + draw.standard_normal((count, WIDE))
    )
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


VECTORS = clustered(ROWS, 1)
QUESTIONS = clustered(20, 1)


def role_of(row: int) -> str:
    return "rare" if row % DOCUMENTS < 12 else "staff"


Opener = Callable[[int], Any]
"""A store over the same tables that compares a question with every vector up to so many chunks."""


@pytest.fixture(scope="module", params=["lance", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    if request.param == "lance":
        folder = tmp_path_factory.mktemp("approximate") / "lance"
        yield lambda most: LanceIndex(folder, exact_rows=most)
        return
    server, url = request.getfixturevalue("postgres_server"), request.getfixturevalue("postgres_module_url")
    server.run(f"SELECT fonte.index_graph({WIDE})", database=Address.of(url).database, user=OWNER)
    with ExitStack() as stack:
        yield lambda most: stack.enter_context(postgres_index(url, exact_rows=most))


@pytest.fixture(scope="module")
def generation(opener: Opener) -> Generation:
    writer = opener(0).begin(RECIPE_WIDE, None)
    rows = [stored(f"c{row:05}", f"d{row % DOCUMENTS}", [role_of(row)], index=row // DOCUMENTS) for row in range(ROWS)]
    writer.add(rows, [["it:w", f"it:w{row % 7}"] for row in range(ROWS)], VECTORS)
    return sealed(writer, recipe=RECIPE_WIDE)


@pytest.fixture(autouse=True)
def _few_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs, "LEAST", 150)
    monkeypatch.setattr(index_reader, "COMPARED", 150)


def test_what_comes_is_scored_exactly_and_nearly_all_of_the_nearest_come(
    opener: Opener, generation: Generation
) -> None:
    large, exact = (opener(most).open(generation) for most in (ROWS - 1, ROWS))
    assert (large.approximate, exact.approximate) == (True, False)
    asked = question(["staff", "rare"])
    shares = []
    for vector in QUESTIONS:
        every = {hit.chunk_id: hit for hit in exact.dense(vector, asked, revoked=(), k=ROWS)}
        found = large.dense(vector, asked, revoked=(), k=K)
        assert [every[hit.chunk_id] for hit in found] == found, "scores and distances are those of exact search"
        assert found == sorted(found, key=lambda hit: (-hit.score, hit.chunk_id))
        shares.append(len({hit.chunk_id for hit in found} & set(list(every)[:K])) / K)
    assert np.mean(shares) >= 0.95, "of 1,500 rows 150 are compared"
    if isinstance(large, LanceReader):
        assert min(shares) < 1, "a search that finds everything here would not be the approximate one"


def test_filters_hold_before_rows_are_chosen(opener: Opener, generation: Generation) -> None:
    large, exact = (opener(most).open(generation) for most in (0, ROWS))
    rare = [f"c{row:05}" for row in range(ROWS) if role_of(row) == "rare"]
    assert len(rare) == 120
    for vector in QUESTIONS:
        # No more than are compared anyway: then nothing may be missed, however far they are from the question.
        found = large.dense(vector, question(["rare"]), revoked=(), k=len(rare))
        assert found == exact.dense(vector, question(["rare"]), revoked=(), k=len(rare))
        assert sorted(hit.chunk_id for hit in found) == rare
        assert len(large.dense(vector, question(["staff"]), revoked=(), k=400)) == 400, "k come wherever k exist"
    words = large.bm25(["it:w"], question(["rare"]), revoked=(), k=len(rare))
    assert sorted(hit.chunk_id for hit in words) == rare


def test_revoked_documents_and_strangers_are_unseen(opener: Opener, generation: Generation) -> None:
    large = opener(0).open(generation)
    asked = question(["staff", "rare"])
    for vector in QUESTIONS[:5]:
        before = large.dense(vector, asked, revoked=(), k=K)
        gone = [before[0].document_id, before[1].document_id, "d-of-nobody"]
        after = large.dense(vector, asked, revoked=gone, k=K)
        assert len(after) == K
        assert not {hit.document_id for hit in after} & set(gone)
        assert large.dense(vector, question(), revoked=(), k=K) == []
        assert large.dense(vector, question(["staff"], tenant="other"), revoked=(), k=K) == []


def test_what_an_update_takes_away_or_narrows_is_unseen_in_it_and_stays_in_its_base(
    opener: Opener, generation: Generation
) -> None:
    store = opener(0)
    vector, asked = QUESTIONS[0], question(["staff"])
    first, second = (hit.document_id for hit in store.open(generation).dense(vector, asked, revoked=(), k=2))
    writer = store.begin(RECIPE_WIDE, generation)
    writer.remove_documents([first])
    writer.set_roles({second: frozenset({"rare"})} if second != first else {})
    writer.add([stored("new", "d-new", ["staff"])], [["it:w"]], vector[np.newaxis])
    after = store.open(sealed(writer, "g2", RECIPE_WIDE)).dense(vector, asked, revoked=(), k=K)
    assert after[0].chunk_id == "new"
    assert len(after) == K
    assert not {hit.document_id for hit in after} & {first, second}
    assert store.open(generation).dense(vector, asked, revoked=(), k=1)[0].document_id == first


def test_dimensions_that_fill_no_whole_word_are_compared_too() -> None:
    draw = np.random.default_rng(3).standard_normal((400, DIMENSIONS)).astype(np.float32)
    kept = signs.Signs(draw).nearest(draw[7], np.arange(400), 1)
    assert 150 <= len(kept) < 400
    assert 7 in kept
