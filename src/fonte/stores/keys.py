"""``system.sqlite`` of a home: the keys of all tenants. They stand here because a key says which tenant it is of."""

from __future__ import annotations

import json
from datetime import datetime

from fonte.access.records import KeyRecord
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Database, Row
from fonte.types import Principal


class SqlKeys:
    """Keys over one file, which the first write makes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add_key(self, record: KeyRecord) -> None:
        """Keep a new key. Raises CorruptIndex where the id is known already."""
        owner = record.principal
        with self.database.write() as connection:
            connection.execute(
                'INSERT INTO keys (id, secret_sha256, tenant, "user", roles, actions, created_at, expires_at)'
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.id,
                    record.secret_sha256,
                    owner.tenant,
                    owner.user,
                    put_json(sorted(owner.roles)),
                    put_json(sorted(record.actions)),
                    put_time(record.created_at),
                    put_time(record.expires_at) if record.expires_at else None,
                ),
            )

    def key(self, key_id: str) -> KeyRecord | None:
        """One key, in force or not."""
        with self.database.read() as connection:
            row = connection.execute("SELECT * FROM keys WHERE id = ?", (key_id,)).fetchone()
        return _record(row) if row is not None else None

    def every_key(self) -> list[KeyRecord]:
        """All, oldest first."""
        with self.database.read() as connection:
            rows = connection.execute("SELECT * FROM keys ORDER BY created_at, id").fetchall()
        return [_record(row) for row in rows]

    def any_key(self) -> bool:
        """Whether a key was ever made; those that are over count."""
        with self.database.read() as connection:
            return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None

    def end_key(self, key_id: str, at: datetime) -> bool:
        """Let a key end at a moment, sooner than it would; False where there is none."""
        moment = put_time(at)
        with self.database.write() as connection:
            found = connection.execute(
                "UPDATE keys SET expires_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END WHERE id = ?",
                (moment, moment, key_id),
            )
            return found.rowcount > 0

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _record(row: Row) -> KeyRecord:
    return KeyRecord(
        id=row["id"],
        secret_sha256=row["secret_sha256"],
        principal=Principal(row["tenant"], row["user"], frozenset(json.loads(row["roles"]))),
        actions=frozenset(json.loads(row["actions"])),
        created_at=datetime.fromisoformat(row["created_at"]),
        expires_at=datetime.fromisoformat(row["expires_at"]) if row["expires_at"] else None,
    )
