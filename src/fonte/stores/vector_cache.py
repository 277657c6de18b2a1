"""Vectors and token codes already known, by (text hash, space): a sync embeds only what is new."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from fonte.errors import CorruptIndex
from fonte.stores.statements import Database
from fonte.types import Codes, Vector

_SELECT = "SELECT text_hash, vector, codes, code_width, checksum FROM vectors WHERE space = ?"
_ASKED = 500
"""Hashes named in one statement."""
_UNIT_TOLERANCE = 1e-3


def _checksum(space: str, text_hash: str, vector: bytes, codes: bytes | None, width: int | None) -> int:
    whole = zlib.crc32(vector, zlib.crc32(f"{space}\0{text_hash}".encode()))
    return whole if codes is None else zlib.crc32(codes, zlib.crc32(f"\0{width}".encode(), whole))


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that is whole."""

    vector: bytes
    codes: bytes | None
    width: int


class SqlVectorCache:
    """VectorCache over one file. What is damaged is not known: it is computed again."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def get(self, space: str, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Those that are known and whole, as read-only float32 vectors.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        return {key: np.frombuffer(row.vector, dtype="<f4") for key, row in self._rows(space, text_hashes)}

    def codes(self, space: str, text_hashes: Sequence[str]) -> dict[str, Codes]:
        """Token codes (tokens, width), read-only, of those that are known with them and whole.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        return {
            key: np.frombuffer(row.codes, np.int8).reshape(-1, row.width)
            for key, row in self._rows(space, text_hashes)
            if row.codes is not None
        }

    def _rows(self, space: str, text_hashes: Sequence[str]) -> Iterator[tuple[str, _Row]]:
        wanted = sorted(set(text_hashes))
        for start in range(0, len(wanted), _ASKED):
            yield from self._some(space, wanted[start : start + _ASKED])

    def _some(self, space: str, wanted: Sequence[str]) -> list[tuple[str, _Row]]:
        marks = ", ".join("?" * len(wanted))
        try:
            with self.database.read() as connection:
                rows = connection.execute(f"{_SELECT} AND text_hash IN ({marks})", (space, *wanted)).fetchall()
        except CorruptIndex:
            return []
        return [
            (key, _Row(vector, codes, width or 1))
            for key, vector, codes, width, checksum in rows
            if _checksum(space, key, vector, codes, width) == checksum
            and len(vector) % 4 == 0
            and (codes is None or (width and len(codes) % width == 0))
        ]

    def put(self, space: str, vectors: Mapping[str, Vector], codes: Mapping[str, Codes] | None = None) -> None:
        """Remember unit vectors, and with each of them the codes of its text's tokens where there are some.

        Raises:
            ValueError: what is no unit vector, or codes that are no rows of int8. StoreUnavailable: the file cannot be
                written.
        """
        if not vectors:
            return
        rows = []
        for text_hash, vector in sorted(vectors.items()):
            if vector.ndim != 1 or not abs(float(np.dot(vector, vector)) - 1.0) <= 2 * _UNIT_TOLERANCE:
                message = f"the vector of text {text_hash} is no unit vector"
                raise ValueError(message)
            body = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            coded, width = _plain((codes or {}).get(text_hash), text_hash)
            rows.append((space, text_hash, body, coded, width, _checksum(space, text_hash, body, coded, width)))
        try:
            self._insert(rows)
        except CorruptIndex:
            self.database.make_anew()
            self._insert(rows)

    def count(self) -> int:
        """How many are remembered, of all spaces; none where the file is damaged.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        try:
            with self.database.read() as connection:
                return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        except CorruptIndex:
            return 0

    def prune(self, keep: Mapping[str, AbstractSet[str]]) -> int:
        """Forget all but the text hashes of ``keep``, by space; how many went. Their room is used again.

        Raises:
            StoreUnavailable, CorruptIndex
        """
        with self.database.write() as connection:
            rows = connection.execute("SELECT space, text_hash FROM vectors").fetchall()
            gone = [(space, text_hash) for space, text_hash in rows if text_hash not in keep.get(space, ())]
            connection.executemany("DELETE FROM vectors WHERE space = ? AND text_hash = ?", gone)
        return len(gone)

    def _insert(self, rows: Sequence[tuple[str, str, bytes, bytes | None, int | None, int]]) -> None:
        with self.database.write() as connection:
            connection.executemany(
                "INSERT INTO vectors (space, text_hash, vector, codes, code_width, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (space, text_hash) DO UPDATE SET vector = excluded.vector,"
                " codes = excluded.codes, code_width = excluded.code_width, checksum = excluded.checksum",
                rows,
            )

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _plain(codes: Codes | None, text_hash: str) -> tuple[bytes | None, int | None]:
    if codes is None:
        return None, None
    if codes.ndim != 2 or codes.dtype != np.int8 or not codes.shape[1]:  # noqa: PLR2004 - tokens, numbers
        message = f"the codes of text {text_hash} are no rows of int8"
        raise ValueError(message)
    return codes.tobytes(), codes.shape[1]
