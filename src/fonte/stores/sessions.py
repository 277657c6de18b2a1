"""``sessions.sqlite`` of a home: browsers that are signed in. It may be deleted; then people sign in again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from fonte.access.records import SessionRecord
from fonte.stores.rows import put_time
from fonte.stores.sqlite import Database

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE sessions (
    secret_sha256 TEXT PRIMARY KEY,
    key_id TEXT NOT NULL,
    ends_at TEXT NOT NULL
) WITHOUT ROWID;
"""


class SqliteSessions:
    """Sessions over one file, which the first of them makes."""

    def __init__(self, path: Path, *, prepare: Callable[[], None]) -> None:
        """Nothing is created before the first session; ``prepare`` then makes the folder."""
        self._database = Database(path, _SCHEMA, SCHEMA_VERSION, durable=False, prepare=prepare)

    def add_session(self, record: SessionRecord, now: datetime) -> None:
        """Keep a new session, and forget those that are over."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM sessions WHERE ends_at <= ?", (put_time(now),))
            connection.execute(
                "INSERT INTO sessions (secret_sha256, key_id, ends_at) VALUES (?, ?, ?)",
                (record.secret_sha256, record.key_id, put_time(record.ends_at)),
            )

    def session(self, secret_sha256: str) -> SessionRecord | None:
        """One session, by its secret's hash."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT secret_sha256, key_id, ends_at FROM sessions WHERE secret_sha256 = ?", (secret_sha256,)
            ).fetchone()
        return SessionRecord(row[0], row[1], datetime.fromisoformat(row[2])) if row is not None else None

    def end_session(self, secret_sha256: str) -> None:
        """Forget a session, if it is there."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM sessions WHERE secret_sha256 = ?", (secret_sha256,))

    def close(self) -> None:
        """Close the file."""
        self._database.close()
