"""Who asks: the only reader of the headers that say so. Tenant, user and roles come from here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Annotated, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from fonte.access import keys, sessions
from fonte.access.identity import Action, Identity
from fonte.errors import FonteError, NotPermitted, Unauthenticated
from fonte.http.limits import Buckets
from fonte.http.served import Served

COOKIE = "fonte_session"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Desk:
    """Where callers are known and counted."""

    served: Served
    callers: Buckets
    failures: Buckets

    def cookie(self) -> str:
        """The name of the session's cookie: browsers do not tell ports of a host apart, and homes may share one."""
        return f"{COOKIE}_{self.served.sessions.mark()}"

    def identity(self, request: Request) -> Identity:
        """Who asks.

        Raises:
            Unauthenticated; RateLimited; NotPermitted: a page of another origin sent it.
        """
        return self._counted(request, lambda: self._known(request))

    def sign_in(self, request: Request, key: str) -> tuple[str, Identity]:
        """A session for whoever has this key: its secret, for the browser's cookie, and who they are.

        Raises:
            As ``identity``.
        """
        served = self.served
        found = self._counted(request, lambda: keys.identify(served.keys, key, now=served.now()))
        return sessions.begin(served.sessions, key, now=served.now()), found

    def sign_in_by(self, request: Request, vouched: Callable[[], Identity]) -> tuple[str, Identity]:
        """A session for whomever an identity provider vouches for, as ``sign_in``."""
        found = self._counted(request, vouched)
        self.callers.take(found.id)
        return sessions.begin_told(self.served.sessions, found, now=self.served.now()), found

    def _counted(self, request: Request, known: Callable[[], Identity]) -> Identity:
        _same_origin(request)
        address = _network(request.client.host if request.client else "")
        self.failures.check(address)
        try:
            found = known()
        except Unauthenticated:
            self.failures.take(address)
            raise
        # Subjects of tokens may have one name in two tenants.
        self.callers.take(f"{found.principal.tenant}\0{found.id}")
        return found

    def _known(self, request: Request) -> Identity:
        header = request.headers.get("authorization")
        if header is None:
            cookie = request.cookies.get(self.cookie())
            # While nobody can sign in there is no session: a cookie is then left over from another home.
            if cookie is None or (self.served.local is not None and not self.served.keys.any_key()):
                return self._nobody(request)
            return self._of_session(request, cookie)
        scheme, _, text = header.partition(" ")
        if scheme.lower() != "bearer":
            raise keys.unauthenticated()
        text = text.strip()
        if keys.looks_like_key(text) or self.served.tokens is None:
            return keys.identify(self.served.keys, text, now=self.served.now())
        return self.served.tokens.identify(text)

    def _of_session(self, request: Request, secret: str) -> Identity:
        """Whoever signed in with this browser: a page of ours sent it, for browsers send cookies by themselves."""
        if request.method not in _SAFE and request.headers.get("origin") is None:
            raise NotPermitted("a browser's session changes nothing without its Origin", hint="use a key instead")
        return sessions.identify(self.served.sessions, self.served.keys, secret, now=self.served.now())

    def _nobody(self, request: Request) -> Identity:
        """Whoever sits at this machine, while no key was ever made."""
        if self.served.local is None or self.served.keys.any_key():
            raise keys.unauthenticated()
        # A page elsewhere can have its name point to the loopback: then the name that was asked for gives it away.
        host = (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").lower()
        if host not in _LOOPBACK and host not in self.served.limits.hosts:
            raise NotPermitted(
                f"without keys this server is asked as localhost, not as {host[:80]!r}", hint="make a key first"
            )
        return self.served.local


def _network(address: str) -> str:
    """What failures are counted by: an address, or of version 6 the network of 64 bits that one machine is given."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    return address if known.version == 4 else str(ip_network((known, 64), strict=False))  # noqa: PLR2004 - IPv4


def _same_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is None or request.method in _SAFE:
        return
    if urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower():
        raise NotPermitted("another site's page may not send this", hint="use the API with a key from a program")


_Described = Annotated[
    object, Depends(HTTPBearer(auto_error=False, description="a key, or an identity provider's token"))
]
"""Tells the description that a route takes a key or token; what the header says is read by the desk alone."""


@dataclass(frozen=True, slots=True)
class May:
    """The rule of a route: who may use it at all. As a dependency it gives the caller's identity."""

    action: Action

    async def __call__(self, request: Request, _described: _Described) -> Identity:
        """Who asks, with a place to be worked on. Raises Unauthenticated, RateLimited, NotPermitted, Overloaded."""
        identity = await run_in_threadpool(self._known, request)
        try:
            await request.state.place()
        except FonteError as error:
            request.state.audit_outcome = error.code
            raise
        return identity

    def _known(self, request: Request) -> Identity:
        request.state.audit_action = _name(request)
        desk = cast("Desk", request.app.state.desk)
        try:
            identity = desk.identity(request)
            request.state.identity = identity
            identity.require(self.action)
        except FonteError as error:
            request.state.audit_outcome = error.code
            raise
        return identity


def _name(request: Request) -> str:
    route = request.scope.get("route")
    return f"{request.method} {getattr(route, 'path', '')}"


Reader = Annotated[Identity, Depends(May(Action.READ))]
Writer = Annotated[Identity, Depends(May(Action.WRITE))]
Admin = Annotated[Identity, Depends(May(Action.ADMIN))]
