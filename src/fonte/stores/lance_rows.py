"""Chunks to table rows and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fonte.errors import CorruptIndex, SpaceMismatch
from fonte.types import Chunk, Codes, StoredChunk, Vector, Vectors

if TYPE_CHECKING:
    import pyarrow as pa

UNIT_TOLERANCE = 1e-3
"""How far from 1 the length of a unit vector may be."""

PLAIN = ("document_name", "source_uri", "source_version", "title", "media_type", "valid_from", "valid_to")
"""Columns that are strings of StoredChunk under the same name."""

STORED = [
    "chunk_id",
    "document_id",
    "idx",
    "start",
    "end",
    "content",
    "context",
    "section",
    "language",
    "tokens",
    "header_tokens",
    "roles",
    *PLAIN,
    "text_hash",
]
"""Columns that ``to_stored`` reads; the vector comes from what is kept in memory."""
TEXTS = ["content", "context", "section", "text_hash"]
"""Those of them that are not always in memory."""
CODES = ["codes"]


def schema(dimensions: int) -> pa.Schema:
    """Columns of a chunk table for vectors of ``dimensions``.

    ``codes`` holds the tokens' codes one after the other, a byte a number; it is empty where the space has no codec.
    """
    import pyarrow as pa

    text, number = pa.utf8(), pa.int32()
    return pa.schema(
        [
            pa.field("chunk_id", text, nullable=False),
            pa.field("document_id", text, nullable=False),
            pa.field("idx", number, nullable=False),
            pa.field("start", number, nullable=False),
            pa.field("end", number, nullable=False),
            pa.field("content", text, nullable=False),
            pa.field("context", text, nullable=False),
            pa.field("section", pa.list_(text), nullable=False),
            pa.field("language", text, nullable=False),
            pa.field("tokens", number, nullable=False),
            pa.field("header_tokens", number, nullable=False),
            pa.field("terms", text, nullable=False),
            pa.field("roles", pa.list_(text), nullable=False),
            *(pa.field(name, text, nullable=False) for name in PLAIN),
            pa.field("content_hash", text, nullable=False),
            pa.field("text_hash", text, nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False),
            pa.field("codes", pa.large_binary(), nullable=False),
        ]
    )


def check_question(vector: Vector, dimensions: int) -> Vector:
    """A question's vector as contiguous float32.

    Raises:
        SpaceMismatch: a vector of another dimension. ValueError: not a unit vector.
    """
    if vector.shape != (dimensions,):
        message = f"a question's vector of shape {vector.shape} for {dimensions} dimensions"
        raise SpaceMismatch(message, hint="ask with the model that the index was built with")
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        message = f"a question's vector is not a unit vector (length {length:.4g})"
        raise ValueError(message)
    return np.ascontiguousarray(vector, dtype=np.float32)


def check_vectors(vectors: Vectors, rows: int, dimensions: int) -> Vectors:
    """``vectors`` as contiguous float32 of shape (rows, dimensions).

    Raises:
        SpaceMismatch: another dimension. ValueError: another number of rows, values that are not finite, rows that
        are not of unit length.
    """
    if vectors.ndim != 2 or vectors.shape[0] != rows:  # noqa: PLR2004  a matrix
        message = f"{rows} chunks need {rows} vectors, got shape {vectors.shape}"
        raise ValueError(message)
    if vectors.shape[1] != dimensions:
        message = f"vectors of {vectors.shape[1]} dimensions for a space of {dimensions}"
        raise SpaceMismatch(message, hint="run fonte sync: it builds the index anew")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    bad = np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))
    if bad.size:
        message = f"vector {bad[0]} is not a unit vector (length {lengths[bad[0]]:.4g})"
        raise ValueError(message)
    return np.ascontiguousarray(vectors, dtype=np.float32)


def check_codes(codes: Sequence[Codes] | None, rows: int, width: int) -> list[bytes]:
    """Codes of ``rows`` chunks as bytes; empty ones where the space has no codec (``width`` 0).

    Raises:
        SpaceMismatch: codes that are missing, of another width, or that the space does not have. ValueError: another
        number of chunks.
    """
    if (codes is not None) != bool(width):
        message = f"chunks {'with' if codes is not None else 'without'} codes for a space of code width {width}"
        raise SpaceMismatch(message, hint="run fonte sync: it builds the index anew with the model in force")
    if codes is None:
        return [b""] * rows
    if len(codes) != rows:
        message = f"{rows} chunks with codes of {len(codes)}"
        raise ValueError(message)
    for one in codes:
        if one.ndim != 2 or one.shape[1] != width or one.dtype != np.int8:  # noqa: PLR2004  tokens, numbers
            message = f"token codes of shape {one.shape} and kind {one.dtype} for a code width of {width}"
            raise SpaceMismatch(message, hint="run fonte sync: it builds the index anew with the model in force")
    return [one.tobytes() for one in codes]


def to_codes(body: bytes, width: int, chunk: str) -> Codes:
    """The codes (tokens, width) of ``check_codes``, read-only.

    Raises:
        CorruptIndex: bytes that are no whole number of codes.
    """
    if len(body) % width:
        message = f"chunk {chunk} of the index has damaged token codes"
        raise CorruptIndex(message, hint="run fonte sync again")
    return np.frombuffer(body, np.int8).reshape(-1, width)


def joined_terms(terms: Sequence[str]) -> str:
    """Terms as the text index reads them, one space between.

    Raises:
        ValueError: an empty term, or one that holds white space and would become two.
    """
    joined = " ".join(terms)
    if joined.split() != list(terms):
        wrong = next(term for term in terms if term.split() != [term])
        message = f"not one term: {wrong!r}"
        raise ValueError(message)
    return joined


def to_table(
    stored: Sequence[StoredChunk], terms: Sequence[Sequence[str]], vectors: Vectors, codes: Sequence[bytes]
) -> pa.Table:
    """Rows of checked chunks, terms, vectors and codes, in order."""
    import pyarrow as pa

    chunks = [one.chunk for one in stored]
    columns: dict[str, Any] = {
        "chunk_id": [chunk.id for chunk in chunks],
        "document_id": [chunk.document_id for chunk in chunks],
        "idx": [chunk.index for chunk in chunks],
        "start": [chunk.start for chunk in chunks],
        "end": [chunk.end for chunk in chunks],
        "content": [chunk.content for chunk in chunks],
        "context": [chunk.context for chunk in chunks],
        "section": [list(chunk.section) for chunk in chunks],
        "language": [chunk.language for chunk in chunks],
        "tokens": [chunk.tokens for chunk in chunks],
        "header_tokens": [chunk.header_tokens for chunk in chunks],
        "terms": [joined_terms(words) for words in terms],
        "roles": [sorted(one.roles) for one in stored],
        **{name: [getattr(one, name) for one in stored] for name in PLAIN},
        "content_hash": [one.source_version for one in stored],
        "text_hash": [chunk.text_hash for chunk in chunks],
        "codes": codes,
    }
    wanted = schema(vectors.shape[1])
    arrays = [
        pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
        if field.name == "vector"
        else pa.array(columns[field.name], field.type)
        for field in wanted
    ]
    return pa.Table.from_arrays(arrays, schema=wanted)


def to_stored(row: Mapping[str, Any], vector: Vector | None) -> StoredChunk:
    """A row read back, with its vector where it is given.

    Raises:
        CorruptIndex: a row whose text does not have the hash that its vector was made under, or not its range.
    """
    try:
        chunk = Chunk(
            id=row["chunk_id"],
            document_id=row["document_id"],
            index=row["idx"],
            start=row["start"],
            end=row["end"],
            content=row["content"],
            context=row["context"],
            section=tuple(row["section"]),
            language=row["language"],
            tokens=row["tokens"],
            header_tokens=row["header_tokens"],
        )
    except ValueError as error:
        message = f"chunk {row['chunk_id']} of the index is damaged: {error}"
        raise CorruptIndex(message) from error
    if chunk.text_hash != row["text_hash"]:
        message = f"chunk {chunk.id} does not have the text that its vector was made from"
        raise CorruptIndex(message, hint="run fonte sync again")
    return StoredChunk(chunk=chunk, roles=frozenset(row["roles"]), vector=vector, **{name: row[name] for name in PLAIN})
