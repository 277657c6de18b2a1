"""A page's words with their boxes, straight from pdfium's character stream.

Coordinates are PDF points from the lower left corner of the unrotated page. Text that runs upwards, downwards or upside
down is turned into a *frame* in which it reads from left to right, so that the layout layer knows one direction only;
``to_page`` turns a box back.
"""

from __future__ import annotations

import ctypes
import math
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fonte.types import Box

DIAGONAL = 4
"""Frame of text at an angle that is no multiple of 90 degrees: kept in stream order, never laid out."""

MAX_GLYPHS = 2_000_000
"""More characters than this on one page is damage, not text."""

_DROPPED = frozenset({0x00, 0xAD, 0x200B, 0x200C, 0x2060, 0xFEFF, 0xFFFF})
_HYPHENS = frozenset({0x02, 0xFFFE})
"""What pdfium gives for a hyphen at the end of a line that it takes for a break inside a word."""
_LINE_ENDS = frozenset({0x0A, 0x0D, 0x0B, 0x0C, 0x85, 0x2028, 0x2029})
_SPACES = frozenset({0x09, 0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)})
_BULLETS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▪", 0xF06C: "●", 0xF06E: "■", 0xF0D8: "➢", 0xF0FC: "✓", 0x7F: "•"}
_LAM, _ALEFS = 0x0644, frozenset("\u0622\u0623\u0625\u0627")
"""One glyph shows both, lam first; pdfium turns a line that runs leftwards glyph by glyph and these letters with it."""
_CJK = ((0x2E80, 0x9FFF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
_BOLD = re.compile(rb"bold|black|heavy|demi|medi(?!um)|cmbx|sfbx|-bd")
_FIXED = re.compile(rb"mono|courier|consol|cmtt|sftt|typewriter|menlo|lettergothic")
_FIRST_CJK = _CJK[0][0]
_FIRST_CJK_LETTER = chr(_FIRST_CJK)
_INVISIBLE_MODE = 3
_BY_ADDRESS = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


def is_cjk(code: int) -> bool:
    """Whether a code point belongs to a script that is written without spaces."""
    return code >= _FIRST_CJK and any(low <= code <= high for low, high in _CJK)


@dataclass(frozen=True, slots=True)
class Style:
    """How a text object is set. ``em`` is the font size in points on the page, whatever the font's own box."""

    em: float
    bold: bool
    fixed: bool
    color: tuple[int, int, int] = (0, 0, 0)
    invisible: bool = False
    """Printed in no ink."""


@dataclass(slots=True)
class Word:
    """Characters between spaces, in frame coordinates. ``size`` is the height of the font's box in points."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    style: Style
    frame: int
    spaced: bool
    """Whether white space stands before it on its line."""
    line_start: bool
    soft: bool = False
    """Ends with a soft hyphen, which is kept as ``-`` until the next line is known."""
    box: Box | None = None
    """Where it stands on the page, in points, when that is not what its frame coordinates say (a page set level)."""

    @property
    def page_box(self) -> Box:
        """Where it stands on the page, in points."""
        return self.box or to_page((self.x0, self.y0, self.x1, self.y1), self.frame)


def to_frame(box: Box, frame: int) -> Box:
    """A box of the page as text of ``frame`` (0 = 0, 1 = 90, 2 = 180, 3 = 270 degrees) sees it."""
    x0, y0, x1, y1 = box
    if frame == 1:
        return (y0, -x1, y1, -x0)
    if frame == 2:  # noqa: PLR2004 - the frame's number
        return (-x1, -y1, -x0, -y0)
    if frame == 3:  # noqa: PLR2004 - the frame's number
        return (-y1, x0, -y0, x1)
    return box


def to_page(box: Box, frame: int) -> Box:
    """The inverse of ``to_frame``, rounded to hundredths of a point, never without area."""
    x0, y0, x1, y1 = to_frame(box, {1: 3, 3: 1}.get(frame, frame))
    x0, y0 = round(x0, 2), round(y0, 2)
    return (x0, y0, max(round(x1, 2), x0 + 0.1), max(round(y1, 2), y0 + 0.1))


def normalised(code: int) -> str:
    """One character as text: Latin and Armenian ligatures in letters, symbol-font bullets as bullets."""
    if code < 0x7F:  # noqa: PLR2004 - ASCII, the common case
        return chr(code)
    if 0xFB00 <= code <= 0xFB17:  # noqa: PLR2004 - the ligatures' range
        return unicodedata.normalize("NFKC", chr(code))
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - half of a surrogate pair
        return "\ufffd"
    if code <= 0x9F:  # noqa: PLR2004 - controls stand for glyphs that the font does not name
        return "•"
    return _BULLETS.get(code) or chr(code)


class _Reader:
    """Reads the words of one pdfium text page; asks for style once a word."""

    def __init__(self, textpage: object, origin: tuple[float, float]) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = textpage
        self._left, self._bottom = origin
        self._rect = raw.FS_RECTF()
        self._flags = ctypes.c_int()
        self._name = ctypes.create_string_buffer(256)
        self._styles: dict[int, tuple[int, Style]] = {}
        self._matrix = raw.FS_MATRIX()
        self._color = [ctypes.c_uint() for _ in range(4)]
        # The same function with plain addresses in place of pointer objects, which cost more than the call.
        self._object_at = _BY_ADDRESS(ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0)
        self._address = ctypes.cast(textpage, ctypes.c_void_p)  # type: ignore[arg-type]  # a pointer, whose type has no name

    def style(self, index: int) -> tuple[int, Style]:
        """Frame and style of the character; one text object has one of each."""
        key = self._object_at(self._address, index)
        known = self._styles.get(key) if key else None
        if known is None:
            known = self._style(index, self._raw.FPDFText_GetTextObject(self._page, index))
            if key:
                self._styles[key] = known
        return known

    def _style(self, index: int, text_object: object) -> tuple[int, Style]:
        raw = self._raw
        angle = raw.FPDFText_GetCharAngle(self._page, index)
        turns = -angle / (math.pi / 2)  # pdfium turns clockwise
        frame = round(turns) % 4 if abs(turns - round(turns)) < 0.12 else DIAGONAL  # noqa: PLR2004 - about 11 degrees
        used = raw.FPDFText_GetFontInfo(self._page, index, self._name, 256, ctypes.byref(self._flags))
        name = self._name.value.lower() if 0 < used <= 256 else b""  # noqa: PLR2004 - the buffer's size
        bold = _BOLD.search(name) is not None or bool(self._flags.value & 0x40000)
        fixed = _FIXED.search(name) is not None or bool(self._flags.value & 1)
        em = float(raw.FPDFText_GetFontSize(self._page, index))
        if raw.FPDFText_GetMatrix(self._page, index, ctypes.byref(self._matrix)):
            em *= math.hypot(self._matrix.c, self._matrix.d)
        red, green, blue, alpha = self._color
        found = raw.FPDFText_GetFillColor(
            self._page, index, ctypes.byref(red), ctypes.byref(green), ctypes.byref(blue), ctypes.byref(alpha)
        )
        color = (red.value, green.value, blue.value) if found else (0, 0, 0)
        mode = raw.FPDFTextObj_GetTextRenderMode(text_object) if text_object else 0
        invisible = mode == _INVISIBLE_MODE or (bool(found) and not alpha.value)
        return frame, Style(round(em, 1), bold, fixed, color, invisible)

    def words(self, count: int) -> Iterator[Word]:
        """Words in stream order, cut at spaces, at line ends and where the pen jumps."""
        raw, page, rect = self._raw, self._page, self._rect
        left, bottom = self._left, self._bottom
        reference = ctypes.byref(rect)
        unicode_of, box_of = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        word: Word | None = None
        spaced, fresh, high = False, True, 0
        before: Box | None = None
        for index in range(count):
            code = unicode_of(page, index)
            if not 0x20 < code < 0x7F:  # noqa: PLR2004 - ASCII needs none of these questions
                if 0xD800 <= code <= 0xDBFF:  # noqa: PLR2004 - the first half of a pair: its second half follows
                    high = code
                    continue
                if high and 0xDC00 <= code <= 0xDFFF:  # noqa: PLR2004 - the second half
                    code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
                high = 0
                if code in _SPACES or code in _LINE_ENDS:
                    if word is not None:
                        yield word
                        word = None
                    spaced = True
                    fresh = fresh or code in _LINE_ENDS
                    continue
                if code == 0xAD and word is not None:  # noqa: PLR2004 - a soft hyphen counts only at a line's end
                    word.soft = True
                    continue
                if code in _DROPPED or (code < 0x20 and code not in _HYPHENS):  # noqa: PLR2004 - controls
                    continue
            box_of(page, index, reference)
            box = (rect.left - left, rect.bottom - bottom, rect.right - left, rect.top - bottom)
            if word is not None:
                ligature, before = code == _LAM and box == before, box
                if _grow(word, box, code, ligature=ligature):
                    continue
                yield word
            before = box
            word = self._start(index, code, box, spaced=spaced, fresh=fresh)
            spaced = fresh = False
        if word is not None:
            yield word

    def _start(self, index: int, code: int, box: Box, *, spaced: bool, fresh: bool) -> Word:
        frame, style = self.style(index)
        x0, y0, x1, y1 = to_frame(box, frame)
        size = round(y1 - y0, 2) or float(self._raw.FPDFText_GetFontSize(self._page, index)) or 1.0
        text = "-" if code in _HYPHENS else normalised(code)
        return Word(text, x0, y0, x1, y1, size, style, frame, spaced, fresh)


def _grow(word: Word, box: Box, code: int, *, ligature: bool) -> bool:
    """Take the next character into the word where it belongs: near it, on its line, and not a script of its own.

    ``ligature`` says that it is a lam from the same glyph as the character before.
    """
    x0, y0, x1, y1 = box if word.frame == 0 else to_frame(box, word.frame)
    if word.frame != DIAGONAL:
        last = word.text[-1]
        if (code >= _FIRST_CJK or last >= _FIRST_CJK_LETTER) and (is_cjk(code) or is_cjk(ord(last))):
            return False
        jump, rise = 0.9 * word.size, 0.7 * word.size
        if x0 - word.x1 > jump or word.x0 - x1 > jump or not -rise <= y0 - word.y0 <= rise:
            return False
    text = "-" if code in _HYPHENS else normalised(code)
    word.text = f"{word.text[:-1]}{text}{word.text[-1]}" if ligature and word.text[-1] in _ALEFS else word.text + text
    word.soft = False
    word.x0 = min(word.x0, x0)
    word.x1 = max(word.x1, x1)
    word.y0 = min(word.y0, y0)
    word.y1 = max(word.y1, y1)
    return True


def page_words(textpage: object, count: int, origin: tuple[float, float]) -> list[Word]:
    """Words of a page in stream order, what was printed twice on one spot kept once.

    Boxes are measured from ``origin``, the lower left corner of the visible page.
    """
    seen: set[tuple[str, int, int]] = set()
    words: list[Word] = []
    carried = False
    for word in _Reader(textpage, origin).words(min(count, MAX_GLYPHS)):
        step = max(word.size * 0.25, 0.5)
        column, row = word.x0 / step, word.y0 / step
        spot, other = (word.text, int(column), int(row)), (word.text, int(column + 0.5), int(row + 0.5))
        if spot in seen or other in seen:
            carried = carried or word.line_start
            continue
        seen.add(spot)
        seen.add(other)
        word.line_start = word.line_start or carried
        word.text = sys.intern(word.text)  # all words of a document are held at once, and most of them return
        carried = False
        words.append(word)
    return words
