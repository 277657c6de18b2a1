"""Rows of a SELECT as documents: a record for each, known by its id; rows that are gone are gone."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fonte.errors import ConfigError, InputError, SourceUnreadable
from fonte.protocols import Scanned
from fonte.sources.own import Own, narrowed
from fonte.sources.taking import Nobody, Taking
from fonte.types import RECORD_MEDIA_TYPE, Acl, Source, sha256_hex

SCHEME = "sql://"
_SQLITE = "sqlite:///"
_READS = ("select", "with", "values")
_PIECE = 500
_LONGEST_ID = 500
_NO_UTF8 = "correct it there, or decode it in the SELECT"


@dataclass(frozen=True, slots=True)
class RowQuery:
    """A SELECT and what its columns are: the id, the texts in order, and by key what is said of a row."""

    name: str
    url: str
    query: str
    id: str
    text: tuple[str, ...]
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class SqlSource:
    """The rows of a query in its order. The database is only read.

    A row's URI is ``sql://NAME#ID``; rules match the query's name. Columns of roles and of the tenant narrow like the
    fields of a record; NULL in them is nobody's.
    """

    query: RowQuery
    taking: Taking = field(default_factory=Taking)
    _nobody: Nobody = field(default_factory=Nobody)

    @property
    def root(self) -> str:
        """``sql://NAME``."""
        return SCHEME + self.query.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying."""
        return tuple(self._nobody.notes())

    def scan(self) -> Iterator[Scanned]:
        """A source for each row; (uri, name, error) for one without an id of its own.

        Raises:
            SourceUnreadable: the database cannot be read, or has no such column. ConfigError: it needs a package.
        """
        self._nobody.clear()
        seen: set[str] = set()
        with _rows(self.query) as (columns, rows):
            missing = [one for one in self._wanted if one not in columns]
            if missing:
                hint = f"it gives {', '.join(columns)}"
                raise SourceUnreadable(f"query {self.query.name} gives no column {', '.join(missing)}", hint=hint)
            for number, row in enumerate(rows, 1):
                yield self._source(number, dict(zip(columns, row, strict=True)), seen)

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read a row, by the rules of now."""
        del uri, name
        return self.taking.ruling(self.query.name).acl

    @property
    def _wanted(self) -> tuple[str, ...]:
        return (self.query.id, *self.query.text, *self.query.said.values())

    def _source(self, number: int, row: Mapping[str, object], seen: set[str]) -> Scanned:
        name = " ".join((_plain(row[self.query.id]) or "").split())
        if not name or len(name) > _LONGEST_ID or name in seen:
            why = f"repeats the id {name[:80]}" if name in seen else "has no id, or one that is too long"
            error = InputError(f"row {number} of {self.query.name} {why}", hint="ids must be unique")
            return f"{self.root}#row={number}", f"{self.query.name}, row {number}", error
        seen.add(name)
        broken = [one for one in self._wanted if _is_no_text(row[one])]
        if broken:
            error = InputError(f"row {name} of {self.query.name}: {', '.join(broken)} is no UTF-8", hint=_NO_UTF8)
            return f"{self.root}#{quote(name, safe='')}", name, error
        own = Own.of("the row itself", {key: _told(row[one]) for key, one in self.query.said.items()})
        ruling = narrowed(self.taking.ruling(self.query.name), replace(own, title=None))
        body = self._body(name, row)
        if len(body) > self.taking.max_bytes:
            error = InputError(f"row {name} of {self.query.name} is too large", hint="raise max_file_mb in [parsing]")
            return f"{self.root}#{quote(name, safe='')}", name, error
        source = Source(
            uri=f"{self.root}#{quote(name, safe='')}",
            name=name,
            content_hash=sha256_hex(body),
            acl=ruling.acl,
            body=body,
            media_type=RECORD_MEDIA_TYPE,
            language=ruling.language,
            metadata={**ruling.metadata, "file": self.query.name},
            tenant=ruling.tenant,
        )
        self._nobody.count(source, ruling.nobody)
        return source

    def _body(self, name: str, row: Mapping[str, object]) -> bytes:
        """The row as a record; nothing when it holds no text."""
        texts = [text for column in self.query.text if (text := (_plain(row[column]) or "").strip())]
        title = _plain(row[self.query.said["title"]]) if "title" in self.query.said else None
        if not texts and not title:
            return b""
        return json.dumps({"_id": name, "title": title, "text": "\n\n".join(texts)}).encode()


@contextmanager
def _rows(query: RowQuery) -> Iterator[tuple[list[str], Iterator[Sequence[Any]]]]:
    """(names of the columns, rows) of a query. Raises SourceUnreadable, ConfigError."""
    words = query.query.split(None, 1)
    if not words or words[0].lower() not in _READS:
        raise ConfigError(f"query {query.name} should begin with SELECT or WITH", hint="correct it in [[queries]]")
    if query.url.startswith(_SQLITE):
        with _sqlite(query) as found:
            yield found
    else:
        with _sqlalchemy(query) as found:
            yield found


@contextmanager
def _sqlite(query: RowQuery) -> Iterator[tuple[list[str], Iterator[Sequence[Any]]]]:
    path = Path(query.url.removeprefix(_SQLITE))
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.set_authorizer(_only_reading)
            connection.text_factory = _text
            cursor = connection.execute(query.query)
            yield [one[0] for one in cursor.description], iter(cursor)
    except (sqlite3.Error, UnicodeError) as error:
        raise _unreadable(query, error) from error


def _text(value: bytes) -> str | bytes:
    """A text of SQLite, which checks no encoding; as bytes where it is none, so that only its row fails."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _only_reading(action: int, *_: str | None) -> int:
    """Let a statement read and call functions, and nothing else: no ATTACH, no PRAGMA."""
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


@contextmanager
def _sqlalchemy(query: RowQuery) -> Iterator[tuple[list[str], Iterator[Sequence[Any]]]]:
    """By SQLAlchemy: read-only where the database knows that, and rolled back in any case."""
    try:
        from sqlalchemy import create_engine
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError, SQLAlchemyError
    except ImportError as error:
        message = f"{query.url.split(':', 1)[0]} needs SQLAlchemy"
        raise ConfigError(message, hint="pip install 'fonte[sql]' and the database's driver") from error
    try:
        url = make_url(query.url)
        password = _password(query.name)
        engine = create_engine(url.set(password=password) if password else url)
    except (ArgumentError, ImportError) as error:
        raise ConfigError(
            f"query {query.name}: its url cannot be used: {error}", hint="see SQLAlchemy's urls"
        ) from None
    try:
        options: dict[str, Any] = {"stream_results": True, "yield_per": _PIECE}
        if url.get_backend_name() == "postgresql":
            options["postgresql_readonly"] = True
        with engine.connect().execution_options(**options) as connection:
            result = connection.exec_driver_sql(query.query)
            yield list(result.keys()), iter(result)
            connection.rollback()
    except SQLAlchemyError as error:
        raise _unreadable(query, getattr(error, "orig", None) or error) from None  # its text may hold the address
    finally:
        engine.dispose()


def _password(name: str) -> str | None:
    """The database's password, from ``FONTE_QUERY_NAME_PASSWORD`` or the file that ``…_PASSWORD_FILE`` names."""
    variable = f"FONTE_QUERY_{name.upper().replace('-', '_')}_PASSWORD"
    if value := os.environ.get(variable):
        return value
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{variable}_FILE: {path} cannot be read", hint="name a readable file") from error


def _unreadable(query: RowQuery, error: BaseException) -> SourceUnreadable:
    return SourceUnreadable(f"query {query.name} cannot be read: {error}", hint="check its url and its SELECT")


def _plain(value: object) -> str | None:
    """A value of a column as text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def _is_no_text(value: object) -> bool:
    """Whether bytes are no UTF-8: half a text would be indexed, and half a role looked at."""
    if not isinstance(value, bytes | bytearray | memoryview):
        return False
    try:
        bytes(value).decode()
    except UnicodeDecodeError:
        return True
    return False


def _told(value: object) -> object:
    """A value that says something of its row; arrays stay lists."""
    return list(map(_plain, value)) if isinstance(value, list | tuple) else _plain(value)
