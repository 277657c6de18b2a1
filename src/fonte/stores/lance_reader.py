"""Reading one generation's table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fonte.errors import CorruptIndex
from fonte.inspected import TableFacts, TableRow
from fonte.stores.lance_errors import lance_call
from fonte.stores.lance_rows import CODES, STORED, TEXTS, check_question, to_codes, to_stored
from fonte.stores.open_table import OpenTable
from fonte.stores.postings import Postings
from fonte.stores.sql_filter import readable
from fonte.stores.table_facts import facts_of, rows_of
from fonte.types import Codes, Generation, Hit, Language, Principal, Query, StoredChunk, Vector, WordSearch

MOST_TERMS = 64
"""Terms of a question that are searched; the rarest are kept."""
SPARE = 16
"""Hits asked for beyond k, so that a tie at k is seen and broken by id."""

_BATCH = 1024
"""Rows turned into chunks at once, so that memory stays bounded."""


class LanceReader:
    """IndexReader of one generation. Every search filters by the asker before ``k``."""

    def __init__(self, opened: OpenTable, generation: Generation) -> None:
        self._opened = opened
        self._generation = generation

    @property
    def generation(self) -> Generation:
        """What is being read."""
        return self._generation

    @property
    def approximate(self) -> bool:
        """Whether ``dense`` may miss chunks: signs tell which of those that the asker may read are compared."""
        return self._opened.approximate

    @property
    def word_search(self) -> WordSearch:
        """What answers ``bm25`` at this moment; its results do not depend on it."""
        return self._opened.word_search

    def get_ready(self) -> None:
        """Make in the background what answers ``bm25`` from memory; the table answers until it is there."""
        self._opened.get_ready()

    def _is_stranger(self, principal: Principal) -> bool:
        return principal.tenant != self._generation.tenant

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Best ``k`` by BM25 (k1 1.2, b 0.75) among what the asker may read and the filters admit.

        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
        idf = ln(1 + (N - n + 0.5) / (n + 0.5)); N, n and the mean length are over all chunks of the generation that
        have terms. Of more than ``MOST_TERMS`` terms the rarest are searched. Order: score, then chunk id.
        """
        words = sorted({term for term in terms if term and not any(one.isspace() for one in term)})
        if len(words) > MOST_TERMS:
            counts = self._opened.frequencies.of(words)
            words = sorted(counts, key=lambda term: (counts[term], term))[:MOST_TERMS]
        if not words or k < 1 or not self._opened.rows or self._is_stranger(query.principal):
            return []
        postings = self._opened.postings
        if postings is not None:
            return self._from_memory(postings, words, query, revoked, k)
        where, wanted = readable(query, revoked), k + SPARE
        while True:
            found = self._match(words, where, wanted)
            if len(found) < wanted or found[k - 1].score > found[-1].score:
                return sorted(found, key=lambda hit: (-hit.score, hit.chunk_id))[:k]
            wanted *= 4

    def _from_memory(
        self, postings: Postings, words: Sequence[str], query: Query, revoked: Sequence[str], k: int
    ) -> list[Hit]:
        resident = self._opened.resident
        rows, scores = postings.best(words, resident.readable(query, revoked), k)
        found = [(resident.ids[row], row, score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
        found.sort(key=lambda one: (-one[2], one[0]))
        return [Hit(chunk, resident.document(row), score=score, bm25=score) for chunk, row, score in found[:k]]

    def _match(self, words: Sequence[str], where: str, limit: int) -> list[Hit]:
        from lancedb.query import FullTextOperator, MatchQuery

        match = MatchQuery(
            " ".join(words),
            "terms",
            boost=1.0,
            fuzziness=0,
            max_expansions=50,
            operator=FullTextOperator.OR,
            prefix_length=0,
            document_granularity=None,
        )
        with lance_call("searching words"):
            found = (
                self._opened.table.search(match, query_type="fts")
                .where(where, prefilter=True)
                .limit(limit)
                .select(["chunk_id", "document_id", "_score"])
                .to_arrow()
            )
        columns = (found["chunk_id"].to_pylist(), found["document_id"].to_pylist(), found["_score"].to_pylist())
        return [
            Hit(chunk_id=chunk, document_id=document, score=score, bm25=score)
            for chunk, document, score in zip(*columns, strict=True)
        ]

    def dense(self, vector: Vector, query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Nearest ``k`` by cosine distance under the same rules, k whenever k exist; ties by chunk id.

        Of a large index (``approximate``) the nearest of a share of what the rules admit; what comes is scored exactly.

        Raises:
            SpaceMismatch: a vector of another dimension. ValueError: not a unit vector.
        """
        checked = check_question(vector, self._opened.dimensions)
        if k < 1 or not self._opened.rows or self._is_stranger(query.principal):
            return []
        resident = self._opened.resident
        nearest = resident.nearest(checked, resident.readable(query, revoked), k)
        return [
            Hit(resident.ids[row], resident.document(row), score=cosine, dense_distance=1.0 - cosine)
            for row, cosine in nearest
        ]

    def chunks(
        self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]
    ) -> dict[str, StoredChunk]:
        """The chunks by id in the order asked, those that the principal may not read left out."""
        rows = self._readable_rows(chunk_ids, principal, revoked)
        if not rows:
            return {}
        resident = self._opened.resident
        found = zip(rows, self._taken(list(rows.values()), TEXTS), strict=True)
        return {
            chunk: to_stored({**resident.facts(rows[chunk]), **text}, resident.vectors[rows[chunk]])
            for chunk, text in found
        }

    def _readable_rows(self, chunk_ids: Sequence[str], principal: Principal, revoked: Sequence[str]) -> dict[str, int]:
        """The rows of those of the chunks that exist and that the principal may read, in the order asked, each once."""
        if not chunk_ids or not self._opened.rows or self._is_stranger(principal):
            return {}
        resident = self._opened.resident
        readable = resident.readable(Query("any", principal), revoked)
        return {chunk: row for chunk, row in resident.ids.rows(chunk_ids).items() if readable[row]}

    def _taken(self, rows: Sequence[int], columns: list[str]) -> list[dict[str, Any]]:
        """Columns of rows out of memory or the table, in the order asked."""
        kept = self._opened.kept(columns)
        if kept is not None:
            return kept.rows(rows)
        wanted = [int(one) for one in self._opened.resident.row_ids[rows]]
        with lance_call("reading chunks"):
            found = self._opened.table.take_row_ids(wanted).select(columns).with_row_id().to_arrow()
        by_id = {row.pop("_rowid"): row for row in found.to_pylist()}
        if len(by_id) != len(wanted):
            raise CorruptIndex("chunks are gone from the index", hint="run fonte sync again")
        return [by_id[one] for one in wanted]

    def codes(self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> dict[str, Codes]:
        """Token codes, shape (tokens, width), in the order asked; those that the principal may not read left out.

        They are read from the disk, not kept: they are ten times as large as all else of a chunk.

        Raises:
            CorruptIndex: codes that are damaged.
        """
        width = self._opened.code_width
        rows = self._readable_rows(chunk_ids, principal, revoked) if width else {}
        if not rows:
            return {}
        found = zip(rows, self._taken(list(rows.values()), CODES), strict=True)
        return {chunk: to_codes(row["codes"], width, chunk) for chunk, row in found}

    def distances(self, vector: Vector, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Exact cosine distance of the vector to each of the chunks that exist."""
        checked = check_question(vector, self._opened.dimensions)
        if not self._opened.rows:
            return {}
        resident = self._opened.resident
        known = resident.ids.rows(chunk_ids)
        cosines = resident.cosines(checked, np.array(list(known.values()), np.int64))
        return {chunk: 1.0 - float(cosine) for chunk, cosine in zip(known, cosines, strict=True)}

    def languages(self) -> Mapping[Language, int]:
        """Chunks in each language."""
        return self._opened.resident.languages if self._opened.rows else {}

    def centroids(self) -> Mapping[Language, tuple[Vector, int]]:
        """Mean of the vectors, and number of the chunks, in each language."""
        return self._opened.resident.centroids if self._opened.rows else {}

    def texts(self) -> Iterator[str]:
        """Every chunk's text, context and content, whoever may read it."""
        with lance_call("reading texts"):
            rows = self._opened.table.search().select(["context", "content"]).limit(None).to_arrow()
        for context, content in zip(rows["context"].to_pylist(), rows["content"].to_pylist(), strict=True):
            yield f"{context}\n{content}" if context else content

    def stored_chunks(self) -> Iterator[StoredChunk]:
        """Every chunk without its vector, whoever may read it, in no order.

        Raises:
            CorruptIndex: a row that is damaged.
        """
        with lance_call("reading chunks"):
            rows = self._opened.table.search().select(STORED).limit(None).to_arrow()
        for batch in rows.to_batches(max_chunksize=_BATCH):
            for row in batch.to_pylist():
                yield to_stored(row, None)

    def facts(self) -> TableFacts:
        """What a whole pass over the table finds. Raises CorruptIndex."""
        return facts_of(self._opened.table, self._opened.dimensions)

    def whole_rows(self, chunk_ids: Sequence[str]) -> list[TableRow]:
        """These rows as they are stored, in the order asked, whoever may read them. Raises CorruptIndex."""
        found = rows_of(self._opened.table, chunk_ids, self._opened.dimensions, self._opened.code_width)
        place = {chunk: at for at, chunk in enumerate(chunk_ids)}
        return sorted(found, key=lambda row: place[row.stored.chunk.id])

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many chunks of the generation each term stands; absent terms are left out."""
        return self._opened.frequencies.of(terms) if self._opened.rows else {}


def check_count(opened: OpenTable, generation: Generation) -> None:
    """Refuse a table that is not what the catalog says.

    Raises:
        CorruptIndex
    """
    if opened.rows != generation.chunks:
        message = f"generation {generation.id} should hold {generation.chunks} chunks, its table holds {opened.rows}"
        raise CorruptIndex(message, hint="run fonte sync again")
