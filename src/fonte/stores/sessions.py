"""``sessions.sqlite`` of a home: browsers that are signed in. It may be deleted; then people sign in again."""

from __future__ import annotations

import json
from datetime import datetime

from fonte.access.identity import Action, Identity
from fonte.access.records import SessionRecord
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Database
from fonte.types import Principal


class SqlSessions:
    """Sessions over one file, which the first of them makes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def mark(self) -> str:
        """What tells this home's cookie from another's: eight random characters, empty before the first session."""
        if not self.database.made():
            return ""
        with self.database.read() as connection:
            return str(connection.execute("SELECT text FROM mark").fetchone()[0])

    def add_session(self, record: SessionRecord, now: datetime) -> None:
        """Keep a new session, and forget those that are over."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM sessions WHERE ends_at <= ?", (put_time(now),))
            connection.execute(
                "INSERT INTO sessions (secret_sha256, ends_at, key_id, identity) VALUES (?, ?, ?, ?)",
                (
                    record.secret_sha256,
                    put_time(record.ends_at),
                    record.key_id,
                    _put(record.identity) if record.identity is not None else None,
                ),
            )

    def session(self, secret_sha256: str) -> SessionRecord | None:
        """One session, by its secret's hash."""
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT secret_sha256, ends_at, key_id, identity FROM sessions WHERE secret_sha256 = ?",
                (secret_sha256,),
            ).fetchone()
        if row is None:
            return None
        secret, ends, key, identity = row
        return SessionRecord(secret, datetime.fromisoformat(ends), key, _get(identity) if identity else None)

    def end_session(self, secret_sha256: str) -> None:
        """Forget a session, if it is there."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM sessions WHERE secret_sha256 = ?", (secret_sha256,))

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _put(identity: Identity) -> str:
    who = identity.principal
    told = {"id": identity.id, "tenant": who.tenant, "user": who.user, "roles": sorted(who.roles)}
    return put_json(told | {"actions": sorted(one.value for one in identity.actions)})


def _get(text: str) -> Identity:
    told = json.loads(text)
    who = Principal(told["tenant"], told["user"], frozenset(told["roles"]))
    return Identity(told["id"], who, frozenset(Action(one) for one in told["actions"]))
