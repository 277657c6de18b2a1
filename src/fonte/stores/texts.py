"""Columns of a table kept in memory as they came out of it, to be read row by row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class Texts:
    """Rows of some columns, part by part, in the order of rows."""

    def __init__(self) -> None:
        self._parts: list[pa.RecordBatch] = []
        self._starts: list[int] = []
        self.size = 0
        """How many rows there are."""
        self.nbytes = 0
        """What they take in memory."""

    def add(self, part: pa.RecordBatch) -> None:
        """Take the next rows."""
        self._parts.append(part)
        self._starts.append(self.size)
        self.size += part.num_rows
        self.nbytes += part.get_total_buffer_size()

    def rows(self, wanted: Sequence[int]) -> list[dict[str, Any]]:
        """These rows by column, in the order asked."""
        found = []
        for row in wanted:
            at = bisect_right(self._starts, row) - 1
            part, place = self._parts[at], row - self._starts[at]
            found.append({name: part[name][place].as_py() for name in part.schema.names})
        return found
