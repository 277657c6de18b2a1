"""Documents of `scale_texts.py` handed to the store's writer and the catalog, without parsing, cutting or a cache."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

from common import LENGTH
from scale_texts import Made, World

from fonte.ingest import stamp_of
from fonte.parts import Parts
from fonte.protocols import TokenCoder
from fonte.types import (
    Acl,
    Chunk,
    Document,
    DocumentState,
    DocumentStatus,
    Generation,
    GenerationState,
    StoredChunk,
    chunk_id,
    document_id,
    sha256_hex,
)

BATCH = 50
"""Documents written together."""


class WriterBuilder:
    """Documents that wait, written as a generation."""

    def __init__(self, parts: Parts, world: World) -> None:
        self._parts = parts
        self._world = world
        self._store = parts.stores.tenant("default")
        self._terms: dict[tuple[str, str], list[str]] = {}
        self._waiting: Iterable[Made] = ()

    def put(self, documents: Iterable[Made]) -> None:
        """Take documents for the next generation."""
        self._waiting = documents

    def build(self, *, publish: bool = True) -> int:
        """Write what waits over the active generation; how many chunks there are then."""
        catalog, recipe = self._store.catalog, self._parts.recipe
        active = catalog.active()
        writer = self._store.index.begin(recipe, active)
        name = "g" + uuid.uuid4().hex[:16]
        base = active.id if active else None
        now = datetime.now(UTC)
        catalog.add_generation(
            Generation(name, "default", GenerationState.BUILDING, recipe, writer.table, 0, now, base=base)
        )
        batch: list[Made] = []

        def write() -> None:
            made = [self._document(one) for one in batch]
            if active is not None:
                writer.remove_documents([state.document_id for state, _, _ in made])
            stored = [one for _, _, chunks in made for one in chunks]
            texts = [one.chunk.text for one in stored]
            coded = None
            if recipe.space.codec and isinstance(self._parts.embedder, TokenCoder):
                coded = self._parts.embedder.encode_passages(texts)[1]
            terms = [self._terms_of(one.chunk) for one in stored]
            writer.add(stored, terms, self._world.vectors(texts), coded)
            catalog.put_documents(name, [(state, document) for state, document, _ in made])
            batch.clear()

        for one in self._waiting:
            batch.append(one)
            if len(batch) == BATCH:
                write()
        if batch:
            write()
        version, count = writer.seal()
        catalog.update_generation(name, GenerationState.CANDIDATE, table_version=version, chunks=count)
        if publish:
            catalog.publish(name, expected=base)
        return count

    def _terms_of(self, chunk: Chunk) -> list[str]:
        """The analyser's terms word by word, remembered: the made-up words' terms do not depend on their neighbours."""
        found: list[str] = []
        for word in chunk.content.split():
            key = (word, chunk.language)
            known = self._terms.get(key)
            if known is None:
                known = self._terms[key] = self._parts.terms.document_terms(word, chunk.language)
            found += known
        return found

    def _document(self, made: Made) -> tuple[DocumentState, Document, list[StoredChunk]]:
        uri, text = f"file:///made/{made.name}", made.text
        identity, version, acl = document_id("default", uri), sha256_hex(text), Acl(frozenset({made.role}))
        document = Document(
            identity,
            "default",
            uri,
            made.name,
            version,
            f"Record {made.number}",
            text,
            acl,
            language=made.language,
            media_type="text/markdown",
        )
        recipe, stored, at = self._parts.recipe, [], 0
        for number, content in enumerate(made.chunks):
            at = text.index(content, at)
            end = at + len(content)
            chunk = Chunk(
                chunk_id(identity, version, str(recipe.chunking), at, end),
                identity,
                number,
                at,
                end,
                content,
                language=made.language,
                tokens=LENGTH,
            )
            stored.append(StoredChunk.of(document, chunk, acl.roles))
        state = DocumentState(
            identity,
            made.name,
            uri,
            DocumentStatus.READY,
            version,
            acl,
            chunks=len(stored),
            language=made.language,
            stamp=stamp_of(recipe, "plain"),
            source_root="file:///made",
        )
        return state, document, stored
