"""Tables of generations, and which rows of documents a table and an asker see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fonte.errors import CorruptIndex
from fonte.stores.postgres.connection import Connection
from fonte.types import Principal, Query

COLUMNS = "number, name, family, lineage, dimensions, graphed, chunks, centroids"


@dataclass(frozen=True, slots=True)
class Table:
    """One generation's table. It sees what was born in its lineage and not removed there."""

    number: int
    name: str
    family: int
    lineage: tuple[int, ...]
    dimensions: int
    graphed: bool
    chunks: int | None
    """None until it is sealed."""
    centroids: dict[str, tuple[int, str]]
    """Number of the chunks and mean of their vectors, as text, by language."""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on rows ``d`` of index_documents, and what is bound in it."""

    sql: str
    values: tuple[Any, ...]


def tables(connection: Connection) -> list[Table]:
    """All tables of the tenant, oldest first."""
    return [_table(row) for row in connection.execute(f"SELECT {COLUMNS} FROM index_tables ORDER BY number")]  # noqa: S608 - a constant


def table_called(connection: Connection, name: str) -> Table:
    """The table of that name.

    Raises:
        CorruptIndex: it is gone, or was never sealed.
    """
    row = connection.execute(f"SELECT {COLUMNS} FROM index_tables WHERE name = ?", (name,)).fetchone()  # noqa: S608 - a constant
    if row is None or row["chunks"] is None:
        raise gone(name)
    return _table(row)


def gone(name: str) -> CorruptIndex:
    """The error for a table that is not there."""
    return CorruptIndex(f"the table {name} of a generation is gone", hint="run fonte sync again")


def _table(row: Any) -> Table:
    told = {language: (int(count), str(mean)) for language, (count, mean) in (row["centroids"] or {}).items()}
    return Table(
        number=row["number"],
        name=row["name"],
        family=row["family"],
        lineage=tuple(row["lineage"]),
        dimensions=row["dimensions"],
        graphed=row["graphed"],
        chunks=row["chunks"],
        centroids=told,
    )


def visible(lineage: Sequence[int]) -> Where:
    """Rows that a table with this lineage sees."""
    among = "= ANY(CAST(? AS integer[]))"
    sql = f"d.born {among} AND NOT EXISTS (SELECT FROM index_removed r WHERE r.document = d.id AND r.by {among})"
    return Where(sql, (list(lineage), list(lineage)))


def admitted(lineage: Sequence[int], query: Query, revoked: Sequence[str]) -> Where:
    """Those of them that the asker may read and the filters admit, minus revoked documents."""
    found = readable(lineage, query.principal, revoked)
    parts, values = [found.sql], [*found.values]
    wanted = query.filters
    if wanted.documents:
        names = storable(wanted.documents)
        columns = ("document_id", "document_name", "source_uri")
        parts.append("(" + " OR ".join(f"d.{one} = ANY(CAST(? AS text[]))" for one in columns) + ")")
        values += [names] * len(columns)
    if wanted.languages:
        parts.append("d.language = ANY(CAST(? AS text[]))")
        values.append(storable(wanted.languages))
    if wanted.media_types:
        parts.append("d.media_type = ANY(CAST(? AS text[]))")
        values.append(storable(wanted.media_types))
    if query.as_of is not None:
        day = query.as_of.isoformat()
        parts.append("d.valid_from <= ? AND (d.valid_to = '' OR d.valid_to >= ?)")
        values += [day, day]
    return Where(" AND ".join(parts), tuple(values))


def readable(lineage: Sequence[int], principal: Principal, revoked: Sequence[str]) -> Where:
    """Rows that a table sees and the principal may read, minus revoked documents."""
    seen = visible(lineage)
    parts, values = [seen.sql, "d.roles && CAST(? AS text[])"], [*seen.values, storable(principal.held_roles)]
    if hidden := storable(revoked):
        parts.append("d.document_id <> ALL(CAST(? AS text[]))")
        values.append(hidden)
    return Where(" AND ".join(parts), tuple(values))


def storable(values: Iterable[str]) -> list[str]:
    """Those of the values that a column can hold, sorted: no other equals anything (a NUL, a lone surrogate)."""
    return sorted({one for one in values if "\0" not in one and not any("\ud800" <= c <= "\udfff" for c in one)})
