"""A PDF file as pdfium opens it: pages, labels, outline. Every fault of the library becomes a ``ParseError`` here."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.pdf.glyphs import Word, page_words, to_frame
from fonte.parsers.pdf.hidden import hidden_words
from fonte.parsers.pdf.layout import Segment, joined
from fonte.parsers.pdf.notes import PageNote, page_notes
from fonte.parsers.pdf.repair import repaired
from fonte.parsers.pdf.rules import ruled_tables

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfiumError, PdfPage

    from fonte.types import Source

MAX_PAGES = 50_000
_ENCRYPTED = 4
"""pdfium's FPDF_ERR_PASSWORD."""
_SECURITY = 5
"""pdfium's FPDF_ERR_SECURITY: a scheme that it does not know."""
_FAULTS = {3: "it is damaged, or is no PDF", 6: "a page of it is missing or damaged"}
"""What pdfium's numbers of other faults mean: FPDF_ERR_FORMAT and FPDF_ERR_PAGE."""
_MAX_OUTLINE = 20_000
_IMAGE, _PATH, _SHADING, _FORM = 3, 2, 4, 5
_MAX_OBJECTS = 20_000
_HIDDEN = "Not visible on the page"
FEW_CHARACTERS = 80
"""A page with no more than this has hardly any text: a number, a stamp, the scanner's own line."""
_DRAWING = 30
"""More paths than this may be letters drawn as outlines."""


@dataclass(slots=True)
class PageText:
    """What one page gives. ``text`` is pdfium's own, before any layout, with the annotations'.

    ``extent`` is the lowest and highest y as read.
    """

    words: list[Word]
    """Those that can be seen; all where most cannot and something is drawn (a layer of text under drawn letters)."""
    outside: list[Word]
    """Words outside ruled tables."""
    tables: list[Segment]
    text: str
    extent: tuple[float, float]
    images: int
    characters: int
    size: tuple[float, float]
    cover: float = 0.0
    """Share of the page that images cover; asked only where there is hardly any text."""
    rotation: int = 0
    """Degrees by which viewers turn the page clockwise; everything here is measured on the page as it is stored."""
    hidden: int = 0
    """Words that cannot be seen."""
    notes: list[PageNote] = field(default_factory=list)
    """Links, comments, fields of forms, and hidden words that are not among ``words``."""


@contextmanager
def opened(source: Source) -> Iterator[tuple[PdfDocument, bool]]:
    """(the file, opened with the empty password; whether it is a repaired copy of a damaged one).

    Raises:
        EncryptedSource: it needs a password. ParseError: it is no PDF, or damaged beyond repair.
    """
    import pypdfium2 as pdfium

    document, mended = _open(source)
    try:
        if len(document) > MAX_PAGES:
            raise ParseError(f"{source.name} claims {len(document)} pages; the limit is {MAX_PAGES}", uri=source.uri)
        yield document, mended
    except pdfium.PdfiumError as error:
        raise ParseError(f"{source.name} is damaged: {_said(error)}", uri=source.uri) from error
    finally:
        document.close()


def _open(source: Source) -> tuple[PdfDocument, bool]:
    import pypdfium2 as pdfium

    body = bytes_of(source)
    fault = "there is no page in it"
    try:
        document = pdfium.PdfDocument(body)
        if len(document):
            return document, False
        document.close()
    except pdfium.PdfiumError as error:
        if error.err_code in (_ENCRYPTED, _SECURITY):
            message = f"{source.name} needs a password"
            raise EncryptedSource(message, hint="Save a copy without a password.", uri=source.uri) from error
        fault = _said(error)
    copy = repaired(body)
    try:
        if copy is not None:
            return pdfium.PdfDocument(copy), True
    except pdfium.PdfiumError as error:
        fault = _said(error)
    raise ParseError(f"{source.name} cannot be opened as PDF, nor repaired: {fault}", uri=source.uri)


def _said(error: PdfiumError) -> str:
    """A fault in plain words. pdfium names some by number; its own texts speak of its insides."""
    return _FAULTS.get(error.err_code or 0, "a part of it cannot be read")


def bytes_of(source: Source) -> bytes:
    """The bytes of the file. Raises ParseError when there are none."""
    try:
        body = source.body if source.body is not None else Path(source.path or "").read_bytes()
    except OSError as error:
        raise ParseError(f"{source.name} cannot be read: {error.strerror}", uri=source.uri) from error
    if not body:
        raise ParseError(f"{source.name} is empty", uri=source.uri)
    return body


def title_of(document: PdfDocument) -> str | None:
    """The title in the file's own metadata."""
    title = document.get_metadata_value("Title").replace("\0", "").strip()
    # What programs write when nobody gave a title says nothing of the document.
    return None if title.casefold() in {"", "untitled", "anonymous", "(anonymous)"} else title


def dates_of(document: PdfDocument) -> dict[str, str]:
    """When it was ``created`` and ``modified``, as the file writes it."""
    keys = {"created": "CreationDate", "modified": "ModDate"}
    said = {name: document.get_metadata_value(key).replace("\0", "").strip() for name, key in keys.items()}
    return {name: text for name, text in said.items() if text}


def labels_of(document: PdfDocument) -> tuple[str, ...]:
    """The printed label of each page; empty when the file has none."""
    labels = tuple((document.get_page_label(index) or "").replace("\0", "") for index in range(len(document)))
    return labels if any(labels) else ()


def outline_of(document: PdfDocument) -> list[tuple[int, int, str]]:
    """(page from 1, depth from 1, title) of each bookmark that leads to a page."""
    found: list[tuple[int, int, str]] = []
    for count, bookmark in enumerate(document.get_toc(max_depth=8)):
        if count >= _MAX_OUTLINE:
            break
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if page is not None:
            found.append((page + 1, bookmark.level + 1, bookmark.get_title()))
    return found


def read_page(document: PdfDocument, index: int) -> PageText | None:
    """Words and plain text of a page (index from 0); None when pdfium cannot load it."""
    import pypdfium2 as pdfium

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return None
    try:
        return _read(document, page)
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


def _read(document: PdfDocument, page: PdfPage) -> PageText:
    from pypdfium2 import raw

    rotation = page.get_rotation()
    page.set_rotation(0)
    left, bottom, right, top = page.get_bbox()
    size = (right - left, top - bottom)
    textpage = page.get_textpage()
    try:
        handle = textpage.raw
        count = max(raw.FPDFText_CountChars(handle), 0)
        words = page_words(handle, count, (left, bottom))
        text = _plain(handle, count)
    finally:
        textpage.close()
    hidden = hidden_words(page.raw, (left, bottom), size, words) if words else []
    images = _images(page)
    apart = [] if images and 2 * len(hidden) > len(words) else hidden
    if apart:
        gone = {id(word) for word in apart}
        words = [word for word in words if id(word) not in gone]
    notes = page_notes(document.raw, page.raw, (left, bottom), words)
    text = "\n".join([text, *(note.text for note in notes)])
    if apart:
        notes.append(_apart(apart, size))
    tables, outside = ruled_tables(page.raw, (left, bottom), words) if words else ([], words)
    _, low, _, high = to_frame((0.0, 0.0, *size), _main_frame(words))
    few = sum(len(word.text) for word in words) <= FEW_CHARACTERS
    cover = _image_cover(page, size) if few else 0.0
    return PageText(
        words, outside, tables, text, (low, high), images, count, size, cover, rotation, len(hidden), notes
    )  # fmt: skip


def _apart(words: list[Word], size: tuple[float, float]) -> PageNote:
    """Hidden words as a note that says so, in a box that does not leave the page."""
    words[0].spaced = False
    for word in words[1:]:
        word.spaced = word.spaced or word.line_start
    boxes = [word.page_box for word in words]
    x0, y0 = (min(max(min(box[side] for box in boxes), 0.0), size[side] - 1) for side in (0, 1))
    x1, y1 = (max(min(max(box[side + 2] for box in boxes), size[side]), (x0, y0)[side] + 1) for side in (0, 1))
    return PageNote(f"{_HIDDEN}: {joined(words)}", (x0, y0, x1, y1))


def _plain(handle: object, count: int) -> str:
    """The text of the page in pdfium's own order."""
    from pypdfium2 import raw

    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = raw.FPDFText_GetText(handle, 0, count, buffer)
    return bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", errors="replace")


def _main_frame(words: list[Word]) -> int:
    counts = [0, 0, 0, 0]
    for word in words:
        if word.frame < len(counts):
            counts[word.frame] += 1
    return counts.index(max(counts))


def _images(page: PdfPage) -> int:
    """Objects that may show text which is not there as characters: images, forms, and drawings of many paths."""
    from pypdfium2 import raw

    count = min(raw.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)
    kinds = [raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page.raw, index)) for index in range(count)]
    drawn = sum(kind in (_PATH, _SHADING) for kind in kinds)
    return sum(kind in (_IMAGE, _FORM) for kind in kinds) + (drawn if drawn > _DRAWING else 0)


def _image_cover(page: PdfPage, size: tuple[float, float]) -> float:
    """Share of the page under images (strips of one picture added up) and forms, in which scanners wrap pictures."""
    from pypdfium2 import raw

    area = 0.0
    sides = [ctypes.c_float() for _ in range(4)]
    for index in range(min(raw.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)):
        part = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(part) not in (_IMAGE, _FORM):
            continue
        if raw.FPDFPageObj_GetBounds(part, *(ctypes.byref(side) for side in sides)):
            left, bottom, right, top = (side.value for side in sides)
            area += max(min(right, size[0]) - max(left, 0), 0) * max(min(top, size[1]) - max(bottom, 0), 0)
    return min(area / max(size[0] * size[1], 1.0), 1.0)
