"""Errors of the driver and of the server, wrapped where they enter. No value and no password is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pg8000.exceptions

from fonte.errors import ConfigError, CorruptIndex, FonteError, InputError, SchemaMismatch, StoreUnavailable

SCHEMA_FILE = Path(__file__).parent / "schema.sql"
MIGRATE = f"apply the schema as the database's owner: psql OWNER_URL -f {SCHEMA_FILE}, or fonte migrate"
_AGAIN = "try again in a moment"
_LOST = ("08", "57P01", "57P02", "57P03", "57P05", "25P03")
_CLASSES: dict[str, tuple[type[FonteError], str, str]] = {
    "40": (StoreUnavailable, "two transactions met in the database", _AGAIN),
    "55P03": (StoreUnavailable, "the database is locked by another process", _AGAIN),
    "57014": (StoreUnavailable, "the database took too long", _AGAIN),
    "53100": (StoreUnavailable, "the database's disk is full", "free some space there and try again"),
    "53300": (StoreUnavailable, "the database takes no more connections", "try again, or raise max_connections there"),
    "53": (StoreUnavailable, "the database has no room left", _AGAIN),
    "28": (ConfigError, "the database refuses the login", "check user and password of [store] database_url"),
    "3D000": (ConfigError, "there is no such database", "check [store] database_url, or make the database"),
    "22023": (SchemaMismatch, "the database has no role fonte_app", MIGRATE),
    "42501": (
        ConfigError,
        "the login may not act for fonte in the database",
        "GRANT fonte_app TO it; grants come with the schema",
    ),
    "3F000": (SchemaMismatch, "the database holds no tables of fonte", MIGRATE),
    "42": (SchemaMismatch, "the database's tables are of another version", MIGRATE),
    "0A000": (StoreUnavailable, "the database's tables changed", _AGAIN),
    "22021": (InputError, "a text holds a character that PostgreSQL cannot keep", "take null characters out of it"),
    "23": (CorruptIndex, "the database contradicts itself", "restore a backup of the database"),
    "XX": (CorruptIndex, "the database is damaged", "look at its log; restore a backup of it"),
}
"""By SQLSTATE, or what it begins with: the longest counts."""


def state_of(error: pg8000.exceptions.DatabaseError) -> str:
    """The SQLSTATE, empty where none was told."""
    told = error.args[0] if error.args else {}
    return str(told.get("C", "")) if isinstance(told, dict) else ""


def is_lost(error: BaseException) -> bool:
    """Whether the connection is of no use any more."""
    if isinstance(error, pg8000.exceptions.DatabaseError):
        return state_of(error).startswith(_LOST)
    return isinstance(error, (pg8000.exceptions.Error, OSError))


def lost() -> StoreUnavailable:
    """The error for a connection that ended."""
    return StoreUnavailable("the connection to the database was lost", hint="try again; check that it runs")


def wrapped(error: pg8000.exceptions.Error | OSError) -> FonteError:
    """The error of fonte that ``error`` stands for."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, pg8000.exceptions.DatabaseError):
        cause = cause.__context__  # the driver fails again while it hangs up after a refused login
    error = cause or error
    if is_lost(error) or not isinstance(error, pg8000.exceptions.DatabaseError):
        return lost()
    state = state_of(error)
    said = str(error.args[0].get("M", "")) if error.args and isinstance(error.args[0], dict) else ""
    for length in (5, 2):
        if state[:length] in _CLASSES:
            kind, what, hint = _CLASSES[state[:length]]
            return kind(f"{what}: {said}", hint=hint)
    return StoreUnavailable(f"the database failed: {said}", hint="try again; look at its log")


@contextmanager
def postgres_call() -> Iterator[None]:
    """Turn errors of the driver into errors of fonte.

    Raises:
        StoreUnavailable: lost, locked, full. CorruptIndex, SchemaMismatch, ConfigError. InputError: a text that cannot
            be kept.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(
            f"{error.object.encode('utf-8', 'backslashreplace').decode()} is not UTF-8 and cannot be kept",
            hint="name it in UTF-8; rename a folder",
        ) from error
    except (pg8000.exceptions.Error, OSError) as error:
        raise wrapped(error) from error
