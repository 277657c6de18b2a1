"""Words that nobody sees on the page: printed in no ink, in the color of their ground, too small, or beside the page.

Programs that read scans print their words in no ink over the picture: such words are the picture's text, not hidden.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fonte.parsers.pdf.glyphs import Word
    from fonte.types import Box

Color: TypeAlias = tuple[int, int, int]
WHITE: Color = (255, 255, 255)
_SAME = 10
"""Steps of 255 by which two colors may differ that no eye tells apart."""
_TINY = 2.0
"""Points: print below this is no print."""
_THICK = 3.0
"""Points of a line that may be a ground of its own."""
_SIDES, _OPAQUE = 4, 255
_MAX_OBJECTS = 5000
_PATH, _IMAGE, _SHADING, _FORM = 2, 3, 4, 5

_Cover: TypeAlias = "tuple[Box, Color | None]"
"""Where something was painted, and its color; None for pictures and what may hold some."""


def hidden_words(
    page: object, origin: tuple[float, float], size: tuple[float, float], words: Sequence[Word]
) -> list[Word]:
    """Those of the words of a pdfium page, with boxes measured from ``origin``, that cannot be seen on it."""
    ground = _Ground(page, origin)
    found: list[Word] = []
    for word in words:
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if word.frame:
            x0, y0, x1, y1 = word.page_box
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
        if not (0 <= x <= size[0] and 0 <= y <= size[1]) or _is_tiny(word):
            found.append(word)
        elif word.style.invisible:
            if ground.color_at(x, y) is not None:
                found.append(word)
        elif ground.may_swallow(word.style.color):
            under = ground.color_at(x, y)
            if under is not None and _alike(under, word.style.color):
                found.append(word)
    return found


def _is_tiny(word: Word) -> bool:
    return 0 < word.style.em < _TINY and 0 < word.y1 - word.y0 < _TINY


def _alike(one: Color, other: Color) -> bool:
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))


class _Ground:
    """What is painted on a page beside its text, read once."""

    def __init__(self, page: object, origin: tuple[float, float]) -> None:
        self._covers = list(_covers(page, origin))
        self._colors = {WHITE, *(color for _, color in self._covers if color is not None)}
        self._known: dict[Color, bool] = {}

    def may_swallow(self, color: Color) -> bool:
        """Whether print of this color vanishes on some ground of the page."""
        known = self._known.get(color)
        if known is None:
            known = self._known[color] = any(_alike(color, ground) for ground in self._colors)
        return known

    def color_at(self, x: float, y: float) -> Color | None:
        """The color of the ground, None where a picture may be."""
        for (x0, y0, x1, y1), color in reversed(self._covers):
            if x0 <= x <= x1 and y0 <= y <= y1:
                return color
        return WHITE


def _covers(page: object, origin: tuple[float, float]) -> Iterable[_Cover]:
    from pypdfium2 import raw

    sides = [ctypes.c_float() for _ in range(4)]
    for index in range(min(raw.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        part = raw.FPDFPage_GetObject(page, index)
        kind = raw.FPDFPageObj_GetType(part)
        if kind not in (_PATH, _IMAGE, _SHADING, _FORM):
            continue
        covers, color = _painted(part) if kind == _PATH else (True, None)
        if covers and raw.FPDFPageObj_GetBounds(part, *map(ctypes.byref, sides)):
            left, bottom, right, top = (side.value for side in sides)
            yield (left - origin[0], bottom - origin[1], right - origin[0], top - origin[1]), color


def _painted(path: object) -> tuple[bool, Color | None]:
    """Whether a path covers ground, and its color: of anything but a plain rectangle nobody knows where it lies."""
    from pypdfium2 import raw

    mode, stroked, width = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
    raw.FPDFPath_GetDrawMode(path, ctypes.byref(mode), ctypes.byref(stroked))
    if not mode.value:
        raw.FPDFPageObj_GetStrokeWidth(path, ctypes.byref(width))
        return bool(stroked.value) and width.value > _THICK, None
    shares = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(path, *map(ctypes.byref, shares)):
        return True, None
    red, green, blue, alpha = (share.value for share in shares)
    count = raw.FPDFPath_CountSegments(path)
    kinds = [raw.FPDFPathSegment_GetType(raw.FPDFPath_GetPathSegment(path, at)) for at in range(min(count, 7))]
    plain = alpha == _OPAQUE and _SIDES <= count <= _SIDES + 2 and kinds[1:].count(raw.FPDF_SEGMENT_LINETO) == count - 1
    return alpha > 0, (red, green, blue) if plain else None
