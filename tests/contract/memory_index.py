"""IndexStore in plain Python: the rules of the protocol in their simplest form, to which real stores are compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fonte.errors import CorruptIndex, SpaceMismatch
from fonte.inspected import TableFacts, TableRow
from fonte.types import Acl, Generation, Hit, Principal, Query, Recipe, StoredChunk

MOST_TERMS = 64


@dataclass(frozen=True)
class Row:
    stored: StoredChunk
    terms: tuple[str, ...]
    vector: np.ndarray
    codes: np.ndarray | None = None


@dataclass
class MemoryWriter:
    store: MemoryIndex
    table: str
    dimensions: int
    code_width: int = 0
    rows: dict[str, Row] = field(default_factory=dict)

    def remove_documents(self, document_ids: Sequence[str]) -> int:
        gone = [key for key, row in self.rows.items() if row.stored.chunk.document_id in set(document_ids)]
        for key in gone:
            del self.rows[key]
        return len(gone)

    def add(
        self,
        chunks: Sequence[StoredChunk],
        terms: Sequence[Sequence[str]],
        vectors: np.ndarray,
        codes: Sequence[np.ndarray] | None = None,
    ) -> None:
        if len(terms) != len(chunks) or len(vectors) != len(chunks):
            raise ValueError("lengths differ")
        if vectors.shape[1] != self.dimensions:
            raise SpaceMismatch("another dimension")
        if not np.all(np.abs(np.linalg.norm(vectors.astype(np.float64), axis=1) - 1) <= 1e-3):
            raise ValueError("not unit vectors")
        if (codes is not None) != bool(self.code_width):
            raise SpaceMismatch("codes missing, or not wanted")
        if codes is not None and len(codes) != len(chunks):
            raise ValueError("lengths differ")
        if any(one.shape[1:] != (self.code_width,) or one.dtype != np.int8 for one in codes or ()):
            raise SpaceMismatch("another width")
        if any(one.chunk.id in self.rows for one in chunks) or len({one.chunk.id for one in chunks}) != len(chunks):
            raise ValueError("twice")
        if any(not word or any(letter.isspace() for letter in word) for words in terms for word in words):
            raise ValueError("not a term")
        for one, words, vector, coded in zip(chunks, terms, vectors, codes or [None] * len(chunks)):
            self.rows[one.chunk.id] = Row(one, tuple(words), vector, coded)

    def set_roles(self, roles: Mapping[str, frozenset[str]]) -> None:
        for key, row in self.rows.items():
            document = row.stored.chunk.document_id
            if document in roles:
                self.rows[key] = replace(row, stored=replace(row.stored, roles=roles[document]))

    def chunk_ids(self, document_id: str) -> Sequence[str]:
        return tuple(key for key, row in self.rows.items() if row.stored.chunk.document_id == document_id)

    def seal(self) -> tuple[int, int]:
        self.store.tables[self.table] = dict(self.rows)
        return 1, len(self.rows)


@dataclass(frozen=True)
class MemoryReader:
    generation: Generation
    rows: Mapping[str, Row]

    @property
    def approximate(self) -> bool:
        return False

    @property
    def word_search(self) -> str:
        return "memory"

    def get_ready(self) -> None:
        pass

    def _readable(self, query: Query, revoked: Sequence[str]) -> list[Row]:
        wanted = query.filters
        return [
            row
            for row in self.rows.values()
            if query.principal.tenant == self.generation.tenant
            and Acl(row.stored.roles).admits(query.principal)
            and row.stored.chunk.document_id not in revoked
            and (
                not wanted.documents
                or {row.stored.chunk.document_id, row.stored.document_name, row.stored.source_uri}
                & set(wanted.documents)
            )
            and (not wanted.languages or row.stored.chunk.language in wanted.languages)
            and (not wanted.media_types or row.stored.media_type in wanted.media_types)
            and (
                query.as_of is None
                or (
                    row.stored.valid_from <= query.as_of.isoformat()
                    and (not row.stored.valid_to or query.as_of.isoformat() <= row.stored.valid_to)
                )
            )
        ]

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        counts = {term: sum(term in row.terms for row in self.rows.values()) for term in terms}
        return {term: count for term, count in counts.items() if count}

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        frequencies = self.document_frequencies(sorted(set(terms)))
        words = sorted(frequencies, key=lambda term: (frequencies[term], term))
        words = words[:MOST_TERMS] if len(set(terms)) > MOST_TERMS else words
        # A chunk without terms takes no part, as in Lucene.
        lengths = [len(row.terms) for row in self.rows.values() if row.terms]
        size = len(lengths)
        average = sum(lengths) / size if size else 0.0
        hits = []
        for row in self._readable(query, revoked):
            counts, score = Counter(row.terms), 0.0
            for word in words:
                if counts[word]:
                    idf = math.log(1 + (size - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
                    norm = 1.2 * (0.25 + 0.75 * len(row.terms) / average)
                    score += idf * counts[word] * 2.2 / (counts[word] + norm)
            if score:
                hits.append(Hit(row.stored.chunk.id, row.stored.chunk.document_id, score, bm25=score))
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def dense(self, vector: np.ndarray, query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        self._check(vector)
        hits = []
        for row in self._readable(query, revoked):
            cosine = round(float(row.vector.astype(np.float64) @ vector), 6)
            hits.append(Hit(row.stored.chunk.id, row.stored.chunk.document_id, cosine, dense_distance=1 - cosine))
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _check(self, vector: np.ndarray) -> None:
        if vector.shape != (self.generation.recipe.space.dimensions,):
            raise SpaceMismatch("another dimension")
        if not abs(float(np.linalg.norm(vector)) - 1) <= 1e-3:
            raise ValueError("not a unit vector")

    def chunks(
        self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]
    ) -> dict[str, StoredChunk]:
        readable = {row.stored.chunk.id: row for row in self._readable(Query("x", principal), revoked)}
        return {key: replace(readable[key].stored, vector=readable[key].vector) for key in chunk_ids if key in readable}

    def codes(self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> dict[str, np.ndarray]:
        readable = {row.stored.chunk.id: row.codes for row in self._readable(Query("x", principal), revoked)}
        return {key: readable[key] for key in chunk_ids if readable.get(key) is not None}

    def distances(self, vector: np.ndarray, chunk_ids: Sequence[str]) -> dict[str, float]:
        self._check(vector)
        return {key: 1 - float(self.rows[key].vector @ vector) for key in chunk_ids if key in self.rows}

    def texts(self) -> Iterator[str]:
        return (row.stored.chunk.text for row in self.rows.values())

    def stored_chunks(self) -> Iterator[StoredChunk]:
        return (row.stored for row in self.rows.values())

    def facts(self) -> TableFacts:
        chunks: dict[str, list[str]] = {}
        for key, row in self.rows.items():
            chunks.setdefault(row.stored.chunk.document_id, []).append(key)
        lengths = {key: np.linalg.norm(row.vector.astype(np.float64)) for key, row in self.rows.items()}
        return TableFacts(chunks, [], [], [key for key, one in lengths.items() if not abs(one - 1) <= 1e-3])

    def whole_rows(self, chunk_ids: Sequence[str]) -> list[TableRow]:
        chosen = [self.rows[key] for key in chunk_ids if key in self.rows]
        return [TableRow(replace(one.stored, vector=one.vector), one.terms, one.codes) for one in chosen]

    def languages(self) -> Mapping[str, int]:
        return Counter(row.stored.chunk.language for row in self.rows.values())

    def centroids(self) -> Mapping[str, tuple[np.ndarray, int]]:
        grouped: dict[str, list[np.ndarray]] = {}
        for row in self.rows.values():
            grouped.setdefault(row.stored.chunk.language, []).append(row.vector)
        return {language: (np.mean(rows, axis=0), len(rows)) for language, rows in grouped.items()}


@dataclass
class MemoryIndex:
    tables: dict[str, Mapping[str, Row]] = field(default_factory=dict)
    begun: int = 0

    def begin(self, recipe: Recipe, base: Generation | None) -> MemoryWriter:
        if base is not None and base.recipe.space != recipe.space:
            raise SpaceMismatch("another space")
        self.begun += 1
        writer = MemoryWriter(self, f"table-{self.begun}", recipe.space.dimensions, recipe.space.code_width)
        if base is not None and (base.recipe.terms, base.recipe.chunking) == (recipe.terms, recipe.chunking):
            writer.rows = dict(self.open(base).rows)
        return writer

    def open(self, generation: Generation) -> MemoryReader:
        rows = self.tables.get(generation.table)
        if rows is None or len(rows) != generation.chunks:
            raise CorruptIndex("gone")
        return MemoryReader(generation, rows)

    def in_use(self, generations: Sequence[Generation]) -> list[Generation]:
        del generations
        return []

    def drop(self, keep: Sequence[Generation]) -> None:
        kept = {one.table for one in keep}
        self.tables = {name: rows for name, rows in self.tables.items() if name in kept}
