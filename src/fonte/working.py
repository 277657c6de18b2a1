"""Jobs done: threads beside the requests of a server, one at a time for each tenant.

What a job does can be done again from its beginning without harm, so that one whose process died is simply queued
again when the server starts.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Condition, Thread
from typing import Any

from fonte import contract
from fonte.access.identity import Identity
from fonte.access.jobs import Job, JobKind, JobLimits, JobState, JobStore, JobStores
from fonte.access.uploads import UPLOADS
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, HomeLocked, NotFound, StoreError
from fonte.types import SyncReport

NOTED_SECONDS = 0.5
"""Between two notes of progress."""
LONGEST_WAIT = 120.0
"""Seconds before another try, at most."""
LOCKED_WAIT = 2.0
"""Seconds before another look whether another process still writes."""
_log = logging.getLogger("fonte.jobs")


class _Stopped(BaseException):
    """The server ends: the job is left as it is, to be taken up again."""


def _utc() -> datetime:
    return datetime.now(UTC)


class Worker:
    """Takes jobs and does them."""

    def __init__(
        self,
        corpus: OpenCorpus,
        stores: JobStores,
        limits: JobLimits = JobLimits(),  # noqa: B008 - frozen
        now: Callable[[], datetime] = _utc,
    ) -> None:
        """Nothing runs before the first job."""
        self._corpus = corpus
        self._make_store = stores
        self._limits = limits
        self._now = now
        self._stores: dict[str, JobStore] = {}
        self._changed = Condition()
        self._due: dict[str, datetime] = {}
        self._busy: set[str] = set()
        self._threads: list[Thread] = []
        self._stopping = False

    # --- for those who ask ---------------------------------------------------------------------------------------

    def begin(self, kind: JobKind, who: Identity, wanted: Mapping[str, object]) -> Job:
        """Queue a job of the caller's tenant.

        Raises:
            Overloaded: too many wait already. StoreUnavailable.
        """
        tenant, moment = who.principal.tenant, self._now()
        identity = "j" + uuid.uuid4().hex[:20]
        job = Job(identity, tenant, kind, JobState.QUEUED, who.id, who.principal.user, wanted, moment, moment)
        self._store(tenant).add(job, self._limits.waiting)
        self._wake(tenant, moment)
        return job

    def check(self, tenant: str) -> None:
        """Raises Overloaded where ``begin`` would."""
        self._store(tenant).check(self._limits.waiting)

    def job(self, job_id: str, who: Identity) -> Job:
        """A job of the caller's tenant that they began, or any where they run it.

        Raises:
            NotFound
        """
        found = self._store(who.principal.tenant).job(job_id)
        if found is None or not (who.runs_it or found.begun_by(who)):
            raise NotFound(f"there is no job {job_id!r}", hint="jobs are told when they begin, and the newest are kept")
        return found

    def jobs(self, tenant: str, limit: int) -> list[Job]:
        """A tenant's jobs, newest first."""
        return self._store(tenant).jobs(limit)

    def by_state(self) -> dict[str, int]:
        """How many jobs of all tenants that had any since the start are kept in each state. Raises StoreError."""
        found = Counter({state.value: 0 for state in JobState})
        for store in tuple(self._stores.values()):
            found.update(store.by_state())
        return dict(found)

    # --- life ------------------------------------------------------------------------------------------------------

    def resume(self, tenants: Iterable[str]) -> int:
        """Take up what a server that ended, or died, left; how many jobs."""
        found = 0
        for tenant in tenants:
            left = self._store(tenant).reopen()
            found += left
            if left:
                self._wake(tenant, self._now())
        return found

    def close(self) -> None:
        """Let running jobs come to their next step and leave them there; they go on when a server starts again."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        until = time.monotonic() + self._limits.close_seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _store(self, tenant: str) -> JobStore:
        store = self._stores.get(tenant)
        if store is None:
            store = self._stores.setdefault(tenant, self._make_store(tenant))
        return store

    def _wake(self, tenant: str, due: datetime) -> None:
        with self._changed:
            self._due[tenant] = min(due, self._due.get(tenant, due))
            if len(self._threads) < self._limits.at_once and not self._stopping:
                # What a killed thread leaves is taken up again, so the process need not wait for it.
                thread = Thread(target=self._work, name=f"jobs-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    # --- a thread --------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (tenant := self._next()) is not None:
            due: datetime | None = None
            try:
                self._some(tenant)
                due = self._store(tenant).next_due()
            except _Stopped:
                return
            except FonteError as error:
                # Its own store cannot be read or written: the jobs are still there, and the disk may be again.
                _log.warning("jobs of a tenant cannot be taken: %s", error.code)
                due = self._now() + timedelta(seconds=LONGEST_WAIT)
            except Exception:  # noqa: BLE001 - an edge: a thread that ended here would leave every job waiting
                _log.exception("jobs of a tenant cannot be taken")
                due = self._now() + timedelta(seconds=LONGEST_WAIT)
            finally:
                with self._changed:
                    self._busy.discard(tenant)
            if due is not None:
                self._wake(tenant, due)

    def _next(self) -> str | None:
        """A tenant with a job that is due, busy from now on; None when the server ends."""
        with self._changed:
            while not self._stopping:
                moment = self._now()
                free = {tenant: due for tenant, due in self._due.items() if tenant not in self._busy}
                first = min(free, key=lambda one: free[one], default=None)
                if first is not None and free[first] <= moment:
                    del self._due[first]
                    self._busy.add(first)
                    return first
                self._changed.wait(None if first is None else (free[first] - moment).total_seconds())
        return None

    def _some(self, tenant: str) -> None:
        store = self._store(tenant)
        store.reopen()  # nothing of this tenant runs: what says so is of a thread that could not write how it ended
        taken = store.take(self._now())
        for job in taken:
            if job.tries > self._limits.tries:  # one that takes the process with it is not tried for ever
                told = FonteError(f"given up after {self._limits.tries} tries", hint="the log tells why they ended")
                store.end(job, self._now(), report=None, error=_error(told))
        jobs = [job for job in taken if job.tries <= self._limits.tries]
        if not jobs:
            return
        try:
            report = self._done(jobs, _Noting(self, store, jobs).note)
        except FonteError as error:
            for job in jobs:
                self._failed(store, job, error)
            return
        except Exception as error:  # noqa: BLE001 - an edge, like a route: one job ends, the next is taken
            _log.exception("a job failed")
            told = FonteError(f"something went wrong here: {type(error).__name__}", hint="the log tells")
            for job in jobs:
                store.end(job, self._now(), report=None, error=_error(told))
            return
        for job in jobs:
            store.end(job, self._now(), report=self._told(job, report), error=None)

    def _failed(self, store: JobStore, job: Job, error: FonteError) -> None:
        # Other errors' messages may have words of documents, which no line of the log has.
        _log.warning(
            "job %s did not succeed: %s", job.id, error.message if isinstance(error, StoreError) else error.code
        )
        if isinstance(error, HomeLocked):  # a sync beside the server may take hours, and is no fault of the job
            store.again(job, self._now() + timedelta(seconds=LOCKED_WAIT), _error(error), counted=False)
        elif error.retryable and job.tries < self._limits.tries:
            wait = min(LONGEST_WAIT, 2.0 ** (job.tries - 1))
            store.again(job, self._now() + timedelta(seconds=wait), _error(error))
        else:
            store.end(job, self._now(), report=None, error=_error(error))

    def _done(self, jobs: Sequence[Job], progress: Callable[[str, int, int | None], None]) -> SyncReport:
        first = jobs[0]
        self._corpus.check_model(tenant=first.tenant)
        if first.kind is JobKind.UPLOAD:
            return self._corpus.sync(UPLOADS, tenant=first.tenant, progress=progress)
        if first.kind is JobKind.RETRY:
            return self._corpus.retry(*_names(first.wanted, "documents"), tenant=first.tenant, progress=progress)
        return self._corpus.resync(
            *_names(first.wanted, "sources"),
            tenant=first.tenant,
            publish=bool(first.wanted.get("publish", True)),
            progress=progress,
        )

    def _told(self, job: Job, report: SyncReport) -> dict[str, Any]:
        """A sync's report; of uploads and retries only what became of their own documents."""
        if job.kind is JobKind.SYNC:
            return contract.sync_report(report)
        wanted, uris = set(_names(job.wanted, "documents")), _names(job.wanted, "uris")
        own = [
            contract.document_state(one)
            for one in self._corpus.documents(tenant=job.tenant)
            if one.document_id in wanted or any(one.uri.startswith(f"{uri}!/") for uri in uris)
        ]
        return {"generation": report.generation, "published": report.published, "documents": own}


@dataclass(slots=True)
class _Noting:
    """Progress of running jobs, written down now and then."""

    worker: Worker
    store: JobStore
    jobs: Sequence[Job]
    last: float = field(default=0.0)

    def note(self, what: str, done: int, total: int | None) -> None:
        """Raises _Stopped where the server ends."""
        if self.worker._stopping:  # noqa: SLF001 - the worker's own
            raise _Stopped
        if time.monotonic() - self.last >= NOTED_SECONDS:
            self.last = time.monotonic()
            self.store.progress(self.jobs, what, done, total)


def _names(wanted: Mapping[str, object], key: str) -> list[str]:
    found = wanted.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []


def _error(error: FonteError) -> dict[str, object]:
    told = contract.error(error)["error"]
    return dict(told) if isinstance(told, Mapping) else {}
