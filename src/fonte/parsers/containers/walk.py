"""Containers listed to the bottom, and a member's bytes out of them; in a parser's process only."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Self

from fonte.errors import FonteError, ParseError, SourceTooLarge
from fonte.parsers.containers.archives import Container
from fonte.parsers.containers.kinds import open_container, opened
from fonte.parsers.containers.limits import MAX_DEPTH, Budget
from fonte.text.frontmatter import own_text
from fonte.types import Contents, Member, Source, sha256_hex

_DEPTH_HINT = "Unpack it into a folder."


def list_contents(source: Source) -> Contents:
    """What the file of a source holds.

    Raises:
        ParseError: a container that could not be opened; SourceTooLarge: a bomb.
    """
    with _stream(source) as stream:
        container = open_container(stream, _outer_name(source))
        if container is None:
            return Contents()
        listing = _Listing(Budget())
        with closing(container):
            members = tuple(listing.walk(container, ()))
        error = listing.error or container.damage
        if not members and error is None and not container.is_document:
            raise ParseError(f"{source.name} holds no file to read", uri=source.uri)
        return Contents(members, container.is_document, error)


@dataclass(slots=True)
class _Listing:
    """A container being listed. ``error`` says why it ended early."""

    budget: Budget
    error: FonteError | None = None

    def walk(self, container: Container, above: tuple[str, ...]) -> Iterator[Member]:
        """Members in order, each container inside followed by what it holds."""
        for entry in container.entries():
            inside = (*above, entry.name)
            body = b""
            error = entry.error
            if error is None:
                try:
                    body = container.read(entry.name)
                except FonteError as told:
                    error = told
            try:
                self.budget.take(len(body))
            except SourceTooLarge as told:
                self.error = told
            if self.error is not None:
                return
            if error is not None:
                yield Member(inside, error=error)
            else:
                yield from self._member(body, inside)
            if self.has_ended():  # inside the member
                return

    def has_ended(self) -> bool:
        """Whether a limit was passed."""
        return self.error is not None

    def _member(self, body: bytes, inside: tuple[str, ...]) -> Iterator[Member]:
        try:
            container = opened(body, inside[-1])
            own = own_text(inside[-1], body)
        except FonteError as error:
            yield Member(inside, error=error)
            return
        if container is None or container.is_document:
            yield Member(inside, sha256_hex(body), own=own)
        if container is not None:
            with closing(container):
                yield from self._inner(container, inside)

    def _inner(self, container: Container, inside: tuple[str, ...]) -> Iterator[Member]:
        if len(inside) >= MAX_DEPTH:
            if not container.is_document or any(True for _ in container.entries()):
                message = f"{inside[-1]} lies in {MAX_DEPTH} containers; what it holds is not read"
                yield Member((*inside, "…"), error=SourceTooLarge(message, hint=_DEPTH_HINT))
            return
        yield from self.walk(container, inside)
        if container.damage is not None:
            yield Member((*inside, "…"), error=container.damage)


# --- one member's bytes


@dataclass(slots=True)
class _Opened:
    """The container that was read last, with those inside it on the way to the last member."""

    key: tuple[str, int, int, int]
    container: Container
    inner: dict[tuple[str, ...], Container] = field(default_factory=dict)

    def keep(self, above: tuple[str, ...]) -> None:
        """Close the containers inside that are not on the way to ``above``."""
        for way in [way for way in self.inner if above[: len(way)] != way]:
            self.inner.pop(way).close()

    def close(self) -> None:
        """Close them all."""
        self.keep(())
        self.container.close()


class MemberReader:
    """Members' bytes, one after the other; the last container stays open, for the next member is mostly in it too."""

    def __init__(self) -> None:
        self._last: _Opened | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        if self._last is not None:
            self._last.close()
        self._last = None

    def read(self, source: Source) -> bytes:
        """The bytes of a source that lies in a container.

        Raises:
            FonteError: the container is gone, damaged, or has no such member.
        """
        last = self._opened(source)
        container, way = last.container, source.inside
        for depth in range(1, len(way)):
            above = way[:depth]
            if above not in last.inner:
                inner = opened(container.read(above[-1]), above[-1])
                if inner is None:
                    raise ParseError(f"{above[-1]} is no container any more", hint="sync again", uri=source.uri)
                last.keep(above)
                last.inner[above] = inner
            container = last.inner[above]
        return container.read(way[-1])

    def _opened(self, source: Source) -> _Opened:
        stream = _stream(source)
        status = None if source.body is not None else os.fstat(stream.fileno())
        key = (
            (source.path or "", status.st_size, status.st_mtime_ns, status.st_ino)
            if status is not None
            else (sha256_hex(source.body or b""), 0, 0, 0)
        )
        if self._last is not None and self._last.key == key:
            stream.close()
            return self._last
        self.close()
        try:
            container = open_container(stream, _outer_name(source))
        except FonteError:
            stream.close()
            raise
        if container is None:
            stream.close()
            raise ParseError("the file that held it is no container any more", hint="sync again", uri=source.uri)
        self._last = _Opened(key, container)
        return self._last


def _outer_name(source: Source) -> str:
    """What the outermost file is called; its ending counts. A path without one is not what people called the file."""
    called = os.path.basename(source.path or "")  # noqa: PTH119 - bytes that need not be text
    return called if os.path.splitext(called)[1] else source.name.split("!/", 1)[0].rsplit("/", 1)[-1]  # noqa: PTH122 - the same


def _stream(source: Source) -> BinaryIO:
    """The bytes of the outermost file. Raises ParseError."""
    if source.body is not None:
        return io.BytesIO(source.body)
    try:
        descriptor = os.open(source.path or "", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        stream = os.fdopen(descriptor, "rb")
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror}", hint="sync again", uri=source.uri) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        stream.close()
        raise ParseError("not a regular file", uri=source.uri)
    return stream
