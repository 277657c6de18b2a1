"""Signing in with a browser: a key for a cookie that scripts cannot read. Whoever has neither is told just that."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fonte.access import sessions
from fonte.access.identity import Identity
from fonte.contract import Json
from fonte.errors import FonteError, NotFound, Unauthenticated
from fonte.http import schemas_out as out
from fonte.http.identity import Desk
from fonte.http.provider import login_of
from fonte.http.replies import note, reply
from fonte.http.schemas import SessionBody
from fonte.http.served import Served

LOGIN = "fonte_login"
_LOGIN_SECONDS = 600


def routes(served: Served) -> APIRouter:
    """Who one is; in; out."""
    router = APIRouter(tags=["session"])

    @router.get("/v1/session", response_model=out.SessionTold)
    def session(request: Request) -> Response:
        """Who the caller is and what they may do; without a good key or session only that one is needed."""
        desk = cast("Desk", request.app.state.desk)
        keys = served.keys.any_key()
        try:
            return reply(_told(desk.identity(request)) | {"keys": keys, "provider": served.provider is not None})
        except Unauthenticated:
            answer = reply({"signed_in": False, "keys": keys, "provider": served.provider is not None})
            if desk.cookie() in request.cookies:
                answer.delete_cookie(desk.cookie(), path="/")
            return answer

    @router.post("/v1/session", response_model=out.SessionTold)
    def sign_in(body: SessionBody, request: Request) -> Response:
        """Begin a session of this browser with a key."""
        desk = cast("Desk", request.app.state.desk)
        request.state.audit_action = "POST /v1/session"
        try:
            secret, identity = desk.sign_in(request, body.key.strip())
        except FonteError as error:
            note(request, outcome=error.code)
            raise
        request.state.identity = identity
        answer = reply(_told(identity) | {"keys": True})
        _keep(answer, request, secret)
        return answer

    @router.delete("/v1/session", response_model=out.SessionTold)
    def sign_out(request: Request) -> Response:
        """End the session of this browser, if there is one."""
        cookie = cast("Desk", request.app.state.desk).cookie()
        secret = request.cookies.get(cookie)
        if secret is not None:
            sessions.end(served.sessions, secret)
        answer = reply({"signed_in": False, "keys": served.keys.any_key()})
        answer.delete_cookie(cookie, path="/")
        return answer

    _add_provider(router, served)
    return router


def _add_provider(router: APIRouter, served: Served) -> None:
    @router.get("/v1/session/provider", include_in_schema=False)
    def leave(request: Request) -> Response:
        """Send the browser to the identity provider."""
        if served.provider is None:
            raise _no_provider()
        address, login = served.provider.begin()
        answer = RedirectResponse(address, 303)
        answer.set_cookie(
            LOGIN,
            login.as_text(),
            max_age=_LOGIN_SECONDS,
            path="/v1/session/return",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return answer

    @router.get("/v1/session/return", include_in_schema=False)
    def come_back(request: Request, code: str = "", state: str = "") -> Response:
        """Begin a session for whomever the provider vouches for; the page says where it did not."""
        desk, provider = cast("Desk", request.app.state.desk), served.provider
        if provider is None:
            raise _no_provider()
        request.state.audit_action = "GET /v1/session/return"
        try:
            login = login_of(request.cookies.get(LOGIN))
            secret, identity = desk.sign_in_by(request, lambda: provider.finish(code, state, login))
        except Unauthenticated as error:
            note(request, outcome=error.code)
            answer = _onwards("/?signin=failed")
        else:
            request.state.identity = identity
            answer = _onwards("/")
            _keep(answer, request, secret)
        answer.delete_cookie(LOGIN, path="/v1/session/return")
        return answer


def _keep(answer: Response, request: Request, secret: str) -> None:
    answer.set_cookie(
        cast("Desk", request.app.state.desk).cookie(),
        secret,
        max_age=int(sessions.LIFETIME.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _onwards(address: str) -> Response:
    """A page of ours that leads on: what another site redirects to is sent no cookie that is strictly ours."""
    icon = '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'  # else browsers ask for one elsewhere
    return HTMLResponse(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">{icon}<title>fonte</title>'
    )


def _no_provider() -> NotFound:
    return NotFound("no identity provider is set for this page", hint="set [oidc] client_id and [serve] public_url")


def _told(identity: Identity) -> Json:
    principal = identity.principal
    return {
        "signed_in": True,
        "local": identity.id == "local",
        "tenant": principal.tenant,
        "user": principal.user,
        "roles": sorted(principal.roles),
        "actions": sorted(one.value for one in identity.actions),
    }
