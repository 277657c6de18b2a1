"""A peer that counts common words: stands in for a real one in the tests of the harness."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from work import Document, Found, Piece, Read, Vectors


class StandIn:
    """Ranks chunks by the words that they share with the question; ties in the order that they came in."""

    packages = ("numpy",)
    options = "counts common words"

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._documents: dict[str, Document] = {}

    def add(self, documents: Sequence[Document]) -> None:
        """Keep them."""
        for one in documents:
            self._documents[one.id] = one
            self._vectors.passages(one.chunks or (one.text,))

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """The new one for the old one."""
        self._documents[document.id] = document

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """The most common words first; what shares none is not found."""
        self._vectors.query(question)
        asked = set(question.lower().split())
        scored = []
        for one in self._documents.values():
            if role in (None, one.role):
                for text in one.chunks or (one.text,):
                    start = one.text.find(text)
                    found = Found(one.id, text, one.role, start, start + len(text))
                    scored.append((len(asked & set(text.lower().split())), found))
        ordered = sorted((one for one in scored if one[0]), key=lambda one: -one[0])
        return [found for _, found in ordered[:k]]

    def read(self, path: Path) -> Read:
        """Lines of a text; some names do what damaged files do."""
        if path.name.startswith("kills"):
            os.abort()
        if path.name.startswith("hangs"):
            while True:
                pass
        text = path.read_text("utf-8")
        read, at = Read([text]), 0
        for line in text.splitlines(keepends=True):
            if line.strip():
                read.pieces.append(Piece(line, 0, at, at + len(line)))
            at += len(line)
        return read


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> StandIn:  # noqa: ARG001 - every peer's
    """The peer."""
    return StandIn(vectors)
