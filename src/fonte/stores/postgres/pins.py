"""Pins: a table that somebody reads is not removed under the reader, whichever process and machine it is on.

A pin is an advisory lock of a session, held shared. Whoever removes a table must get the lock alone; the server lets go
of it with the session, so that nothing goes stale.
"""

from __future__ import annotations

import os
import weakref
from collections import Counter, deque
from threading import Lock

from fonte.errors import StoreUnavailable
from fonte.stores.postgres.connection import Connection
from fonte.stores.postgres.locks import numbered
from fonte.stores.postgres.pool import Pool


class Pin:
    """What a pin is held for: it lives as long as what was opened."""

    __slots__ = ("__weakref__",)


class Pins:
    """The pins of one process for one tenant, on a connection of their own. Safe for several threads."""

    def __init__(self, pool: Pool, tenant: str) -> None:
        """Nothing is connected before the first pin."""
        self._pool = pool
        self._tenant = tenant
        self._lock = Lock()
        self._pid = os.getpid()
        self._connection: Connection | None = None
        self._held: Counter[str] = Counter()
        self._loose: deque[str] = deque()

    def number(self, table: str) -> int:
        """The lock of a table."""
        return numbered("pin", self._tenant, table)

    def hold(self, table: str, owner: Pin) -> None:
        """Hold the pin for as long as ``owner`` lives.

        Raises:
            StoreUnavailable: the table is being removed at this moment, or the database cannot be reached.
        """
        with self._lock:
            self._settle()
            if not self._held[table] and not self._told("SELECT pg_try_advisory_lock_shared(?)", table):
                message = "the generation is just being removed"
                raise StoreUnavailable(message, hint="ask again; the active generation is another one by now")
            self._held[table] += 1
        # An owner may end while another thread is inside: what it held is let go of by whoever comes next.
        weakref.finalize(owner, self._loose.append, table)

    def release(self) -> None:
        """Let go of what nobody holds any more."""
        with self._lock:
            self._settle()

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._held.clear()
            self._loose.clear()
        if connection is not None:
            connection.close()

    def _settle(self) -> None:
        if self._pid != os.getpid():  # a fork's connection is its parent's, and so are the pins
            self._pid, self._connection = os.getpid(), None
            self._held.clear()
            self._loose.clear()
        while self._loose:
            table = self._loose.popleft()
            self._held[table] -= 1
            if self._held[table] <= 0:
                del self._held[table]
                if self._connection is not None:  # else its end let go of it
                    self._told("SELECT pg_advisory_unlock_shared(?)", table)

    def _told(self, sql: str, table: str) -> bool:
        """What the server says of a lock; where the connection was lost, on a new one, which holds the rest."""
        for last in (False, True):
            try:
                if self._connection is None:
                    self._connection = self._pool.dedicated()
                    for held in self._held:
                        self._connection.execute("SELECT pg_try_advisory_lock_shared(?)", (self.number(held),))
                return bool(self._connection.execute(sql, (self.number(table),)).fetchone()[0])
            except StoreUnavailable:
                if self._connection is not None and not self._connection.open:
                    self._connection = None
                if last:
                    raise
        raise AssertionError("the second time returns or raises")
