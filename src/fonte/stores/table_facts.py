"""A whole pass over a Lance table in batches, and single rows as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fonte.errors import CorruptIndex
from fonte.inspected import TableFacts, TableRow
from fonte.stores.lance_errors import lance_call
from fonte.stores.lance_rows import STORED, UNIT_TOLERANCE, to_codes, to_stored
from fonte.stores.sql_filter import any_of
from fonte.types import sha256_hex

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

_BATCH_ROWS = 4096
_COLUMNS = ["chunk_id", "document_id", "context", "content", "text_hash", "vector"]


def facts_of(table: Table, dimensions: int) -> TableFacts:
    """What every row says. Memory: the ids, and one batch.

    Raises:
        CorruptIndex: vectors that are missing or of another dimension.
    """
    chunks: dict[str, list[str]] = {}
    seen: set[str] = set()
    repeated: list[str] = []
    other_text: list[str] = []
    not_unit: list[str] = []
    with lance_call("checking the index"):
        for batch in table.search().select(_COLUMNS).limit(None).to_batches(_BATCH_ROWS):
            ids = batch["chunk_id"].to_pylist()
            for chunk, document in zip(ids, batch["document_id"].to_pylist(), strict=True):
                chunks.setdefault(document, []).append(chunk)
                if chunk in seen:
                    repeated.append(chunk)
                seen.add(chunk)
            other_text += _other_text(batch, ids)
            not_unit += [ids[row] for row in _not_unit(batch, dimensions)]
    return TableFacts(chunks, repeated, other_text, not_unit)


def _other_text(batch: pa.RecordBatch, ids: Sequence[str]) -> list[str]:
    columns = (batch[name].to_pylist() for name in ("context", "content", "text_hash"))
    texts = zip(ids, *columns, strict=True)
    return [
        chunk
        for chunk, context, content, digest in texts
        if sha256_hex(f"{context}\n{content}" if context else content) != digest
    ]


def _not_unit(batch: pa.RecordBatch, dimensions: int) -> list[int]:
    flat = batch["vector"].flatten().to_numpy(zero_copy_only=False)
    if flat.size != batch.num_rows * dimensions:
        raise CorruptIndex(
            f"the index holds vectors that are not of {dimensions} dimensions", hint="run fonte sync again"
        )
    rows = flat.reshape(batch.num_rows, dimensions)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return [int(row) for row in np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))]


def rows_of(table: Table, chunk_ids: Sequence[str], dimensions: int, code_width: int) -> list[TableRow]:
    """These rows, in no order.

    Raises:
        CorruptIndex: a row that is damaged.
    """
    if not chunk_ids:
        return []
    with lance_call("checking the index"):
        columns = [*STORED, "terms", "vector", "codes"]
        rows = table.search().where(any_of("chunk_id", list(chunk_ids))).select(columns).limit(None).to_arrow()
    vectors = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
    return [
        TableRow(
            to_stored(row, np.asarray(vector, np.float32)),
            tuple(row["terms"].split(" ")) if row["terms"] else (),
            to_codes(row["codes"], code_width, row["chunk_id"]) if code_width else None,
        )
        for row, vector in zip(rows.to_pylist(), vectors, strict=True)
    ]
