"""Which models the generations of a catalog were built with, and which of them the index has moved on from.

Functions over an open transaction; the catalog says which.
"""

from __future__ import annotations

from fonte.stores import meta
from fonte.stores.rows import get_recipe
from fonte.stores.statements import Connection

_MODEL = "model of space "
"""Under this and a space's id ``meta`` keeps the settings that make its model."""
_LEFT = "left space "
"""Under this and a space's id ``meta`` says that another one took its place."""


def remember(connection: Connection, space_id: str, settings: str) -> None:
    """Keep the settings that make a space's model."""
    meta.put(connection, _MODEL + space_id, settings)


def model(connection: Connection, space_id: str) -> str | None:
    """What was remembered of a space's model."""
    return meta.get(connection, _MODEL + space_id)


def left(connection: Connection, space_id: str) -> bool:
    """Whether the index has moved on from a space."""
    return meta.get(connection, _LEFT + space_id) is not None


def moved(connection: Connection, before: str, now: str) -> None:
    """The alias moves from a generation of one recipe (as it is kept) to one of another."""
    old, new = (get_recipe(one).space.id for one in (before, now))
    if old != new:
        meta.put(connection, _LEFT + old, "")
        connection.execute("DELETE FROM meta WHERE key = ?", (_LEFT + new,))
