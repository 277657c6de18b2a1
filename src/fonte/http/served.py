"""What the server is made of, handed over by whoever starts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from fonte.access.identity import Identity
from fonte.access.records import AuditLog, FeedbackStore, KeyStore, SessionStore
from fonte.access.standing import Rules
from fonte.corpus import OpenCorpus
from fonte.http.provider import Login
from fonte.scheduled import Scheduled
from fonte.working import Worker

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


class Tokens(Protocol):
    """Tokens of an identity provider."""

    def identify(self, token: str) -> Identity:
        """Who it was issued to. Raises Unauthenticated; Overloaded where the provider cannot be asked."""


class SignIn(Protocol):
    """An identity provider that browsers are sent to."""

    def begin(self) -> tuple[str, Login]:
        """Where to go, and what to keep meanwhile. Raises Overloaded."""

    def finish(self, code: str, state: str, login: Login) -> Identity:
        """Who came back. Raises Unauthenticated, Overloaded."""


@dataclass(frozen=True, slots=True)
class Limits:
    """As the settings ``[serve]``; bytes and seconds."""

    concurrent: int = 4
    waiting: int = 64
    wait_seconds: float = 10.0
    requests_per_minute: int = 600
    failures_per_minute: int = 30
    body_bytes: int = 256 * 2**10
    body_seconds: float = 30.0
    upload_bytes: int = 200 * 2**20
    upload_files: int = 20
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Served:
    """The corpus and what stands around it.

    ``local`` is who acts while no key was ever made, on the loopback alone; None where the server is open to others.
    """

    corpus: OpenCorpus
    keys: KeyStore
    sessions: SessionStore
    audit: AuditLog
    local: Identity | None
    work: Worker = field(kw_only=True)
    feedback: Callable[[str], FeedbackStore] = field(kw_only=True)
    """By tenant."""
    tokens: Tokens | None = None
    provider: SignIn | None = None
    limits: Limits = field(default_factory=Limits)
    audit_questions: bool = True
    generators: tuple[str, ...] = ("extractive",)
    """Those that the settings allow; the first is what is used where none is named."""
    open_metrics: bool = False
    """Whether ``/metrics`` needs no key."""
    tracer: Tracer | None = None
    tended: Scheduled | None = None
    """The sources that are looked after beside requests."""
    rules: Rules = field(default_factory=Rules)
    """By which sources that are looked after are told of."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
