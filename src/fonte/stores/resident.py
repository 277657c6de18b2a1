"""What a generation keeps in memory while it is read: vectors, and for each chunk whose it is.

Exact search over this matrix takes half a millisecond at 10,000 chunks where the same search inside LanceDB takes 15;
filters become masks over rows, so k results come back whenever k exist. Above a size, signs say first which of the rows
that the filters admit are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fonte.errors import CorruptIndex
from fonte.stores.signs import Signs
from fonte.types import Language, Query, Vector, Vectors

if TYPE_CHECKING:
    import pyarrow as pa

_Mask = npt.NDArray[np.bool_]
_Codes = npt.NDArray[np.int32]

EXACT_ROWS = 200_000
"""Up to so many rows a question's vector is compared with all that the filters admit."""
COLUMNS = [
    "chunk_id",
    "document_id",
    "document_name",
    "source_uri",
    "media_type",
    "language",
    "roles",
    "valid_from",
    "valid_to",
    "vector",
]
"""What is read of the table, beside its row ids."""


class _Coded:
    """A column as codes into its distinct values, filled batch by batch."""

    def __init__(self, size: int) -> None:
        self.codes: _Codes = np.zeros(size, np.int32)
        self._places: dict[str, int] = {}

    def fill(self, start: int, column: pa.Array) -> None:
        """Take the values of the rows from ``start`` on."""
        encoded = column.dictionary_encode()
        places = [self._places.setdefault(value, len(self._places)) for value in encoded.dictionary.to_pylist()]
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        self.codes[start : start + len(codes)] = np.array(places, np.int32)[codes]

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The distinct values, by code."""
        return tuple(self._places)

    def where(self, wanted: frozenset[str]) -> _Mask:
        admitted = np.zeros(len(self._places), np.bool_)
        admitted[[self._places[value] for value in wanted if value in self._places]] = True
        return np.asarray(admitted[self.codes], dtype=np.bool_)

    def that(self, admits: Callable[[str], bool]) -> _Mask:
        admitted = np.fromiter((admits(value) for value in self.values), np.bool_, len(self.values))
        return np.asarray(admitted[self.codes], dtype=np.bool_)


class Resident:
    """Vectors and facts of all chunks of one table, rows as they lie in it. Nothing that a caller sees changes."""

    def __init__(
        self, batches: Iterable[pa.RecordBatch], size: int, dimensions: int, exact_rows: int = EXACT_ROWS
    ) -> None:
        """Take ``COLUMNS`` of a table of ``size`` rows, and its ``_rowid``, batch by batch.

        Raises:
            CorruptIndex: vectors that are missing or of another dimension, a chunk that stands there twice.
        """
        import pyarrow.compute as pc

        self.vectors: Vectors = np.empty((size, dimensions), np.float32)
        self.ids: list[str] = []
        self.row_ids: npt.NDArray[np.int64] = np.zeros(size, np.int64)
        self._document, self._name, self._uri, self._media = (_Coded(size) for _ in range(4))
        self._language, self._from, self._to, self._roles = (_Coded(size) for _ in range(4))
        coded = {
            "document_id": self._document,
            "document_name": self._name,
            "source_uri": self._uri,
            "media_type": self._media,
            "language": self._language,
            "valid_from": self._from,
            "valid_to": self._to,
        }
        for batch in batches:
            start, end = len(self.ids), len(self.ids) + batch.num_rows
            vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False)
            if vectors.size != batch.num_rows * dimensions or end > size:
                raise _damaged()
            # Everything is copied: one column that is kept would keep the memory of its batch, vectors and all.
            self.vectors[start:end] = vectors.reshape(batch.num_rows, dimensions)
            self.ids += batch["chunk_id"].to_pylist()
            self.row_ids[start:end] = batch["_rowid"].to_numpy(zero_copy_only=False)
            for name, column in coded.items():
                column.fill(start, batch[name])
            self._roles.fill(start, pc.binary_join(batch["roles"], "\0"))
        self.row: dict[str, int] = {chunk: at for at, chunk in enumerate(self.ids)}
        if not len(self.ids) == len(self.row) == size:
            raise _damaged()
        self._signs = Signs(self.vectors) if size > exact_rows else None
        self._last: tuple[bytes, npt.NDArray[np.float32]] = b"", np.zeros(0, np.float32)
        self._role_sets = tuple(frozenset(one.split("\0")) if one else frozenset() for one in self._roles.values)

    def document(self, row: int) -> str:
        """Id of the document that a row belongs to."""
        return self._document.values[int(self._document.codes[row])]

    def readable(self, query: Query, revoked: Sequence[str]) -> _Mask:
        """Rows that the asker may read and the filters admit, minus revoked documents."""
        held = query.principal.held_roles
        admits = np.fromiter((not held.isdisjoint(roles) for roles in self._role_sets), np.bool_, len(self._role_sets))
        mask: _Mask = np.asarray(admits[self._roles.codes], dtype=np.bool_)
        wanted = query.filters
        if wanted.documents:
            names = frozenset(wanted.documents)
            mask &= self._document.where(names) | self._name.where(names) | self._uri.where(names)
        if wanted.languages:
            mask &= self._language.where(frozenset(wanted.languages))
        if wanted.media_types:
            mask &= self._media.where(frozenset(wanted.media_types))
        if query.as_of is not None:
            day = query.as_of.isoformat()
            mask &= self._from.that(lambda first: first <= day) & self._to.that(lambda last: not last or last >= day)
        if revoked:
            mask &= ~self._document.where(frozenset(revoked))
        return mask

    def cosines(self, vector: Vector, rows: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
        """Cosine of ``vector`` with each row (all, or those named), rounded to 6 places so that ties are ties."""
        # Not `@`: on busy cores the threads of a BLAS wait for each other ten times longer than this takes.
        if rows is None or 8 * len(rows) > len(self.ids):
            raw = self._all_cosines(vector)
            chosen = raw if rows is None else raw[rows]
        else:
            chosen = np.einsum("ij,j->i", self.vectors[rows], vector)
        return np.clip(np.round(chosen.astype(np.float64), 6), -1.0, 1.0)

    def _all_cosines(self, vector: Vector) -> npt.NDArray[np.float32]:
        """With every row; the last question's are kept, for it is asked once in each language."""
        key = vector.tobytes()
        known, raw = self._last
        if known != key:
            raw = np.einsum("ij,j->i", self.vectors, vector)
            self._last = key, raw
        return raw

    def nearest(self, vector: Vector, mask: _Mask, k: int) -> list[tuple[int, float]]:
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
        for code, language in enumerate(self._language.values):
            rows = self.vectors[self._language.codes == code]
            if len(rows):
                found[language] = (rows.mean(axis=0, dtype=np.float64).astype(np.float32), len(rows))
        return found

    def languages(self) -> Mapping[Language, int]:
        """Chunks in each language."""
        counts = Counter(self._language.codes.tolist())
        return {self._language.values[code]: count for code, count in sorted(counts.items())}


def _damaged() -> CorruptIndex:
    return CorruptIndex("the index holds damaged vectors or a chunk twice", hint="run the sync again")
