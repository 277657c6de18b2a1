"""Single values of a catalog, by key."""

from __future__ import annotations

from fonte.stores.statements import Connection


def put(connection: Connection, key: str, value: str) -> None:
    """Keep a value in the place of what was there."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def get(connection: Connection, key: str) -> str | None:
    """What was kept."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None
