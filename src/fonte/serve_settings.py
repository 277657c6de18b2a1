"""Settings of the server: what it takes, how much of it at once, and how long it keeps what it noted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fonte.source_settings import Names, Positive, Seconds, Section


class ServeSettings(Section):
    """Limits of ``fonte serve``.

    ``concurrent`` questions are worked on at a time, ``waiting`` more may wait for ``wait_seconds``; whatever comes
    beyond is refused at once and told when to try again. ``requests_per_minute`` is for each key or token, ``failures_
    per_minute`` of unknown keys for each address. ``body_seconds`` is how long a request's body may take to arrive.
    ``hosts`` are names under which a server without keys is reached, beside those of the loopback.
    """

    concurrent: Positive = 4
    waiting: Annotated[int, Field(ge=0)] = 64
    wait_seconds: Seconds = 10.0
    requests_per_minute: Positive = 600
    failures_per_minute: Positive = 30
    body_kb: Positive = 256
    body_seconds: Seconds = 30.0
    upload_mb: Positive = 200
    hosts: Names = ()


class AuditSettings(Section):
    """How long entries of the audit log are kept; ``questions`` false leaves the words of questions out of it."""

    days: Positive = 365
    questions: bool = True
