"""One pass over a source without a person: under a lease, with what failed before tried again, and kept as history.

Two workers on one home never do one thing twice: a lease says who looks after a source now, and when the last look
began tells others that theirs is done. Where a worker dies, its lease runs out and another one goes on.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from fonte import contract
from fonte.access.standing import Breaker, Failing, Pass, PassState, Rules, StandingStore, Tended
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, GenerationConflict, HomeLocked
from fonte.parts import SourceOptions
from fonte.protocols import Progress
from fonte.types import DocumentStatus, SyncReport, document_id

LOCKED_SECONDS = 2.0
"""Before another look whether somebody else still writes."""
_log = logging.getLogger("fonte.standing")


class LeaseLost(BaseException):
    """Another worker took the source over: this one slept, or could not say that it lives."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of wanting to look at a source. ``ended`` is the pass, None where none was due.

    ``again_at`` is when to come back, where that is sooner than the next ordinary look.
    """

    source: str
    ended: Pass | None = None
    report: SyncReport | None = None
    tried: SyncReport | None = None
    """Of documents that failed before and were parsed again."""
    again_at: datetime | None = None
    breaker: Breaker = Breaker.CLOSED


def _utc() -> datetime:
    return datetime.now(UTC)


def owner_name() -> str:
    """Who works here: machine, process, and a word that no later process of the same number has."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"


@dataclass(slots=True)
class Standing:
    """Passes of one worker. ``draw`` gives numbers from 0 to 1."""

    corpus: OpenCorpus
    rules: Rules = field(default_factory=Rules)
    owner: str = field(default_factory=owner_name)
    now: Callable[[], datetime] = _utc
    draw: Callable[[], float] = random.random
    _held: dict[tuple[str, str], tuple[str, tuple[str, str]]] = field(default_factory=dict)
    """What was held back, by tenant and source: the key of its plan, and why."""
    _unkept: dict[tuple[str, str], int] = field(default_factory=dict)
    """Looks in a row of which nothing could be kept, by tenant and source: the disk is full, or the file damaged."""

    def look(
        self,
        source: str,
        *,
        tenant: str,
        since: datetime,
        progress: Progress,
        options: SourceOptions | None = None,
        workers: int = 1,
    ) -> Looked:
        """Sync a source unless somebody does, or did so since, or it is not to be asked yet; then what is due of tries.

        ``options`` None: as it was synced before. Failures are kept and told, not raised: the next look may go well.
        Where they cannot be kept either, they are told all the same.
        """
        try:
            looked = self._look(self.corpus.standing(tenant), source, tenant, since, progress, options, workers)
        except FonteError as error:  # of the leases and passes themselves
            failures = self._unkept[tenant, source] = self._unkept.get((tenant, source), 0) + 1
            told, moment = contract.error(error)["error"], self.now()
            lost = Pass(0, source, self.owner, PassState.FAILED, moment, moment, error=_told(told))
            return Looked(source, lost, again_at=moment + self.rules.wait(failures, self.draw()))
        if looked.ended is not None:
            self._unkept.pop((tenant, source), None)
        return looked

    def _look(
        self,
        store: StandingStore,
        source: str,
        tenant: str,
        since: datetime,
        progress: Progress,
        options: SourceOptions | None,
        workers: int,
    ) -> Looked:
        moment = self.now()
        begun = store.take(source, self.owner, moment, self._until(), since)
        if isinstance(begun, Tended):
            return Looked(source, again_at=self._again(begun, moment), breaker=begun.breaker(self.rules, moment))
        before = store.source(source)
        try:
            with self._alive(store, begun, progress) as noting:
                report = self._sync(begun, tenant, options, workers, noting)
                again = self._tried(store, report, begun, tenant, noting)
        except (HomeLocked, GenerationConflict):  # a person's sync: no fault of the source
            store.drop(begun)
            return Looked(source, again_at=self.now() + timedelta(seconds=LOCKED_SECONDS))
        except LeaseLost:
            return Looked(source, again_at=self.now() + timedelta(seconds=LOCKED_SECONDS))
        except FonteError as error:
            self._narrow(source, tenant)
            return self._failed(store, begun, before, contract.error(error)["error"])
        except Exception as error:  # noqa: BLE001 - an edge: a fault of one source must not end the watch over others
            _log.exception("a pass failed")
            told = FonteError(f"something went wrong: {type(error).__name__}", hint="the log tells where")
            return self._failed(store, begun, before, contract.error(told)["error"])
        except BaseException:  # the worker is told to stop: what it began is abandoned
            with suppress(FonteError):  # the lease runs out by itself
                store.drop(begun)
            raise
        return self._done(store, begun, report, again)

    # --- a pass ----------------------------------------------------------------------------------------------------

    def _sync(
        self, begun: Pass, tenant: str, options: SourceOptions | None, workers: int, progress: Progress
    ) -> SyncReport:
        key, why = self._held.get((tenant, begun.source), ("", ("", "")))
        if options is None:
            report = self.corpus.resync(begun.source, tenant=tenant, progress=progress, standing=True, held_key=key)
        else:
            report = self.corpus.sync(
                begun.source,
                tenant=tenant,
                options=options,
                workers=workers,
                progress=progress,
                standing=True,
                held_key=key,
            )
        if report.held_back is None:
            self._held.pop((tenant, begun.source), None)
            return report
        if report.key and report.key == key:  # nothing was built again, so the reason is that of then
            return replace(report, held_back=why)
        self._held[tenant, begun.source] = (report.key, report.held_back)
        return report

    def _tried(
        self, store: StandingStore, report: SyncReport, begun: Pass, tenant: str, progress: Progress
    ) -> SyncReport | None:
        """Parse again what is due, and note what fails by then; the report of that, None where nothing was due."""
        if report.held_back is not None:
            return None
        failed = _may_go_better(report, tenant)
        self._note(store, begun, tenant, failed)
        if not _any_of(store, begun.source):
            return None
        moment = self.now()
        waits: dict[int, datetime | None] = {
            tries: moment + self.rules.wait(tries, self.draw()) for tries in range(2, self.rules.attempts)
        }
        due = store.claim_tries(begun.source, moment, waits)
        if not due:
            return None
        try:
            again = self.corpus.retry(*due, tenant=tenant, progress=progress, standing=True)
        except (HomeLocked, GenerationConflict):  # a person's sync: what this pass published stays told
            return None
        left = {identity: why for identity, why in failed.items() if identity not in due}
        self._note(store, begun, tenant, left | _may_go_better(again, tenant))
        return again

    def _note(self, store: StandingStore, begun: Pass, tenant: str, failed: Mapping[str, str]) -> None:
        """Documents of the source that fail by now, with the reason."""
        if not failed and not _any_of(store, begun.source):
            return
        states = self.corpus.documents(tenant=tenant, status=DocumentStatus.FAILED) if failed else []
        # Without a version nothing was parsed: each look asks for such a file anyway.
        failing = [
            Failing(one.document_id, one.version, failed[one.document_id])
            for one in states
            if one.document_id in failed and one.version
        ]
        store.note_tries(begun.source, failing, self.now() + self.rules.wait(1, self.draw()))

    def _done(self, store: StandingStore, begun: Pass, report: SyncReport, again: SyncReport | None) -> Looked:
        error: Mapping[str, object] | None = None
        if report.held_back is not None:
            message, hint = report.held_back
            error = {"code": "held_back", "message": message, "hint": hint}
        tried = [] if again is None else [again]
        ended = replace(
            begun,
            state=PassState.DONE if error is None else PassState.HELD,
            ended_at=self.now(),
            changed=error is None and any(one.changed for one in (report, *tried)),
            report=_kept(report, again),
            error=error,
        )
        if not store.end(ended, failures=0, next_try=None):
            return Looked(begun.source, None)
        due = [one.next_try for one in store.tries() if one.source == begun.source and one.next_try is not None]
        return Looked(begun.source, ended, report, again, min(due, default=None))

    def _failed(self, store: StandingStore, begun: Pass, before: Tended, error: object) -> Looked:
        failures = before.failures + 1
        wait = self.rules.wait(failures, self.draw())
        if failures >= self.rules.open_after:
            wait = max(wait, timedelta(seconds=self.rules.longest_wait / 2))
        next_try = self.now() + wait
        ended = replace(begun, state=PassState.FAILED, ended_at=self.now(), error=_told(error))
        if not store.end(ended, failures=failures, next_try=next_try):
            return Looked(begun.source)
        breaker = store.source(begun.source).breaker(self.rules, self.now())
        return Looked(begun.source, ended, again_at=next_try, breaker=breaker)

    def _narrow(self, source: str, tenant: str) -> None:
        """A pass failed, of a model that is down perhaps: less may be read all the same."""
        with suppress(FonteError):  # the source itself cannot be read: the failure that is told says so
            self.corpus.narrow(source, tenant=tenant)

    # --- leases ----------------------------------------------------------------------------------------------------

    def _until(self) -> datetime:
        return self.now() + timedelta(seconds=self.rules.lease_seconds)

    def _again(self, known: Tended, moment: datetime) -> datetime | None:
        """When it is worth to come back to a source that could not be taken."""
        if known.leased(moment) and known.until is not None:
            soon = moment + timedelta(seconds=min(LOCKED_SECONDS, self.rules.lease_seconds / 3))
            return min(known.until, soon)
        return known.next_try if known.next_try is not None and known.next_try > moment else None

    @contextmanager
    def _alive(self, store: StandingStore, begun: Pass, progress: Progress) -> Iterator[Progress]:
        """Say that the pass lives while the block runs, beside it; the progress to give on ends it once that fails."""
        over, lost = Event(), Event()

        def beat() -> None:
            while not over.wait(self.rules.lease_seconds / 3):
                try:
                    if not store.renew(begun, self._until()):
                        lost.set()
                        return
                except FonteError as error:  # the disk may be back before the lease runs out
                    _log.warning("a lease could not be renewed: %s", error.code)

        def noting(what: str, done: int, total: int | None) -> None:
            if lost.is_set():
                raise LeaseLost
            progress(what, done, total)

        heart = Thread(target=beat, name="lease", daemon=True)
        heart.start()
        try:
            yield noting
        finally:
            over.set()
            heart.join()


def _told(error: object) -> dict[str, object]:
    return dict(error) if isinstance(error, Mapping) else {}


def _may_go_better(report: SyncReport, tenant: str) -> dict[str, str]:
    """Documents that failed and may be tried again, by id, with the reason."""
    return {
        document_id(tenant, one.source_uri): one.reason
        for one in report.failures
        if one.retryable and one.state is DocumentStatus.FAILED
    }


def _any_of(store: StandingStore, source: str) -> bool:
    return any(one.source == source for one in store.tries())


def _kept(report: SyncReport, again: SyncReport | None) -> dict[str, object]:
    """What is kept of a report: counts, no names of documents."""
    tried = {} if again is None else {"tried_again": dict(again.documents)}
    return {
        "generation": report.generation if again is None else again.generation,
        "published": report.published,
        "documents": dict(report.documents),
        "embedded_texts": report.embedded_texts,
        "moved": len(report.moved),
        "seconds": round(report.seconds + (0.0 if again is None else again.seconds), 3),
        **tried,
    }
