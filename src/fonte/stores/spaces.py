"""Which models the generations of a catalog were built with, and which of them the index has moved on from.

Functions over an open transaction; the catalog says which.
"""

from __future__ import annotations

import sqlite3

from fonte.stores.rows import get_recipe

_MODEL = "model of space "
"""Under this and a space's id ``meta`` keeps the settings that make its model."""
_LEFT = "left space "
"""Under this and a space's id ``meta`` says that another one took its place."""


def remember(connection: sqlite3.Connection, space_id: str, settings: str) -> None:
    """Keep the settings that make a space's model."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_MODEL + space_id, settings))


def model(connection: sqlite3.Connection, space_id: str) -> str | None:
    """What was remembered of a space's model."""
    return _value(connection, _MODEL + space_id)


def left(connection: sqlite3.Connection, space_id: str) -> bool:
    """Whether the index has moved on from a space."""
    return _value(connection, _LEFT + space_id) is not None


def moved(connection: sqlite3.Connection, before: str, now: str) -> None:
    """The alias moves from a generation of one recipe (as it is kept) to one of another."""
    old, new = (get_recipe(one).space.id for one in (before, now))
    if old != new:
        connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, '')", (_LEFT + old,))
        connection.execute("DELETE FROM meta WHERE key = ?", (_LEFT + new,))


def _value(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None
