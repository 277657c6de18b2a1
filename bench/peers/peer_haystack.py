"""Haystack: the document store in memory, BM25 and embeddings joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import Document as Stored
from haystack.components.converters import (
    DOCXToDocument,
    HTMLToDocument,
    MarkdownToDocument,
    PyPDFToDocument,
    TextFileToDocument,
)
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from work import Document, Found, Piece, Read, Vectors

CONVERTERS = {
    ".txt": TextFileToDocument,
    ".md": MarkdownToDocument,
    ".pdf": PyPDFToDocument,
    ".docx": DOCXToDocument,
    ".html": HTMLToDocument,
}


class Haystack:
    """Two retrievers over one store."""

    packages = ("haystack-ai", "pypdf", "python-docx", "trafilatura", "markdown-it-py")
    options = (
        "InMemoryDocumentStore(); InMemoryBM25Retriever and InMemoryEmbeddingRetriever, DocumentJoiner("
        "reciprocal_rank_fusion); DocumentSplitter() (200 words); the converter of each kind of file"
    )

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._store = InMemoryDocumentStore()
        self._bm25 = InMemoryBM25Retriever(self._store)
        self._dense = InMemoryEmbeddingRetriever(self._store)
        self._splitter = DocumentSplitter()
        self._ids: dict[str, list[str]] = {}

    def _cut(self, document: Document) -> list[Stored]:
        facts = {"document": document.id, "role": document.role}
        if document.chunks is None:
            made = self._splitter.run([Stored(content=document.text, meta=facts)])["documents"]
        else:
            made = [Stored(content=text, meta={**facts, "n": n}) for n, text in enumerate(document.chunks)]
        self._ids[document.id] = [one.id for one in made]
        return made

    def _write(self, texts: Sequence[Stored]) -> None:
        rows = self._vectors.passages([one.content or "" for one in texts])
        for one, row in zip(texts, rows, strict=True):
            one.embedding = row.tolist()
        self._store.write_documents(list(texts))

    def add(self, documents: Sequence[Document]) -> None:
        """Into the store."""
        self._write([text for one in documents for text in self._cut(one)])

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """Old ones out, new ones in."""
        self._store.delete_documents(self._ids[document.id])
        self._write(self._cut(document))

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """Joined by reciprocal ranks."""
        only = None if role is None else {"field": "meta.role", "operator": "==", "value": role}
        words = self._bm25.run(question, filters=only, top_k=k)["documents"]
        row = self._vectors.query(question).tolist()
        near = self._dense.run(row, filters=only, top_k=k)["documents"]
        joiner = DocumentJoiner("reciprocal_rank_fusion", top_k=k)
        return [_found(one) for one in joiner.run([words, near])["documents"]]

    def read(self, path: Path) -> Read:
        """The converter of its kind."""
        loaded = CONVERTERS[path.suffix]().run([path])["documents"]
        if not loaded:  # faults are logged and the file left out
            return Read(state="left out", reason="no document came out; the fault is in the log")
        read = Read([one.content or "" for one in loaded])
        for number, one in enumerate(loaded):
            paged = path.suffix == ".pdf"
            for part in self._splitter.run([one])["documents"]:
                start, text = part.meta.get("split_idx_start"), part.content or ""
                end = None if start is None else start + len(text)
                pages = tuple(range(part.meta["page_number"], part.meta["page_number"] + text.count("\f") + 1))
                read.pieces.append(Piece(text, number, start, end, pages if paged else ()))
        return read


def _found(one: Stored) -> Found:
    start, text = one.meta.get("split_idx_start"), one.content or ""
    end = None if start is None else start + len(text)
    return Found(one.meta["document"], text, one.meta["role"], start, end)


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> Haystack:  # noqa: ARG001 - every peer's
    """The peer."""
    return Haystack(vectors)
