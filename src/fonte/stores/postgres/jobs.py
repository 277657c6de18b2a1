"""Jobs of a tenant in a database that several servers share: one of them at a time does them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock

from fonte.access.jobs import Job
from fonte.errors import StoreUnavailable
from fonte.stores.jobs import SqlJobs
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.locks import numbered
from fonte.stores.postgres.pool import Pool
from fonte.stores.statements import Database

LOOK_SECONDS = 5.0
"""How soon a server sees a job that another one was told of, or that the one who did them is gone."""


class Lead:
    """Who does the jobs of a tenant: an advisory lock of a session, freed by the server when its process dies."""

    def __init__(self, pool: Pool) -> None:
        """Nothing is connected yet; all tenants of a process share a connection."""
        self._pool = pool
        self._lock = Lock()
        self._connection: Connection | None = None

    def has(self, tenant: str) -> bool:
        """Whether this process does them from now on. Raises StoreUnavailable."""
        with self._lock:
            for _ in range(2):
                connection = self._connection or self._pool.dedicated()
                self._connection = connection
                try:
                    # A session that has the lock is given it again.
                    number = numbered("jobs", tenant)
                    return bool(connection.execute("SELECT pg_try_advisory_lock(?)", (number,)).fetchone()[0])
                except StoreUnavailable:
                    connection.close()
                    self._connection = None
        raise StoreUnavailable("the connection to the database was lost", hint="try again; check that it runs")

    def close(self) -> None:
        """Let others do them."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class PostgresJobs(SqlJobs):
    """Jobs that one server does, whoever was told of them."""

    def __init__(self, database: Database, tenant: str, lead: Lead) -> None:
        super().__init__(database)
        self._tenant = tenant
        self._lead = lead

    def take(self, now: datetime) -> list[Job]:
        """The oldest job that is due; nothing where another process does them."""
        return super().take(now) if self._lead.has(self._tenant) else []

    def reopen(self) -> int:
        """Queue again what is said to be running, unless another process may run it; how many are queued."""
        if self._lead.has(self._tenant):
            return super().reopen()
        return self.by_state().get("queued", 0)

    def next_due(self) -> datetime | None:
        """When to look again: others add jobs, and leave them when they die."""
        soon = datetime.now(UTC) + timedelta(seconds=LOOK_SECONDS)
        due = super().next_due() if self._lead.has(self._tenant) else None
        return min(due, soon) if due is not None else soon
