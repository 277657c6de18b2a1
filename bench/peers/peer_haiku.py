"""haiku.rag: LanceDB with full text and vectors, documents by docling."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.labels import DocItemLabel
from haiku.rag.client import HaikuRAG
from haiku.rag.client.documents import DocumentImport
from haiku.rag.config.models import AppConfig
from haiku.rag.embeddings import EmbedderWrapper
from haiku.rag.store import engine
from haiku.rag.store.models.chunk import Chunk
from work import DIMENSIONS, Document, Found, Piece, Read, Vectors


class _Given(EmbedderWrapper):
    def __init__(self, vectors: Vectors) -> None:
        super().__init__(None, DIMENSIONS)
        self._vectors = vectors

    async def _embed_query(self, text: str) -> list[float]:
        return self._vectors.query(text).tolist()

    async def _embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors.passages(texts).tolist()


class Haiku:
    """One database in a folder."""

    packages = ("haiku.rag-slim", "lancedb", "docling", "docling-core", "transformers")
    options = (
        "HaikuRAG, hybrid search, no reranker (its default); given chunks by import_documents, its own by "
        "create_document: docling's hybrid chunker, 256 tokens of multilingual-e5-small, since the default tokenizer "
        "is fetched; rights by a filter over the URI; its embedder replaced by a subclass, since it takes services only"
    )

    def __init__(self, vectors: Vectors, folder: Path, task: dict[str, Any]) -> None:
        given = _Given(vectors)
        engine.get_embedder = lambda *_, **__: given
        config = AppConfig()
        config.embeddings.model.vector_dim = DIMENSIONS
        if "tokenizer" in task:
            config.processing.chunking_tokenizer = task["tokenizer"]
        self._loop = asyncio.new_event_loop()
        self._rag = HaikuRAG(folder / "peer.lancedb", config=config, create=True)
        self._done(self._rag.__aenter__())
        self._ids: dict[str, str] = {}

    def _done(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def add(self, documents: Sequence[Document]) -> None:
        """Given chunks all at once, whole texts one by one."""
        given = [one for one in documents if one.chunks is not None]
        imports = [DocumentImport(_whole(one), _chunks(one), f"{one.role}/{one.id}", one.id) for one in given]
        for one, kept in zip(given, self._done(self._rag.import_documents(imports)), strict=True):
            self._ids[one.id] = kept.id
        for one in documents:
            if one.chunks is None:
                made = self._rag.create_document(one.text, uri=f"{one.role}/{one.id}", title=one.id)
                self._ids[one.id] = self._done(made).id

    def settle(self) -> None:
        """Let the vacuum that it starts in the background end."""
        self._done(self._rag.vacuum())

    def replace(self, document: Document) -> None:
        """Its own update, with the new chunks."""
        new = {"chunks": _chunks(document), "docling_document": _whole(document)}
        self._done(self._rag.update_document(self._ids[document.id], **new))

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """Hybrid, as it does by itself."""
        only = None if role is None else f"uri LIKE '{role}/%'"
        found = self._done(self._rag.search(question, limit=k, filter=only))
        return [Found(one.document_uri.split("/", 1)[1], one.content, one.document_uri.split("/")[0]) for one in found]

    def read(self, path: Path) -> Read:
        """Docling's document, and its chunks."""
        document = self._done(self._rag.convert(path))
        chunks = self._done(self._rag.chunk(document))
        return Read([], [Piece(one.content, pages=tuple(one.metadata.get("page_numbers", ()))) for one in chunks])

    def close(self) -> None:
        """Leave nothing open."""
        self._done(self._rag.__aexit__(None, None, None))


def _whole(document: Document) -> DoclingDocument:
    made = DoclingDocument(name=document.id)
    for text in document.chunks or ():
        made.add_text(DocItemLabel.PARAGRAPH, text)
    return made


def _chunks(document: Document) -> list[Chunk]:
    return [Chunk(content=text, order=number) for number, text in enumerate(document.chunks or ())]


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> Haiku:  # noqa: ARG001 - every peer's
    """The peer."""
    return Haiku(vectors, folder, task)
