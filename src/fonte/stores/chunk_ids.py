"""Ids of the rows of a table in both directions, in a tenth of the room of strings and a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class ChunkIds:
    """Ids by row. Filled once, batch by batch, and then ``close``d."""

    def __init__(self, size: int) -> None:
        """Room for ``size`` ids."""
        self._ids = np.zeros(size, "S1")
        self._order = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self._ids)

    def fill(self, start: int, column: pa.Array) -> None:
        """Take the ids of the rows from ``start`` on."""
        import pyarrow as pa

        if not len(column):
            return
        ids = np.array(column.cast(pa.binary()).to_pylist(), np.bytes_)
        if ids.dtype.itemsize > self._ids.dtype.itemsize:
            self._ids = self._ids.astype(ids.dtype)
        self._ids[start : start + len(ids)] = ids

    def close(self) -> bool:
        """Be ready to look ids up; False where one stands there twice."""
        self._order = np.argsort(self._ids, kind="stable").astype(np.int32)
        ordered = self._ids[self._order]
        return not bool(np.any(ordered[1:] == ordered[:-1]))

    def __getitem__(self, row: int) -> str:
        """The id of a row."""
        return str(self._ids[row], "utf-8")

    def rows(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the ids that exist, in the order given, each once."""
        if not ids or not len(self._ids):
            return {}
        wanted = [one for one in dict.fromkeys(ids) if "\0" not in one]  # with which it would equal the id before it
        asked = np.array([one.encode("utf-8", "surrogatepass") for one in wanted], np.bytes_)
        places = np.searchsorted(self._ids, asked, sorter=self._order)
        rows = self._order[np.minimum(places, len(self._order) - 1)]
        found = self._ids[rows] == asked
        return {one: int(row) for one, row, there in zip(wanted, rows, found, strict=True) if there}
