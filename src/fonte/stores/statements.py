"""Statements over either database: what a SQLite file and PostgreSQL have in common.

SQL is written once, in the part that both understand, with ``?`` for what is bound. PostgreSQL keeps many tenants in a
table; there every conflict target begins with the tenant, which no statement names (``postgres/connection.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

ALL = 2**63 - 1
"""As a LIMIT: no limit."""


class Row(Protocol):
    """One row, by position or by column."""

    def __getitem__(self, key: Any, /) -> Any:
        """A value."""

    def __iter__(self) -> Iterator[Any]:
        """The values in order."""


class Result(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """Rows that it changed."""

    def fetchone(self) -> Any:
        """The next row, None after the last."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The same, one by one."""


class Connection(Protocol):
    """One transaction."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Result:
        """Run one statement."""

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Result:
        """Run one statement for each row."""

    def rollback(self) -> None:
        """Take back what the transaction did."""


class Database(Protocol):
    """A SQLite file, or one tenant's rows of some tables in PostgreSQL."""

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that cannot write: all its statements see the same state.

        Raises:
            StoreUnavailable, CorruptIndex, SchemaMismatch
        """

    def write(self, *, forget: bool = False) -> AbstractContextManager[Connection]:
        """A transaction, one at a time: all of it is kept when the block ends, none of it when the block raises.

        With ``forget`` what is deleted is written over as far as the database can do that at once.

        Raises:
            StoreUnavailable, CorruptIndex, SchemaMismatch
        """

    def made(self) -> bool:
        """Whether anything was ever written."""

    def make_anew(self) -> None:
        """Empty a damaged one whose content can be made again. Raises StoreError where that is not to be done here."""

    def scrub(self) -> None:
        """Write it anew without what was deleted, so that nothing of that is left in its files.

        Raises:
            StoreUnavailable: somebody reads or writes it all the time, or the disk is full.
        """

    def close(self) -> None:
        """Let go of files and connections."""
