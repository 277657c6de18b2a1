"""Small indexes for the store suites: recipes, chunks, vectors, generations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from fonte.types import (
    Acl,
    Chunk,
    ChunkingRecipe,
    Document,
    DocumentState,
    DocumentStatus,
    Filters,
    Generation,
    GenerationState,
    Principal,
    Query,
    Recipe,
    Space,
    StoredChunk,
)

DIMENSIONS = 8
SPACE = Space("space-1", "toy", "1", DIMENSIONS, 512)
RECIPE = Recipe("p1", "n1", ChunkingRecipe(), "t1", SPACE)
OTHER_SPACE = replace(RECIPE, space=Space("space-2", "toy", "2", DIMENSIONS, 512))
CODE_WIDTH = 4
CODED = replace(RECIPE, space=replace(SPACE, codec="codec-1", code_width=CODE_WIDTH))
OTHER_CODEC = replace(RECIPE, space=replace(SPACE, codec="codec-2", code_width=CODE_WIDTH))
OTHER_CHUNKING = replace(RECIPE, chunking=ChunkingRecipe(size=64))
STAFF = Principal(roles=frozenset({"staff"}))


@contextmanager
def postgres_index(url: str, **settings: Any) -> Iterator[Any]:
    """An index in PostgreSQL; what other tests left there is of no generation that this one knows."""
    from fonte.stores.postgres.index import PostgresIndex
    from fonte.stores.postgres.pool import Pool

    pool = Pool(url)
    index = PostgresIndex(pool, "default", **settings)
    try:
        yield index
    finally:
        index.close()
        pool.close()


def unit(*values: float) -> np.ndarray:
    """A unit vector that begins like ``values``."""
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[: len(values)] = values
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def random_units(count: int, seed: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, dimensions))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def random_codes(sizes: Iterable[int], seed: int, width: int = CODE_WIDTH) -> list[np.ndarray]:
    """Token codes of chunks with so many tokens each."""
    draw = np.random.default_rng(seed)
    return [draw.integers(-127, 128, (size, width), np.int8) for size in sizes]


def stored(
    chunk: str, document: str = "d1", roles: Iterable[str] = ("public",), content: str = "some text", **more: Any
) -> StoredChunk:
    inside = {"index": 0, "section": ("A", "B"), "language": "it", "tokens": 5, "header_tokens": 2, "context": "T > A"}
    inside |= {name: more.pop(name) for name in list(more) if name in inside}
    facts = {
        "document_name": f"{document}.md",
        "source_uri": f"file:///{document}.md",
        "source_version": "v1",
        "title": "T",
        "media_type": "text/markdown",
    } | more
    one = Chunk(id=chunk, document_id=document, start=3, end=3 + len(content), content=content, **inside)
    return StoredChunk(chunk=one, roles=frozenset(roles), **facts)


def question(roles: Iterable[str] = (), tenant: str = "default", **filters: Any) -> Query:
    return Query("x", Principal(tenant=tenant, roles=frozenset(roles)), Filters(**filters))


def sealed(writer: Any, name: str = "g1", recipe: Recipe = RECIPE) -> Generation:
    version, count = writer.seal()
    return Generation(
        name, "default", GenerationState.ACTIVE, recipe, writer.table, version, datetime.now(UTC), chunks=count
    )


def build(
    store: Any,
    rows: Sequence[tuple[StoredChunk, Sequence[str]]],
    vectors: np.ndarray | None = None,
    base: Generation | None = None,
    name: str = "g1",
) -> Generation:
    writer = store.begin(RECIPE, base)
    given = random_units(len(rows), 7) if vectors is None else vectors
    writer.add([row for row, _ in rows], [terms for _, terms in rows], given)
    return sealed(writer, name)


def building(name: str, base: str | None = None, tenant: str = "default") -> Generation:
    return Generation(name, tenant, GenerationState.BUILDING, RECIPE, f"table-{name}", 0, datetime.now(UTC), base=base)


def document(
    name: str, roles: Iterable[str] = ("public",), version: str = "v1", text: str = "Ciao mondo.", **more: Any
) -> tuple[DocumentState, Document]:
    acl = Acl(frozenset(roles))
    one = Document(name, "default", f"file:///{name}.md", f"{name}.md", version, "T", text, acl, **more)
    return DocumentState(name, one.name, one.uri, DocumentStatus.READY, version, acl, chunks=1), one


def publish(catalog: Any, name: str, base: str | None, **documents: Iterable[str] | None) -> None:
    """A published generation on ``base`` whose named documents have these roles (None takes one out)."""
    catalog.add_generation(building(name, base))
    catalog.put_documents(name, [document(one, roles) for one, roles in documents.items() if roles is not None])
    catalog.remove_documents(name, [one for one, roles in documents.items() if roles is None])
    catalog.update_generation(name, GenerationState.CANDIDATE, table_version=1, chunks=1)
    active = catalog.active()
    catalog.publish(name, expected=active.id if active else None)
