"""A table of passages as many programs keep one: source, chunk_index, content, embedding.

It is nobody's of fonte: whoever the URL logs in makes and fills it, in the schema public, and rights of the database
alone say who reads it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from struct import pack

from fonte.errors import InputError
from fonte.inspected import Exported
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.copying import END, HEAD, number, text, vector

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
_GRAPH_MOST = 2000
"""Dimensions that pgvector's graph takes."""


def fill(url: str, password: str | None, table: str, dimensions: int, rows: Iterable[Exported], *, anew: bool) -> int:
    """Put rows into a table, which is made where it is not there; how many. All of them, or none.

    With ``anew`` what the table held goes first.

    Raises:
        InputError: no such name can be, the table holds rows already, or its vectors are of another size. StoreError,
            ConfigError.
    """
    if not _NAME.fullmatch(table):
        raise InputError(f"{table!r} cannot be a table's name here", hint="small letters, digits and _")
    name = f'public."{table}"'
    connection = Connection(Address.of(url, password), role=None)
    try:
        connection.script("BEGIN")
        _make(connection, name, table, dimensions)
        if anew:
            connection.script(f"DELETE FROM {name}")  # noqa: S608 - a name that was checked
        elif connection.execute(f"SELECT EXISTS (SELECT FROM {name})").fetchone()[0]:  # noqa: S608 - the same
            raise InputError(f"table {table} holds rows already", hint="name another with --table, or --replace them")
        count = _copy(connection, name, dimensions, rows)
        connection.script("COMMIT")
    finally:
        connection.close()
    return count


def _make(connection: Connection, name: str, table: str, dimensions: int) -> None:
    found = connection.execute(
        "SELECT format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a"
        " WHERE a.attrelid = to_regclass(?) AND a.attname = 'embedding' AND NOT a.attisdropped",
        (name,),
    ).fetchone()
    if found is not None:
        kind = str(found[0]).removeprefix("public.")
        if kind not in ("vector", f"vector({dimensions})"):
            raise InputError(
                f"embedding of table {table} is {kind}, the index has vector({dimensions})", hint="name another table"
            )
        return
    connection.script(
        f"CREATE TABLE {name} (id bigserial PRIMARY KEY, source text NOT NULL, chunk_index int NOT NULL,"
        f" content text NOT NULL, embedding public.vector({dimensions}) NOT NULL)"
    )
    if dimensions <= _GRAPH_MOST:
        connection.script(
            f'CREATE INDEX "{table}_embedding_idx" ON {name} USING hnsw (embedding public.vector_cosine_ops)'
        )


def _copy(connection: Connection, name: str, dimensions: int, rows: Iterable[Exported]) -> int:
    stream = io.BytesIO()
    stream.write(HEAD)
    for one in rows:
        stream.write(pack(">h", 4))
        numbers = vector(one.embedding.astype(">f4").tobytes(), dimensions)
        stream.writelines((text(one.source), number(one.chunk_index), text(one.content), numbers))
    stream.write(END)
    stream.seek(0)
    return connection.copy_in(
        f"COPY {name} (source, chunk_index, content, embedding) FROM STDIN (FORMAT BINARY)", stream
    )
