"""pgvector's graph: what it finds of the exact nearest, under filters that admit little, and when it is used at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract.store_making import RECIPE, postgres_index, question, sealed, stored
from postgres_server import OWNER, Server
from waiting import wait_until

from fonte.stores.postgres import index_reader
from fonte.stores.postgres.address import Address
from fonte.types import Generation, Space

WIDE = 48
RECIPE_WIDE = replace(RECIPE, space=Space("space-wide", "toy", "1", WIDE, 512))
ROWS = 2000
K = 50
SHARES = {"one in 1000": 1000, "one in 100": 100, "one in 10": 10, "all": 1}
Opener = Callable[[int], Any]


def drawn(count: int, seed: int) -> np.ndarray:
    """Unit vectors around a hundred centres, all of them far from the origin as an encoder's are."""
    draw = np.random.default_rng(seed)
    centres = np.random.default_rng(1).standard_normal((100, WIDE))
    found = 8 / np.sqrt(WIDE) + centres[draw.integers(0, 100, count)] + draw.standard_normal((count, WIDE))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def opener(postgres_server: Server, postgres_module_url: str) -> Iterator[Opener]:
    database = Address.of(postgres_module_url).database
    postgres_server.run(f"SELECT fonte.index_graph({WIDE})", database=database, user=OWNER)
    with ExitStack() as stack:
        yield lambda most: stack.enter_context(postgres_index(postgres_module_url, exact_rows=most))


@pytest.fixture(scope="module")
def generation(opener: Opener) -> Generation:
    writer = opener(0).begin(RECIPE_WIDE, None)
    rows = [stored(f"c{row:05}", f"d{row}", roles_of(row)) for row in range(ROWS)]
    writer.add(rows, [["it:w"]] * ROWS, drawn(ROWS, 2))
    return sealed(writer, recipe=RECIPE_WIDE)


def roles_of(row: int) -> list[str]:
    return [name for name, every in SHARES.items() if row % every == 0]


@pytest.fixture
def scans(postgres_server: Server, postgres_module_url: str) -> Callable[[], int]:
    def count() -> int:
        sql = f"SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'index_vectors_graph_{WIDE}'"
        return int(postgres_server.run(sql, database=Address.of(postgres_module_url).database)[0][0])

    return count


def test_the_graph_is_searched_where_much_may_be_read_and_only_there(
    opener: Opener, generation: Generation, scans: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_reader, "COMPARED", 500)
    large, exact = opener(0).open(generation), opener(ROWS).open(generation)
    assert (large.approximate, exact.approximate) == (True, False)
    vector = drawn(1, 4)[0]
    assert scans() == 0, "this is the first test of the file: the server counts what sessions did a second later"
    for reader, role in ((exact, "all"), (large, "one in 10"), (large, "one in 100"), (large, "all")):
        assert len(reader.dense(vector, question([role]), revoked=(), k=5)) == 5
    wait_until(lambda: scans() > 0)
    assert scans() == 1, "200 chunks are compared one by one"


@pytest.mark.parametrize("share", SHARES)
def test_of_the_exact_nearest_99_in_100_come_and_never_fewer_than_there_are(
    share: str, opener: Opener, generation: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_reader, "COMPARED", 0)  # the graph, however little the asker may read
    large, exact = opener(0).open(generation), opener(ROWS).open(generation)
    there = min(K, ROWS // SHARES[share])
    found = 0
    for vector in drawn(15, 3):
        asked = question([share])
        nearest = exact.dense(vector, asked, revoked=(), k=K)
        came = large.dense(vector, asked, revoked=(), k=K)
        assert len(came) == len(nearest) == there, "under-filled"
        scores = {hit.chunk_id: hit for hit in nearest}
        assert all(hit == scores.get(hit.chunk_id, hit) for hit in came)
        found += len({hit.chunk_id for hit in came} & scores.keys())
    assert found >= 0.99 * 15 * there


def test_a_small_index_and_one_without_a_graph_of_its_dimension_are_exact(opener: Opener) -> None:
    small = opener(ROWS).begin(RECIPE_WIDE, None)
    small.add([stored("c1")], [["it:w"]], drawn(1, 5))
    assert not opener(0).open(sealed(small, recipe=RECIPE_WIDE)).approximate
    other = replace(RECIPE, space=Space("space-other", "toy", "1", WIDE + 1, 512))
    writer = opener(0).begin(other, None)
    writer.add([stored("c1")], [["it:w"]], np.eye(1, WIDE + 1, dtype=np.float32))
    reader = opener(0).open(sealed(writer, recipe=other))
    assert not reader.approximate
    assert len(reader.dense(np.eye(1, WIDE + 1, dtype=np.float32)[0], question(), revoked=(), k=5)) == 1


def test_an_index_that_grows_large_is_put_into_the_graph_whole(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_reader, "COMPARED", 10)
    few, more = drawn(40, 6), drawn(60, 7)
    store = opener(50)
    writer = store.begin(RECIPE_WIDE, None)
    writer.add([stored(f"a{at}", f"a{at}") for at in range(40)], [["it:w"]] * 40, few)
    first = sealed(writer, recipe=RECIPE_WIDE)
    assert not store.open(first).approximate
    writer = store.begin(RECIPE_WIDE, first)
    writer.add([stored(f"b{at}", f"b{at}") for at in range(60)], [["it:w"]] * 60, more)
    second = store.open(sealed(writer, "g2", RECIPE_WIDE))
    assert second.approximate
    found = second.dense(few[0], question(), revoked=(), k=100)
    assert len(found) == 100
    assert found[0].chunk_id == "a0"
    assert store.open(first).dense(few[0], question(), revoked=(), k=50)[0].chunk_id == "a0"
