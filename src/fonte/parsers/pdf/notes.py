"""What is attached to a page and is not in its text: links, comments, and what was filled into a form.

Each becomes a NOTE behind the block that it stands on or nearest to, with its page and box.
"""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fonte.types import Block, BlockKind, Place

if TYPE_CHECKING:
    from fonte.parsers.pdf.glyphs import Word
    from fonte.types import Box

_MAX_NOTES = 10_000
"""Of one page."""
_MAX_CHARACTERS = 1_000_000
_TEXT, _LINK, _FREE_TEXT, _STAMP, _WIDGET = 1, 2, 3, 13, 20
_COMMENTS = frozenset({_TEXT, _FREE_TEXT, *range(4, 13), _STAMP})
"""pdfium's numbers of annotations whose contents a person wrote: notes, shapes, marked and struck text, stamps."""
_UNSEEN = 2 | 32
"""Flags: hidden, no view."""
_URI = 3
"""pdfium's number of an action that opens an address."""
_LEADS_OUT = re.compile(r"(?:https?|ftp|mailto|tel):\S", re.IGNORECASE)
_SCHEME = re.compile(r"^(?:https?://|ftp://|mailto:|tel:)(?:www\.)?", re.IGNORECASE)
_PART_OF_ADDRESS = re.compile(r"[./@]")
_NO_VALUE = frozenset({"", "off"})


@dataclass(frozen=True, slots=True)
class PageNote:
    """What one annotation says, and where it stands on the page, in points."""

    text: str
    box: Box


def page_notes(document: object, page: object, origin: tuple[float, float], words: Sequence[Word]) -> list[PageNote]:
    """Notes of a pdfium page, in its own order; an address that the page itself shows is none.

    Boxes are measured from ``origin``, the lower left corner of the visible page.
    """
    from pypdfium2 import raw

    found: list[tuple[str, list[Box], bool]] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_NOTES)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                continue
            is_link = raw.FPDFAnnot_GetSubtype(annotation) == _LINK
            text = _address(document, annotation) if is_link else _said(annotation)
            box = _box(annotation, origin)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
        if is_link and found and found[-1][0] == text:  # a link that runs over lines has a part on each
            found[-1][1].append(box)
        elif text:
            found.append((text, [box], is_link))
    notes = (_linked(text, _under(words, boxes)) if is_link else text for text, boxes, is_link in found)
    return [PageNote(text, boxes[0]) for text, (_, boxes, _) in zip(notes, found, strict=True) if text]


def _said(annotation: object) -> str:
    """A comment, or a field of a form with its name; "" for anything else and for what says nothing."""
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind in _COMMENTS:
        return _string(annotation, "Contents")
    value = _string(annotation, "V") if kind == _WIDGET else ""
    if value.lower() in _NO_VALUE:
        return ""
    name = _string(annotation, "TU") or _string(annotation, "T")
    return f"{name}: {value}" if name else value


def _string(annotation: object, key: str) -> str:
    from pypdfium2 import raw

    size = raw.FPDFAnnot_GetStringValue(annotation, key.encode(), None, 0)
    if not 2 < size <= 2 * _MAX_CHARACTERS:  # noqa: PLR2004 - the end mark alone
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    raw.FPDFAnnot_GetStringValue(annotation, key.encode(), buffer, size)
    text = bytes(buffer)[: size - 2].decode("utf-16-le", errors="replace")
    return " ".join(text.replace("\0", "").split())


def _address(document: object, annotation: object) -> str:
    """Where a link leads, "" when it stays in the file or does what no link should."""
    from pypdfium2 import raw

    link = raw.FPDFAnnot_GetLink(annotation)
    action = raw.FPDFLink_GetAction(link) if link else None
    if not action or raw.FPDFAction_GetType(action) != _URI:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= _MAX_CHARACTERS:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    address = buffer.value.decode("utf-8", errors="replace").strip()
    return address if _LEADS_OUT.match(address) else ""


def _linked(address: str, words: Sequence[Word]) -> str:
    """A link with the words that it stands on; "" where those are its address."""
    anchor = " ".join(word.text for word in words)
    shown = "".join(anchor.split()).strip(".,;()[]<>").casefold()
    bare = _SCHEME.sub("", address).rstrip("/").casefold()
    if bare in shown or (_PART_OF_ADDRESS.search(shown) and shown in bare):
        return ""
    return f"{anchor}: {address}" if anchor else address


def _box(annotation: object, origin: tuple[float, float]) -> Box:
    from pypdfium2 import raw

    rect = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, ctypes.byref(rect))
    (left, bottom), xs, ys = origin, sorted((rect.left, rect.right)), sorted((rect.bottom, rect.top))
    x0, y0 = round(xs[0] - left, 2), round(ys[0] - bottom, 2)
    return (x0, y0, max(round(xs[1] - left, 2), x0 + 0.1), max(round(ys[1] - bottom, 2), y0 + 0.1))


def _under(words: Sequence[Word], boxes: Sequence[Box]) -> list[Word]:
    """Words whose middle lies in one of the boxes, in their order."""
    found: list[Word] = []
    for word in words:
        x0, y0, x1, y1 = word.page_box
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        if any(a <= x <= c and b <= y <= d for a, b, c, d in boxes):
            found.append(word)
    return found


def with_notes(blocks: Sequence[Block], notes: Sequence[tuple[int, PageNote]]) -> tuple[Block, ...]:
    """The blocks, each of the (page from 1, note) behind the block with the nearest word, rows of a table together."""
    if not notes:
        return tuple(blocks)
    on_page: defaultdict[int, list[tuple[Box, int]]] = defaultdict(list)
    reached: dict[int, int] = {}
    for index, block in enumerate(blocks):
        for place in block.places:
            if place.page is not None and place.box is not None:
                on_page[place.page].append((place.box, index))
                reached[place.page] = index
    behind: defaultdict[int, list[Block]] = defaultdict(list)
    for page, note in notes:
        if on_page[page]:
            index = min(on_page[page], key=lambda known: _distance(known[0], note.box))[1]
        else:
            index = max((at for number, at in reached.items() if number < page), default=-1)
        while index >= 0 and index + 1 < len(blocks) and _one_table(blocks[index], blocks[index + 1]):
            index += 1
        place = Place(0, len(note.text), page=page, box=note.box)
        behind[index].append(Block(BlockKind.NOTE, note.text, places=(place,)))
    made = [*behind[-1]]
    for index, block in enumerate(blocks):
        made += [block, *behind[index]]
    return tuple(made)


def _one_table(block: Block, after: Block) -> bool:
    return block.table is not None and block.table == after.table


def _distance(one: Box, other: Box) -> float:
    """Square of the distance between two boxes, 0 where they overlap."""
    across = max(one[0] - other[2], other[0] - one[2], 0.0)
    along = max(one[1] - other[3], other[1] - one[3], 0.0)
    return across * across + along * along
