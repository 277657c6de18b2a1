"""The text of a Word 97-2003 file and what its pages of properties say of it. [MS-DOC] 2.4, 2.5, 2.9."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_WORD_97 = 0xC1
_MAX_PIECES = 500_000
_PAGE = 512
_CLX, _CHARACTER_PAGES, _PARAGRAPH_PAGES = 0x1A2, 0xFA, 0x102
_PARTS = (("body", 0x4C), ("notes", 0x50), ("headers", 0x54), ("macros", 0x58), ("comments", 0x5C), ("endnotes", 0x60))
_BOXES = 0x64
_OPERANDS = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""Bytes of a property's operand by the three upper bits of its number; 6 says its own length."""
_LONG = (0xD606, 0xD608)
FILLER = "\x02"
"""Behind a character that takes two positions in the file, so that those behind it keep theirs; shown nowhere."""
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
DELETED = 0x0800
IN_TABLE, ROW_END, LIST = 0x2416, 0x2417, 0x460B


class Torn(Exception):
    """The file's tables point outside of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of characters: of the body, of notes, of text boxes."""

    name: str
    start: int
    end: int


class WordText:
    """All characters of a file by their position, with the properties of their paragraphs and runs.

    Raises:
        Torn: tables that cannot be followed.
    """

    def __init__(self, main: bytes, table: bytes) -> None:
        self._main = main
        try:
            self._pieces = list(_pieces(main, table))
            self._paragraphs = _pages(main, table, _PARAGRAPH_PAGES, styled=True)
            self._runs = _pages(main, table, _CHARACTER_PAGES, styled=False)
            self.parts = tuple(_parts(main))
        except (struct.error, IndexError, ValueError) as error:
            raise Torn(str(error)) from error
        self._starts = [start for start, _, _, _ in self._pieces]
        self.lacking = 0
        """Characters whose bytes lie beyond the end of the file: each stands as U+FFFD."""
        self.text = "".join(self._decoded())

    def _decoded(self) -> Iterator[str]:
        for start, end, offset, wide in self._pieces:
            size = (end - start) * (2 if wide else 1)
            raw = self._main[offset : offset + size]
            self.lacking += (size - len(raw)) // (2 if wide else 1)
            said = raw.decode("utf-16-le", "replace") if wide else raw.decode("cp1252", "replace")
            said = _TWO_UNITS.sub(rf"\g<0>{FILLER}", said)
            yield said[: end - start].ljust(end - start, "\ufffd")

    def paragraph(self, at: int) -> tuple[int, dict[int, int]]:
        """(style, properties) of the paragraph that the character ends."""
        return self._looked_up(self._paragraphs, at)

    def run(self, at: int) -> dict[int, int]:
        """Properties of a character."""
        return self._looked_up(self._runs, at)[1]

    def _looked_up(self, pages: _Pages, at: int) -> tuple[int, dict[int, int]]:
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return 0, {}
        start, _, offset, wide = self._pieces[index]
        return pages.at(offset + (at - start) * (2 if wide else 1))


@dataclass(frozen=True, slots=True)
class _Pages:
    """Properties by offset in the file: where each stretch starts and ends, its style and its properties."""

    starts: list[int]
    ends: list[int]
    found: list[tuple[int, dict[int, int]]]

    def at(self, offset: int) -> tuple[int, dict[int, int]]:
        index = bisect_right(self.starts, offset) - 1
        return self.found[index] if index >= 0 and offset < self.ends[index] else (0, {})


def _parts(main: bytes) -> Iterator[Part]:
    at = 0
    for name, where in (*_PARTS, ("boxes", _BOXES)):
        (size,) = struct.unpack_from("<i", main, where)
        if size < 0:
            raise ValueError(f"{name} of {size} characters")
        yield Part(name, at, at + size)
        at += size


def _pieces(main: bytes, table: bytes) -> Iterator[tuple[int, int, int, bool]]:
    """(first character, end, offset in the file, whether two bytes each) of each piece."""
    where, size = struct.unpack_from("<II", main, _CLX)
    clx = table[where : where + size]
    at = 0
    while at < len(clx) and clx[at] == 1:  # properties of pieces
        at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
    if at >= len(clx) or clx[at] != 2:  # noqa: PLR2004 - the mark of the pieces' table
        raise ValueError("no table of pieces")
    (size,) = struct.unpack_from("<I", clx, at + 1)
    count = (size - 4) // 12
    if not 0 < count <= _MAX_PIECES:
        raise ValueError(f"{count} pieces")
    at += 5
    positions = struct.unpack_from(f"<{count + 1}I", clx, at)
    last = 0
    for index in range(count):
        (packed,) = struct.unpack_from("<I", clx, at + 4 * (count + 1) + 8 * index + 2)
        start, end = positions[index], positions[index + 1]
        if start != last or end < start or end > len(main):
            raise ValueError("pieces that do not follow each other, or hold more than the file")
        last = end
        narrow = bool(packed & 0x40000000)
        offset = packed & 0x3FFFFFFF
        yield start, end, offset // 2 if narrow else offset, not narrow


def _pages(main: bytes, table: bytes, where: int, *, styled: bool) -> _Pages:
    """Properties out of their pages; what cannot be followed has none."""
    start, size = struct.unpack_from("<II", main, where)
    count = max((size - 4) // 8, 0)
    found: list[tuple[int, int, tuple[int, dict[int, int]]]] = []
    for index in range(min(count, len(main) // _PAGE)):
        (number,) = struct.unpack_from("<I", table, start + 4 * (count + 1) + 4 * index)
        page = main[(number & 0x3FFFFF) * _PAGE :][:_PAGE]
        if len(page) == _PAGE:
            found += _page(page, styled=styled)
    found.sort(key=lambda one: one[0])
    return _Pages([one[0] for one in found], [one[1] for one in found], [one[2] for one in found])


def _page(page: bytes, *, styled: bool) -> Iterator[tuple[int, int, tuple[int, dict[int, int]]]]:
    count = page[-1]
    width = 13 if styled else 1
    if 4 * (count + 1) + width * count > _PAGE:
        return
    offsets = struct.unpack_from(f"<{count + 1}I", page)
    for index in range(count):
        at = 2 * page[4 * (count + 1) + width * index]
        if at == 0 or at + 2 > _PAGE:
            yield offsets[index], offsets[index + 1], (0, {})
            continue
        size = page[at]
        at += 1
        if styled:
            size = 2 * page[at] if size == 0 else 2 * size - 1
            at += page[at - 1] == 0
        said = page[at : at + size]
        style = struct.unpack_from("<H", said)[0] if styled and len(said) > 1 else 0
        yield offsets[index], offsets[index + 1], (style, _properties(said[2:] if styled else said))


def _properties(said: bytes) -> dict[int, int]:
    """Number → operand of each property, the first byte or two of it."""
    found: dict[int, int] = {}
    at = 0
    while at + 3 <= len(said):
        (number,) = struct.unpack_from("<H", said, at)
        at += 2
        size = _OPERANDS.get(number >> 13)
        if size is None:
            size = (
                2 + struct.unpack_from("<H", said.ljust(at + 2, b"\0"), at)[0] - 1 if number in _LONG else 1 + said[at]
            )
        found[number] = int.from_bytes(said[at : at + min(size, 2)], "little")
        at += size
    return found


def is_word_97(main: bytes) -> bool:
    """Whether the main stream is of Word 97 or newer."""
    return len(main) > _CLX + 8 and main[:2] == b"\xec\xa5" and struct.unpack_from("<H", main, 2)[0] >= _WORD_97
