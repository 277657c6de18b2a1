"""Documents of `scale_texts.py` as rows of a chunk table: the same words, without an object for each chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from common import LENGTH
from scale_texts import CHUNKS, Drawn, Made, World

from fonte.ingest import stamp_of
from fonte.protocols import Terms
from fonte.stores.lance_rows import PLAIN, schema
from fonte.types import Acl, Document, DocumentState, DocumentStatus, Recipe, chunk_id, document_id, sha256_hex

TOKENS = 100
"""Codes of a chunk, where there are codes."""


class Rows:
    """Turns documents into rows."""

    def __init__(self, world: World, terms: Terms, recipe: Recipe) -> None:
        self._world = world
        self._recipe = recipe
        self._schema = schema(recipe.space.dimensions)
        self._draw = np.random.default_rng(9)
        self._words = pa.array(world.words)
        self._terms = pa.array(
            [" ".join(terms.document_terms(word, one.language)) for one in world.known for word in one.words]
        )

    def of(self, some: Drawn) -> tuple[list[Document], pa.Table]:
        """The documents, and a row for each of their chunks."""
        contents = self._joined(self._words, some.words)
        documents, columns = [], {name: [] for name in self._schema.names}
        for at, role in enumerate(some.roles):
            number = some.start + at
            texts = tuple(contents[at * CHUNKS : (at + 1) * CHUNKS])
            document = document_of(Made(number, role, self._world.language(number), texts))
            documents.append(document)
            self._add(columns, document, texts, role)
        words = some.words.reshape(-1, LENGTH)
        joined = pa.array(self._joined(self._terms, some.words))
        columns["terms"] = pc.utf8_trim(pc.replace_substring_regex(joined, "  +", " "), " ").to_pylist()
        arrays = [self._column(field, columns, words) for field in self._schema]
        return documents, pa.Table.from_arrays(arrays, schema=self._schema)

    def _joined(self, parts: pa.Array, words: npt.NDArray[np.int32]) -> list[str]:
        flat = parts.take(pa.array(words.ravel()))
        ends = pa.array(np.arange(words.size // LENGTH + 1, dtype=np.int32) * LENGTH)
        joined: list[str] = pc.binary_join(pa.ListArray.from_arrays(ends, flat), " ").to_pylist()
        return joined

    def _add(self, columns: dict[str, Any], document: Document, texts: tuple[str, ...], role: str) -> None:
        ends = np.cumsum([len(text) + 2 for text in texts]) + document.text.index("\n\n")
        starts = [int(end) - len(text) for end, text in zip(ends, texts, strict=True)]
        version, chunking = document.version, str(self._recipe.chunking)
        size = len(texts)
        columns["chunk_id"] += [
            chunk_id(document.id, version, chunking, at, at + len(text)) for at, text in zip(starts, texts, strict=True)
        ]
        columns["idx"] += range(size)
        columns["start"] += starts
        columns["end"] += [at + len(text) for at, text in zip(starts, texts, strict=True)]
        columns["content"] += texts
        columns["text_hash"] += [sha256_hex(text) for text in texts]
        same = {
            "document_id": document.id,
            "context": "",
            "section": [],
            "language": document.language,
            "tokens": LENGTH,
            "header_tokens": 0,
            "roles": [role],
            "content_hash": version,
            **dict.fromkeys(PLAIN, ""),
            "document_name": document.name,
            "source_uri": document.uri,
            "source_version": version,
            "title": document.title,
            "media_type": document.media_type,
        }
        for name, value in same.items():
            columns[name] += [value] * size

    def _column(self, field: pa.Field, columns: dict[str, Any], words: npt.NDArray[np.int32]) -> pa.Array:
        size, width = len(words), self._recipe.space.code_width
        if field.name == "vector":
            vectors = self._world.summed(words)
            return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
        if field.name == "codes":
            codes = self._draw.integers(-40, 41, size * TOKENS * width, np.int8)
            ends = np.arange(size + 1, dtype=np.int64) * (TOKENS * width)
            return pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), size, [None, pa.py_buffer(ends), pa.py_buffer(codes)]
            )
        return pa.array(columns[field.name], field.type)


def document_of(made: Made) -> Document:
    """A document as a parser might have read it."""
    uri, text = f"file:///made/{made.name}", made.text
    return Document(
        document_id("default", uri),
        "default",
        uri,
        made.name,
        sha256_hex(text),
        f"Record {made.number}",
        text,
        Acl(frozenset({made.role})),
        language=made.language,
        media_type="text/markdown",
    )


def state_of(document: Document, chunks: int, recipe: Recipe) -> DocumentState:
    """Its state."""
    return DocumentState(
        document.id,
        document.name,
        document.uri,
        DocumentStatus.READY,
        document.version,
        document.acl,
        chunks=chunks,
        language=document.language,
        stamp=stamp_of(recipe, "plain"),
        source_root="file:///made",
    )
