"""``audit.sqlite`` of a home: who asked what, what was shown, what was denied. No text of a document is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from fonte.access.records import AuditEntry
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Database, Row


class SqlAudit:
    """The log over one file, which the first entry makes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def record(self, entry: AuditEntry) -> None:
        """Keep an entry. Raises StoreUnavailable."""
        with self.database.write() as connection:
            connection.execute(
                'INSERT INTO audit (at, tenant, identity, "user", action, subject, outcome, shown, request_id)'
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    put_time(entry.at),
                    entry.tenant,
                    entry.identity,
                    entry.user,
                    entry.action,
                    entry.subject.encode("utf-8", "replace").decode(),  # half a character cannot be kept
                    entry.outcome,
                    put_json(list(entry.shown)),
                    entry.request_id,
                ),
            )

    def entries(
        self, tenant: str, *, before: int | None = None, limit: int = 100, user: str | None = None
    ) -> Sequence[tuple[int, AuditEntry]]:
        """Entries of a tenant with their numbers, newest first; ``before`` a number, to read on."""
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT * FROM audit WHERE tenant = ? AND (CAST(? AS BIGINT) IS NULL OR number < ?)"
                ' AND (CAST(? AS TEXT) IS NULL OR "user" = ?)'
                " ORDER BY number DESC LIMIT ?",
                (tenant, before, before, user, user, limit),
            ).fetchall()
        return [(row["number"], _entry(row)) for row in rows]

    def forget(self, before: datetime) -> int:
        """Delete entries that are older; how many."""
        with self.database.write() as connection:
            return connection.execute("DELETE FROM audit WHERE at < ?", (put_time(before),)).rowcount

    def forget_user(self, tenant: str, user: str) -> int:
        """Take a user's name and questions out of the entries; how many."""
        with self.database.write() as connection:
            return connection.execute(
                'UPDATE audit SET "user" = NULL, subject = \'\' WHERE tenant = ? AND "user" = ?', (tenant, user)
            ).rowcount

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(
        at=datetime.fromisoformat(row["at"]),
        tenant=row["tenant"],
        identity=row["identity"],
        user=row["user"],
        action=row["action"],
        subject=row["subject"],
        outcome=row["outcome"],
        shown=tuple(json.loads(row["shown"])),
        request_id=row["request_id"],
    )
