"""The application: routes, and errors in one form."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException

from fonte.access.identity import Action
from fonte.errors import Busy, FonteError, InvalidRequest, NotFound
from fonte.http import asking, chat, conversations, documents, jobs, keyring, page, running, session, uploads
from fonte.http.guard import Guard
from fonte.http.identity import Desk, May
from fonte.http.limits import Buckets, Room
from fonte.http.readiness import Readiness
from fonte.http.replies import ERRORS, error_told, reply
from fonte.http.schemas_out import Health, Ready
from fonte.http.served import Served
from fonte.http.telemetry import CONTENT_TYPE, Telemetry

_HINT = "see /openapi.json"
_AS_JSON = "send Content-Type: application/json"
_NOT_NOW = 503
_TOLD = 5
"""Faults of a request that are named."""


def create_app(served: Served, version: str = "", *, only_tools: bool = False) -> FastAPI:
    """The server's application; with ``only_tools`` no way to documents but ``/mcp``, which is there where the SDK is.

    Pages of documentation are left out: they would load scripts from elsewhere.
    """
    app = FastAPI(
        title="fonte",
        version=version or "0",
        summary="Document question answering whose every sentence is tied to the place it came from.",
        docs_url=None,
        redoc_url=None,
        responses=ERRORS,
    )
    limits = served.limits
    app.state.desk = Desk(served, Buckets(limits.requests_per_minute), Buckets(limits.failures_per_minute))
    if not only_tools:
        for part in (asking, conversations, chat, documents, uploads, jobs, running, keyring, session, page):
            app.include_router(part.routes(served))
    if find_spec("mcp") is not None:
        from fonte.http import tool_routes

        app.include_router(tool_routes.routes(served, version))
    _add_health(app, served)
    _add_errors(app)
    room = Room(limits.concurrent, limits.waiting, limits.wait_seconds)
    tended = served.tended.counts if served.tended is not None else None
    telemetry = Telemetry(room, served.tracer, served.work.by_state, tended)
    _add_metrics(app, served, telemetry)
    app.add_middleware(_guarded, served=served, room=room, telemetry=telemetry)
    return app


def _guarded(app: Any, served: Served, room: Room, telemetry: Telemetry) -> Guard:
    return Guard(app, served, room, telemetry)


def _add_metrics(app: FastAPI, served: Served, telemetry: Telemetry) -> None:
    rule = [] if served.open_metrics else [Depends(May(Action.ADMIN))]

    @app.get("/metrics", tags=["health"], dependencies=rule, response_class=PlainTextResponse)
    def metrics() -> Response:
        """Counters in Prometheus' text form."""
        return Response(telemetry.text(), media_type=CONTENT_TYPE)


def _add_health(app: FastAPI, served: Served) -> None:
    @app.get("/healthz", tags=["health"], response_model=Health)
    def health() -> Response:
        """Whether the process answers at all."""
        return reply({"status": "ok"})

    readiness = Readiness(served)

    @app.get("/readyz", tags=["health"], response_model=Ready, responses={_NOT_NOW: {"model": Ready}})
    def ready() -> Response:
        """Whether keys and active generations can be read; which of them cannot, and no more than that."""
        checks = readiness.checks()
        told = {name: "ok" if good else "failed" for name, good in checks.items()}
        whole = all(checks.values())
        return reply({"status": "ready" if whole else "not ready", "checks": told}, 200 if whole else _NOT_NOW)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(FonteError)
    async def typed(request: Request, error: FonteError) -> Response:
        return _error(request, error)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        faults = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"[:200] for one in error.errors()[:_TOLD]]
        if _not_json(request) and any(tuple(one["loc"]) == ("body",) for one in error.errors()):
            return _error(request, InvalidRequest("the body is not sent as JSON", hint=_AS_JSON))
        param = ".".join(str(part) for part in error.errors()[0]["loc"][1:])
        return _error(request, InvalidRequest("; ".join(faults), hint=_HINT), param or None)

    @app.exception_handler(HTTPException)
    async def unrouted(request: Request, error: HTTPException) -> Response:
        found = NotFound("there is no such address", hint=_HINT)
        told = found if error.status_code == found.http_status else InvalidRequest(error.detail, hint=_HINT)
        response = _error(request, told)
        response.status_code = error.status_code
        response.headers.update(error.headers or {})
        return response


def _not_json(request: Request) -> bool:
    """Whether a body comes as another type than JSON, or as none: then it is no object, whatever it holds."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind != "application/json" and not kind.endswith("+json")


def _error(request: Request, error: FonteError, param: str | None = None) -> Response:
    request.state.audit_outcome = error.code
    response = reply(error_told(error, request.url.path, param, request_id=request.state.request_id), error.http_status)
    if isinstance(error, Busy):
        response.headers["retry-after"] = str(error.after_seconds)
    if error.http_status == 401:  # noqa: PLR2004 - its header is asked for by RFC 9110
        response.headers["www-authenticate"] = "Bearer"
    return response
