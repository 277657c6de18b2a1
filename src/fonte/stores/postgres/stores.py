"""A tenant's stores in PostgreSQL, but for its index: the statements are those of SQLite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from fonte.stores.postgres.connection import Connection, Result
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.pool import Pool
from fonte.stores.statements import Connection as Statements
from fonte.stores.statements import Database

ERASING = "erasing"
"""Name of the kept text that says what is being erased."""


class KeptText:
    """One text of a tenant, replaced whole."""

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self._name = name

    def load(self) -> str | None:
        """What was saved last; None where nothing was. Raises StoreUnavailable."""
        with self.database.read() as connection:
            row = connection.execute("SELECT body FROM kept WHERE name = ?", (self._name,)).fetchone()
        return str(row[0]) if row else None

    def save(self, text: str) -> None:
        """Replace it. Raises StoreUnavailable."""
        with self.database.write() as connection:
            connection.execute(
                "INSERT INTO kept (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
                (self._name, text),
            )

    def remove(self) -> None:
        """Forget it, if it is there. Raises StoreUnavailable."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM kept WHERE name = ?", (self._name,))


class StandingDatabase(PostgresDatabase):
    """Standing work. A home keeps it in a file of its own, where a table has the name of one of the catalog's."""

    def __init__(self, pool: Pool, tenant: str) -> None:
        super().__init__(pool, tenant, area="standing")

    @contextmanager
    def read(self) -> Iterator[Statements]:  # type: ignore[override]  # what it gives runs statements, nothing else
        """As ``PostgresDatabase``."""
        with super().read() as connection:
            yield _Renaming(connection)

    @contextmanager
    def write(self, *, forget: bool = False) -> Iterator[Statements]:  # type: ignore[override]  # as above
        """As ``PostgresDatabase``."""
        with super().write(forget=forget) as connection:
            yield _Renaming(connection)


class _Renaming:
    """Statements in which ``sources`` is called ``tended``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Result:
        return self._connection.execute(_renamed(sql), parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Result:
        return self._connection.executemany(_renamed(sql), parameters)

    def rollback(self) -> None:
        self._connection.rollback()


@lru_cache(maxsize=256)
def _renamed(sql: str) -> str:
    return re.sub(r"\bsources\b", "tended", sql)
