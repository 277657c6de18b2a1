"""Pages of documents as pictures with a passage marked, drawn from the very bytes that were indexed."""

from __future__ import annotations

import io
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from fonte.errors import (
    InvalidQuery,
    ParseError,
    ParserCrashed,
    ParseTimeout,
    SourceChanged,
    SourceTooLarge,
    SourceUnreadable,
)
from fonte.protocols import Pictures
from fonte.types import Box, Document, DocumentState, Picture, Source, sha256_hex

if TYPE_CHECKING:
    from PIL.Image import Image

DRAWN_TYPES: Final = ("application/pdf", "image/")
"""Beginnings of the media types whose pages can be drawn."""
MOST_BYTES: Final = 200 * 2**20
_KEPT: Final = 24
"""Pages that are kept as they were drawn, of some hundred kilobytes each."""
_REMEMBERED: Final = 1000
AGAIN_SECONDS: Final = 600.0
"""How long a page that could not be drawn is not tried again."""
_LOCAL: Final = "file://"
_RECORD: Final = "#"
_STEP: Final = "!/"
"""Between a container and what lies in it, in URIs."""
_INK: Final = (255, 222, 89)
_EDGE: Final = (176, 112, 0)
_AROUND: Final = 2
"""Pixels that a mark reaches beyond its box."""


class PageDrawer:
    """Draws pages in one child process, which is started with the first and lives until ``close``.

    Safe for several threads. What was drawn lately is kept, by the version of its bytes, and so is that it cannot be.
    """

    def __init__(
        self,
        make_pictures: Callable[[], AbstractContextManager[Pictures]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make_pictures
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str, int], tuple[float, ParseError]] = OrderedDict()
        self._forgot = 0
        self._opened = ExitStack()
        self._pictures: Pictures | None = None
        self._kept: OrderedDict[tuple[str, str, int], Picture] = OrderedDict()
        self._lock = Lock()

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            self._pictures = None
            self._opened.close()

    def forget(self, documents: Collection[str] | None = None) -> None:
        """Keep nothing of these documents (None: of any) any longer, nor what is being drawn at this moment."""
        with self._lock:
            self._forgot += 1
            for kept in (self._kept, self._failed):
                for named in [one for one in kept if documents is None or one[0] in documents]:
                    del kept[named]

    def page(
        self, document: Document, state: DocumentState, page: int, path: str | None, inside: tuple[str, ...] = ()
    ) -> Picture:
        """A page (from 1) of the document's source, whose bytes lie at ``path``; None for nowhere.

        ``inside`` are names to open one after the other in the container that lies there.

        Raises:
            InvalidQuery: a format without pages, or no such page. SourceUnreadable: its source is not on this machine.
            SourceChanged: its source has other bytes than those that were indexed. ParseError: it cannot be drawn.
        """
        media_type = document.media_type
        if not media_type.startswith(DRAWN_TYPES):
            raise InvalidQuery(f"{document.name} has no pages that can be drawn", hint="read its text instead")
        if not 1 <= page <= (document.pages or 1):
            raise InvalidQuery(f"{document.name} has no page {page}", hint=f"it has {document.pages or 1} pages")
        named = document.id, state.version, page
        with self._lock:
            known = self._kept.get(named)
            if known is not None:
                self._kept.move_to_end(named)
                return known
            self._refuse_again(named)
            began = self._forgot
        source = _member(state, path, inside) if inside else _source(state, path)
        try:
            drawn = self._drawer().picture(source, media_type, page)
        except (ParseTimeout, ParserCrashed) as error:
            self._remember(named, error, began)
            raise
        with self._lock:
            if began == self._forgot:
                self._kept[named] = drawn
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return drawn

    def _refuse_again(self, named: tuple[str, str, int]) -> None:
        """Raises what was raised for the page a while ago: it would hold the one process that draws, and fail again."""
        until, error = self._failed.get(named, (0.0, None))
        if error is not None and self._clock() < until:
            raise type(error)(error.message, hint=error.hint, uri=error.uri, page=error.page)

    def _remember(self, named: tuple[str, str, int], error: ParseError, began: int) -> None:
        with self._lock:
            if began != self._forgot:
                return
            self._failed[named] = self._clock() + AGAIN_SECONDS, error
            self._failed.move_to_end(named)
            while len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)

    def _drawer(self) -> Pictures:
        with self._lock:
            if self._pictures is None:
                self._pictures = self._opened.enter_context(self._make())
            return self._pictures


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page as a PNG. ``mark`` is where the first mark begins, as a share of its height; None without a mark."""

    png: bytes = field(repr=False)
    mark: float | None


def marked(picture: Picture, boxes: Sequence[Box], page_boxes: Sequence[Box]) -> DrawnPage:
    """The page with the boxes marked as with a highlighter, the words under them still to be read.

    Boxes are in the page's own units, from its lower left corner. ``page_boxes`` are those of all of the page's lines:
    where most stand upright on the page as it is stored, it is shown so, else turned as viewers turn it.
    """
    from PIL import Image as Pillow

    with Pillow.open(io.BytesIO(picture.jpeg), formats=("JPEG",)) as opened:
        drawn = opened.convert("RGB")
    wide, high = drawn.size
    frames = [one for box in boxes if (one := _frame(box, picture, wide, high)) is not None]
    for frame in frames:
        _mark(drawn, frame)
    broad = 2 * sum(x1 - x0 > y1 - y0 for x0, y0, x1, y1 in page_boxes) > len(page_boxes)
    rotation = 0 if broad else picture.rotation
    turn = {90: Pillow.Transpose.ROTATE_270, 180: Pillow.Transpose.ROTATE_180, 270: Pillow.Transpose.ROTATE_90}
    if rotation in turn:
        drawn = drawn.transpose(turn[rotation])
    tops = [
        {90: left / wide, 180: 1 - bottom / high, 270: 1 - right / wide}.get(rotation, top / high)
        for left, top, right, bottom in frames
    ]
    made = io.BytesIO()
    drawn.save(made, "PNG", compress_level=3)
    return DrawnPage(made.getvalue(), tops[0] if tops else None)


def _frame(box: Box, picture: Picture, wide: int, high: int) -> tuple[int, int, int, int] | None:
    """A box in pixels from the upper left corner, a little wider; None outside the picture."""
    x0, y0, x1, y1 = box
    across, down = wide / picture.width, high / picture.height
    left, right = max(int(x0 * across) - _AROUND, 0), min(int(x1 * across) + _AROUND + 1, wide)
    top = max(int((picture.height - y1) * down) - _AROUND, 0)
    bottom = min(int((picture.height - y0) * down) + _AROUND + 1, high)
    return (left, top, right, bottom) if left < right and top < bottom else None


def _mark(drawn: Image, frame: tuple[int, int, int, int]) -> None:
    from PIL import Image as Pillow
    from PIL import ImageChops, ImageDraw

    left, top, right, bottom = frame
    part = drawn.crop(frame)
    drawn.paste(ImageChops.multiply(part, Pillow.new("RGB", part.size, _INK)), (left, top))
    ImageDraw.Draw(drawn).line([(left, bottom - 1), (right - 1, bottom - 1)], fill=_EDGE, width=2)


def steps(uri: str) -> tuple[str, tuple[str, ...]]:
    """The URI of the file, and of a document in a container the names that lead to it there."""
    outer, *inside = uri.split(_STEP)
    return outer, tuple(os.fsdecode(unquote_to_bytes(one)) for one in inside)


def local_path(uri: str) -> str | None:
    """Where a file lies that is one of its own on this machine."""
    if not uri.startswith(_LOCAL) or _RECORD in uri:
        return None
    return os.fsdecode(unquote_to_bytes(uri.removeprefix(_LOCAL)))


def _member(state: DocumentState, path: str | None, inside: tuple[str, ...]) -> Source:
    """A document in a container: the child that draws it unpacks it, and sees to it that it is what was indexed."""
    if path is None:
        raise _elsewhere(state)
    return Source(uri=state.uri, name=state.name, content_hash=state.version, acl=state.acl, path=path, inside=inside)


def _elsewhere(state: DocumentState) -> SourceUnreadable:
    return SourceUnreadable(f"the file of {state.name} does not lie on this machine", hint="read its text instead")


def _source(state: DocumentState, path: str | None) -> Source:
    """The document's file, read whole; its bytes are those that were indexed, wherever its name leads by now."""
    if path is None:
        raise _elsewhere(state)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise SourceUnreadable(f"{state.name} is not a regular file any more", hint="read its text instead")
            if found.st_size > MOST_BYTES:
                raise SourceTooLarge(f"{state.name} is too large to be drawn", hint="read its text instead")
            body = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SourceUnreadable(
            f"{state.name} cannot be read now: {error.strerror}", hint="read its text instead"
        ) from error
    if sha256_hex(body) != state.version:
        raise SourceChanged(f"{state.name} has changed since it was read", hint="read its text, or run fonte sync")
    return Source(uri=state.uri, name=state.name, content_hash=state.version, acl=state.acl, body=body)
