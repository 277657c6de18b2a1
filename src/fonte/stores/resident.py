"""What a generation keeps in memory while it is read: vectors, and for each chunk whose it is.

Exact search over this matrix takes half a millisecond at 10,000 chunks where the same search inside LanceDB takes 15;
filters become masks over rows, so k results come back whenever k exist. Above a size, signs say first which of the rows
that the filters admit are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fonte.errors import CorruptIndex
from fonte.stores.chunk_ids import ChunkIds
from fonte.stores.document_facts import FACTS, DocumentFacts, Mask
from fonte.stores.signs import Signs
from fonte.types import Language, Query, Vector, Vectors

if TYPE_CHECKING:
    import pyarrow as pa

EXACT_ROWS = 200_000
"""Up to so many rows a question's vector is compared with all that the filters admit."""
NUMBERS = ("idx", "start", "end", "tokens", "header_tokens")
COLUMNS = ["chunk_id", *FACTS, *NUMBERS, "vector"]
"""What is read of the table, beside its row ids."""
_BLOCK = 8192
"""Rows that are added up at once."""
_TOGETHER = 128
"""Rows that lie apart and are compared at once."""


class Resident:
    """Vectors and facts of all chunks of one table, rows as they lie in it. Nothing that a caller sees changes."""

    def __init__(
        self, batches: Iterable[pa.RecordBatch], size: int, dimensions: int, exact_rows: int = EXACT_ROWS
    ) -> None:
        """Take ``COLUMNS`` of a table of ``size`` rows, and its ``_rowid``, batch by batch.

        Raises:
            CorruptIndex: vectors that are missing or of another dimension, a chunk that stands there twice.
        """
        self.vectors: Vectors = np.empty((size, dimensions), np.float32)
        self.ids = ChunkIds(size)
        self.row_ids: npt.NDArray[np.int64] = np.zeros(size, np.int64)
        self._numbers: npt.NDArray[np.int32] = np.zeros((size, len(NUMBERS)), np.int32)
        self._facts = DocumentFacts(size)
        end = 0
        for batch in batches:
            start, end = end, end + batch.num_rows
            vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False)
            if vectors.size != batch.num_rows * dimensions or end > size:
                raise _damaged()
            # Everything is copied: one column that is kept would keep the memory of its batch, vectors and all.
            self.vectors[start:end] = vectors.reshape(batch.num_rows, dimensions)
            self.ids.fill(start, batch["chunk_id"])
            self.row_ids[start:end] = batch["_rowid"].to_numpy(zero_copy_only=False)
            for at, name in enumerate(NUMBERS):
                self._numbers[start:end, at] = batch[name].to_numpy(zero_copy_only=False)
            self._facts.fill(start, batch)
        if end != size or not self.ids.close():
            raise _damaged()
        self._signs = Signs(self.vectors) if size > exact_rows else None
        self._last: tuple[bytes, npt.NDArray[np.float32]] = b"", np.zeros(0, np.float32)

    def facts(self, row: int) -> dict[str, Any]:
        """What is kept of a row, by column."""
        numbers = dict(zip(NUMBERS, self._numbers[row].tolist(), strict=True))
        return {"chunk_id": self.ids[row], **self._facts.of(row), **numbers}

    def document(self, row: int) -> str:
        """Id of the document that a row belongs to."""
        return self._facts.document(row)

    def readable(self, query: Query, revoked: Sequence[str]) -> Mask:
        """Rows that the asker may read and the filters admit, minus revoked documents. Not to be changed."""
        return self._facts.readable(query, revoked)

    def cosines(self, vector: Vector, rows: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
        """Cosine of ``vector`` with each row (all, or those named), rounded to 6 places so that ties are ties."""
        # Not `@`: on busy cores the threads of a BLAS wait for each other ten times longer than this takes.
        if rows is None or 8 * len(rows) > len(self.ids):
            raw = self._all_cosines(vector)
            chosen = raw if rows is None else raw[rows]
        else:
            # Block by block, so that what is copied stays in the caches.
            blocks = (rows[start : start + _TOGETHER] for start in range(0, len(rows), _TOGETHER))
            chosen = np.zeros(0, np.float32)
            if len(rows):
                chosen = np.concatenate([np.einsum("ij,j->i", self.vectors[block], vector) for block in blocks])
        return np.clip(np.round(chosen.astype(np.float64), 6), -1.0, 1.0)

    def _all_cosines(self, vector: Vector) -> npt.NDArray[np.float32]:
        """With every row; the last question's are kept, for it is asked once in each language."""
        key = vector.tobytes()
        known, raw = self._last
        if known != key:
            raw = np.einsum("ij,j->i", self.vectors, vector)
            self._last = key, raw
        return raw

    def nearest(self, vector: Vector, mask: Mask, k: int) -> list[tuple[int, float]]:
        """The ``k`` rows of the mask with the highest cosine, ties by chunk id: (row, cosine).

        Of a large table those of the rows that signs tell to be near; k come back whenever the mask holds k.
        """
        rows = np.flatnonzero(mask).astype(np.int64)
        if not rows.size or k < 1:
            return []
        if self._signs is not None:
            rows = self._signs.nearest(vector, rows, k)
        cosines = self.cosines(vector, rows)
        if rows.size > k:
            floor = np.partition(cosines, rows.size - k)[rows.size - k]
            kept = cosines >= floor
            rows, cosines = rows[kept], cosines[kept]
        found = sorted(zip(cosines.tolist(), rows.tolist(), strict=True), key=lambda one: (-one[0], self.ids[one[1]]))
        return [(row, cosine) for cosine, row in found[:k]]

    @cached_property
    def centroids(self) -> Mapping[Language, tuple[Vector, int]]:
        """Mean vector, not of unit length, and number of the chunks in each language."""
        found = {}
        for language, rows in self._facts.languages().items():
            total = np.zeros(self.vectors.shape[1])
            for start in range(0, len(rows), _BLOCK):
                total += self.vectors[rows[start : start + _BLOCK]].sum(axis=0, dtype=np.float64)
            found[language] = (total / len(rows)).astype(np.float32), len(rows)
        return found

    @cached_property
    def languages(self) -> Mapping[Language, int]:
        """Chunks in each language."""
        return {language: len(rows) for language, rows in self._facts.languages().items()}


def _damaged() -> CorruptIndex:
    return CorruptIndex("the index holds damaged vectors or a chunk twice", hint="run fonte sync again")
