"""The rows of one tenant, or those that belong to no tenant, as a ``Database``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fonte.errors import CorruptIndex
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.locks import TenantLock, numbered
from fonte.stores.postgres.pool import Pool

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
TENANT = "fonte.tenant"
"""Setting of a transaction that says whose rows it sees; without it there are none."""
SYSTEM = "fonte.system"
"""The same for keys, sessions and the audit log, which are looked up before a tenant is known."""


AREAS: Mapping[str, tuple[str, ...]] = {
    "catalog": (
        "meta", "clock", "generations", "texts", "entries", "generation_documents", "rights", "narrowings", "restores",
        "answers", "sources", "kept",
    ),
    "vectors": ("vectors",),
    "conversations": ("turns", "conversations"),
    "feedback": ("feedback",),
    "jobs": ("jobs",),
    "standing": ("tended", "passes", "tries"),
    "index": ("index_documents", "index_removed", "index_chunks", "index_vectors", "index_postings"),
}  # fmt: skip
"""Tables of a tenant's rows by what they are for: each is what a file is in a home."""


class PostgresDatabase:
    """Transactions over one tenant's rows. Safe for several threads."""

    def __init__(self, pool: Pool, tenant: str, *, area: str | None, lock: TenantLock | None = None) -> None:
        """Transactions that write in the same ``area`` of a tenant come one after the other; None lets them overlap.

        Where a thread holds ``lock``, its transactions make sure that it still does.
        """
        self._pool = pool
        self._setting = (TENANT, tenant)
        self._turn = None if area is None else numbered("turn", tenant, area)
        self._tables = AREAS.get(area or "", ())
        self._lock = lock

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that cannot write: all its statements see the same state.

        Raises:
            StoreUnavailable, SchemaMismatch, ConfigError
        """
        with self._pool.transaction(_READ, *self._setting) as connection:
            yield connection

    @contextmanager
    def write(self, *, forget: bool = False) -> Iterator[Connection]:
        """A transaction. What it deletes with ``forget`` is still in the table's file until PostgreSQL has vacuumed it.

        Raises:
            StoreUnavailable: also where the write lock was lost. SchemaMismatch, ConfigError, CorruptIndex.
        """
        del forget
        with self._pool.transaction(_WRITE, *self._setting) as connection:
            if self._turn is not None:
                connection.execute("SELECT pg_advisory_xact_lock(?)", (self._turn,))
            if self._lock is not None:
                self._lock.check()
            if self._setting[0] == TENANT:
                connection.execute("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO NOTHING", self._setting[1:])
            yield connection

    def made(self) -> bool:
        """Tables are there, or nothing works."""
        return True

    def make_anew(self) -> None:
        """Not from here: what is damaged belongs to the database's owner. Raises CorruptIndex."""
        raise CorruptIndex("the database is damaged", hint="look at its log; restore a backup of it")

    def scrub(self) -> None:
        """Write the area's tables anew, so that no page of them holds what was deleted; others wait meanwhile.

        Raises:
            StoreUnavailable: somebody reads or writes them all the time.
        """
        if self._tables:
            connection = self._pool.dedicated()
            try:
                for table in self._tables:
                    connection.script(f"VACUUM (FULL) fonte.{table}")
            finally:
                connection.close()

    def close(self) -> None:
        """Connections are the pool's."""


class SystemDatabase(PostgresDatabase):
    """Transactions over what belongs to no one tenant; they may overlap."""

    def __init__(self, pool: Pool, *tables: str) -> None:
        """``tables`` are those that ``scrub`` writes anew."""
        super().__init__(pool, "", area=None)
        self._setting = (SYSTEM, "on")
        self._tables = tables
