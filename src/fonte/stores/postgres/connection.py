"""One connection to PostgreSQL: statements in the form that SQLite takes too, and their rows."""

from __future__ import annotations

import io
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import IO, Any

import pg8000.exceptions
import pg8000.native

from fonte.stores.postgres.address import Address
from fonte.stores.postgres.errors import is_lost, postgres_call

ROLE = "fonte_app"
"""Every statement runs as this role, whoever logs in: it owns nothing and row-level security holds for it."""
LOCK_SECONDS = 10.0
"""How long a statement waits for another transaction."""
CONNECT_SECONDS = 10.0
_SETTINGS = f"-c search_path=fonte,public -c lock_timeout={LOCK_SECONDS * 1000:.0f} -c client_min_messages=warning"
_STATEMENTS = 200
"""Prepared statements that a connection keeps."""
_IDLE = b"I"
_MARK = re.compile(r"\?")
_CONFLICT = re.compile(r"\bON CONFLICT \((?!tenant\b)")


@lru_cache(maxsize=1024)
def translated(sql: str) -> str:
    """A statement with ``?`` marks as PostgreSQL takes it: marks numbered, the tenant first in conflict targets."""
    numbers = iter(range(1, sql.count("?") + 1))
    return _MARK.sub(lambda _: f"${next(numbers)}", _CONFLICT.sub("ON CONFLICT (tenant, ", sql))


class Row:
    """One row, by position or by column, as ``sqlite3.Row``."""

    __slots__ = ("_names", "_values")

    def __init__(self, values: Sequence[Any], names: dict[str, int]) -> None:
        self._values, self._names = values, names

    def __getitem__(self, key: int | str) -> Any:
        return self._values[self._names[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)


class Result:
    """What a statement gave, as a cursor of ``sqlite3``; all rows are here already."""

    __slots__ = ("_at", "_rows", "rowcount")

    def __init__(self, rows: Sequence[Sequence[Any]], names: dict[str, int], rowcount: int) -> None:
        self._rows = [Row(values, names) for values in rows]
        self._at = 0
        self.rowcount = rowcount

    def fetchone(self) -> Any:
        """The next row, None after the last."""
        return next(self, None)

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        left, self._at = self._rows[self._at :], len(self._rows)
        return left

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._at >= len(self._rows):
            raise StopIteration
        self._at += 1
        return self._rows[self._at - 1]


class Connection:
    """A session as ``ROLE``. One thread at a time."""

    def __init__(self, address: Address, *, role: str | None = ROLE) -> None:
        """Connect.

        Raises:
            StoreUnavailable: nobody answers. ConfigError: the login is refused. SchemaMismatch: there is no such role.
        """
        with postgres_call():
            self._driver = pg8000.native.Connection(
                address.user,
                host=address.host,
                port=address.port,
                database=address.database,
                password=address.password,
                unix_sock=address.socket,
                ssl_context=address.tls(),
                timeout=CONNECT_SECONDS,
                application_name=f"fonte {os.getpid()}",
                startup_params={"options": _SETTINGS + (f" -c role={role}" if role else "")},
            )
            self._driver._usock.settimeout(None)  # noqa: SLF001 - the time was for connecting, and there is no other way
        self._prepared: OrderedDict[str, tuple[bytes, dict[str, int], tuple[Any, ...]]] = OrderedDict()
        self._talking = False

    @property
    def open(self) -> bool:
        """Whether the server can be spoken to: it was not lost, and nothing was broken off in the middle."""
        return not self._talking

    @property
    def idle(self) -> bool:
        """Whether it can be used for another transaction."""
        return self.open and self._driver._transaction_status == _IDLE  # noqa: SLF001 - told nowhere else

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Result:
        """Run one statement with its ``?`` bound; it is prepared once for each connection.

        Raises:
            As ``postgres_call``.
        """
        with postgres_call():
            name, names, more = self._statement(translated(sql))
            return self._run(translated(sql), name, names, more, parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Result:
        """Run one statement for each row; ``rowcount`` is of all of them.

        Raises:
            As ``postgres_call``.
        """
        changed = 0
        for one in parameters:
            changed += max(self.execute(sql, one).rowcount, 0)
        return Result([], {}, changed)

    def script(self, sql: str) -> None:
        """Run statements of ours as they are, without anything bound.

        Raises:
            As ``postgres_call``.
        """
        with postgres_call(), self._talk():
            self._driver.execute_simple(sql)

    def copy_in(self, sql: str, stream: IO[bytes]) -> int:
        """``COPY … FROM STDIN`` out of a stream; the number of rows.

        Raises:
            As ``postgres_call``.
        """
        return self._copy(sql, stream)

    def copy_out(self, sql: str) -> bytes:
        """What ``COPY (…) TO STDOUT`` gives. Nothing can be bound in it.

        Raises:
            As ``postgres_call``.
        """
        out = io.BytesIO()
        self._copy(sql, out)
        return out.getvalue()

    def rollback(self) -> None:
        """Take back what the transaction did."""
        self.script("ROLLBACK")

    def close(self) -> None:
        """End the session, whatever state it is in."""
        with suppress(pg8000.exceptions.Error, OSError):  # it may be gone already
            self._driver.close()

    def __del__(self) -> None:
        if hasattr(self, "_driver"):
            self.close()

    def _statement(self, sql: str) -> tuple[bytes, dict[str, int], tuple[Any, ...]]:
        known = self._prepared.get(sql)
        if known is not None:
            self._prepared.move_to_end(sql)
            return known
        with self._talk():
            while len(self._prepared) >= _STATEMENTS:
                self._driver.close_prepared_statement(self._prepared.popitem(last=False)[1][0])
            name, columns, readers = self._driver.prepare_statement(sql, ())
        names = {column["name"]: at for at, column in enumerate(columns or ())}
        self._prepared[sql] = name, names, (columns, readers)
        return self._prepared[sql]

    def _run(
        self, sql: str, name: bytes, names: dict[str, int], more: tuple[Any, ...], parameters: Sequence[Any]
    ) -> Result:
        bound = pg8000.native.make_params(self._driver.py_types, parameters)
        for one in bound:
            if one is not None:
                one.encode()  # before anything is sent: half a message would spoil the session
        with self._talk():
            found = self._driver.execute_named(name, bound, more[0], more[1], sql)
        return Result(found.rows or [], names, found.row_count)

    def _copy(self, sql: str, stream: IO[bytes]) -> int:
        with postgres_call(), self._talk():
            return int(self._driver.execute_unnamed(sql, stream=stream).row_count)

    @contextmanager
    def _talk(self) -> Iterator[None]:
        """The session is of no use where this is broken off in the middle, by whatever it is."""
        self._talking = True
        try:
            yield
        except pg8000.exceptions.DatabaseError as error:  # the server's whole answer: it was heard to its end
            self._talking = is_lost(error)
            raise
        self._talking = False
