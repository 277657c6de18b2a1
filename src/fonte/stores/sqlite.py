"""SQLite files of a home: connections, transactions, and errors wrapped where they enter."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fonte.errors import CorruptIndex, InputError, SchemaMismatch, StoreError, StoreUnavailable

BUSY_SECONDS = 10.0
"""How long a statement waits for another process' transaction."""
SCRUB_SECONDS = 30.0
"""The same for the cleaning of a whole file."""
_ROOM_BYTES = 128 * 1024
"""Below it SQLite's own small files have no room beside a database, which it tells as a failure of the disk."""


def sqlite_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The store error that ``error`` stands for."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    name = path.name
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreUnavailable(f"{name} is locked by another process", hint="try again in a moment")
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(path)):
        return StoreUnavailable(f"disk full while writing {name}", hint="free some space and try again")
    if primary in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}:
        return StoreUnavailable(f"{name} cannot be opened or written: {error}", hint="check the home's owner and mode")
    if primary == sqlite3.SQLITE_IOERR:
        return StoreUnavailable(f"the disk failed under {name}: {error}", hint="check the disk and its free space")
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT}:
        return CorruptIndex(f"{name} contradicts itself: {error}", hint="restore a backup of the home")
    return StoreUnavailable(f"{name} failed: {error}", hint="try again; check the disk")


def _no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _ROOM_BYTES
    except OSError:
        return False


@contextmanager
def sqlite_call(path: Path) -> Iterator[None]:
    """Turn any ``sqlite3.Error`` of the block into a ``StoreError``.

    Raises:
        StoreUnavailable: locked, full, denied. CorruptIndex: a damaged file. InputError: a name that is no UTF-8.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(
            f"{error.object.encode('utf-8', 'backslashreplace').decode()} is not UTF-8 and cannot be kept",
            hint="name it in UTF-8; rename a folder",
        ) from error
    except sqlite3.Error as error:
        raise sqlite_error(error, path) from error


def scrub(path: Path) -> None:
    """Write a file anew without its free pages, and empty its log, so that nothing deleted is left in either.

    Raises:
        StoreUnavailable: somebody reads or writes it all the time, or the disk is full.
    """
    with sqlite_call(path):
        connection = sqlite3.connect(path, timeout=SCRUB_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.close()
    if busy:
        raise StoreUnavailable(f"{path.name} is being read all the time", hint="run it again in a moment")


class _Connection(sqlite3.Connection):
    """Closes itself when its thread is gone."""

    def __del__(self) -> None:
        self.close()


class _Handles(threading.local):
    """One reading and one writing connection for each thread."""

    pid: int = 0
    reading: sqlite3.Connection | None = None
    writing: sqlite3.Connection | None = None
    unchanging: tuple[int, ...] | None = None
    """The file that ``reading`` was told does not change: inode, time, size."""
    written: int | None = None
    file: int | None = None
    """Inode of the file that ``reading`` reads."""


class SqliteFile:
    """One SQLite file in WAL mode. A file that does not exist reads as empty and is made by the first write."""

    def __init__(
        self,
        path: Path,
        schema: str,
        version: int,
        *,
        durable: bool,
        prepare: Callable[[], None],
        upgrades: Mapping[int, str] | None = None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            path: the file.
            schema: SQL that makes the tables of a new file.
            version: of the schema, kept in ``user_version``.
            durable: a commit is on the disk when it returns (``synchronous = FULL``), else it may be lost, whole.
            prepare: makes the folder; called before the first write.
            upgrades: SQL that brings a file of an earlier version to this one, by that version; run by the first write.
                Until then such a file reads as empty: only for what can be made again.
        """
        self.path = path
        self._schema = schema
        self._version = version
        self._durable = durable
        self._prepare = prepare
        self._upgrades = upgrades or {}
        self._handles = _Handles()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write, inside one transaction: all statements see the same state.

        Raises:
            StoreUnavailable, CorruptIndex, SchemaMismatch
        """
        with sqlite_call(self.path):
            connection = self._reading()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def write(self, *, forget: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept when the block ends, none of it when the block raises.

        With ``forget`` what is deleted is written over, also in the log where nobody else reads it at the moment.

        Raises:
            StoreUnavailable, CorruptIndex, SchemaMismatch
        """
        with sqlite_call(self.path):
            connection = self._writing()
            if forget:
                connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            if forget:  # the log has the old pages, until nobody reads them any more
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _own(self) -> _Handles:
        handles = self._handles
        if handles.pid != os.getpid():
            # A connection must not cross a fork.
            handles.pid, handles.reading, handles.writing = os.getpid(), None, None
        return handles

    def _reading(self) -> sqlite3.Connection:
        handles = self._own()
        if handles.reading is not None and (
            handles.unchanging not in (None, self._unchanging()) or handles.file != self._file()
        ):
            handles.reading.close()
            handles.reading = None
        if handles.reading is None:
            if not self.path.exists():
                return self._empty()
            connection = self._reading_connection(handles)
            if self._version_of(connection) == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
                # Another process is just making the file, or was killed before it had.
                connection.close()
                return self._empty()
            if self._version_of(connection) in self._upgrades:
                connection.close()
                return self._empty()
            self._check(connection)
            connection.execute("PRAGMA query_only = ON")
            handles.reading, handles.file = connection, self._file()
        return handles.reading

    def _reading_connection(self, handles: _Handles) -> _Connection:
        """A new connection.

        WAL needs a writable folder and room for small files; where one is missing, and nobody writes, SQLite is told
        that the file does not change.
        """
        handles.unchanging = self._unwritable()
        connection = self._connect(unchanging=handles.unchanging is not None)
        try:
            self._version_of(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            handles.unchanging = self._unchanging()
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_IOERR or handles.unchanging is None:
                raise
            connection = self._connect(unchanging=True)
        return connection

    def _unwritable(self) -> tuple[int, ...] | None:
        return None if os.access(self.path.parent, os.W_OK) else self._unchanging()

    def _unchanging(self) -> tuple[int, ...] | None:
        """What tells the file as it lies; None while a log beside it holds commits, tombstones perhaps among them."""
        try:
            log = self.path.with_name(f"{self.path.name}-wal")
            if log.exists() and log.stat().st_size:
                return None
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _file(self) -> int | None:
        """Which file lies there now: an erased tenant's is another one, or none."""
        try:
            return self.path.stat().st_ino
        except OSError:
            return None

    def _empty(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=_Connection)
        connection.row_factory = sqlite3.Row
        connection.executescript(self._schema)
        return connection

    def _writing(self) -> sqlite3.Connection:
        handles = self._own()
        if handles.writing is None or not self.path.exists() or handles.written != self._file():
            self._prepare()
            connection = self._connect(unchanging=self._unwritable() is not None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys = ON")
            self._create(connection)
            handles.writing, handles.written = connection, self._file()
        return handles.writing

    def _connect(self, *, unchanging: bool = False) -> _Connection:
        target = f"{self.path.absolute().as_uri()}?immutable=1" if unchanging else str(self.path)
        connection = sqlite3.connect(
            target,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=unchanging,
            factory=_Connection,
        )
        connection.row_factory = sqlite3.Row
        self._all.add(connection)
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        """Make the tables unless they are there, or bring them to this version, with two processes doing so at once."""
        scripts = {0: self._schema, **self._upgrades}
        if self._version_of(connection) in scripts:
            connection.execute("BEGIN IMMEDIATE")
            try:
                script = scripts.get(self._version_of(connection))
                if script is not None:
                    for statement in _statements(script):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {self._version}")
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            self.path.chmod(0o600)
        self._check(connection)

    @staticmethod
    def _version_of(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def _check(self, connection: sqlite3.Connection) -> None:
        found = self._version_of(connection)
        if found != self._version:
            message = f"{self.path.name} has schema {found}, this fonte reads {self._version}"
            raise SchemaMismatch(message, hint="use the fonte that made this home, or sync into a new one")

    def made(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def make_anew(self) -> None:
        """Remove a damaged file: only for what can be made again."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def scrub(self) -> None:
        """Write it anew without its free pages, and empty its log. Raises StoreUnavailable."""
        if self.path.exists():
            scrub(self.path)

    def close(self) -> None:
        """Close all connections of all threads."""
        for connection in list(self._all):
            connection.close()
        self._handles = _Handles()


def _statements(schema: str) -> Iterator[str]:
    pending = ""
    for line in schema.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
