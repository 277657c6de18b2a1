"""``/mcp``: the tools over streamable HTTP. Every message is a request of its own, by whoever its headers say."""

from __future__ import annotations

from typing import Any, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from fonte.http.identity import Reader
from fonte.http.replies import note, timed
from fonte.http.served import Served
from fonte.http.tool_server import Caller, make_server
from fonte.http.tools import Done, Offer


def routes(served: Served, version: str) -> APIRouter:
    """One route; it is described by its protocol and stands in no OpenAPI."""
    router = APIRouter(include_in_schema=False)

    def caller(ctx: ServerRequestContext[Any, Any]) -> Caller:
        request = cast("Request", ctx.request)

        def noted(action: str, done: Done) -> None:
            request.state.audit_action = f"MCP {action}"
            note(request, done.subject, done.shown, done.outcome)
            timed(request, done.timings_ms, done.answer)

        return Caller(Offer(served, request.state.identity, str(request.base_url)), noted)

    server = make_server(version, caller)

    @router.post("/mcp")
    async def mcp(who: Reader) -> Response:
        """A message of the protocol."""
        del who  # stands in the request's state, where the caller is read from
        return _Handed(server)

    return router


class _Handed(Response):
    """Hands a request to the SDK. Nothing is kept between requests, so that none can meet another's session."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        super().__init__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One message in, one out."""
        manager = StreamableHTTPSessionManager(self._server, stateless=True, json_response=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)
