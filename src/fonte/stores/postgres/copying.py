"""Rows in PostgreSQL's binary form of COPY: numbers are not written as text, which for vectors takes ten times as long.

COPY is refused on tables with row-level security, so that rows come into a temporary table first.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from struct import pack

from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.errors import postgres_call

HEAD = b"PGCOPY\n\xff\r\n\0" + pack(">ii", 0, 0)
END = pack(">h", -1)
_TEXT = 25
"""The type's number."""


def text(value: str) -> bytes:
    """A field of type text."""
    return body(value.encode())


def body(value: bytes) -> bytes:
    """A field of type bytea."""
    return pack(">i", len(value)) + value


def number(value: int) -> bytes:
    """A field of type integer. Raises struct.error where it does not fit."""
    return pack(">ii", 4, value)


def flag(value: bool) -> bytes:  # noqa: FBT001 - the value itself
    """A field of type boolean."""
    return pack(">i?", 1, value)


def texts(values: Sequence[str]) -> bytes:
    """A field of type text[]."""
    if not values:
        return body(pack(">iii", 0, 0, _TEXT))
    return body(pack(">iiiii", 1, 0, _TEXT, len(values), 1) + b"".join(map(text, values)))


def vector(values: bytes, dimensions: int) -> bytes:
    """A field of pgvector's type vector, out of its numbers as big-endian float32."""
    return pack(">ihh", 4 + len(values), dimensions, 0) + values


def insert(connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[bytes]]) -> int:
    """Insert rows of fields into a table; how many.

    Raises:
        As ``Connection.execute``.
    """
    stream = io.BytesIO()
    stream.write(HEAD)
    count = pack(">h", len(columns))
    with postgres_call():
        for row in rows:
            stream.write(count)
            stream.writelines(row)
    stream.write(END)
    stream.seek(0)
    named = ", ".join(columns)
    connection.script(
        f"CREATE TEMPORARY TABLE IF NOT EXISTS coming_{table} ON COMMIT DELETE ROWS"  # noqa: S608 - names of ours
        f" AS SELECT {named} FROM {table} WITH NO DATA"
    )
    connection.copy_in(f"COPY coming_{table} ({named}) FROM STDIN (FORMAT BINARY)", stream)
    done = connection.execute(
        f"INSERT INTO {table} ({named}) SELECT {named} FROM coming_{table}"  # noqa: S608 - names of ours
    )
    connection.script(f"TRUNCATE coming_{table}")
    return done.rowcount
