"""Documents of `scale_texts.py` handed to the store's writer and the catalog, without parsing, cutting or a cache."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from common import LENGTH
from scale_bulk import Rows, document_of, state_of
from scale_texts import CHUNKS, Made, World

from fonte.parts import Parts
from fonte.protocols import TokenCoder
from fonte.store_protocols import IndexWriter
from fonte.stores.lance_index import SUFFIX
from fonte.stores.lance_start import lancedb
from fonte.stores.lance_writer import LanceWriter
from fonte.types import (
    Chunk,
    Document,
    DocumentState,
    Generation,
    GenerationState,
    StoredChunk,
    chunk_id,
)

BATCH = 50
"""Documents written together."""


class WriterBuilder:
    """Documents that wait, written as a generation."""

    def __init__(self, parts: Parts, world: World, folder: Path) -> None:
        """``folder`` is the tenant's."""
        self._parts = parts
        self._folder = folder
        self._world = world
        self._store = parts.stores.tenant("default")
        self._terms: dict[tuple[str, str], list[str]] = {}
        self._waiting: Iterable[Made] = ()

    def put(self, documents: Iterable[Made]) -> None:
        """Take documents for the next generation."""
        self._waiting = documents

    def build(self, *, publish: bool = True) -> int:
        """Write what waits over the active generation, if there is one; how many chunks there are then."""
        catalog, recipe = self._store.catalog, self._parts.recipe
        active = catalog.active()
        writer = self._store.index.begin(recipe, active)
        name, base = "g" + uuid.uuid4().hex[:16], active.id if active else None
        catalog.add_generation(
            Generation(name, "default", GenerationState.BUILDING, recipe, writer.table, 0, datetime.now(UTC), base=base)
        )
        for batch in _batches(self._waiting):
            made = [self._document(one) for one in batch]
            writer.remove_documents([state.document_id for state, _, _ in made])
            stored = [one for _, _, chunks in made for one in chunks]
            texts = [one.chunk.text for one in stored]
            encoder = self._parts.embedder
            coded = encoder.encode_passages(texts)[1] if isinstance(encoder, TokenCoder) and encoder.codec else None
            writer.add(stored, [self._terms_of(one.chunk) for one in stored], self._world.vectors(texts), coded)
            catalog.put_documents(name, [(state, document) for state, document, _ in made])
        return self._sealed(name, writer, base if publish else None, publish=publish)

    def build_by_columns(self, documents: int) -> int:
        """Write the first generation column by column; how many chunks it has."""
        catalog, recipe = self._store.catalog, self._parts.recipe
        rows = Rows(self._world, self._parts.terms, recipe)
        table = self._store.index.begin(recipe, None).table
        folder = self._folder / "lance"
        name = "g" + uuid.uuid4().hex[:16]
        catalog.add_generation(
            Generation(name, "default", GenerationState.BUILDING, recipe, table, 0, datetime.now(UTC))
        )
        filled = lancedb().connect(folder).open_table(table)
        for some in self._world.drawn(documents):
            made, part = rows.of(some)
            filled.add(part)
            catalog.put_documents(name, [(state_of(one, CHUNKS, recipe), one) for one in made])
        writer = LanceWriter(filled, folder / f"{table}{SUFFIX}", recipe.space)
        return self._sealed(name, writer, None, publish=True)

    def _sealed(self, name: str, writer: IndexWriter, expected: str | None, *, publish: bool) -> int:
        version, count = writer.seal()
        catalog = self._store.catalog
        catalog.update_generation(name, GenerationState.CANDIDATE, table_version=version, chunks=count)
        if publish:
            catalog.publish(name, expected=expected)
        return count

    def _terms_of(self, chunk: Chunk) -> list[str]:
        """The analyser's terms word by word, remembered: the made-up words' terms do not depend on their neighbours."""
        found: list[str] = []
        for word in chunk.content.lower().replace(".", "").split():
            key = (word, chunk.language)
            known = self._terms.get(key)
            if known is None:
                known = self._terms[key] = self._parts.terms.document_terms(word, chunk.language)
            found += known
        return found

    def _document(self, made: Made) -> tuple[DocumentState, Document, list[StoredChunk]]:
        document, recipe = document_of(made), self._parts.recipe
        stored, at = [], 0
        for number, content in enumerate(made.chunks):
            at = document.text.index(content, at)
            end = at + len(content)
            chunk = Chunk(
                chunk_id(document.id, document.version, str(recipe.chunking), at, end),
                document.id,
                number,
                at,
                end,
                content,
                language=made.language,
                tokens=LENGTH,
            )
            stored.append(StoredChunk.of(document, chunk, document.acl.roles))
        return state_of(document, len(stored), recipe), document, stored


def _batches(documents: Iterable[Made]) -> Iterator[list[Made]]:
    rest = iter(documents)
    while batch := list(islice(rest, BATCH)):
        yield batch
