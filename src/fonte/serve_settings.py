"""Settings of the server: what it takes, how much of it at once, and how long it keeps what it noted."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from fonte.source_settings import Names, Positive, Seconds, Section, plain_url


class ServeSettings(Section):
    """Limits of ``fonte serve``.

    ``concurrent`` questions are worked on at a time, ``waiting`` more may wait for ``wait_seconds``; whatever comes
    beyond is refused at once and told when to try again. ``requests_per_minute`` is for each key or token, ``failures_
    per_minute`` of unknown keys for each address. ``body_seconds`` is how long a request's body may take to arrive,
    and one second more for each 64 KiB of it.
    ``jobs_at_once`` syncs of different tenants run at a time; ``jobs_waiting`` jobs of one tenant may wait.
    ``hosts`` are names under which a server without keys is reached, beside those of the loopback. ``public_url`` is
    where people reach it, for an identity provider that sends them back.
    ``logs`` is the form of lines on standard error; with ``open_metrics`` ``/metrics`` needs no key.
    """

    concurrent: Positive = 4
    waiting: Annotated[int, Field(ge=0)] = 64
    wait_seconds: Seconds = 10.0
    requests_per_minute: Positive = 600
    failures_per_minute: Positive = 30
    body_kb: Positive = 256
    body_seconds: Seconds = 30.0
    upload_mb: Positive = 200
    upload_files: Positive = 20
    jobs_at_once: Positive = 1
    jobs_waiting: Positive = 100
    hosts: Names = ()
    public_url: str | None = None
    logs: Literal["plain", "json"] = "plain"
    open_metrics: bool = False

    _url = field_validator("public_url")(plain_url)


class AuditSettings(Section):
    """How long entries of the audit log are kept; ``questions`` false leaves the words of questions out of it."""

    days: Positive = 365
    questions: bool = True


class OidcSettings(Section):
    """Tokens of an identity provider. ``issuer`` and ``audience`` switch it on.

    Roles in ``write_roles`` and ``admin_roles`` give the actions ``write`` and ``admin`` beside ``read``.
    """

    issuer: Annotated[str, Field(min_length=1)] | None = None
    audience: Annotated[str, Field(min_length=1)] | None = None
    jwks_url: str | None = None
    algorithms: Names = ("RS256", "ES256")
    leeway_seconds: Annotated[float, Field(ge=0, le=600)] = 60.0
    user_claim: Annotated[str, Field(min_length=1)] = "sub"
    roles_claim: Annotated[str, Field(min_length=1)] = "roles"
    tenant_claim: Annotated[str, Field(min_length=1)] | None = None
    tenant: Annotated[str, Field(min_length=1)] = "default"
    write_roles: Names = ()
    admin_roles: Names = ()
    client_id: Annotated[str, Field(min_length=1)] | None = None
    scope: Annotated[str, Field(min_length=1)] = "openid profile"

    _url = field_validator("jwks_url")(plain_url)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.issuer is None) != (self.audience is None):
            raise ValueError("issuer and audience go together")
        if self.client_id is not None and self.issuer is None:
            raise ValueError("client_id is of an issuer: issuer should be set")
        return self
