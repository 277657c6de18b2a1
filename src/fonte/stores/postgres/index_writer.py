"""Writing one generation's table in PostgreSQL: rows that no reader sees before the alias moves to the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from fonte.errors import CorruptIndex
from fonte.stores.lance_rows import PLAIN, check_codes, check_vectors, joined_terms
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.copying import body, flag, insert, number, text, texts
from fonte.stores.postgres.copying import vector as vector_field
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.index_table import Table, storable, visible
from fonte.stores.postgres.packing import Collected
from fonte.stores.postgres.pins import Pin
from fonte.types import Codes, Space, StoredChunk, Vectors

BUFFER_ROWS = 4096
"""Chunks that wait in memory before they are written."""
BUFFER_BYTES = 64 * 2**20
"""The same in bytes."""
BLOCK_POSTINGS = 4_000_000
"""Postings that wait in memory before they become a block: some 60 megabytes."""
_TOGETHER = 10_000
"""Chunks that one statement deletes."""
_FACTS = ("document_id", "document_name", "source_uri", "source_version", "title", "media_type", "language")
_DOCUMENTS = ("id", "born", "first", "size", "lengths", "postings", *_FACTS, "valid_from", "valid_to", "roles")
_CHUNKS = (
    "number", "first", "chunk_id", "document_id", "idx", "starts", "ends", "content", "context", "section", "tokens",
    "header_tokens", "terms", "text_hash", "codes",
)  # fmt: skip
_facts_of = attrgetter("chunk.document_id", "chunk.language", "roles", *PLAIN)
"""What all chunks of a run have in common."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    stored: StoredChunk
    terms: Sequence[str]
    vector: bytes
    codes: bytes


@dataclass(frozen=True, slots=True)
class _Run:
    """A row of index_documents that the table sees, with the chunks that it points to."""

    id: int
    first: int
    size: int
    own: bool
    """Whether this writer wrote the row."""
    lent: bool
    """Whether the chunks are the base's."""


class PostgresWriter:
    """IndexWriter over one table."""

    def __init__(self, database: PostgresDatabase, table: Table, space: Space, graph_rows: int, pin: Pin) -> None:
        """``table`` is not sealed. Vectors of more than ``graph_rows`` chunks are put into the graph.

        ``pin`` lives until the table is sealed, or as long as this.
        """
        self._pin: Pin | None = pin
        self._database = database
        self._table = table
        self._space = space
        self._graph_rows = graph_rows
        self._graphed = table.graphed
        self._runs: dict[str, list[_Run]] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._waiting_bytes = 0
        self._taken: list[_Run] = []
        self._collected = Collected()
        seen = visible(table.lineage)
        with database.read() as connection:
            rows = connection.execute(
                f"SELECT d.id, d.document_id, d.first, d.size FROM index_documents d WHERE {seen.sql} ORDER BY d.first",  # noqa: S608 - conditions of ours
                seen.values,
            )
            for identity, document, first, size in rows:
                self._runs.setdefault(document, []).append(_Run(identity, first, size, own=False, lent=True))

    @property
    def table(self) -> str:
        """Name of the table that is being written."""
        return self._table.name

    @property
    def _stored(self) -> int:
        return sum(run.size for runs in self._runs.values() for run in runs)

    def remove_documents(self, document_ids: Sequence[str]) -> int:
        """Drop all chunks of the documents; how many chunks went."""
        removed = 0
        for document in dict.fromkeys(document_ids):
            runs = self._runs.pop(document, [])
            self._taken += runs
            removed += sum(run.size for run in runs)
        gone = set(document_ids)
        waiting = [key for key, one in self._waiting.items() if one.stored.chunk.document_id in gone]
        for key in waiting:
            del self._waiting[key]
        return removed + len(waiting)

    def add(
        self,
        chunks: Sequence[StoredChunk],
        terms: Sequence[Sequence[str]],
        vectors: Vectors,
        codes: Sequence[Codes] | None = None,
    ) -> None:
        """Add chunks with their terms, unit vectors and, where the space has a codec, the codes of their tokens.

        Raises:
            SpaceMismatch: vectors or codes of another dimension, codes that are missing, or that the space does not
                have. ValueError: lengths that differ, rows that are not unit vectors, a chunk that is there already.
        """
        if len(terms) != len(chunks):
            message = f"{len(chunks)} chunks with {len(terms)} lists of terms"
            raise ValueError(message)
        checked = check_vectors(vectors, len(chunks), self._space.dimensions)
        coded = check_codes(codes, len(chunks), self._space.code_width)
        for words in terms:
            joined_terms(words)
        new = [one.chunk.id for one in chunks]
        if len(set(new)) != len(new) or not self._waiting.keys().isdisjoint(new) or self._any_stored(new):
            message = "a chunk would stand in the index twice"
            raise ValueError(message)
        rows = checked.astype(">f4")
        for at, one in enumerate(chunks):
            self._waiting[one.chunk.id] = _Waiting(one, terms[at], rows[at].tobytes(), coded[at])
        self._waiting_bytes += rows.nbytes + sum(map(len, coded)) + sum(len(one.chunk.content) for one in chunks)
        if len(self._waiting) >= BUFFER_ROWS or self._waiting_bytes >= BUFFER_BYTES:
            self._flush()

    def _any_stored(self, chunk_ids: Sequence[str]) -> bool:
        if not self._runs:
            return False
        held = {run.first for runs in self._runs.values() for run in runs}
        with self._database.read() as connection:
            sql = "SELECT first FROM index_chunks WHERE chunk_id = ANY(CAST(? AS text[]))"
            return any(first in held for (first,) in connection.execute(sql, (storable(chunk_ids),)))

    def chunk_ids(self, document_id: str) -> Sequence[str]:
        """Ids of a document's chunks in this state, in the order they were added."""
        runs = self._runs.get(document_id, ())
        numbers = [number for run in runs for number in range(run.first, run.first + run.size)]
        with self._database.read() as connection:
            sql = "SELECT chunk_id FROM index_chunks WHERE number = ANY(CAST(? AS integer[])) ORDER BY number"
            rows = connection.execute(sql, (numbers,)) if numbers else ()
            stored = [chunk for (chunk,) in rows]
        return (*stored, *(key for key, one in self._waiting.items() if one.stored.chunk.document_id == document_id))

    def set_roles(self, roles: Mapping[str, frozenset[str]]) -> None:
        """Give documents (by id) other reading roles without touching their text or vectors."""
        self._flush()
        known = {run: document for document in roles for run in self._runs.get(document, ())}
        if not known:
            return
        others = [run for run in known if not run.own]
        with self._database.write() as connection:
            for run, document in known.items():
                if run.own:
                    sql = "UPDATE index_documents SET roles = CAST(? AS text[]) WHERE id = ?"
                    connection.execute(sql, (sorted(roles[document]), run.id))
            start = reserve(connection, documents=len(others)).documents
            for at, run in enumerate(others, start):
                self._replace(connection, run, at, sorted(roles[known[run]]))
        for at, run in enumerate(others, start):
            runs = self._runs[known[run]]
            runs[runs.index(run)] = _Run(at, run.first, run.size, own=True, lent=True)

    def _replace(self, connection: Connection, run: _Run, identity: int, roles: Sequence[str]) -> None:
        """A row as another one has it, with other roles, in its place."""
        same = ", ".join(("first", "size", "lengths", "postings", *_FACTS, "valid_from", "valid_to"))
        connection.execute("INSERT INTO index_removed (document, by) VALUES (?, ?)", (run.id, self._table.number))
        connection.execute(
            f"INSERT INTO index_documents (id, born, roles, {same}) SELECT CAST(? AS integer), CAST(? AS integer),"  # noqa: S608 - columns of ours
            f" CAST(? AS text[]), {same} FROM index_documents WHERE id = ?",
            (identity, self._table.number, roles, run.id),
        )

    def _flush(self) -> None:
        if not self._waiting and not self._taken:
            return
        with self._database.write() as connection:
            self._take_away(connection)
            runs = self._write(connection) if self._waiting else {}
            if self._collected.size >= BLOCK_POSTINGS:
                self._write_block(connection)
        self._taken, self._waiting, self._waiting_bytes = [], {}, 0
        for document, new in runs.items():
            self._runs.setdefault(document, []).extend(new)

    def _take_away(self, connection: Connection) -> None:
        base = [run.id for run in self._taken if not run.own]
        own = [run for run in self._taken if run.own]
        if base:
            connection.execute(
                "INSERT INTO index_removed (document, by) SELECT one, CAST(? AS integer)"
                " FROM unnest(CAST(? AS integer[])) AS one",
                (self._table.number, base),
            )
        if own:
            sql = "DELETE FROM index_documents WHERE id = ANY(CAST(? AS integer[]))"
            connection.execute(sql, ([run.id for run in own],))
            remove_runs(connection, [(run.first, run.size) for run in own if not run.lent])

    def _write(self, connection: Connection) -> dict[str, list[_Run]]:
        """Write what waits; the new runs by document."""
        groups: dict[Any, list[_Waiting]] = {}
        for one in self._waiting.values():
            groups.setdefault(_facts_of(one.stored), []).append(one)
        reserved = reserve(connection, documents=len(groups), chunks=len(self._waiting))
        ordered = [one for group in groups.values() for one in group]
        different = self._collected.add(reserved.chunks, [one.terms for one in ordered])
        self._graphed = self._graphed or self._stored + len(ordered) > self._graph_rows
        at = reserved.chunks
        documents, chunks, vectors = [], [], []
        runs: dict[str, list[_Run]] = {}
        for identity, group in enumerate(groups.values(), reserved.documents):
            offset = at - reserved.chunks
            postings = sum(different[offset : offset + len(group)])
            documents.append(self._document_row(identity, at, group, postings))
            for place, one in enumerate(group, at):
                chunks.append(_chunk_row(place, at, one))
                fields = (
                    number(place),
                    number(at),
                    flag(self._graphed),
                    vector_field(one.vector, self._space.dimensions),
                )
                vectors.append(fields)
            new = _Run(identity, at, len(group), own=True, lent=False)
            runs.setdefault(group[0].stored.chunk.document_id, []).append(new)
            at += len(group)
        insert(connection, "index_documents", _DOCUMENTS, documents)
        insert(connection, "index_chunks", _CHUNKS, chunks)
        insert(connection, "index_vectors", ("number", "first", "graphed", "vector"), vectors)
        return runs

    def _document_row(self, identity: int, first: int, group: Sequence[_Waiting], postings: int) -> tuple[bytes, ...]:
        one = group[0].stored
        lengths = np.array([len(waiting.terms) for waiting in group], "<u4").tobytes()
        named = {name: getattr(one, name) for name in PLAIN}
        facts = {**named, "document_id": one.chunk.document_id, "language": one.chunk.language}
        return (
            *map(number, (identity, self._table.number, first, len(group))),
            body(lengths),
            number(postings),
            *(text(facts[name]) for name in (*_FACTS, "valid_from", "valid_to")),
            texts(sorted(one.roles)),
        )

    def _write_block(self, connection: Connection) -> None:
        if self._collected.size:
            write_block(connection, self._table.family, self._collected)

    def seal(self) -> tuple[int, int]:
        """Finish the index; (number of the table, chunk count).

        Raises:
            CorruptIndex: the table does not hold exactly the chunks that were added.
        """
        self._flush()
        count, seen = self._stored, visible(self._table.lineage)
        with self._database.write() as connection:
            self._write_block(connection)
            graphed = self._graphed and self._filled_graph(connection)
            rows = connection.execute(
                "SELECT d.language, count(*), CAST(avg(v.vector) AS text) FROM index_documents d"  # noqa: S608 - conditions of ours
                f" JOIN index_vectors v ON v.first = d.first WHERE {seen.sql} GROUP BY d.language",
                seen.values,
            )
            centroids = {language: (size, mean) for language, size, mean in rows}
            held = sum(size for size, _ in centroids.values())
            if held != count:
                message = f"the index holds {held} chunks and should hold {count}"
                raise CorruptIndex(message, hint="run fonte sync again")
            connection.execute(
                "UPDATE index_tables SET chunks = ?, graphed = ?, centroids = CAST(? AS jsonb) WHERE number = ?",
                (count, graphed, json.dumps(centroids), self._table.number),
            )
        self._pin = None
        return self._table.number, count

    def _filled_graph(self, connection: Connection) -> bool:
        """Mark what the table sees and is not in the graph yet; False where there is no graph of this dimension."""
        name = f"index_vectors_graph_{self._space.dimensions}"
        sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_indexes WHERE schemaname = 'fonte' AND indexname = ?)"
        if not connection.execute(sql, (name,)).fetchone()[0]:
            return False
        if not self._table.graphed:
            seen = visible(self._table.lineage)
            connection.execute(
                "UPDATE index_vectors SET graphed = true WHERE NOT graphed"  # noqa: S608 - conditions of ours
                f" AND first IN (SELECT d.first FROM index_documents d WHERE {seen.sql})",
                seen.values,
            )
        return True


@dataclass(frozen=True, slots=True)
class Reserved:
    """First numbers of those that were reserved."""

    tables: int
    documents: int
    chunks: int
    blocks: int


def reserve(
    connection: Connection, *, tables: int = 0, documents: int = 0, chunks: int = 0, blocks: int = 0
) -> Reserved:
    """Numbers that nobody else gets."""
    last = connection.execute(
        "INSERT INTO index_counters (one, tables, documents, chunks, blocks) VALUES (1, ?, ?, ?, ?)"
        " ON CONFLICT (one) DO UPDATE SET tables = index_counters.tables + excluded.tables,"
        " documents = index_counters.documents + excluded.documents,"
        " chunks = index_counters.chunks + excluded.chunks, blocks = index_counters.blocks + excluded.blocks"
        " RETURNING tables, documents, chunks, blocks",
        (tables, documents, chunks, blocks),
    ).fetchone()
    asked = (tables, documents, chunks, blocks)
    return Reserved(*(int(one) - size + 1 for one, size in zip(last, asked, strict=True)))


def remove_runs(connection: Connection, runs: Sequence[tuple[int, int]]) -> None:
    """Delete the chunks of runs, each told by its first number and size."""
    numbers = [number for first, size in runs for number in range(first, first + size)]
    for start in range(0, len(numbers), _TOGETHER):
        for table in ("index_chunks", "index_vectors"):
            sql = f"DELETE FROM {table} WHERE number = ANY(CAST(? AS integer[]))"  # noqa: S608 - names of ours
            connection.execute(sql, (numbers[start : start + _TOGETHER],))


def write_block(connection: Connection, family: int, collected: Collected) -> None:
    """Write postings as a new block of a family."""
    size, block = collected.size, reserve(connection, blocks=1).blocks
    rows = ((number(family), body(key), number(block), body(found)) for key, found in collected.take())
    insert(connection, "index_postings", ("family", "term", "block", "body"), rows)
    connection.execute("INSERT INTO index_blocks (family, block, postings) VALUES (?, ?, ?)", (family, block, size))


def _chunk_row(place: int, first: int, waiting: _Waiting) -> tuple[bytes, ...]:
    chunk = waiting.stored.chunk
    return (
        number(place),
        number(first),
        text(chunk.id),
        text(chunk.document_id),
        *map(number, (chunk.index, chunk.start, chunk.end)),
        text(chunk.content),
        text(chunk.context),
        text(json.dumps(chunk.section, ensure_ascii=False)),
        *map(number, (chunk.tokens, chunk.header_tokens)),
        text(" ".join(waiting.terms)),
        text(chunk.text_hash),
        body(waiting.codes),
    )
