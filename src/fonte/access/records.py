"""What is kept of keys and of what was done with them, and the protocols of what keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from fonte.access.identity import Identity
from fonte.types import Principal


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key, but for its secret."""

    id: str
    secret_sha256: str = field(repr=False)
    principal: Principal
    actions: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None

    def good_at(self, moment: datetime) -> bool:
        """Whether it is in force."""
        return self.expires_at is None or moment < self.expires_at


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One request: who, what, about what, and what came of it.

    ``subject`` is the question, or what was acted on; ``shown`` are ids of documents of which something was shown;
    ``outcome`` is ``ok``, ``abstained: REASON``, ``broken_off`` (a stream whose reader went) or the code of the error.
    """

    at: datetime
    tenant: str
    identity: str
    user: str | None
    action: str
    subject: str
    outcome: str
    shown: tuple[str, ...] = ()
    request_id: str = ""


class KeyStore(Protocol):
    """Keys by id."""

    def add_key(self, record: KeyRecord) -> None:
        """Keep a new key. Raises CorruptIndex where the id is known already."""

    def key(self, key_id: str) -> KeyRecord | None:
        """One key, in force or not."""

    def every_key(self) -> list[KeyRecord]:
        """All, oldest first."""

    def any_key(self) -> bool:
        """Whether a key was ever made; those that are over count."""

    def end_key(self, key_id: str, at: datetime) -> bool:
        """Let a key end at a moment, sooner than it would; False where there is none."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A browser that was signed in, until ``ends_at``. Its own secret is kept as a hash.

    It was begun with a key, whose worth at the moment it has, or by an identity provider, who said ``identity``.
    """

    secret_sha256: str = field(repr=False)
    ends_at: datetime
    key_id: str | None = None
    identity: Identity | None = None


class SessionStore(Protocol):
    """Sessions of browsers. They may be lost: then people sign in again."""

    def mark(self) -> str:
        """What tells this home's cookies from those of another one on the same host; empty before the first session."""

    def add_session(self, record: SessionRecord, now: datetime) -> None:
        """Keep a new session, and forget those that are over. Raises StoreUnavailable."""

    def session(self, secret_sha256: str) -> SessionRecord | None:
        """One session, by its secret's hash."""

    def end_session(self, secret_sha256: str) -> None:
        """Forget a session, if it is there."""


class AuditLog(Protocol):
    """What was done, in order."""

    def record(self, entry: AuditEntry) -> None:
        """Keep an entry. Raises StoreUnavailable."""

    def entries(
        self, tenant: str, *, before: int | None = None, limit: int = 100, user: str | None = None
    ) -> Sequence[tuple[int, AuditEntry]]:
        """Entries of a tenant with their numbers, newest first; ``before`` a number, to read on."""

    def forget(self, before: datetime) -> int:
        """Delete entries that are older; how many."""

    def forget_user(self, tenant: str, user: str) -> int:
        """Take a user's name and questions out of the entries; how many."""


def entry_told(number: int, entry: AuditEntry) -> Mapping[str, object]:
    """An entry as JSON."""
    return {
        "number": number,
        "at": entry.at.isoformat(),
        "tenant": entry.tenant,
        "identity": entry.identity,
        "user": entry.user,
        "action": entry.action,
        "subject": entry.subject,
        "outcome": entry.outcome,
        "shown": list(entry.shown),
        "request_id": entry.request_id,
    }


class Verdict(StrEnum):
    """What an asker says of an answer."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Feedback:
    """An asker's word on one of their answers; a later one takes its place."""

    answer_id: str
    identity: str
    user: str | None
    verdict: Verdict
    comment: str
    at: datetime


class FeedbackStore(Protocol):
    """What askers of one tenant said."""

    def say(self, feedback: Feedback) -> None:
        """Keep it in the place of what the same asker said of the same answer. Raises StoreUnavailable."""

    def forget(self, answer_ids: Sequence[str]) -> None:
        """Take away what was said of these answers. Raises StoreUnavailable."""

    def said(self, limit: int) -> list[Feedback]:
        """Newest first."""


def feedback_told(one: Feedback) -> dict[str, object]:
    """Feedback as JSON."""
    return {
        "answer_id": one.answer_id,
        "user": one.user,
        "verdict": one.verdict.value,
        "comment": one.comment,
        "at": one.at.isoformat(),
    }
