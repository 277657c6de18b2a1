"""txtai: an embeddings database with content, hybrid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from txtai import Embeddings
from txtai.pipeline import Segmentation, Textractor
from work import Document, Found, Piece, Read, Vectors


class Txtai:
    """Rows of text with facts beside them."""

    packages = ("txtai", "faiss-cpu", "torch", "transformers", "liteparse", "beautifulsoup4")
    options = (
        "Embeddings(hybrid, content, external vectors with instructions for questions and passages); SQL for rights; "
        "Textractor(paragraphs, backend liteparse), Segmentation(paragraphs) where a text is cut: without either it "
        "keeps a document whole"
    )

    def __init__(self, vectors: Vectors) -> None:
        def transform(texts: list[str]) -> Any:
            return vectors.prefixed(texts)

        prefixes = {"query": "query: ", "data": "passage: "}
        self._index = Embeddings(
            method="external", transform=transform, hybrid=True, content=True, instructions=prefixes
        )
        self._cutter = Segmentation(paragraphs=True)
        self._ids: dict[str, list[str]] = {}

    def _rows(self, document: Document) -> list[tuple[str, dict[str, str]]]:
        texts = self._cutter(document.text) if document.chunks is None else document.chunks
        rows = [
            (f"{document.id}:{n}", {"text": text, "document": document.id, "role": document.role})
            for n, text in enumerate(texts)
        ]
        self._ids[document.id] = [one for one, _ in rows]
        return rows

    def add(self, documents: Sequence[Document]) -> None:
        """A new index."""
        self._index.index(row for one in documents for row in self._rows(one))

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """Old rows out, new ones in."""
        self._index.delete(self._ids[document.id])
        self._index.upsert(self._rows(document))

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """Hybrid; the facts by SQL."""
        where = "" if role is None else " and role = :role"
        sql = f"select id, text, document, role from txtai where similar(:asked){where} limit {k}"  # noqa: S608 - numbers and names of ours
        found = self._index.search(sql, limit=k, parameters={"asked": question, "role": role})
        return [Found(one["document"], one["text"], one["role"]) for one in found]

    def read(self, path: Path) -> Read:
        """Text by paragraphs."""
        texts = Textractor(paragraphs=True, backend="liteparse")(str(path))
        return Read([], [Piece(text) for text in texts])


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> Txtai:  # noqa: ARG001 - every peer's
    """The peer."""
    return Txtai(vectors)
