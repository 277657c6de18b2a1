"""``feedback.sqlite`` of a tenant: what askers said of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fonte.access.records import Feedback, Verdict
from fonte.stores.rows import put_time
from fonte.stores.statements import Database


class SqlFeedback:
    """Feedback over one file."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def say(self, feedback: Feedback) -> None:
        """Keep it in the place of what the same asker said of the same answer. Raises StoreUnavailable."""
        with self.database.write() as connection:
            # A user's other key is the same asker.
            connection.execute(
                'DELETE FROM feedback WHERE answer_id = ? AND (identity = ? OR "user" = ?)',
                (feedback.answer_id, feedback.identity, feedback.user),
            )
            connection.execute(
                'INSERT INTO feedback (answer_id, identity, "user", verdict, comment, at) VALUES (?, ?, ?, ?, ?, ?)',
                (
                    feedback.answer_id,
                    feedback.identity,
                    feedback.user,
                    feedback.verdict.value,
                    feedback.comment,
                    put_time(feedback.at),
                ),
            )

    def forget(self, answer_ids: Sequence[str]) -> None:
        """Take away what was said of these answers."""
        with self.database.read() as connection:
            known = connection.execute("SELECT 1 FROM feedback LIMIT 1").fetchone()
        if known is not None:  # else it would make the file for nothing
            with self.database.write(forget=True) as connection:
                connection.executemany("DELETE FROM feedback WHERE answer_id = ?", [(one,) for one in answer_ids])

    def said(self, limit: int) -> list[Feedback]:
        """Newest first."""
        with self.database.read() as connection:
            rows = connection.execute(
                'SELECT answer_id, identity, "user", verdict, comment, at FROM feedback ORDER BY at DESC,'
                " answer_id, identity LIMIT ?",
                (limit,),
            ).fetchall()
        return [
            Feedback(answer, identity, user, Verdict(verdict), comment, datetime.fromisoformat(at))
            for answer, identity, user, verdict, comment, at in rows
        ]

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()
