"""Tokens of an identity provider (JWT, RFC 7519; OpenID Connect): checked, and read as who asks.

Which algorithms may sign is a setting and never the token's own choice (RFC 8725). Keys are fetched from the provider,
kept, and asked for anew when a token names one that is not known, but not more often than the provider would bear.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import httpx
import jwt

from fonte.access.identity import Action, Identity
from fonte.access.keys import unauthenticated
from fonte.errors import ConfigError, Overloaded
from fonte.types import Principal

KEPT_SECONDS = 600.0
"""How long fetched keys are taken for true without asking again."""
PAUSE_SECONDS = 20.0
"""Between two fetches, whatever tokens say."""
STALE_SECONDS = 24 * 3600.0
"""How long kept keys still serve while the provider cannot be asked."""
TIMEOUT_SECONDS = 5.0
_MOST_BYTES = 2**20
_MOST_CHARACTERS = 16_384
_DISCOVERY = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must say, and which of its claims say who asks. A claim's name may lead inside: ``a.b``."""

    issuer: str
    audience: str
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    leeway_seconds: float = 60.0
    user_claim: str = "sub"
    roles_claim: str = "roles"
    tenant_claim: str | None = None
    tenant: str = "default"
    write_roles: frozenset[str] = frozenset()
    admin_roles: frozenset[str] = frozenset()


class JwtTokens:
    """Tells who a token was issued to. Safe for several threads."""

    def __init__(self, rules: TokenRules, fetch: Callable[[], Mapping[str, Any]]) -> None:
        """``fetch`` gives the provider's key set as JSON. Raises ConfigError for an algorithm with a shared secret."""
        if not rules.algorithms or any(name.startswith("HS") or name == "none" for name in rules.algorithms):
            raise ConfigError("tokens are checked with public keys alone", hint='use "RS256", "ES256" or "EdDSA"')
        self._rules = rules
        self._keys = _Keys(fetch)

    def identify(self, token: str, nonce: str | None = None) -> Identity:
        """Who it was issued to; ``nonce`` is what it must repeat, where it was asked for with one.

        Raises:
            Unauthenticated: it is none, of another issuer or audience, over, not begun, or wrongly signed.
            Overloaded: the provider's keys are not known and cannot be asked for.
        """
        if len(token) > _MOST_CHARACTERS:
            raise unauthenticated()
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in self._rules.algorithms:
                raise unauthenticated()
            key = self._keys.find(header.get("kid"))
            claims = jwt.decode(
                token,
                key,
                algorithms=self._rules.algorithms,
                audience=self._rules.audience,
                issuer=self._rules.issuer,
                leeway=self._rules.leeway_seconds,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise unauthenticated() from error
        if nonce is not None and claims.get("nonce") != nonce:
            raise unauthenticated()
        return self._identity(claims)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        rules = self._rules
        user = _text(_claim(claims, rules.user_claim))
        tenant = rules.tenant if rules.tenant_claim is None else _text(_claim(claims, rules.tenant_claim))
        named = _names(_claim(claims, rules.roles_claim))
        # Who somebody is comes from the user's claim alone; a role that says so is left out.
        roles = frozenset(role for role in named if not role.startswith("user:"))
        actions = {Action.READ}
        if roles & rules.write_roles or roles & rules.admin_roles:
            actions.add(Action.WRITE)
        if roles & rules.admin_roles:
            actions.add(Action.ADMIN)
        return Identity(f"token:{user}", Principal(tenant, user, roles), frozenset(actions))


class _Keys:
    """The provider's keys by their ids."""

    def __init__(self, fetch: Callable[[], Mapping[str, Any]]) -> None:
        self._fetch = fetch
        self._lock = Lock()
        self._known: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at = -math.inf
        self._tried_at = -math.inf

    def find(self, kid: object) -> jwt.PyJWK:
        """The key of that id; a set of one key needs no id.

        Raises:
            Unauthenticated: no such key. Overloaded: none are known and the provider cannot be asked.
        """
        name = kid if isinstance(kid, str) else None
        # Whoever has a key that still serves does not wait while another asks the provider.
        usable = name in self._known and self._age() <= STALE_SECONDS
        if (name not in self._known or self._age() > KEPT_SECONDS) and self._lock.acquire(blocking=not usable):
            try:
                self._renew(name)
            finally:
                self._lock.release()
        if self._age() > STALE_SECONDS:
            raise Overloaded("the identity provider cannot be asked", hint="try again in a moment", after_seconds=20)
        key = self._known.get(name)
        if key is None:
            raise unauthenticated()
        return key

    def _age(self) -> float:
        return time.monotonic() - self._fetched_at

    def _renew(self, name: str | None) -> None:
        """Ask the provider, unless that was done while we waited, or just before."""
        moment = time.monotonic()
        if (name in self._known and self._age() <= KEPT_SECONDS) or moment - self._tried_at <= PAUSE_SECONDS:
            return
        self._tried_at = moment
        try:
            found = jwt.PyJWKSet.from_dict(dict(self._fetch())).keys
        except (httpx.HTTPError, jwt.PyJWTError, ValueError, TypeError, KeyError):
            return  # what is known serves on until it is too old
        signing = [one for one in found if one.public_key_use in (None, "sig")]
        known: dict[str | None, jwt.PyJWK] = {one.key_id: one for one in signing}
        if len(signing) == 1:
            known[None] = signing[0]
        self._known, self._fetched_at = known, moment


def fetcher(issuer: str, jwks_url: str | None) -> Callable[[], Mapping[str, Any]]:
    """Gives the provider's keys; where they lie it says itself, unless ``jwks_url`` does."""

    def fetch() -> Mapping[str, Any]:
        with httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
            address = jwks_url or discovered(client, issuer).get("jwks_uri")
            if not isinstance(address, str):
                raise TypeError("the provider does not say where its keys are")
            return read_json(client, address)

    return fetch


def discovered(client: httpx.Client, issuer: str) -> Mapping[str, Any]:
    """What a provider says of itself. Raises ValueError where it calls itself by another name, HTTPError, TypeError."""
    told = read_json(client, issuer.rstrip("/") + _DISCOVERY)
    if told.get("issuer") != issuer:
        raise ValueError("the provider calls itself by another name")
    return told


def read_json(
    client: httpx.Client, address: str, form: Mapping[str, str] | None = None, auth: tuple[str, str] | None = None
) -> Mapping[str, Any]:
    """A JSON object, not too large; with a ``form`` it is sent by POST. Raises HTTPError, ValueError, TypeError."""
    method, data = ("GET", None) if form is None else ("POST", dict(form))
    with client.stream(method, address, data=data, auth=auth) as response:
        response.raise_for_status()
        body = b""
        for part in response.iter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                raise ValueError("the provider's answer is too large")
    found = httpx.Response(200, content=body).json()
    if not isinstance(found, dict):
        raise TypeError("the provider's answer is no JSON object")
    return found


def _claim(claims: Mapping[str, Any], name: str) -> object:
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise unauthenticated()
    return value


def _names(value: object) -> Sequence[str]:
    listed = value.split() if isinstance(value, str) else value
    if not isinstance(listed, list):
        return []
    return [one for one in listed if isinstance(one, str) and one.strip() and "\0" not in one]
