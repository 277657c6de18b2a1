"""One page by GET: redirects followed by hand through the same door, sizes and times limited, bytes unpacked."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore

from fonte.deadlines import Deadline
from fonte.errors import SourceTooLarge, SourceUnreadable, UnsupportedMediaType
from fonte.sources.web.addresses import Door, GuardedBackend, Resolver, plain_url, resolve
from fonte.sources.web.robots import FORBIDDEN, NOTHING_SAID, Robots, parse_robots

AGENT = "fonte"
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_OK, _NOT_MODIFIED, _TOO_MANY, _SERVER_ERRORS, _CLIENT_ERRORS = 200, 304, 429, 500, 400
GONE = (404, 410)
_PIECE = 1 << 16
_ROBOTS_BYTES = 512 * 1024
_TAKEN = (
    "text/", "image/", "message/rfc822", "application/xhtml+xml", "application/xml", "application/pdf",
    "application/json", "application/ld+json", "application/x-ndjson", "application/epub+zip", "application/msword",
    "application/rtf", "application/vnd.", "application/x-gzip", "application/gzip", "application/rss+xml",
)  # fmt: skip
"""Kinds of content that may be documents or sitemaps. What it really is, its bytes tell."""
_NOT_TAKEN = ("text/css", "text/javascript", "application/vnd.android", "application/vnd.apple.mpegurl")


class Trouble(Exception):
    """Something that may pass: no connection, a server's error, time out."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said. ``body`` is empty but for status 200; ``url`` is where redirects led."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def media_type(self) -> str:
        """The kind of content that the server tells, in lower case; empty where it tells none."""
        return self.headers.get("content-type", "").split(";", 1)[0].strip().lower()


@dataclass(slots=True)
class Fetcher:
    """Fetches pages. ``timeout_seconds`` and ``max_bytes`` are for one page, redirects and all."""

    door: Door
    timeout_seconds: float
    max_bytes: int
    delay_seconds: float
    resolver: Resolver = resolve
    _deadline: Deadline = field(default_factory=Deadline)
    _pool: httpcore.ConnectionPool | None = None
    _robots: dict[str, Robots] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)
    """When each host was asked last."""

    def __enter__(self) -> Self:
        backend = GuardedBackend(self.door, self._deadline, self.resolver)
        self._pool = httpcore.ConnectionPool(network_backend=backend, max_connections=4, http2=False)
        self._robots.clear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, at: str | None = None) -> Reply:
        """The page at a plain address, if robots.txt lets us.

        Args:
            url: as ``plain_url`` gives it.
            headers: ``If-None-Match`` and ``If-Modified-Since``, sent to one address only,
            at: that one, where redirects led before; else ``url``.

        Raises:
            Trouble: it may be there another time.
            SourceUnreadable: a host that was not listed, a private address, robots.txt, a status that will stay.
            SourceTooLarge, UnsupportedMediaType
        """
        return self._followed(url, {at or url: headers or {}}, self.max_bytes, check=self._ask_robots)

    def _followed(
        self, url: str, headers: Mapping[str, Mapping[str, str]], most: int, *, check: Callable[[str], None]
    ) -> Reply:
        first, until = url, time.monotonic() + self.timeout_seconds
        for _ in range(_MOST_REDIRECTS + 1):
            if not self.door.admits(url):
                led = "" if url == first else f"{first} leads to it: "
                raise SourceUnreadable(f"{led}{_origin(url)} is not listed", hint="list it in [web] hosts")
            began = time.monotonic()
            check(url)
            self._wait(url)
            until += time.monotonic() - began  # asking robots.txt, and being polite, is not the page's time
            self._deadline.at = until
            reply = self._once(url, headers.get(url, {}), most)
            if reply.status not in _REDIRECTS:
                return reply
            if "location" not in reply.headers:
                raise Trouble(f"{url} answers {reply.status} without saying where it leads")
            url = plain_url(reply.headers["location"], base=url)
        raise SourceUnreadable(f"{first} leads on more than {_MOST_REDIRECTS} times", hint="check the address")

    def _once(self, url: str, headers: Mapping[str, str], most: int) -> Reply:
        if self._pool is None:
            raise AssertionError("a fetcher is entered first")
        sent = {"User-Agent": f"{AGENT} (document sync)", "Accept-Encoding": "gzip", "Accept": "*/*", **headers}
        step = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self.timeout_seconds)}
        try:
            with self._pool.stream("GET", url, headers=_encoded(url, sent), extensions=step) as response:
                told = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in response.headers}
                reply = Reply(url, response.status, told)
                if response.status != _OK:
                    return reply
                _check_kind(reply, most)
                return Reply(
                    url, _OK, told, _whole(response.iter_stream(), told.get("content-encoding", ""), most, url)
                )
        except httpcore.TimeoutException as error:
            raise Trouble(f"{url} took longer than {self.timeout_seconds:g} s") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            raise Trouble(f"{url} cannot be reached: {str(error) or type(error).__name__}") from error
        except OSError as error:
            raise Trouble(f"{url} cannot be reached: {error}") from error

    def _ask_robots(self, url: str) -> None:
        origin = _origin(url)
        if origin not in self._robots:
            self._robots[origin] = FORBIDDEN  # until it was read: it may not lead to itself
            self._robots[origin] = self._read_robots(origin)
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        if not self._robots[origin].allows(path):
            raise SourceUnreadable(f"{url} is not to be fetched, says robots.txt", hint="ask who runs the site")

    def _read_robots(self, origin: str) -> Robots:
        """A site without robots.txt forbids nothing; while its server fails, nothing is fetched from it."""
        try:
            reply = self._followed(f"{origin}/robots.txt", {}, _ROBOTS_BYTES, check=lambda _: None)
        except Trouble:
            del self._robots[origin]
            raise
        except SourceTooLarge:
            return NOTHING_SAID
        if reply.status >= _SERVER_ERRORS or reply.status == _TOO_MANY:
            del self._robots[origin]
            raise Trouble(f"{origin}/robots.txt answers {reply.status}")
        said = reply.status == _OK
        return parse_robots(reply.body.decode("utf-8", "replace"), AGENT) if said else NOTHING_SAID

    def _wait(self, url: str) -> None:
        """Be polite: leave time between two requests to a host."""
        origin = _origin(url)
        delay = max(self.delay_seconds, self._robots.get(origin, NOTHING_SAID).delay)
        left = self._last.get(origin, float("-inf")) + delay - time.monotonic()
        if left > 0:
            time.sleep(left)
        self._last[origin] = time.monotonic()


def refused(reply: Reply) -> SourceUnreadable | Trouble | None:
    """Why there is no page in a reply; None for 200, 304 and for what is gone."""
    if reply.status in (_OK, _NOT_MODIFIED, *GONE):
        return None
    message = f"{reply.url} answers {reply.status}"
    passes = reply.status >= _SERVER_ERRORS or reply.status in (408, 425, _TOO_MANY) or reply.status < _CLIENT_ERRORS
    return Trouble(message) if passes else SourceUnreadable(message, hint="pages that need a login are not read")


def _check_kind(reply: Reply, most: int) -> None:
    kind = reply.media_type
    if kind and (not kind.startswith(_TAKEN) or kind.startswith(_NOT_TAKEN)):
        raise UnsupportedMediaType(f"{reply.url} is {kind[:80]}, which is no document")
    length = reply.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 20 and int(length) > most:  # noqa: PLR2004 - digits of any real length
        raise _too_large(reply.url, most)


def _whole(pieces: Iterable[bytes], packed: str, most: int, url: str) -> bytes:
    """All of a body, unpacked. Raises SourceTooLarge, Trouble."""
    kind = packed.strip().lower()
    if kind not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise Trouble(f"{url} comes packed as {kind[:40]}, which was not asked for")
    body = bytearray()
    for piece in pieces if kind in ("", "identity") else _unpacked(pieces, url):
        body += piece
        if len(body) > most:
            raise _too_large(url, most)
    return bytes(body)


def _unpacked(pieces: Iterable[bytes], url: str) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        for piece in pieces:
            data = piece
            while data:
                yield unpacker.decompress(data, _PIECE)
                data = unpacker.unconsumed_tail
        yield unpacker.flush()
    except zlib.error as error:
        raise Trouble(f"{url} is not packed as it says: {error}") from error
    if not unpacker.eof:
        raise Trouble(f"{url} breaks off")


def _too_large(url: str, most: int) -> SourceTooLarge:
    return SourceTooLarge(f"{url} is larger than {most // 2**20 or 1} MB", hint="raise max_mb in [web]")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _encoded(url: str, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as bytes, with the host first; values that are no text of a header are left out."""
    host = urlsplit(url).netloc
    plain = {"Host": host, **headers}
    return [
        (key.encode("ascii"), value.encode("latin-1"))
        for key, value in plain.items()
        if value.isprintable() and all(ord(sign) < 256 for sign in value)  # noqa: PLR2004 - Latin-1
    ]
