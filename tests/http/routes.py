"""Every route of an application with its methods, those of included routers too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute


def api_routes(app: FastAPI) -> Iterator[tuple[str, str, APIRoute]]:
    """Method, path, route."""
    pending: list[Any] = list(app.routes)
    while pending:
        one = pending.pop()
        if isinstance(one, APIRoute):
            for method in sorted(one.methods or ()):
                yield method, one.path, one
        else:
            pending += getattr(getattr(one, "original_router", one), "routes", [])
