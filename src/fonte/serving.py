"""Settings to a server: the wiring of ``fonte serve``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from fonte import contract
from fonte.access.identity import Identity
from fonte.access.jobs import JobLimits
from fonte.access.records import AuditEntry
from fonte.config import Settings
from fonte.corpus import OpenCorpus
from fonte.errors import ConfigError, StoreError
from fonte.homes import stores_of
from fonte.http.provider import Provider
from fonte.http.served import Limits, Served
from fonte.http.tokens import JwtTokens, TokenRules, fetcher
from fonte.models.endpoint import read_key
from fonte.scheduled import Schedule, Scheduled
from fonte.standing import Looked, Standing
from fonte.tending import ears, pace_of, rules_of
from fonte.working import Worker

_DAY_SECONDS = 24 * 3600.0
if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_COLLECTORS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_log = logging.getLogger("fonte.serving")


def make_served(home: Path, settings: Settings, corpus: OpenCorpus, local: Identity | None) -> Served:
    """What the server is made of; ``local`` acts while no key was ever made and no identity provider is set."""
    wanted, stores, traces = settings.serve, stores_of(home, settings), make_tracer()
    limits = Limits(
        concurrent=wanted.concurrent,
        waiting=wanted.waiting,
        wait_seconds=wanted.wait_seconds,
        requests_per_minute=wanted.requests_per_minute,
        failures_per_minute=wanted.failures_per_minute,
        body_bytes=wanted.body_kb * 2**10,
        body_seconds=wanted.body_seconds,
        upload_bytes=wanted.upload_mb * 2**20,
        upload_files=wanted.upload_files,
        hosts=tuple(one.lower() for one in wanted.hosts),
    )
    return Served(
        corpus=corpus,
        keys=stores.keys(),
        sessions=stores.sessions(),
        audit=stores.audit(),
        work=Worker(corpus, stores.jobs, JobLimits(wanted.jobs_at_once, wanted.jobs_waiting)),
        feedback=stores.feedback,
        tended=_tended(home, settings, corpus),
        rules=rules_of(settings),
        local=local if settings.oidc.issuer is None else None,
        tokens=_tokens(settings),
        provider=_provider(settings),
        limits=limits,
        audit_questions=settings.audit.questions,
        open_metrics=wanted.open_metrics,
        tracer=traces.get_tracer("fonte") if traces is not None else None,
        generators=tuple(dict.fromkeys((settings.generation.name, "extractive"))),
    )


@contextmanager
def at_work(home: Path, settings: Settings, served: Served) -> Iterator[None]:
    """What a server does beside its requests, while the block runs: jobs that were left, and old entries forgotten."""
    over, days = Event(), timedelta(days=settings.audit.days)
    upkeep = Thread(target=_forget_daily, args=(served, days, over), name="upkeep", daemon=True)
    upkeep.start()
    stores = stores_of(home, settings)
    for tenant in stores.unerased():
        try:
            served.corpus.erase(tenant=tenant)
        except StoreError as error:  # the rest is served meanwhile; fonte check tells of it
            _log.warning("an erasure is still not completed: %s", error.code)
    served.work.resume(stores.with_jobs())
    if served.tended is not None:
        served.tended.start()
    try:
        yield
    finally:
        over.set()
        if served.tended is not None:
            served.tended.close()
        served.work.close()


def _tended(home: Path, settings: Settings, corpus: OpenCorpus) -> Scheduled | None:
    """The sources that the settings say are to be looked after."""
    if not settings.schedules:
        return None
    return Scheduled(
        Standing(corpus, rules_of(settings)),
        [Schedule(one.source, one.tenant, one.every) for one in settings.schedules],
        ears(home),
        pace_of(settings),
        settings.serve.jobs_at_once,
        told=_tell,
    )


def _tell(looked: Looked) -> None:
    """A line for each pass that changed something or went wrong; what the documents are called stays out of the log."""
    ended = looked.ended
    if ended is not None and (ended.changed or ended.error is not None):
        _log.info("a pass over a source: %s, %s", ended.state.value, (ended.error or {}).get("code", "changed"))


def _forget_daily(served: Served, kept: timedelta, over: Event) -> None:
    """Delete entries of the audit log that are older, now and once a day."""
    while True:
        try:
            served.audit.forget(served.now() - kept)
        except StoreError as error:  # tomorrow is another day
            _log.warning("the audit log was not tidied: %s", error.code)
        if over.wait(_DAY_SECONDS):
            return


def _provider(settings: Settings) -> Provider | None:
    """The identity provider that the page sends people to. Raises ConfigError where it does not know the way back."""
    wanted, back = settings.oidc, settings.serve.public_url
    if wanted.client_id is None or wanted.issuer is None:
        return None
    if back is None:
        raise ConfigError("[oidc] client_id needs [serve] public_url", hint="set it to where people reach this server")
    tokens = _tokens(settings, audience=wanted.client_id)
    secret, address = read_key(("FONTE_OIDC_CLIENT_SECRET",), _log.warning), f"{back.rstrip('/')}/v1/session/return"
    return Provider(wanted.issuer, wanted.client_id, secret, address, wanted.scope, tokens) if tokens else None


def _tokens(settings: Settings, audience: str | None = None) -> JwtTokens | None:
    wanted = settings.oidc
    if wanted.issuer is None or wanted.audience is None:
        return None
    rules = TokenRules(
        issuer=wanted.issuer,
        audience=audience or wanted.audience,
        algorithms=wanted.algorithms,
        leeway_seconds=wanted.leeway_seconds,
        user_claim=wanted.user_claim,
        roles_claim=wanted.roles_claim,
        tenant_claim=wanted.tenant_claim,
        tenant=wanted.tenant,
        write_roles=frozenset(wanted.write_roles),
        admin_roles=frozenset(wanted.admin_roles),
    )
    return JwtTokens(rules, fetcher(wanted.issuer, wanted.jwks_url))


def tools_over_stdio(home: Path, settings: Settings, corpus: OpenCorpus, who: Identity, version: str) -> None:
    """The tools over standard input and output, for one caller, until the input ends. Nothing else is written there."""
    import anyio
    from mcp.server.stdio import stdio_server

    from fonte.http.tool_server import Caller, make_server
    from fonte.http.tools import Done, Offer

    served = make_served(home, settings, corpus, who)

    def noted(action: str, done: Done) -> None:
        entry = AuditEntry(
            at=served.now(),
            tenant=who.principal.tenant,
            identity=who.id,
            user=who.principal.user,
            action=f"MCP {action}",
            subject=done.subject,
            outcome=done.outcome,
            shown=done.shown,
        )
        served.audit.record(entry)

    server = make_server(version, lambda _ctx: Caller(Offer(served, who), noted), contract.error)

    async def talk() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(talk)


def make_tracer() -> TracerProvider | None:
    """What sends traces to the collector that OpenTelemetry's variables name; None where they name none."""
    if not any(os.environ.get(name) for name in _COLLECTORS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise ConfigError(f"traces need {error.name}", hint="pip install 'fonte[otel]'") from error
    named = os.environ.get("OTEL_SERVICE_NAME") or "fonte"
    provider = TracerProvider(resource=Resource.create({"service.name": named}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
