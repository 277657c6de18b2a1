"""Work that a server does beside its requests: what is kept of it, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from fonte.access.identity import Identity


class JobKind(StrEnum):
    """What is done."""

    SYNC = "sync"
    UPLOAD = "upload"
    RETRY = "retry"


class JobState(StrEnum):
    """How far it is. A running job whose process died is queued again when the server starts."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work of a tenant.

    ``wanted`` says what to do, in JSON; ``report`` what came of it, ``error`` why nothing did (or why the last try did
    not succeed, while it waits for another). ``due_at`` is when it may be tried next.
    """

    id: str
    tenant: str
    kind: JobKind
    state: JobState
    identity: str
    user: str | None
    wanted: Mapping[str, object]
    created_at: datetime
    due_at: datetime
    what: str = ""
    done: int = 0
    total: int | None = None
    tries: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    report: Mapping[str, object] | None = None
    error: Mapping[str, object] | None = None

    def begun_by(self, who: Identity) -> bool:
        """Whether this caller began it: the same user, or, where nobody was named, the same key."""
        if who.principal.tenant != self.tenant:
            return False
        return self.user == who.principal.user if self.user is not None else self.identity == who.id


class JobStore(Protocol):
    """Jobs of one tenant. One transaction a method."""

    def add(self, job: Job, most: int) -> None:
        """Keep a new job. Raises Overloaded where ``most`` are queued or running."""

    def check(self, most: int) -> None:
        """Raises Overloaded where ``add`` would."""

    def take(self, now: datetime) -> list[Job]:
        """The oldest job that is due, running from now on; uploads with all other uploads that are due."""

    def next_due(self) -> datetime | None:
        """When the first queued job is due; None for none."""

    def progress(self, jobs: Sequence[Job], what: str, done: int, total: int | None) -> None:
        """Note how far running jobs are."""

    def end(
        self, job: Job, now: datetime, *, report: Mapping[str, object] | None, error: Mapping[str, object] | None
    ) -> None:
        """Done with a report, or failed with an error."""

    def again(self, job: Job, due: datetime, error: Mapping[str, object], *, counted: bool = True) -> None:
        """Queue a running job for another try; not ``counted``: the one that ended was none."""

    def reopen(self) -> int:
        """Queue again what is said to be running, for nothing runs yet; how many are queued."""

    def job(self, job_id: str) -> Job | None:
        """One job."""

    def jobs(self, limit: int) -> list[Job]:
        """Newest first."""

    def by_state(self) -> Mapping[str, int]:
        """How many are kept in each state that any is in."""


JobStores = Callable[[str], JobStore]
"""A tenant's jobs, by its name."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How many jobs of all tenants run at a time, and how many of one tenant may wait."""

    at_once: int = 1
    waiting: int = 100
    tries: int = 12
    close_seconds: float = 30.0


def job_told(job: Job) -> dict[str, object]:
    """A job as JSON."""
    return {
        "id": job.id,
        "kind": job.kind.value,
        "state": job.state.value,
        "progress": {"what": job.what, "done": job.done, "total": job.total},
        "report": dict(job.report) if job.report is not None else None,
        "error": dict(job.error) if job.error is not None else None,
        "user": job.user,
        "tries": job.tries,
        "created_at": job.created_at.isoformat(),
        "started_at": job.started_at.isoformat() if job.started_at else None,
        "ended_at": job.ended_at.isoformat() if job.ended_at else None,
    }
