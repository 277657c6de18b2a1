"""What a process keeps of one table while it reads it: where its chunks lie, and nothing of what is in them.

Eight bytes a chunk: its number of terms and its document; of each document where its run lies. Texts, vectors and
postings stay in the database; postings of terms that were asked for are kept in a bounded memory.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fonte.errors import CorruptIndex
from fonte.stores.postgres.bm25 import Counts, Lengths, Rows
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.index_table import Table, admitted, gone, visible
from fonte.stores.postgres.packing import joined, key_of, unpacked
from fonte.stores.postgres.pins import Pin
from fonte.types import Language, Query, Space, Vector

Mask: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.int64]
Posting: TypeAlias = tuple[Rows, Counts]

POSTINGS_BYTES = 64 * 2**20
"""Memory for postings of one table."""
MASKS = 64
"""Answers to who may read what that are kept; a question asks for the same one several times."""
_TRIPLE = np.dtype(">i4")
_LENGTH = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of documents that a table sees, by the first number of their runs, and its chunks in that order."""

    ids: Integers
    first: Integers
    size: Integers
    starts: Integers
    """Place of each run's first chunk among all."""
    lengths: Lengths
    """Number of terms of each chunk."""
    document: Rows
    """Which of the rows of documents each chunk belongs to."""

    @classmethod
    def of(cls, triples: bytes, lengths: bytes) -> Layout:
        """Out of (id, first, size) of each row, ordered by ``first``, and the numbers of terms.

        Raises:
            CorruptIndex: they do not fit.
        """
        ids, first, size = np.frombuffer(triples, _TRIPLE).reshape(-1, 3).T.astype(np.int64)
        told = np.frombuffer(lengths, _LENGTH)
        if len(told) != size.sum() or np.any(first[1:] < (first + size)[:-1]):
            raise CorruptIndex(
                "documents of the index do not fit their chunks", hint="run fonte sync: it builds the index anew"
            )
        starts = np.cumsum(size) - size
        return cls(ids, first, size, starts, told, np.repeat(np.arange(len(ids), dtype=np.int32), size))

    def numbers(self, rows: Rows) -> list[int]:
        """Numbers of the chunks at these places."""
        document = self.document[rows]
        found: list[int] = (self.first[document] + rows - self.starts[document]).tolist()
        return found

    def placed(self, numbers: Integers, counts: Counts) -> Posting:
        """Places of those of the chunks that are seen, with their counts."""
        if not len(self.first):
            return np.zeros(0, np.int32), counts[:0]
        document = np.searchsorted(self.first, numbers, "right") - 1
        inside = numbers - self.first[document]
        seen = (document >= 0) & (inside < self.size[document])
        return (self.starts[document] + inside)[seen].astype(np.int32), counts[seen]


class OpenIndex:
    """A sealed table, with what is kept of it in memory. Shared by the readers of one process."""

    def __init__(self, database: PostgresDatabase, table: Table, space: Space, exact_rows: int, pin: Pin) -> None:
        """``pin`` lives as long as this."""
        self._database = database
        self._pin = pin
        self.table = table
        self.rows = table.chunks or 0
        self.dimensions = space.dimensions
        self.code_width = space.code_width
        self.approximate = table.graphed and self.rows > exact_rows
        self._lock = Lock()
        self._layout: Layout | None = None
        self._masks: OrderedDict[Any, Mask] = OrderedDict()
        self._postings: OrderedDict[str, Posting] = OrderedDict()
        self._postings_bytes = 0

    @cached_property
    def centroids(self) -> Mapping[Language, tuple[Vector, int]]:
        """Mean of the vectors, and number of the chunks, in each language."""
        told = self.table.centroids
        return {language: (np.array(json.loads(mean), np.float32), count) for language, (count, mean) in told.items()}

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction in which the table is there.

        Raises:
            CorruptIndex: it is gone. StoreUnavailable.
        """
        with self._database.read() as connection:
            sql = "SELECT FROM index_tables WHERE number = ? AND name = ?"
            if connection.execute(sql, (self.table.number, self.table.name)).fetchone() is None:
                raise gone(self.table.name)
            yield connection

    def layout(self, connection: Connection) -> Layout:
        """Where the chunks lie, read once.

        Raises:
            CorruptIndex: not as many as the table should have.
        """
        with self._lock:
            if self._layout is None:
                seen = visible(self.table.lineage)
                row = connection.execute(
                    "SELECT string_agg(int4send(d.id) || int4send(d.first) || int4send(d.size), '' ORDER BY d.first),"  # noqa: S608 - conditions of ours
                    f" string_agg(d.lengths, '' ORDER BY d.first) FROM index_documents d WHERE {seen.sql}",
                    seen.values,
                ).fetchone()
                found = Layout.of(row[0] or b"", row[1] or b"")
                if len(found.document) != self.rows:
                    message = f"the index holds {len(found.document)} chunks and should hold {self.rows}"
                    raise CorruptIndex(message, hint="run fonte sync again")
                self._layout = found
            return self._layout

    def mask(self, connection: Connection, query: Query, revoked: Sequence[str]) -> Mask:
        """Rows of documents, as the layout has them, that the asker may read and the filters admit."""
        layout = self.layout(connection)
        key = (query.principal.held_roles, query.filters, query.as_of, frozenset(revoked))
        with self._lock:
            known = self._masks.get(key)
            if known is not None:
                self._masks.move_to_end(key)
                return known
        where = admitted(self.table.lineage, query, revoked)
        row = connection.execute(
            f"SELECT string_agg(int4send(d.id), '') FROM index_documents d WHERE {where.sql}",  # noqa: S608 - conditions of ours
            where.values,
        ).fetchone()
        found = np.isin(layout.ids, np.frombuffer(row[0] or b"", _TRIPLE).astype(np.int64))
        with self._lock:
            self._masks[key] = found
            while len(self._masks) > MASKS:
                self._masks.popitem(last=False)
        return found

    def postings(self, connection: Connection, terms: Sequence[str]) -> dict[str, Posting]:
        """Places of the chunks in which each of ``terms`` stands, rising, and how often; absent ones are left out.

        Raises:
            CorruptIndex: damaged postings.
        """
        layout = self.layout(connection)
        found: dict[str, Posting] = {}
        with self._lock:
            for term in terms:
                if term in self._postings:
                    self._postings.move_to_end(term)
                    found[term] = self._postings[term]
        missing = [term for term in dict.fromkeys(terms) if term and term not in found]
        if missing:
            read = self._read_postings(connection, layout, missing)
            found |= read
            self._keep(read)
        return {term: found[term] for term in terms if term in found and len(found[term][0])}

    def _read_postings(self, connection: Connection, layout: Layout, terms: Sequence[str]) -> dict[str, Posting]:
        keys = {key_of(term): term for term in terms}
        rows = connection.execute(
            "SELECT term, body FROM index_postings WHERE family = ? AND term = ANY(CAST(? AS bytea[]))",
            (self.table.family, list(keys)),
        )
        parts: dict[str, list[Any]] = {term: [] for term in terms}
        try:
            for key, body in rows:
                parts[keys[bytes(key)]].append(unpacked(bytes(body)))
        except ValueError as error:
            raise CorruptIndex(
                "the index holds damaged postings", hint="run fonte sync: it builds the index anew"
            ) from error
        empty = np.zeros(0, np.int64), np.zeros(0, np.uint16)
        return {
            term: layout.placed(*(one[0] if len(one) == 1 else joined(one) if one else empty))
            for term, one in parts.items()
        }

    def _keep(self, read: dict[str, Posting]) -> None:
        with self._lock:
            for term, one in read.items():
                if term not in self._postings:
                    self._postings[term] = one
                    self._postings_bytes += _bytes(term, one)
            while self._postings_bytes > POSTINGS_BYTES and self._postings:
                self._postings_bytes -= _bytes(*self._postings.popitem(last=False))


def _bytes(term: str, posting: Posting) -> int:
    return 4 * len(term) + posting[0].nbytes + posting[1].nbytes + 300
