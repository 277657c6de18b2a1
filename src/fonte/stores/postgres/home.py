"""Everything in one database, but for files: uploads, fetched copies and verdicts lie in a home's folders.

Any number of processes may share it. Those that take uploads or read sources of other machines share the folder too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fonte.stores.audit import SqlAudit
from fonte.stores.catalog import SqlCatalog
from fonte.stores.checking import faults_of
from fonte.stores.conversations import SqlConversations
from fonte.stores.erasing import Erasable
from fonte.stores.feedback import SqlFeedback
from fonte.stores.home import Home
from fonte.stores.keys import SqlKeys
from fonte.stores.postgres.database import PostgresDatabase, SystemDatabase
from fonte.stores.postgres.erasing import PostgresEraser
from fonte.stores.postgres.index import EXACT_ROWS, PostgresIndex
from fonte.stores.postgres.jobs import Lead, PostgresJobs
from fonte.stores.postgres.locks import TenantLock, numbered
from fonte.stores.postgres.pool import Pool
from fonte.stores.postgres.stores import ERASING, KeptText, StandingDatabase
from fonte.stores.sessions import SqlSessions
from fonte.stores.standing import SqlStanding
from fonte.stores.vector_cache import SqlVectorCache


@lru_cache(maxsize=8)
def pool_of(url: str, password: str | None, most: int) -> Pool:
    """The process's connections to a database; ``password`` counts where the URL has none. Raises ConfigError."""
    return Pool(url, password=password, most=most)


@dataclass(frozen=True, slots=True)
class TenantStore:
    """What one tenant has: catalog, chunk index, vector cache, gate, conversations, standing jobs."""

    catalog: SqlCatalog
    index: PostgresIndex
    cache: SqlVectorCache
    calibration: KeptText
    conversations: SqlConversations
    standing: SqlStanding
    eraser: PostgresEraser

    def close(self) -> None:
        """Let go of what is read; connections are the pool's."""
        self.index.close()


class PostgresHome:
    """Stores of all tenants in a database. Opening it connects to nothing."""

    def __init__(self, files: Path, pool: Pool, *, exact_chunks: int | None = None) -> None:
        """``files`` is the folder of what stays in files.

        Dense search over a tenant with more than ``exact_chunks`` chunks is approximate; None: the index's own default.

        Raises:
            StoreUnavailable: it is not a folder, or may not be read. SchemaMismatch: a home of another version.
        """
        self._files = Home(files)
        self._pool = pool
        self._lead = Lead(pool)
        self._exact_chunks = EXACT_ROWS if exact_chunks is None else exact_chunks

    def tenant(self, name: str) -> TenantStore:
        """A tenant's stores. An unknown tenant reads as an empty one.

        Raises:
            ValueError: an empty name.
        """
        if not name:
            raise ValueError("a tenant needs a name")
        lock = TenantLock(self._pool, numbered("writer", name))
        catalog = SqlCatalog(self._area(name, "catalog", lock), name, lock)
        index = PostgresIndex(self._pool, name, lock=lock, exact_rows=self._exact_chunks)
        cache = SqlVectorCache(self._area(name, "vectors"))
        conversations = SqlConversations(self._area(name, "conversations"))
        standing = SqlStanding(StandingDatabase(self._pool, name))
        databases = Erasable(
            catalog=catalog.database,
            vectors=cache.database,
            conversations=conversations.database,
            feedback=self.feedback(name).database,
            jobs=self.jobs(name).database,
            standing=standing.database,
            audit=self.audit().database,
            keys=self.keys().database,
        )
        journal = KeptText(catalog.database, ERASING)
        return TenantStore(
            catalog=catalog,
            index=index,
            cache=cache,
            calibration=KeptText(catalog.database, "calibration"),
            conversations=conversations,
            standing=standing,
            eraser=PostgresEraser(
                tenant=name,
                folder=self.folder(name),
                catalog=catalog,
                index=index,
                cache=cache,
                databases=databases,
                journal=journal,
                further=(self._area(name, "index"),),
            ),
        )

    def _area(self, tenant: str, area: str, lock: TenantLock | None = None) -> PostgresDatabase:
        return PostgresDatabase(self._pool, tenant, area=area, lock=lock)

    def folder(self, tenant: str) -> Path:
        """A tenant's folder of files, there or not."""
        return self._files.folder(tenant)

    def prepare(self, tenant: str) -> None:
        """Make that folder. Raises StoreUnavailable."""
        self._files.prepare(tenant)

    def jobs(self, tenant: str) -> PostgresJobs:
        """A tenant's jobs."""
        return PostgresJobs(self._area(tenant, "jobs"), tenant, self._lead)

    def feedback(self, tenant: str) -> SqlFeedback:
        """What a tenant's askers said of their answers."""
        return SqlFeedback(self._area(tenant, "feedback"))

    def tenants(self) -> list[str]:
        """Names of the tenants that were ever written for, sorted. Raises StoreUnavailable."""
        with SystemDatabase(self._pool).read() as connection:
            return [str(row[0]) for row in connection.execute("SELECT name FROM tenants ORDER BY name")]

    def count(self) -> int:
        """How many tenants there are. Raises StoreUnavailable."""
        return len(self.tenants())

    def __str__(self) -> str:
        """Where it is, without the password."""
        return str(self._pool.address)

    def with_jobs(self) -> list[str]:
        """Names of the tenants that ever had a job."""
        return [name for name in self.tenants() if self.jobs(name).tenant() is not None]

    def unerased(self) -> list[str]:
        """Names of the tenants with an erasure that was begun and not completed."""
        journals = (KeptText(self._area(name, "catalog"), ERASING).load() for name in self.tenants())
        return [str(json.loads(one)["tenant"]) for one in journals if one is not None]

    def faults(self) -> Iterator[str]:
        """What is wrong with what is in it, in words; nothing where all is whole.

        Raises:
            HomeLocked: a sync runs, so that what is being built looks like what was left. StoreUnavailable.
        """
        for name in self.tenants():
            with closing(self.tenant(name)) as store, store.catalog.writer():
                yield from (f"tenant {name}: {fault}" for fault in faults_of(self.folder(name), store))

    def keys(self) -> SqlKeys:
        """Keys of all tenants."""
        return SqlKeys(SystemDatabase(self._pool, "keys"))

    def sessions(self) -> SqlSessions:
        """Sessions of browsers."""
        return SqlSessions(SystemDatabase(self._pool, "sessions"))

    def audit(self) -> SqlAudit:
        """The audit log of all tenants."""
        return SqlAudit(SystemDatabase(self._pool, "audit"))
