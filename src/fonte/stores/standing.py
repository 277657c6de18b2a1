"""``standing.sqlite`` of a tenant: leases of the sources that are looked after, their passes, and tries of documents.

It is a file of its own so that a heartbeat never waits for a sync's transactions, nor a sync for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from fonte.access.standing import Failing, Pass, PassState, Tended, Tries
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import ALL, Connection, Database, Row

KEPT = 200
"""Ended passes of all sources that are kept."""


class SqlStanding:
    """Over one file, which the first pass makes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self.database.read() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self.database.write() as connection:
            yield connection

    def take(self, source: str, owner: str, now: datetime, until: datetime, since: datetime) -> Pass | Tended:
        """The lease of a source and a pass that begins now; else how the source stands."""
        known = self.source(source)
        if _refused(known, now, since):
            return known
        with self._write() as connection:
            known = _tended(connection, source)  # again: another may have been faster
            if _refused(known, now, since):
                return known
            connection.execute(
                "UPDATE passes SET state = 'lost', ended_at = ? WHERE source = ? AND state = 'running'",
                (put_time(now), source),
            )
            connection.execute(
                "INSERT INTO sources (source, owner, until) VALUES (?, ?, ?)"
                " ON CONFLICT (source) DO UPDATE SET owner = excluded.owner, until = excluded.until",
                (source, owner, put_time(until)),
            )
            made = connection.execute(
                "INSERT INTO passes (source, owner, state, started_at) VALUES (?, ?, 'running', ?) RETURNING number",
                (source, owner, put_time(now)),
            ).fetchone()
        return Pass(int(made[0]), source, owner, PassState.RUNNING, now)

    def renew(self, begun: Pass, until: datetime) -> bool:
        """Keep the lease of a running pass longer; False where it is another's by now."""
        with self._write() as connection:
            if not _runs(connection, begun):
                return False
            connection.execute("UPDATE sources SET until = ? WHERE source = ?", (put_time(until), begun.source))
        return True

    def end(self, ended: Pass, *, failures: int, next_try: datetime | None) -> bool:
        """Keep how a pass ended and give the lease back; False, and nothing kept, where it is another's by now."""
        error = _json(ended.error)
        with self._write() as connection:
            if not _runs(connection, ended):
                return False
            if not ended.changed:
                last = connection.execute(
                    "SELECT * FROM passes WHERE source = ? AND number < ? ORDER BY number DESC LIMIT 1",
                    (ended.source, ended.number),
                ).fetchone()
                if last and (last["state"], last["changed"], last["error"]) == (ended.state, 0, error):
                    connection.execute("DELETE FROM passes WHERE number = ?", (last["number"],))
            connection.execute(
                "UPDATE passes SET state = ?, ended_at = ?, changed = ?, report = ?, error = ? WHERE number = ?",
                (
                    ended.state,
                    put_time(ended.ended_at) if ended.ended_at else None,
                    int(ended.changed),
                    _json(ended.report),
                    error,
                    ended.number,
                ),
            )
            connection.execute(
                "UPDATE sources SET owner = NULL, until = NULL, failures = ?, next_try = ?, error = ?,"
                " looked_at = CASE WHEN ? THEN ? ELSE looked_at END WHERE source = ?",
                (
                    failures,
                    put_time(next_try) if next_try else None,
                    error,
                    ended.state in (PassState.DONE, PassState.HELD),
                    put_time(ended.started_at),
                    ended.source,
                ),
            )
            connection.execute(
                "DELETE FROM passes WHERE number IN (SELECT number FROM passes WHERE state <> 'running'"
                " ORDER BY number DESC LIMIT ? OFFSET ?)",
                (ALL, KEPT),
            )
        return True

    def drop(self, begun: Pass) -> None:
        """Give the lease back as if the pass had not begun."""
        with self._write() as connection:
            if _runs(connection, begun):
                connection.execute("DELETE FROM passes WHERE number = ?", (begun.number,))
                connection.execute("UPDATE sources SET owner = NULL, until = NULL WHERE source = ?", (begun.source,))

    def source(self, source: str) -> Tended:
        """How a source stands."""
        with self._read() as connection:
            return _tended(connection, source)

    def sources(self) -> list[Tended]:
        """All that were ever looked after, by name."""
        with self._read() as connection:
            return [_as_tended(row) for row in connection.execute("SELECT * FROM sources ORDER BY source")]

    def forget_source(self, source: str) -> None:
        """Nobody looks after it any more."""
        with self._write() as connection:
            for table in ("sources", "tries"):
                connection.execute(f"DELETE FROM {table} WHERE source = ?", (source,))  # noqa: S608 - constants

    def passes(self, limit: int) -> list[Pass]:
        """Newest first."""
        with self._read() as connection:
            rows = connection.execute("SELECT * FROM passes ORDER BY number DESC LIMIT ?", (limit,))
            return [_as_pass(row) for row in rows]

    def note_tries(self, source: str, failing: Sequence[Failing], next_try: datetime) -> None:
        """Which documents of a source fail by now; others of it are forgotten."""
        with self._write() as connection:
            known = {one.document_id for one in failing}
            rows = connection.execute("SELECT document_id FROM tries WHERE source = ?", (source,)).fetchall()
            gone = [(row[0],) for row in rows if row[0] not in known]
            connection.executemany("DELETE FROM tries WHERE document_id = ?", gone)
            connection.executemany(
                "INSERT INTO tries (document_id, source, version, tries, next_try, error) VALUES (?, ?, ?, 1, ?, ?)"
                " ON CONFLICT (document_id) DO UPDATE SET source = excluded.source, error = excluded.error,"
                " tries = CASE WHEN tries.version = excluded.version THEN tries.tries ELSE 1 END,"
                " next_try = CASE WHEN tries.version = excluded.version THEN tries.next_try"
                " ELSE excluded.next_try END,"
                " version = excluded.version",
                [(one.document_id, source, one.version, put_time(next_try), one.error) for one in failing],
            )

    def claim_tries(self, source: str, now: datetime, due: Mapping[int, datetime | None]) -> list[str]:
        """Documents that are due, counted as tried once more: no other caller is given them."""
        with self._write() as connection:
            rows = connection.execute(
                "SELECT document_id, tries FROM tries WHERE source = ? AND next_try <= ? ORDER BY document_id",
                (source, put_time(now)),
            ).fetchall()
            for row in rows:
                moment = due.get(row["tries"] + 1)
                connection.execute(
                    "UPDATE tries SET tries = tries + 1, next_try = ? WHERE document_id = ?",
                    (put_time(moment) if moment else None, row["document_id"]),
                )
        return [str(row["document_id"]) for row in rows]

    def forget_tries(self, document_ids: Iterable[str]) -> None:
        """They are tried from the beginning if they fail again."""
        with self._write() as connection:
            connection.executemany("DELETE FROM tries WHERE document_id = ?", [(one,) for one in document_ids])

    def tries(self) -> list[Tries]:
        """All, by document id."""
        with self._read() as connection:
            return [
                Tries(
                    row["document_id"],
                    row["source"],
                    row["version"],
                    row["tries"],
                    _moment(row["next_try"]),
                    row["error"],
                )
                for row in connection.execute("SELECT * FROM tries ORDER BY document_id")
            ]

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _refused(known: Tended, now: datetime, since: datetime) -> bool:
    """Whether there is nothing to do for this caller now."""
    if known.leased(now):
        return True
    if known.next_try is not None and known.next_try > now:
        return True
    return known.looked_at is not None and known.looked_at >= since


def _runs(connection: Connection, one: Pass) -> bool:
    """Whether a pass is still the one that holds its source's lease."""
    row = connection.execute("SELECT state FROM passes WHERE number = ?", (one.number,)).fetchone()
    return row is not None and row["state"] == PassState.RUNNING


def _tended(connection: Connection, source: str) -> Tended:
    row = connection.execute("SELECT * FROM sources WHERE source = ?", (source,)).fetchone()
    return _as_tended(row) if row else Tended(source)


def _as_tended(row: Row) -> Tended:
    return Tended(
        row["source"],
        row["owner"],
        _moment(row["until"]),
        row["failures"],
        _moment(row["next_try"]),
        json.loads(row["error"]) if row["error"] else None,
        _moment(row["looked_at"]),
    )


def _as_pass(row: Row) -> Pass:
    return Pass(
        row["number"],
        row["source"],
        row["owner"],
        PassState(row["state"]),
        datetime.fromisoformat(row["started_at"]),
        _moment(row["ended_at"]),
        bool(row["changed"]),
        json.loads(row["report"]) if row["report"] else None,
        json.loads(row["error"]) if row["error"] else None,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _json(value: Mapping[str, object] | None) -> str | None:
    return put_json(dict(value)) if value is not None else None
