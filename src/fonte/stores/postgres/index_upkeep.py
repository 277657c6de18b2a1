"""Removing what no generation needs any more, and keeping postings in few blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.copying import body, insert, number
from fonte.stores.postgres.index_table import Table, tables
from fonte.stores.postgres.index_writer import remove_runs, reserve
from fonte.stores.postgres.packing import joined, packed, unpacked

MOST_DEAD = 0.25
"""Of all postings."""
GROWTH = 2
"""A block has at least so many times the postings of the next."""
_TOGETHER = 2000
"""Postings of terms read at once, where blocks are bound."""


def drop(
    connection: Connection, keep: Collection[str], free: Callable[[str], bool], *, bare: bool = False
) -> list[str]:
    """Remove tables not named in ``keep`` that are free, and all rows that none of the others sees; what stays unkept.

    With ``bare`` nothing is left of a row that was removed, also not in postings.
    """
    known = tables(connection)
    doomed = [one for one in known if one.name not in keep and free(one.name)]
    left = [one for one in known if one not in doomed]
    if doomed:
        _remove(connection, doomed, left)
        _shorten(connection, left)
    for family in {one.family for one in left}:
        _bind(connection, family, bare=bare)
    return [one.name for one in left if one.name not in keep]


def _remove(connection: Connection, doomed: Sequence[Table], left: Sequence[Table]) -> None:
    numbers = [one.number for one in left]
    connection.execute(
        "DELETE FROM index_tables WHERE number = ANY(CAST(? AS integer[]))", ([one.number for one in doomed],)
    )
    connection.execute(
        "DELETE FROM index_removed r WHERE NOT EXISTS (SELECT FROM index_tables t"
        " WHERE t.number = ANY(CAST(? AS integer[])) AND r.by = ANY(t.lineage))",
        (numbers,),
    )
    gone = connection.execute(
        "DELETE FROM index_documents d WHERE NOT EXISTS (SELECT FROM index_tables t"
        " WHERE t.number = ANY(CAST(? AS integer[])) AND d.born = ANY(t.lineage) AND NOT EXISTS"
        " (SELECT FROM index_removed r WHERE r.document = d.id AND r.by = ANY(t.lineage)))"
        " RETURNING d.id, d.first, d.size",
        (numbers,),
    ).fetchall()
    ids, runs = [row[0] for row in gone], {row[1]: row[2] for row in gone}
    connection.execute("DELETE FROM index_removed WHERE document = ANY(CAST(? AS integer[]))", (ids,))
    held = connection.execute(
        "SELECT first FROM index_documents WHERE first = ANY(CAST(? AS integer[]))", (list(runs),)
    )
    for (first,) in held:  # with other roles it is still there
        runs.pop(first, None)
    if runs:
        remove_runs(connection, list(runs.items()))
    families = [one.family for one in left]
    for table in ("index_postings", "index_blocks"):
        connection.execute(f"DELETE FROM {table} WHERE family <> ALL(CAST(? AS integer[]))", (families,))  # noqa: S608 - names of ours


def _shorten(connection: Connection, left: Sequence[Table]) -> None:
    """What all tables of a family have in common counts as the work of its first table.

    Readers that know the longer lineage see the same rows: theirs holds the first table too.
    """
    for family in {one.family for one in left}:
        lineages = [one.lineage for one in left if one.family == family]
        common = 0
        while all(len(one) > common and one[common] == lineages[0][common] for one in lineages):
            common += 1
        if common > 1:
            old = list(lineages[0][1:common])
            connection.execute(
                "UPDATE index_documents SET born = ? WHERE born = ANY(CAST(? AS integer[]))", (family, old)
            )
            connection.execute(
                "UPDATE index_tables SET lineage = array_prepend(CAST(? AS integer), lineage[CAST(? AS integer):])"
                " WHERE family = ?",
                (family, common + 1, family),
            )


def _bind(connection: Connection, family: int, *, bare: bool) -> None:
    """Bind a family's blocks where there are too many, or too much of them stands for chunks that are gone."""
    rows = connection.execute("SELECT block, postings FROM index_blocks WHERE family = ? ORDER BY block", (family,))
    blocks = [(int(block), int(size)) for block, size in rows]
    runs = connection.execute(
        "SELECT DISTINCT ON (d.first) d.first, d.size, d.postings FROM index_documents d JOIN index_tables t"
        " ON t.family = ? AND d.born = ANY(t.lineage) ORDER BY d.first",
        (family,),
    ).fetchall()
    total, alive = sum(size for _, size in blocks), sum(row[2] for row in runs)
    if total > alive and (bare or total - alive > MOST_DEAD * total):
        chosen = [block for block, _ in blocks]
    else:
        chosen = [block for block, _ in blocks[uneven([size for _, size in blocks]) :]]
    if len(chosen) > 1 or (chosen and total > alive and len(chosen) == len(blocks)):
        _write_anew(
            connection, family, chosen, np.array([row[:2] for row in map(tuple, runs)], np.int64).reshape(-1, 2)
        )


def uneven(sizes: Sequence[int]) -> int:
    """From which block on they are bound, so that each is twice the next; their number where none is."""
    start, held = len(sizes), 0
    for at in range(len(sizes) - 1, -1, -1):
        if held and sizes[at] < GROWTH * held:
            start = at
        held = sum(sizes[at:])
    return start


def _write_anew(connection: Connection, family: int, blocks: list[int], runs: Any) -> None:
    block, total = reserve(connection, blocks=1).blocks, 0
    for rows in _read(connection, family, blocks):
        fields = []
        for key, parts in groupby(rows, key=itemgetter(0)):
            numbers, counts = joined([unpacked(found) for _, found in parts])
            run = np.searchsorted(runs[:, 0], numbers, "right") - 1 if len(runs) else np.full(len(numbers), -1)
            kept = run >= 0
            kept[kept] = numbers[kept] < (runs[:, 0] + runs[:, 1])[run[kept]]
            if kept.any():
                total += int(kept.sum())
                fields.append((number(family), body(key), number(block), body(packed(numbers[kept], counts[kept]))))
        insert(connection, "index_postings", ("family", "term", "block", "body"), fields)
    for table in ("index_postings", "index_blocks"):
        connection.execute(
            f"DELETE FROM {table} WHERE family = ? AND block = ANY(CAST(? AS integer[]))",  # noqa: S608 - names of ours
            (family, blocks),
        )
    connection.execute("INSERT INTO index_blocks (family, block, postings) VALUES (?, ?, ?)", (family, block, total))


def _read(connection: Connection, family: int, blocks: list[int]) -> Iterator[list[tuple[bytes, bytes]]]:
    """Postings of the blocks by term, those of a term never apart."""
    after = b""
    while True:
        terms = connection.execute(
            "SELECT max(one.term) FROM (SELECT DISTINCT term FROM index_postings WHERE family = ? AND term > ?"
            " AND block = ANY(CAST(? AS integer[])) ORDER BY term LIMIT ?) one",
            (family, after, blocks, _TOGETHER),
        ).fetchone()
        if terms[0] is None:
            return
        rows = connection.execute(
            "SELECT term, body FROM index_postings WHERE family = ? AND term > ? AND term <= ?"
            " AND block = ANY(CAST(? AS integer[])) ORDER BY term, block",
            (family, after, terms[0], blocks),
        )
        yield [(bytes(term), bytes(found)) for term, found in rows]
        after = bytes(terms[0])
