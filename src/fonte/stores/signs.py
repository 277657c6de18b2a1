"""Which rows of a large matrix may be nearest to a vector, told by signs.

Of each vector less their mean, a bit says of every coordinate whether it is above 0. The bits that differ between two
vectors tell the angle between them roughly (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC
2002), in a thirty-second of the room. Rows with few differences are then compared whole, so that what is found is
scored exactly, and only a row whose signs say too little of it is missed. Coordinates are turned at random first, so
that each bit says about as much as any other.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fonte.types import Vector, Vectors

Rows: TypeAlias = npt.NDArray[np.int64]
LEAST = 4096
"""Rows that are compared whole, whatever the size; where an asker may read no more, nothing is approximate."""
SHARE = 32
"""One in so many rows is compared whole, where that is more."""
_STRIDE = 32_768
"""Rows compared at once, so that what is between stays in the caches."""
_SAMPLE = 20_000
_SEED = 41
_BYTES = 8


class Signs:
    """The signs of the rows of a matrix."""

    def __init__(self, vectors: Vectors) -> None:
        """Take the signs of vectors (n, dim), n above 0."""
        size, dimensions = vectors.shape
        self._mean = vectors[:: max(1, size // _SAMPLE)].mean(axis=0)
        drawn = np.random.default_rng(_SEED).standard_normal((dimensions, dimensions))
        self._turn = np.linalg.qr(drawn)[0].astype(np.float32)
        words = -(-dimensions // (8 * _BYTES))
        # A word of all rows lies together: one pass over them compares 64 coordinates.
        self._words = np.zeros((words, size), np.uint64)
        for start in range(0, size, _STRIDE):
            part = vectors[start : start + _STRIDE]
            self._words[:, start : start + len(part)] = self._of(part).T
        self._last: tuple[bytes, npt.NDArray[np.uint16]] = b"", np.zeros(0, np.uint16)

    def _of(self, vectors: Vectors) -> npt.NDArray[np.uint64]:
        bits = np.packbits((vectors - self._mean) @ self._turn > 0, axis=1)
        filled = np.zeros((len(bits), _BYTES * len(self._words)), np.uint8)
        filled[:, : bits.shape[1]] = bits
        return filled.view(np.uint64)

    def nearest(self, vector: Vector, rows: Rows, k: int) -> Rows:
        """Those of ``rows`` with the fewest differences, ties included: at least ``k``, and all where they are few."""
        wanted = max(LEAST, len(rows) // SHARE, k)
        if len(rows) <= wanted:
            return rows
        differ = self._differences(vector)[rows]
        most = np.searchsorted(np.cumsum(np.bincount(differ)), wanted)
        return rows[differ <= most]

    def _differences(self, vector: Vector) -> npt.NDArray[np.uint16]:
        """How many signs of each row differ; the last question's are kept, for it is asked once in each language."""
        key = vector.tobytes()
        known, found = self._last
        if known != key:
            asked = self._of(vector[np.newaxis])[0]
            found = np.zeros(self._words.shape[1], np.uint16)
            for start in range(0, len(found), _STRIDE):
                part = found[start : start + _STRIDE]
                for plane, word in zip(self._words, asked, strict=True):
                    part += np.bitwise_count(plane[start : start + _STRIDE] ^ word)
            self._last = key, found
        return found
