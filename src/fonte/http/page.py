"""The page: one shell for all its addresses, and the files that it is made of, held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fonte.errors import NotFound
from fonte.http.served import Served
from fonte.types import sha256_hex

ADDRESSES: Final = (
    "/",
    "/documents",
    "/documents/{document_id}",
    "/conversations",
    "/conversations/{conversation_id}",
    "/manage",
)
"""What the page's own script shows something for."""
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_SHELL: Final = "index.html"
_LANGUAGES: Final = ("en", "it")


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    media_type: str
    tag: str


def routes(served: Served) -> APIRouter:
    """The shell and its files. They say nothing of anybody's documents, so that everybody may have them."""
    del served
    router = APIRouter(include_in_schema=False)
    folder = files("fonte") / "web"
    shell = (folder / _SHELL).read_text("utf-8")
    known = {
        one.name: _file(one.read_bytes(), kind)
        for one in folder.iterdir()
        if (kind := _TYPES.get(one.name[one.name.rfind(".") :])) is not None
    }
    shells = {
        language: _file(shell.replace('lang="en"', f'lang="{language}"', 1).encode(), "text/html; charset=utf-8")
        for language in _LANGUAGES
    }

    def page(request: Request) -> Response:
        return _shown(request, shells[preferred(request.headers.get("accept-language", ""))], vary="Accept-Language")

    for address in ADDRESSES:
        router.add_api_route(address, page, methods=["GET"])

    @router.get("/static/{name}")
    def static(name: str, request: Request) -> Response:
        return _shown(request, _named(known, name))

    return router


def preferred(accepted: str) -> str:
    """The first of our languages that an ``Accept-Language`` wants most."""
    wanted: list[tuple[float, str]] = []
    for part in accepted.split(",")[:20]:
        name, _, weight = part.partition(";q=")
        try:
            wanted.append((float(weight or 1), name.strip()[:2].lower()))
        except ValueError:
            continue
    wanted.sort(key=lambda one: -one[0])
    return next((name for _, name in wanted if name in _LANGUAGES), _LANGUAGES[0])


def _file(body: bytes, media_type: str) -> _File:
    return _File(body, media_type, f'"{sha256_hex(body)[:32]}"')


def _named(known: Mapping[str, _File], name: str) -> _File:
    if name not in known:
        raise NotFound("there is no such address", hint="see /openapi.json")
    return known[name]


def _shown(request: Request, file: _File, vary: str = "") -> Response:
    """The file, or that the browser's copy is still right: it asks each time, so that an update is seen at once."""
    headers = {"etag": file.tag, "cache-control": "no-cache"} | ({"vary": vary} if vary else {})
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.body, media_type=file.media_type, headers=headers)
