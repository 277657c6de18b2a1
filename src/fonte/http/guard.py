"""What every request passes before it reaches a route: its id, its size, a place to be worked on, and the audit log.

Written against ASGI itself, so that a place is held until the last byte of a stream is out, and nothing is buffered
but small bodies.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any, Final, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fonte.access.records import AuditEntry
from fonte.errors import Busy, FonteError, InvalidRequest, RateLimited, SourceTooLarge
from fonte.http.limits import Room
from fonte.http.replies import error_told
from fonte.http.served import Served
from fonte.http.telemetry import Over, Telemetry

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

COSTLY: Final = re.compile(r"/v1/(?:search|ask|chat/completions|why)|/v1/documents/[^/]+/pages/[^/]+\.png|/mcp/?")
"""Paths whose requests wait for a place."""
UPLOADS: Final = "/v1/documents"
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    b"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
SLOWEST: Final = 64 * 1024
"""Bytes a second that a body has to come with, beyond the time that each has."""
_GONE: Final = 499
"""The status that is counted where the client did not wait for one."""
_log = logging.getLogger("fonte.http")


class Guard:
    """Wraps the application."""

    def __init__(self, app: App, served: Served, room: Room, telemetry: Telemetry | None = None) -> None:
        self._app = app
        self._served = served
        self._room = room
        self._telemetry = telemetry or Telemetry(room)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        answering = _Answering(self._served, scope, send, request_id)
        began = time.perf_counter()
        try:
            reading = await self._taken(scope, headers, receive)
            async with AsyncExitStack() as until_the_end:
                scope["state"]["place"] = lambda: self._place(scope, until_the_end)
                await self._app(scope, reading, answering.send)
        except (Busy, SourceTooLarge, InvalidRequest) as error:
            scope["state"]["audit_outcome"] = error.code
            await answering.refuse(error)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception:  # noqa: BLE001 - the edge of the server: the log is told what is ours to mend, the caller nothing
            _log.exception("unexpected", extra={"request_id": request_id})
            scope["state"]["audit_outcome"] = FonteError.code
            await answering.refuse(FonteError("something went wrong here", hint=f"the log tells, under {request_id}"))
        finally:
            await answering.end()
            self._over(scope, answering.status or _GONE, time.perf_counter() - began)

    def _over(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the request, and a line in the log."""
        state = scope["state"]
        over = Over(
            method=scope["method"],
            route=_route(scope),
            status=status,
            seconds=seconds,
            request_id=state["request_id"],
            outcome=state.get("audit_outcome", ""),
            answer=state.get("answer", ""),
            timings_ms=state.get("timings_ms", {}),
            traceparent=dict(scope["headers"]).get(b"traceparent", b"").decode("latin-1"),
        )
        self._telemetry.over(over)
        told = {"request_id": over.request_id, "method": over.method, "route": over.route, "status": status}
        _log.info("request", extra=told | {"milliseconds": round(1000 * seconds, 1)})

    async def _place(self, scope: Scope, until_the_end: AsyncExitStack) -> None:
        """Wait for a place where the request needs one, and keep it to its end. Whoever asks must be known by then."""
        if COSTLY.fullmatch(scope["path"]):
            await until_the_end.enter_async_context(self._room.enter())

    async def _taken(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """What the route reads the body from: small bodies whole and at once, uploads as they come and counted."""
        limits = self._served.limits
        upload = scope["path"] == UPLOADS and scope["method"] == "POST"
        most = limits.upload_bytes if upload else limits.body_bytes
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit():
            raise InvalidRequest("Content-Length is no number", hint="send a body of known length, or chunks")
        if int(declared) > most:
            raise _too_large(most)
        counted = _Counted(receive, most, limits.body_seconds)
        return counted if upload else await _buffered(counted)


class _Counted:
    """A body whose bytes are counted, and which has to come in time: the larger it is the more of it."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._taken = 0
        self._until: float | None = None
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()  # waits until the client is gone
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(self._until + self._taken / SLOWEST):
                message = await self._receive()
        except TimeoutError:
            raise InvalidRequest("the body did not arrive in time", hint="send it at once") from None
        self._taken += len(message.get("body", b""))
        if self._taken > self._most:
            raise _too_large(self._most)
        self._whole = not message.get("more_body", False)
        return message


async def _buffered(receive: _Counted) -> Receive:
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect  # a part of a body is not taken for the whole
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    pending: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


class _Answering:
    """Sends what the application sends, with the headers that all answers have; the last part only once it is noted.

    A request that cannot be written into the audit log is not answered; of a stream its end is missing.
    """

    def __init__(self, served: Served, scope: Scope, send: Send, request_id: str) -> None:
        self._served = served
        self._scope = scope
        self._send = send
        self._id = request_id
        self._start: Message | None = None
        self._refused = False
        self._noted = False
        self.status = 0

    async def send(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._start = message
            self.status = message["status"]
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        if not message.get("more_body", False):
            try:
                await run_in_threadpool(self._note)
            except FonteError as error:
                await self.refuse(error)
                return
        await self._begin()
        try:
            async with asyncio.timeout(self._served.limits.body_seconds):
                await self._send(message)
        except TimeoutError:
            raise ClientDisconnect from None  # it does not read

    async def refuse(self, error: FonteError) -> None:
        """Answer with an error, where nothing was answered yet; a stream that has begun just ends."""
        if self._start is None and self.status:
            return
        self._refused = True
        body = json.dumps(error_told(error, self._scope["path"], request_id=self._id)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if isinstance(error, Busy):
            headers.append((b"retry-after", str(error.after_seconds).encode()))
        self.status = error.http_status
        self._start = {"type": "http.response.start", "status": error.http_status, "headers": headers}
        await self._begin()
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def end(self) -> None:
        """Note what was not yet: a stream whose reader has gone, a fault of ours."""
        if self._noted or self._scope["state"].get("audit_action") is None:
            return
        try:
            await run_in_threadpool(self._note)
        except FonteError as error:
            _log.error("a request was not noted: %s", error.code)

    async def _begin(self) -> None:
        if self._start is None:
            return
        start, self._start = self._start, None
        own = {name.lower() for name, _ in start.get("headers", ())}
        added = [(b"x-request-id", self._id.encode()), *_HEADERS, (b"content-security-policy", _POLICY)]
        if b"cache-control" not in own:
            added.append((b"cache-control", b"no-store"))
        start["headers"] = [*start.get("headers", ()), *((name, value) for name, value in added if name not in own)]
        await self._send(start)

    def _note(self) -> None:
        """Write what was asked and shown into the audit log, where the route said that it belongs there."""
        self._noted = True
        state = self._scope["state"]
        action = state.get("audit_action")
        if action is None or state.get("audit_outcome") == RateLimited.code:  # a flood is not to fill the disk
            return
        identity = state.get("identity")
        self._served.audit.record(
            AuditEntry(
                at=self._served.now(),
                tenant=identity.principal.tenant if identity else "",
                identity=identity.id if identity else "",
                user=identity.principal.user if identity else None,
                action=action,
                subject=state.get("audit_subject", ""),
                outcome=state.get("audit_outcome", "ok"),
                shown=tuple(state.get("audit_shown", ())),
                request_id=self._id,
            )
        )


def _route(scope: Scope) -> str:
    """The route's pattern: what stands in its place in an address may be a name, and stays out of the logs."""
    return getattr(scope.get("route"), "path", "")


def _too_large(most: int) -> SourceTooLarge:
    return SourceTooLarge(f"the body is larger than {most} bytes", hint="send less at once")
