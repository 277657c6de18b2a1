"""Settings to a server: the wiring of ``fonte serve``."""

from __future__ import annotations

from pathlib import Path

from fonte.access.identity import Identity
from fonte.config import Settings
from fonte.corpus import OpenCorpus
from fonte.http.served import Limits, Served
from fonte.http.tokens import JwtTokens, TokenRules, fetcher
from fonte.stores.home import Home


def make_served(home: Path, settings: Settings, corpus: OpenCorpus, local: Identity | None) -> Served:
    """What the server is made of; ``local`` acts while no key was ever made and no identity provider is set."""
    wanted, stores = settings.serve, Home(home)
    limits = Limits(
        concurrent=wanted.concurrent,
        waiting=wanted.waiting,
        wait_seconds=wanted.wait_seconds,
        requests_per_minute=wanted.requests_per_minute,
        failures_per_minute=wanted.failures_per_minute,
        body_bytes=wanted.body_kb * 2**10,
        body_seconds=wanted.body_seconds,
        upload_bytes=wanted.upload_mb * 2**20,
        hosts=wanted.hosts,
    )
    return Served(
        corpus=corpus,
        keys=stores.keys(),
        audit=stores.audit(),
        local=local if settings.oidc.issuer is None else None,
        tokens=_tokens(settings),
        limits=limits,
        audit_questions=settings.audit.questions,
        generators=tuple(dict.fromkeys((settings.generation.name, "extractive"))),
    )


def _tokens(settings: Settings) -> JwtTokens | None:
    wanted = settings.oidc
    if wanted.issuer is None or wanted.audience is None:
        return None
    rules = TokenRules(
        issuer=wanted.issuer,
        audience=wanted.audience,
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
