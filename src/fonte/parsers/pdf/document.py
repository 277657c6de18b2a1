"""A PDF file as pdfium opens it: pages, labels, outline. Every fault of the library becomes a ``ParseError`` here."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.pdf.glyphs import Word, page_words, to_frame

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

    from fonte.types import Source

MAX_PAGES = 50_000
_ENCRYPTED = 4
"""pdfium's FPDF_ERR_PASSWORD."""
_SECURITY = 5
"""pdfium's FPDF_ERR_SECURITY: a scheme that it does not know."""
_MAX_OUTLINE = 20_000
_IMAGE, _PATH, _SHADING, _FORM = 3, 2, 4, 5
_MAX_OBJECTS = 20_000


@dataclass(slots=True)
class PageText:
    """What one page gives. ``text`` is pdfium's own, before any layout; ``extent`` lowest and highest y as read."""

    words: list[Word]
    text: str
    extent: tuple[float, float]
    images: int
    characters: int
    size: tuple[float, float]


@contextmanager
def opened(source: Source) -> Iterator[PdfDocument]:
    """The file, opened with the empty password.

    Raises:
        EncryptedSource: it needs a password. ParseError: it is no PDF, or damaged beyond repair.
    """
    import pypdfium2 as pdfium  # noqa: PLC0415 - heavy, and only PDF pays for it

    given: bytes | str | None = source.body if source.body is not None else source.path
    if not given:
        raise ParseError(f"{source.name} is empty", uri=source.uri)
    try:
        document = pdfium.PdfDocument(given)
    except pdfium.PdfiumError as error:
        if error.err_code in (_ENCRYPTED, _SECURITY):
            message = f"{source.name} needs a password"
            raise EncryptedSource(message, hint="Save a copy without a password.", uri=source.uri) from error
        raise ParseError(f"{source.name} cannot be opened as PDF: {error}", uri=source.uri) from error
    except OSError as error:
        raise ParseError(f"{source.name} cannot be read: {error}", uri=source.uri) from error
    try:
        if len(document) > MAX_PAGES:
            raise ParseError(f"{source.name} claims {len(document)} pages; the limit is {MAX_PAGES}", uri=source.uri)
        yield document
    except pdfium.PdfiumError as error:
        raise ParseError(f"{source.name}: {error}", uri=source.uri) from error
    finally:
        document.close()


def title_of(document: PdfDocument) -> str | None:
    """The title in the file's own metadata."""
    title = document.get_metadata_value("Title").replace("\0", "").strip()
    return title or None


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
    import pypdfium2 as pdfium  # noqa: PLC0415 - heavy, and only PDF pays for it

    try:
        page = document[index]
    except pdfium.PdfiumError:
        return None
    try:
        return _read(page)
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


def _read(page: PdfPage) -> PageText:
    import pypdfium2.raw as raw  # noqa: PLC0415 - heavy, and only PDF pays for it

    page.set_rotation(0)
    left, bottom, right, top = page.get_bbox()
    textpage = page.get_textpage()
    try:
        handle = textpage.raw
        count = max(raw.FPDFText_CountChars(handle), 0)
        words = page_words(handle, count, (left, bottom))
        text = _plain(handle, count)
    finally:
        textpage.close()
    frame = _main_frame(words)
    _, low, _, high = to_frame((0.0, 0.0, right - left, top - bottom), frame)
    return PageText(words, text, (low, high), _images(page), count, (right - left, top - bottom))


def _plain(handle: object, count: int) -> str:
    """pdfium's text of the page."""
    import pypdfium2.raw as raw  # noqa: PLC0415 - heavy, and only PDF pays for it

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
    """Objects that may show something which is not text: images, shadings, forms, drawn paths."""
    import pypdfium2.raw as raw  # noqa: PLC0415 - heavy, and only PDF pays for it

    count = min(raw.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)
    kinds = [raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page.raw, index)) for index in range(count)]
    return sum(kind in (_IMAGE, _FORM) for kind in kinds)
