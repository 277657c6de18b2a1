"""Vectors already known, by (text hash, space): a sync embeds only what is new."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np

from fonte.errors import CorruptIndex
from fonte.stores.sqlite import Database
from fonte.types import Vector

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE vectors (
    space TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (space, text_hash)
) WITHOUT ROWID;
"""
_SELECT = "SELECT text_hash, vector, checksum FROM vectors WHERE space = ?"
_ASKED = 500
"""Hashes named in one statement."""
_UNIT_TOLERANCE = 1e-3


def _checksum(space: str, text_hash: str, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(f"{space}\0{text_hash}".encode()))


class SqliteVectorCache:
    """VectorCache over one file. What is damaged is not known: it is computed again."""

    def __init__(self, path: Path, *, prepare: Callable[[], None] | None = None) -> None:
        """Nothing is created before the first ``put``."""
        make = prepare or (lambda: path.parent.mkdir(mode=0o700, parents=True, exist_ok=True))
        self._path = path
        self._database = Database(path, _SCHEMA, SCHEMA_VERSION, durable=False, prepare=make)

    def get(self, space: str, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Those that are known and whole, as read-only float32 vectors.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        wanted = sorted(set(text_hashes))
        found: dict[str, Vector] = {}
        try:
            with self._database.read() as connection:
                for start in range(0, len(wanted), _ASKED):
                    part = wanted[start : start + _ASKED]
                    marks = ", ".join("?" * len(part))
                    rows = connection.execute(f"{_SELECT} AND text_hash IN ({marks})", (space, *part))
                    for text_hash, body, checksum in rows:
                        if _checksum(space, text_hash, body) == checksum and len(body) % 4 == 0:
                            found[text_hash] = np.frombuffer(body, dtype="<f4")
        except CorruptIndex:
            return {}
        return found

    def put(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """Remember unit vectors.

        Raises:
            ValueError: what is no unit vector. StoreUnavailable: the file cannot be written.
        """
        if not vectors:
            return
        rows = []
        for text_hash, vector in sorted(vectors.items()):
            if vector.ndim != 1 or not abs(float(np.dot(vector, vector)) - 1.0) <= 2 * _UNIT_TOLERANCE:
                message = f"the vector of text {text_hash} is no unit vector"
                raise ValueError(message)
            body = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            rows.append((space, text_hash, body, _checksum(space, text_hash, body)))
        try:
            self._insert(rows)
        except CorruptIndex:
            self._start_anew()
            self._insert(rows)

    def count(self) -> int:
        """How many are remembered, of all spaces; none where the file is damaged.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        try:
            with self._database.read() as connection:
                return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        except CorruptIndex:
            return 0

    def prune(self, keep: Mapping[str, AbstractSet[str]]) -> int:
        """Forget all but the text hashes of ``keep``, by space; how many went. Their room is used again.

        Raises:
            StoreUnavailable, CorruptIndex
        """
        with self._database.write() as connection:
            rows = connection.execute("SELECT space, text_hash FROM vectors").fetchall()
            gone = [(space, text_hash) for space, text_hash in rows if text_hash not in keep.get(space, ())]
            connection.executemany("DELETE FROM vectors WHERE space = ? AND text_hash = ?", gone)
        return len(gone)

    def _insert(self, rows: Sequence[tuple[str, str, bytes, int]]) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (space, text_hash, vector, checksum) VALUES (?, ?, ?, ?)", rows
            )

    def _start_anew(self) -> None:
        """Remove a damaged file: it holds nothing that cannot be computed again."""
        self._database.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._database.close()
