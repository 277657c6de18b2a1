"""Conversations of one tenant: which answers were given in them, in order. The answers themselves are the catalog's.

Kept in a file of their own: whether an answer is still served is asked of the catalog each time, so that nothing here
has to follow rights.
"""

from __future__ import annotations

from datetime import datetime

from fonte.errors import NotFound
from fonte.stores.answers import is_asker
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Database
from fonte.types import ConversationHead, KeptTurn, Principal


class SqlConversations:
    """Conversations over one file. A tenant is a file; within it whoever asks sees only their own."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def turns(self, conversation_id: str, principal: Principal) -> list[KeptTurn]:
        """What was asked in a conversation, oldest first.

        Raises:
            NotFound: there is none, or it is somebody else's.
        """
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT asker, roles FROM conversations WHERE id = ?", (conversation_id,)
            ).fetchone()
            if row is None or not is_asker(row[0], row[1], principal):
                raise _absent(conversation_id)
            rows = connection.execute(
                "SELECT question, answer_id, asked_at FROM turns WHERE conversation = ? ORDER BY position",
                (conversation_id,),
            ).fetchall()
        return [KeptTurn(question, answer, datetime.fromisoformat(at)) for question, answer, at in rows]

    def add(self, conversation_id: str, principal: Principal, turn: KeptTurn) -> None:
        """Add a turn at the end; the first one makes the conversation, and its asker the only one who sees it.

        Raises:
            NotFound: it is somebody else's.
        """
        with self.database.write() as connection:
            connection.execute(
                "INSERT INTO conversations (id, asker, roles) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (conversation_id, principal.user, put_json(sorted(principal.unnamed_as))),
            )
            row = connection.execute(
                "SELECT asker, roles FROM conversations WHERE id = ?", (conversation_id,)
            ).fetchone()
            if not is_asker(row[0], row[1], principal):
                raise _absent(conversation_id)
            connection.execute(
                "INSERT INTO turns (conversation, position, question, answer_id, asked_at)"
                " SELECT ?, COALESCE(MAX(position), 0) + 1, ?, ?, ? FROM turns WHERE conversation = ?",
                (conversation_id, turn.question, turn.answer_id, put_time(turn.asked_at), conversation_id),
            )

    def heads(self, principal: Principal, limit: int, offset: int) -> list[ConversationHead]:
        """Conversations of whoever asks, the one that was gone on with last first."""
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT c.id, f.question, count(*), min(t.asked_at), max(t.asked_at) AS last"
                " FROM conversations c JOIN turns t ON t.conversation = c.id JOIN turns f ON f.conversation = c.id"
                " AND f.position = (SELECT min(position) FROM turns WHERE conversation = c.id)"
                " WHERE (c.asker = ? OR (c.asker IS NULL AND CAST(? AS TEXT) IS NULL AND c.roles = ?))"
                " GROUP BY c.id, f.question ORDER BY last DESC, c.id LIMIT ? OFFSET ?",
                (principal.user, principal.user, put_json(sorted(principal.unnamed_as)), limit, offset),
            ).fetchall()
        return [
            ConversationHead(one, question, turns, datetime.fromisoformat(begun), datetime.fromisoformat(last))
            for one, question, turns, begun, last in rows
        ]

    def remove(self, conversation_id: str, principal: Principal) -> None:
        """Take a conversation away, and write over its words.

        Raises:
            NotFound: there is none, or it is somebody else's.
        """
        self.turns(conversation_id, principal)
        with self.database.write(forget=True) as connection:
            connection.execute("DELETE FROM turns WHERE conversation = ?", (conversation_id,))
            connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _absent(conversation_id: str) -> NotFound:
    return NotFound(f"there is no conversation {conversation_id!r}", hint="--conversation new begins one")
