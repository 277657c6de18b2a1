"""Writing one generation's table, in a folder that no reader knows yet."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fonte.errors import CorruptIndex
from fonte.stores.lance_errors import lance_call
from fonte.stores.lance_rows import check_codes, check_vectors, to_table
from fonte.stores.sql_filter import any_of
from fonte.types import Codes, Space, StoredChunk, Vectors

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

BUFFER_ROWS = 4096
"""Rows that wait in memory before they become one fragment."""
BUFFER_BYTES = 64 * 2**20
"""The same in bytes: codes of tokens are ten times what else there is of a row."""
FEW_FRAGMENTS = 8
MANY_FRAGMENTS = 64
ROWS_A_FRAGMENT = 10_000
"""For each so many rows a table may have a fragment, between few and many: binding them writes every row again."""
MOST_DEAD = 0.25
"""Of all rows of the table's files."""
SCALAR_INDEX_ROWS = 5000
"""From this many rows on, indexes over roles, document ids and languages pay for themselves."""
DELETE_IDS = 500
"""Ids named in one delete."""
_OLD = timedelta(milliseconds=1)
"""What is older goes when rows are bound: every version but the one that is bound."""


class LanceWriter:
    """IndexWriter over one Lance table. Deletes come before the rows that wait, whatever order they were asked in."""

    def __init__(self, table: Table, folder: Path, space: Space) -> None:
        self._table = table
        self._folder = folder
        self._space = space
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._waits: set[str] = set()
        self._doomed: set[str] = set()
        with lance_call("reading the base of the index"):
            rows = table.search().select(["chunk_id", "document_id"]).limit(None).to_arrow()
        self._chunks: dict[str, list[str]] = {}
        for chunk, document in zip(rows["chunk_id"].to_pylist(), rows["document_id"].to_pylist(), strict=True):
            self._chunks.setdefault(document, []).append(chunk)
        self._ids = {chunk for chunks in self._chunks.values() for chunk in chunks}
        self._on_disk = set(self._chunks)

    @property
    def table(self) -> str:
        """Name of the table that is being written."""
        return self._table.name

    def remove_documents(self, document_ids: Sequence[str]) -> int:
        """Drop all chunks of the documents; how many chunks went."""
        removed = 0
        for document in dict.fromkeys(document_ids):
            chunks = self._chunks.pop(document, [])
            removed += len(chunks)
            self._ids.difference_update(chunks)
            if document in self._on_disk:
                self._doomed.add(document)
            if document in self._waits:
                self._drop_waiting(document)
        return removed

    def _drop_waiting(self, document: str) -> None:
        import pyarrow.compute as pc

        self._waiting = [part.filter(pc.not_equal(part["document_id"], document)) for part in self._waiting]
        self._waiting_rows = sum(part.num_rows for part in self._waiting)
        self._waits.discard(document)

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
        if not chunks:
            return
        new = [one.chunk.id for one in chunks]
        if len(set(new)) != len(new) or not self._ids.isdisjoint(new):
            message = "a chunk would stand in the index twice"
            raise ValueError(message)
        rows = to_table(chunks, terms, checked, coded)
        for one in chunks:
            self._chunks.setdefault(one.chunk.document_id, []).append(one.chunk.id)
            self._waits.add(one.chunk.document_id)
        self._ids.update(new)
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        if self._waiting_rows >= BUFFER_ROWS or sum(part.nbytes for part in self._waiting) >= BUFFER_BYTES:
            self._flush()

    def set_roles(self, roles: Mapping[str, frozenset[str]]) -> None:
        """Give documents (by id) other reading roles without touching their text or vectors."""
        import pyarrow as pa

        self._flush()
        known = sorted(document for document in roles if document in self._on_disk)
        for start in range(0, len(known), DELETE_IDS):
            where = any_of("document_id", known[start : start + DELETE_IDS])
            with lance_call("changing reading roles"):
                rows = self._table.search().where(where).limit(None).to_arrow()
                given = [sorted(roles[document]) for document in rows["document_id"].to_pylist()]
                column = rows.schema.get_field_index("roles")
                rows = rows.set_column(column, rows.schema.field(column), pa.array(given, pa.list_(pa.utf8())))
                self._table.delete(where)
                self._table.add(rows)

    def chunk_ids(self, document_id: str) -> Sequence[str]:
        """Ids of a document's chunks in this state, in the order they were added."""
        return tuple(self._chunks.get(document_id, ()))

    def _flush(self) -> None:
        import pyarrow as pa

        doomed = sorted(self._doomed)
        with lance_call("removing old chunks"):
            for start in range(0, len(doomed), DELETE_IDS):
                self._table.delete(any_of("document_id", doomed[start : start + DELETE_IDS]))
        self._on_disk -= self._doomed
        self._doomed.clear()
        if self._waiting_rows:
            rows = pa.concat_tables(self._waiting)
            with lance_call("adding chunks"):
                self._table.add(rows)
        self._on_disk |= self._waits
        self._waits.clear()
        self._waiting, self._waiting_rows = [], 0

    def seal(self) -> tuple[int, int]:
        """Finish the indexes; (table version, chunk count).

        The text index is always built anew: it then equals that of a fresh table to the last digit, whatever was
        deleted and added before.

        Raises:
            CorruptIndex: the table does not hold exactly the chunks that were added.
        """
        self._flush()
        count = len(self._ids)
        with lance_call("sealing the index"):
            self._tidy()
            rows = self._table.count_rows()
            if rows != count:
                message = f"the index holds {rows} chunks and should hold {count}"
                raise CorruptIndex(message, hint="run fonte sync again")
            if count:
                self._build_indexes(count)
            version = self._table.version
        _sync_to_disk(self._folder)
        return version, count

    def _build_indexes(self, count: int) -> None:
        from lancedb.index import FTS, Bitmap, BTree, LabelList

        text = FTS(
            with_position=False,
            base_tokenizer="whitespace",
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        self._table.create_index("terms", config=text, replace=True)
        if count >= SCALAR_INDEX_ROWS:
            self._table.create_index("roles", config=LabelList(), replace=True)
            self._table.create_index("document_id", config=BTree(), replace=True)
            self._table.create_index("language", config=Bitmap(), replace=True)

    def _tidy(self) -> None:
        """Bind the rows in one fragment, with no other version's files, when it is time.

        Nobody reads this table yet, and other generations have their own links. Binding writes every row again, which
        would make each generation a whole copy of its base: so it waits until there are many fragments or dead rows.
        """
        # Typed as an object, and a dictionary in truth.
        statistics: Any = self._table.stats()
        found = statistics["fragment_stats"]
        written, kept = round(found["num_fragments"] * found["lengths"]["mean"]), len(self._ids)
        most = min(max(FEW_FRAGMENTS, kept // ROWS_A_FRAGMENT), MANY_FRAGMENTS)
        if found["num_fragments"] > most or (written - kept) > MOST_DEAD * written:
            self._table.optimize()
            time.sleep(2 * _OLD.total_seconds())  # the versions bound here may be younger still
            self._table.optimize(cleanup_older_than=_OLD, delete_unverified=True)


def _sync_to_disk(folder: Path) -> None:
    """Bring new files to the disk before the catalog points at them; files linked from the base are there already."""
    with lance_call("bringing the index to the disk"):
        for place, _, names in os.walk(folder):
            for path in [place, *(os.path.join(place, name) for name in names)]:  # noqa: PTH118  many short paths
                if path != place and os.stat(path).st_nlink > 1:  # noqa: PTH116 - the same
                    continue
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
