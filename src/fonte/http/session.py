"""Signing in with a browser: a key for a cookie that scripts cannot read. Whoever has neither is told just that."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fonte.access import sessions
from fonte.access.identity import Identity
from fonte.contract import Json
from fonte.errors import FonteError, Unauthenticated
from fonte.http import schemas_out as out
from fonte.http.identity import COOKIE, Desk
from fonte.http.replies import note, reply
from fonte.http.schemas import SessionBody
from fonte.http.served import Served


def routes(served: Served) -> APIRouter:
    """Who one is; in; out."""
    router = APIRouter(tags=["session"])

    @router.get("/v1/session", response_model=out.SessionTold)
    def session(request: Request) -> Response:
        """Who the caller is and what they may do; without a good key or session only that one is needed."""
        desk = cast("Desk", request.app.state.desk)
        keys = served.keys.any_key()
        try:
            return reply(_told(desk.identity(request)) | {"keys": keys})
        except Unauthenticated:
            answer = reply({"signed_in": False, "keys": keys})
            if COOKIE in request.cookies:
                answer.delete_cookie(COOKIE, path="/")
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
        answer.set_cookie(
            COOKIE,
            secret,
            max_age=int(sessions.LIFETIME.total_seconds()),
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    @router.delete("/v1/session", response_model=out.SessionTold)
    def sign_out(request: Request) -> Response:
        """End the session of this browser, if there is one."""
        secret = request.cookies.get(COOKIE)
        if secret is not None:
            sessions.end(served.sessions, secret)
        answer = reply({"signed_in": False, "keys": served.keys.any_key()})
        answer.delete_cookie(COOKIE, path="/")
        return answer

    return router


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
