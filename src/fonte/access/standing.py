"""Work that goes on without a person: what is kept of each source that is looked after, and when it is tried again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol


class PassState(StrEnum):
    """What became of a pass over a source. ``LOST``: its process died or lost its lease before it ended."""

    RUNNING = "running"
    DONE = "done"
    HELD = "held"
    FAILED = "failed"
    LOST = "lost"


class Breaker(StrEnum):
    """Whether a source is asked: always; not for a while, since it failed often; once, to see whether it is back."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Rules:
    """When things are tried again, and how long a lease holds.

    ``attempts`` parses of one version of a document, the first one counted, before it is left to a person;
    ``open_after`` failed passes over a source before only probes ask it. Waits double from ``first_wait`` up to
    ``longest_wait``, all in seconds.
    """

    attempts: int = 5
    open_after: int = 5
    first_wait: float = 5.0
    longest_wait: float = 300.0
    lease_seconds: float = 30.0

    def wait(self, failures: int, draw: float) -> timedelta:
        """How long to wait after so many failures in a row; ``draw`` from 0 to 1 spreads those that failed together."""
        whole = min(self.longest_wait, self.first_wait * 2.0 ** min(max(failures, 1) - 1, 30))
        return timedelta(seconds=whole * (0.5 + draw / 2))


@dataclass(frozen=True, slots=True)
class Pass:
    """One look at a source and what it changed. ``report`` and ``error`` are JSON."""

    number: int
    source: str
    owner: str
    state: PassState
    started_at: datetime
    ended_at: datetime | None = None
    changed: bool = False
    report: Mapping[str, object] | None = None
    error: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Tended:
    """A source that is looked after.

    ``owner`` holds its lease until ``until``; ``looked_at`` is when the last pass began that ended well or held back;
    ``failures`` in a row, with the last ``error`` and the time before which it is not asked again.
    """

    source: str
    owner: str | None = None
    until: datetime | None = None
    failures: int = 0
    next_try: datetime | None = None
    error: Mapping[str, object] | None = None
    looked_at: datetime | None = None

    def leased(self, now: datetime) -> bool:
        """Whether somebody works on it."""
        return self.owner is not None and self.until is not None and self.until > now

    def breaker(self, rules: Rules, now: datetime) -> Breaker:
        """Whether it is asked."""
        if self.failures < rules.open_after:
            return Breaker.CLOSED
        waits = self.next_try is not None and self.next_try > now
        return Breaker.OPEN if waits and not self.leased(now) else Breaker.HALF_OPEN


@dataclass(frozen=True, slots=True)
class Tries:
    """Parses of a document that failed in a way that may go better; ``next_try`` None: given up, a dead letter."""

    document_id: str
    source: str
    version: str
    tries: int
    next_try: datetime | None
    error: str


@dataclass(frozen=True, slots=True)
class Failing:
    """A document that failed and may go better: its id, the version that failed, and why."""

    document_id: str
    version: str
    error: str


class StandingStore(Protocol):
    """Leases, passes and tries of one tenant. One transaction a method, safe between processes."""

    def take(self, source: str, owner: str, now: datetime, until: datetime, since: datetime) -> Pass | Tended:
        """The lease of a source and a pass that begins now; else how the source stands.

        It is not given while somebody holds it, before ``next_try``, and where a pass that began at or after
        ``since`` has ended well: what the caller would look for was looked at. A lease that ran out is taken over and
        its pass is told as lost.
        """

    def renew(self, begun: Pass, until: datetime) -> bool:
        """Keep the lease of a running pass longer; False where it is another's by now."""

    def end(self, ended: Pass, *, failures: int, next_try: datetime | None) -> bool:
        """Keep how a pass ended and give the lease back; False, and nothing kept, where it is another's by now.

        Of passes in a row that changed nothing, or that were held back or failed for the same reason, the last is kept.
        """

    def drop(self, begun: Pass) -> None:
        """Give the lease back as if the pass had not begun."""

    def source(self, source: str) -> Tended:
        """How a source stands."""

    def sources(self) -> list[Tended]:
        """All that were ever looked after, by name."""

    def forget_source(self, source: str) -> None:
        """Nobody looks after it any more."""

    def passes(self, limit: int) -> list[Pass]:
        """Newest first."""

    def note_tries(self, source: str, failing: Sequence[Failing], next_try: datetime) -> None:
        """Which documents of a source fail by now; others of it are forgotten.

        One that is new, or whose version is, has been tried once and is due at ``next_try``.
        """

    def claim_tries(self, source: str, now: datetime, due: Mapping[int, datetime | None]) -> list[str]:
        """Documents that are due, counted as tried once more: no other caller is given them.

        ``due`` says when the next try is by the tries that were made; None, or a number that it does not have: never.
        """

    def forget_tries(self, document_ids: Iterable[str]) -> None:
        """They are tried from the beginning if they fail again."""

    def tries(self) -> list[Tries]:
        """All, by document id."""

    def close(self) -> None:
        """Close the file."""


PASSES_TOLD = 20
"""Newest passes that are told of."""


def standing_told(store: StandingStore, rules: Rules, now: datetime) -> dict[str, object]:
    """How the sources stand that are looked after, as JSON."""
    return {
        "sources": [tended_told(one, rules, now) for one in store.sources()],
        "passes": [pass_told(one) for one in store.passes(PASSES_TOLD)],
        "given_up": sum(one.next_try is None for one in store.tries()),
    }


def pass_told(one: Pass) -> dict[str, object]:
    """A pass as JSON."""
    return {
        "source": one.source,
        "state": one.state.value,
        "started_at": one.started_at.isoformat(),
        "ended_at": one.ended_at.isoformat() if one.ended_at else None,
        "changed": one.changed,
        "report": dict(one.report) if one.report is not None else None,
        "error": dict(one.error) if one.error is not None else None,
        "worker": one.owner,
    }


def tended_told(one: Tended, rules: Rules, now: datetime) -> dict[str, object]:
    """A source that is looked after, as JSON."""
    return {
        "source": one.source,
        "breaker": one.breaker(rules, now).value,
        "failures": one.failures,
        "error": dict(one.error) if one.error is not None else None,
        "next_try": one.next_try.isoformat() if one.next_try else None,
        "looked_at": one.looked_at.isoformat() if one.looked_at else None,
        "worker": one.owner if one.leased(now) else None,
    }


def tries_told(one: Tries) -> dict[str, object]:
    """The tries of a document, as JSON."""
    return {
        "attempts": one.tries,
        "error": one.error,
        "next_try": one.next_try.isoformat() if one.next_try else None,
        "given_up": one.next_try is None,
    }
