"""Reading one generation in PostgreSQL. Every search filters by the asker before ``k``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fonte.inspected import TableFacts, TableRow
from fonte.stores.lance_rows import PLAIN, UNIT_TOLERANCE, check_question, to_codes, to_stored
from fonte.stores.postgres.bm25 import best, scored
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.index_open import Layout, OpenIndex
from fonte.stores.postgres.index_table import Where, admitted, readable, storable, visible
from fonte.types import Codes, Generation, Hit, Language, Principal, Query, StoredChunk, Vector, WordSearch, sha256_hex

MOST_TERMS = 64
"""Terms of a question that are searched; the rarest are kept."""
SPARE = 16
"""Rows asked for beyond k, so that a tie at k is seen and broken by id."""
COMPARED = 10_000
"""Of a large table: where an asker may read no more chunks, the vector is compared with all of them."""
SCANNED = 1000
"""Candidates of the graph that are looked at together (``hnsw.ef_search``)."""
WIDER = 8
"""So many times k come out of the graph, to be ordered exactly."""
_WITH_IDS = "SELECT c.chunk_id, c.document_id, n.distance FROM ({}) n JOIN index_chunks c ON c.number = n.number"
_BATCH = 1024
_CHUNK = (
    "c.chunk_id, c.document_id, c.idx, c.starts, c.ends, c.content, c.context, c.section, c.tokens, c.header_tokens,"
    f" c.text_hash, d.language, {', '.join(f'd.{one}' for one in PLAIN)}, d.roles"
)
_JOINED = "index_chunks c JOIN index_documents d ON d.first = c.first JOIN index_vectors v ON v.number = c.number"


class PostgresReader:
    """IndexReader of one generation."""

    def __init__(self, opened: OpenIndex, generation: Generation) -> None:
        self._opened = opened
        self._generation = generation

    @property
    def generation(self) -> Generation:
        """What is being read."""
        return self._generation

    @property
    def approximate(self) -> bool:
        """Whether ``dense`` may miss chunks: a graph is searched where an asker may read many of a large table."""
        return self._opened.approximate

    @property
    def word_search(self) -> WordSearch:
        """What answers ``bm25``: always the database's tables."""
        return "table"

    def get_ready(self) -> None:
        """Nothing is made ready in a process: the database answers."""

    def _is_stranger(self, principal: Principal) -> bool:
        return principal.tenant != self._generation.tenant

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Best ``k`` by BM25 (``bm25.scored``) among what the asker may read and the filters admit.

        N, n and the mean length are over all chunks of the generation. Of more than ``MOST_TERMS`` terms the rarest are
        searched. Order: score, then chunk id.
        """
        words = sorted({term for term in terms if term and not any(one.isspace() for one in term)})
        if not words or k < 1 or not self._opened.rows or self._is_stranger(query.principal):
            return []
        with self._opened.read() as connection:
            mask = self._opened.mask(connection, query, revoked)
            if not mask.any():
                return []
            found = self._opened.postings(connection, words)
            if len(words) > MOST_TERMS:
                rarest = sorted(found, key=lambda term: (len(found[term][0]), term))[:MOST_TERMS]
                found = {term: found[term] for term in rarest}
            layout = self._opened.layout(connection)
            scores = scored(found.values(), layout.lengths)
            sure, tied = best(scores, mask[layout.document], k)
            score = {number: float(scores[row]) for rows in (sure, tied) for row, number in _numbered(layout, rows)}
            rows = [
                *self._named(connection, layout.numbers(sure), len(sure)),
                *self._named(connection, layout.numbers(tied), k - len(sure)),
            ]
        hits = [Hit(chunk, document, score[number], bm25=score[number]) for number, chunk, document in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _named(self, connection: Connection, numbers: list[int], most: int) -> list[tuple[int, str, str]]:
        """(number, chunk id, document id) of those of the chunks that come first by id."""
        if not numbers:
            return []
        sql = "SELECT number, chunk_id, document_id FROM index_chunks WHERE number = ANY(CAST(? AS integer[]))"
        rows = connection.execute(f"{sql} ORDER BY chunk_id LIMIT ?", (numbers, most))
        return [(number, chunk, document) for number, chunk, document in rows]

    def dense(self, vector: Vector, query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Nearest ``k`` by cosine under the same rules, k whenever k exist; ties by chunk id.

        Of a large table of which the asker may read much the nearest come out of a graph, and may miss some; what comes
        is scored exactly.

        Raises:
            SpaceMismatch: a vector of another dimension. ValueError: not a unit vector.
        """
        asked = _written(check_question(vector, self._opened.dimensions))
        if k < 1 or not self._opened.rows or self._is_stranger(query.principal):
            return []
        where = admitted(self._opened.table.lineage, query, revoked)
        with self._opened.read() as connection:
            mask = self._opened.mask(connection, query, revoked)
            readable = int(self._opened.layout(connection).size[mask].sum())
            if not readable:
                return []
            found: dict[str, tuple[str, float]] = {}
            if self._opened.approximate and readable > COMPARED:
                found = self._by_graph(connection, asked, where, k)
            if len(found) < min(k, readable):
                found = self._exactly(connection, asked, where, k)
        hits = [
            Hit(chunk, document, cosine, dense_distance=1.0 - cosine) for chunk, (document, cosine) in found.items()
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _exactly(self, connection: Connection, asked: str, where: Where, k: int) -> dict[str, tuple[str, float]]:
        """At least the ``k`` nearest, with all that tie with the last of them: document and cosine by chunk."""
        sql = (
            "SELECT v.number, v.vector <#> CAST(? AS vector) AS distance FROM index_documents d"  # noqa: S608 - conditions of ours
            f" JOIN index_vectors v ON v.first = d.first WHERE {where.sql} ORDER BY distance LIMIT ?"
        )
        wanted = k + SPARE
        while True:
            found = _near(connection.execute(_WITH_IDS.format(sql), (asked, *where.values, wanted)))
            ranked = sorted((cosine for _, cosine in found.values()), reverse=True)
            if len(found) < wanted or ranked[k - 1] > ranked[-1]:
                return found
            wanted *= 4

    def _by_graph(self, connection: Connection, asked: str, where: Where, k: int) -> dict[str, tuple[str, float]]:
        """Chunks near the vector, as ``_exactly``."""
        size = self._opened.dimensions
        connection.script(
            f"SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {SCANNED};"
            " SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off"
        )
        sql = (
            "SELECT v.number, v.vector <#> CAST(? AS vector) AS distance FROM index_vectors v"  # noqa: S608 - conditions of ours
            f" WHERE v.graphed AND vector_dims(v.vector) = {size} AND (v.first IN (SELECT d.first"
            f" FROM index_documents d WHERE {where.sql})) IS TRUE"
            f" ORDER BY CAST(v.vector AS vector({size})) <=> CAST(? AS vector({size})) LIMIT ?"
        )
        found = _near(connection.execute(_WITH_IDS.format(sql), (asked, *where.values, asked, WIDER * k)))
        connection.script("SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on")
        return found

    def chunks(
        self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]
    ) -> dict[str, StoredChunk]:
        """The chunks by id in the order asked, those that the principal may not read left out."""
        rows = self._readable(f"{_CHUNK}, vector_send(v.vector) AS vector", chunk_ids, principal, revoked)
        found = {row["chunk_id"]: _stored(row) for row in rows}
        return {chunk: found[chunk] for chunk in chunk_ids if chunk in found}

    def codes(self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> dict[str, Codes]:
        """Token codes, shape (tokens, width), in the order asked; those that the principal may not read left out.

        Raises:
            CorruptIndex: codes that are damaged.
        """
        width = self._opened.code_width
        if not width:
            return {}
        rows = self._readable("c.chunk_id, c.codes", chunk_ids, principal, revoked)
        found = {row["chunk_id"]: to_codes(bytes(row["codes"]), width, row["chunk_id"]) for row in rows}
        return {chunk: found[chunk] for chunk in chunk_ids if chunk in found}

    def _readable(
        self, columns: str, chunk_ids: Sequence[str], principal: Principal, revoked: Sequence[str]
    ) -> list[Any]:
        if self._is_stranger(principal) or not chunk_ids:
            return []
        return self._rows(columns, chunk_ids, readable(self._opened.table.lineage, principal, revoked))

    def _rows(self, columns: str, chunk_ids: Sequence[str], where: Where) -> list[Any]:
        with self._opened.read() as connection:
            return connection.execute(
                f"SELECT {columns} FROM {_JOINED} WHERE c.chunk_id = ANY(CAST(? AS text[])) AND {where.sql}",  # noqa: S608 - conditions of ours
                (storable(chunk_ids), *where.values),
            ).fetchall()

    def distances(self, vector: Vector, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Exact cosine distance of the vector to each of the chunks that exist."""
        asked = _written(check_question(vector, self._opened.dimensions))
        if not chunk_ids:
            return {}
        where = visible(self._opened.table.lineage)
        with self._opened.read() as connection:
            rows = connection.execute(
                f"SELECT c.chunk_id, v.vector <#> CAST(? AS vector) FROM {_JOINED}"  # noqa: S608 - conditions of ours
                f" WHERE c.chunk_id = ANY(CAST(? AS text[])) AND {where.sql}",
                (asked, storable(chunk_ids), *where.values),
            )
            found = {chunk: 1.0 - _cosine(distance) for chunk, distance in rows}
        return {chunk: found[chunk] for chunk in chunk_ids if chunk in found}

    def languages(self) -> Mapping[Language, int]:
        """Chunks in each language."""
        return {language: count for language, (count, _) in self._opened.table.centroids.items()}

    def centroids(self) -> Mapping[Language, tuple[Vector, int]]:
        """Mean of the vectors, and number of the chunks, in each language."""
        return self._opened.centroids

    def texts(self) -> Iterator[str]:
        """Every chunk's text, context and content, whoever may read it."""
        for row in self._all("c.context, c.content"):
            yield f"{row[0]}\n{row[1]}" if row[0] else row[1]

    def stored_chunks(self) -> Iterator[StoredChunk]:
        """Every chunk without its vector, whoever may read it, in no order. Raises CorruptIndex."""
        for row in self._all(f"{_CHUNK}, NULL AS vector"):
            yield _stored(row)

    def _all(self, columns: str) -> Iterator[Any]:
        """Rows of every chunk, some hundred at once."""
        with self._opened.read() as connection:
            layout = self._opened.layout(connection)
        for start in range(0, len(layout.document), _BATCH):
            some = np.arange(start, min(start + _BATCH, len(layout.document)), dtype=np.int32)
            ids = layout.ids[np.unique(layout.document[some])].tolist()
            with self._opened.read() as connection:
                rows = connection.execute(
                    f"SELECT {columns} FROM {_JOINED} WHERE c.number = ANY(CAST(? AS integer[]))"  # noqa: S608 - columns of ours
                    " AND d.id = ANY(CAST(? AS integer[])) ORDER BY c.number",
                    (layout.numbers(some), ids),
                ).fetchall()
            yield from rows

    def facts(self) -> TableFacts:
        """What a whole pass over the table finds. Raises CorruptIndex."""
        chunks: dict[str, list[str]] = {}
        seen: set[str] = set()
        repeated, other_text, not_unit = [], [], []
        columns = "c.chunk_id, c.document_id, c.context, c.content, c.text_hash, vector_send(v.vector)"
        for chunk, document, context, content, digest, sent in self._all(columns):
            chunks.setdefault(document, []).append(chunk)
            if chunk in seen:
                repeated.append(chunk)
            seen.add(chunk)
            if sha256_hex(f"{context}\n{content}" if context else content) != digest:
                other_text.append(chunk)
            one = _vector(sent)
            if len(one) != self._opened.dimensions or not abs(float(np.linalg.norm(one)) - 1.0) <= UNIT_TOLERANCE:
                not_unit.append(chunk)
        return TableFacts(chunks, repeated, other_text, not_unit)

    def whole_rows(self, chunk_ids: Sequence[str]) -> list[TableRow]:
        """These rows as they are stored, in the order asked, whoever may read them. Raises CorruptIndex."""
        if not chunk_ids:
            return []
        columns = f"{_CHUNK}, vector_send(v.vector) AS vector, c.terms, c.codes"
        rows = self._rows(columns, chunk_ids, visible(self._opened.table.lineage))
        place = {chunk: at for at, chunk in enumerate(chunk_ids)}
        width = self._opened.code_width
        return [
            TableRow(
                _stored(row),
                tuple(row["terms"].split(" ")) if row["terms"] else (),
                to_codes(bytes(row["codes"]), width, row["chunk_id"]) if width else None,
            )
            for row in sorted(rows, key=lambda row: place[row["chunk_id"]])
        ]

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many chunks of the generation each term stands; absent terms are left out."""
        if not self._opened.rows or not terms:
            return {}
        with self._opened.read() as connection:
            return {term: len(rows) for term, (rows, _) in self._opened.postings(connection, terms).items()}


def _numbered(layout: Layout, rows: Any) -> Iterator[tuple[int, int]]:
    return zip(rows.tolist(), layout.numbers(rows), strict=True)


def _near(rows: Iterable[Any]) -> dict[str, tuple[str, float]]:
    """Document and cosine by chunk."""
    return {chunk: (document, _cosine(distance)) for chunk, document, distance in rows}


def _written(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector.astype(np.float32).tolist()))}]"


def _vector(sent: bytes) -> Vector:
    """The numbers of what ``vector_send`` gives."""
    return np.frombuffer(bytes(sent), ">f4", offset=4).astype(np.float32)


def _cosine(distance: float) -> float:
    """Out of the negative inner product; rounded to 6 places so that ties are ties."""
    return min(max(round(-float(distance), 6), -1.0), 1.0)


def _stored(row: Any) -> StoredChunk:
    named = {name: row[name] for name in row.keys()}  # noqa: SIM118 - rows iterate over values
    named |= {"start": row["starts"], "end": row["ends"], "section": json.loads(row["section"])}
    return to_stored(named, None if row["vector"] is None else _vector(row["vector"]))
