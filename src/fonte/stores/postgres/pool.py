"""Connections of a process, kept for the next transaction. One that was lost is replaced without a person."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from fonte.errors import ConfigError, SchemaMismatch, StoreUnavailable
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.connection import ROLE, Connection
from fonte.stores.postgres.errors import MIGRATE
from fonte.stores.postgres.migrating import VERSION, version_of

CONNECTIONS = 16
"""The most that a process uses at once; locks and pins have connections of their own."""
WAIT_SECONDS = 10.0
"""How long a transaction waits for one of them."""


class Pool:
    """Safe for several threads; a fork begins with none."""

    def __init__(
        self,
        url: str,
        *,
        password: str | None = None,
        most: int = CONNECTIONS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """Nothing is connected yet. ``password`` counts where the URL has none.

        Raises:
            ConfigError: no URL of a database.
        """
        self.address = Address.of(url, password)
        self._most = most
        self._wait = wait_seconds
        self._changed = Condition()
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        self._used = 0
        self._checked = False

    @contextmanager
    def transaction(self, begin: str, setting: str, value: str) -> Iterator[Connection]:
        """A transaction that ``begin`` begins, with a setting of its own, ended by what the block does.

        It is committed when the block ends and rolled back when it raises.

        Raises:
            StoreUnavailable: nobody answers, all connections are used, or the connection was lost: what was not told as
                done may or may not be. SchemaMismatch, ConfigError.
        """
        connection = self._begun(begin, setting, value)
        try:
            try:
                yield connection
            except BaseException:
                if connection.open:
                    connection.rollback()
                raise
            connection.script("COMMIT")
        finally:
            self._give_back(connection)

    def _begun(self, begin: str, setting: str, value: str) -> Connection:
        """A connection inside a transaction. Kept ones may have died meanwhile: then the next one is tried."""
        while True:
            connection, fresh = self._take()
            try:
                connection.script(begin)
                connection.execute("SELECT set_config(?, ?, true)", (setting, value))
            except StoreUnavailable:
                broken = not connection.open
                self._give_back(connection)
                if fresh or not broken:
                    raise
            except BaseException:
                self._give_back(connection)
                raise
            else:
                return connection

    def _take(self) -> tuple[Connection, bool]:
        """A connection, and whether it is a new one."""
        until = time.monotonic() + self._wait
        with self._changed:
            if self._pid != os.getpid():
                self._start()
            while True:
                if self._idle:
                    self._used += 1
                    return self._idle.pop(), False
                if self._used < self._most:
                    self._used += 1
                    break
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    message = f"all {self._most} connections to the database are in use"
                    raise StoreUnavailable(message, hint="try again in a moment; raise [store] connections")
        try:
            return self.dedicated(), True
        except BaseException:
            with self._changed:
                self._used -= 1
                self._changed.notify()
            raise

    def _give_back(self, connection: Connection) -> None:
        with self._changed:
            self._used -= 1
            kept = connection.idle
            if kept:
                self._idle.append(connection)
            self._changed.notify()
        if not kept:
            connection.close()

    def dedicated(self) -> Connection:
        """A connection of one's own, for session locks; whoever asked closes it. It counts for nothing here.

        Raises:
            StoreUnavailable, ConfigError. SchemaMismatch: the tables are missing or of another version.
        """
        connection = Connection(self.address)
        try:
            if not self._checked:
                self._check(connection)
                self._checked = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: Connection) -> None:
        unsafe = connection.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user"
        ).fetchone()
        if unsafe is None or unsafe[0]:
            message = f"role {ROLE} may pass over row-level security"
            raise ConfigError(message, hint=f"ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS")
        found = version_of(connection)
        if found != VERSION:
            message = f"{self.address} holds tables of version {found}, this fonte works with {VERSION}"
            raise SchemaMismatch(message, hint=MIGRATE if found < VERSION else "use the fonte that made them")

    def close(self) -> None:
        """Close what is kept; what is used is closed when it is given back only if it is broken."""
        with self._changed:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
