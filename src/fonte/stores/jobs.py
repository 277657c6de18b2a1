"""``jobs.sqlite`` of a tenant: work that is queued, runs, or was done lately."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from fonte.access.jobs import Job, JobKind, JobState
from fonte.errors import Overloaded
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Connection, Database, Row

KEPT = 1000
"""Jobs that ended and are still told of."""
_OPEN = "state IN ('queued', 'running')"


class SqlJobs:
    """Jobs over one file, which the first job makes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, job: Job, most: int) -> None:
        """Keep a new job, and forget old ones. Raises Overloaded where ``most`` are queued or running."""
        with self.database.write() as connection:
            _check(connection, most)
            connection.execute(
                'INSERT INTO jobs (id, tenant, kind, state, identity, "user", wanted, created_at, due_at)'
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    job.id,
                    job.tenant,
                    job.kind.value,
                    job.state.value,
                    job.identity,
                    job.user,
                    put_json(dict(job.wanted)),
                    put_time(job.created_at),
                    put_time(job.due_at),
                ),
            )
            connection.execute(
                f"DELETE FROM jobs WHERE NOT {_OPEN} AND number <= (SELECT max(number) FROM jobs) - ?",  # noqa: S608 - a constant
                (KEPT,),
            )

    def check(self, most: int) -> None:
        """Raises Overloaded where ``add`` would."""
        with self.database.read() as connection:
            _check(connection, most)

    def take(self, now: datetime) -> list[Job]:
        """The oldest job that is due, running from now on; uploads with all other uploads that are due."""
        moment = put_time(now)
        with self.database.write() as connection:
            first = connection.execute(
                "SELECT number, kind FROM jobs WHERE state = 'queued' AND due_at <= ? ORDER BY number LIMIT 1",
                (moment,),
            ).fetchone()
            if first is None:
                return []
            together = first["kind"] == JobKind.UPLOAD
            rows = connection.execute(
                "UPDATE jobs SET state = 'running', tries = tries + 1, started_at = coalesce(started_at, ?),"
                " what = '', done = 0, total = NULL"
                " WHERE number = ? OR (? AND state = 'queued' AND due_at <= ? AND kind = 'upload') RETURNING *",
                (moment, first["number"], together, moment),
            ).fetchall()
        return sorted((_job(row) for row in rows), key=lambda job: job.created_at)

    def next_due(self) -> datetime | None:
        """When the first queued job is due; None for none."""
        with self.database.read() as connection:
            found = connection.execute("SELECT min(due_at) FROM jobs WHERE state = 'queued'").fetchone()[0]
        return datetime.fromisoformat(found) if found else None

    def progress(self, jobs: Sequence[Job], what: str, done: int, total: int | None) -> None:
        """Note how far running jobs are."""
        with self.database.write() as connection:
            connection.executemany(
                "UPDATE jobs SET what = ?, done = ?, total = ? WHERE id = ? AND state = 'running'",
                [(what, done, total, job.id) for job in jobs],
            )

    def end(
        self, job: Job, now: datetime, *, report: Mapping[str, object] | None, error: Mapping[str, object] | None
    ) -> None:
        """Done with a report, or failed with an error."""
        state = JobState.DONE if error is None else JobState.FAILED
        with self.database.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, ended_at = ?, report = ?, error = ? WHERE id = ?",
                (state.value, put_time(now), _json(report), _json(error), job.id),
            )

    def again(self, job: Job, due: datetime, error: Mapping[str, object], *, counted: bool = True) -> None:
        """Queue a running job for another try; not ``counted``: the one that ended was none."""
        with self.database.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'queued', due_at = ?, error = ?, tries = tries - ? WHERE id = ?",
                (put_time(due), _json(error), 0 if counted else 1, job.id),
            )

    def reopen(self) -> int:
        """Queue again what is said to be running, for nothing runs yet; how many are queued."""
        with self.database.write() as connection:
            connection.execute("UPDATE jobs SET state = 'queued' WHERE state = 'running'")
            return int(connection.execute("SELECT count(*) FROM jobs WHERE state = 'queued'").fetchone()[0])

    def job(self, job_id: str) -> Job | None:
        """One job."""
        with self.database.read() as connection:
            row = connection.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
        return _job(row) if row is not None else None

    def jobs(self, limit: int) -> list[Job]:
        """Newest first."""
        with self.database.read() as connection:
            rows = connection.execute("SELECT * FROM jobs ORDER BY number DESC LIMIT ?", (limit,)).fetchall()
        return [_job(row) for row in rows]

    def by_state(self) -> dict[str, int]:
        """How many are kept in each state that any is in."""
        with self.database.read() as connection:
            return dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())

    def tenant(self) -> str | None:
        """Whose jobs these are; None where there never was one."""
        with self.database.read() as connection:
            found = connection.execute("SELECT tenant FROM jobs LIMIT 1").fetchone()
        return str(found[0]) if found else None

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _check(connection: Connection, most: int) -> None:
    waiting = connection.execute(f"SELECT count(*) FROM jobs WHERE {_OPEN}").fetchone()[0]  # noqa: S608 - a constant
    if waiting >= most:
        raise Overloaded("more work is waiting than can be taken", hint="try again in a minute", after_seconds=60)


def _json(value: Mapping[str, object] | None) -> str | None:
    return put_json(dict(value)) if value is not None else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _job(row: Row) -> Job:
    return Job(
        id=row["id"],
        tenant=row["tenant"],
        kind=JobKind(row["kind"]),
        state=JobState(row["state"]),
        identity=row["identity"],
        user=row["user"],
        wanted=json.loads(row["wanted"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        due_at=datetime.fromisoformat(row["due_at"]),
        what=row["what"],
        done=row["done"],
        total=row["total"],
        tries=row["tries"],
        started_at=_moment(row["started_at"]),
        ended_at=_moment(row["ended_at"]),
        report=json.loads(row["report"]) if row["report"] else None,
        error=json.loads(row["error"]) if row["error"] else None,
    )
