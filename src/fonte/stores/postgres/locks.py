"""Advisory locks of sessions: who writes a tenant, who reads a generation. The server frees them with the session."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fonte.errors import HomeLocked, StoreUnavailable
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.pool import Pool

PAUSE_SECONDS = 0.05
_TRY = "SELECT pg_try_advisory_lock(?)"
_HOLDER = (
    "SELECT a.application_name, a.pid FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_catalog.pg_database"
    " WHERE datname = current_database()) AND l.objsubid = 1"
    " AND ((l.classid::bigint << 32) | l.objid::bigint) = ?"
)


class _Held(threading.local):
    depth: int = 0
    connection: Connection | None = None


class TenantLock:
    """The write lock of a tenant across processes and machines. The thread that holds it may take it again."""

    def __init__(self, pool: Pool, number: int) -> None:
        """``number`` is the tenant's, by ``numbered``."""
        self._pool = pool
        self._number = number
        self._held = _Held()

    @contextmanager
    def hold(self, wait_seconds: float) -> Iterator[None]:
        """Hold the lock inside the block, on a connection of its own.

        Raises:
            HomeLocked: another process or thread holds it after ``wait_seconds``. StoreUnavailable.
        """
        if self._held.depth:
            self._held.depth += 1
            try:
                yield
            finally:
                self._held.depth -= 1
            return
        connection = self._pool.dedicated()
        try:
            self._take(connection, wait_seconds)
            self._held.depth, self._held.connection = 1, connection
            try:
                yield
            finally:
                self._held.depth, self._held.connection = 0, None
        finally:
            connection.close()

    def check(self) -> None:
        """Make sure that a lock that this thread holds is still held.

        Raises:
            StoreUnavailable: the session that held it was lost, and another may hold it by now.
        """
        if self._held.connection is not None:
            try:
                self._held.connection.execute("SELECT 1")
            except StoreUnavailable as error:
                message = "the write lock was lost with its connection to the database"
                raise StoreUnavailable(message, hint="run it again") from error

    def _take(self, connection: Connection, wait_seconds: float) -> None:
        until = time.monotonic() + wait_seconds
        while not connection.execute(_TRY, (self._number,)).fetchone()[0]:
            if time.monotonic() >= until:
                found = connection.execute(_HOLDER, (self._number,)).fetchone()
                who = f"{found[0] or 'somebody'} (session {found[1]})" if found else "another process"
                raise HomeLocked(f"{who} is writing to this tenant", hint="wait until it has ended, or stop it")
            time.sleep(PAUSE_SECONDS)


def numbered(*words: str) -> int:
    """The number of an advisory lock, from words."""
    digest = hashlib.blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8, person=b"fonte").digest()
    return int.from_bytes(digest, "big", signed=True)
