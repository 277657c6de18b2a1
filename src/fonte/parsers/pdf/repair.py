"""A second look at damaged files with pikepdf (qpdf): copies that pdfium opens, and whether blank pages are blank."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pikepdf import Page

_SHOWS_TEXT = re.compile(rb"T[jJ](?![A-Za-z])")
_OUR_STREAM = re.compile(r"^stream <[^>]*>[: ]*")
_MAX_LOOKED_AT = 200
"""Pages of a file without any text whose drawing is looked at."""


def repaired(body: bytes) -> bytes | None:
    """A sound copy of a damaged file, None when qpdf finds no page in it either."""
    import pikepdf

    try:
        with pikepdf.open(io.BytesIO(body)) as document:
            if not len(document.pages):
                return None
            copy = io.BytesIO()
            document.save(copy)
            return copy.getvalue()
    except (pikepdf.PdfError, pikepdf.PasswordError, ValueError, RuntimeError):  # what qpdf and its binding raise
        return None


def hidden_by_damage(body: bytes) -> str | None:
    """Why a file in which pdfium found nothing may hold text after all, None when its pages are blank."""
    import pikepdf

    try:
        with pikepdf.open(io.BytesIO(body)) as document:
            document.get_warnings()  # of its frame, which was good enough for pages to be found
            if any(_SHOWS_TEXT.search(_drawing(page)) for page in list(document.pages)[:_MAX_LOOKED_AT]):
                return "a page prints text that could not be read"
            return "what a page draws is damaged" if document.get_warnings() else None
    except (pikepdf.PdfError, pikepdf.PasswordError, ValueError, RuntimeError) as error:  # as above
        return " ".join(_OUR_STREAM.sub("", str(error)).split())[:200]


def _drawing(page: Page) -> bytes:
    """A page's own instructions."""
    import pikepdf

    contents = page.obj.get("/Contents")
    parts = list(contents) if isinstance(contents, pikepdf.Array) else [contents]
    return b"\n".join(part.read_bytes() for part in parts if isinstance(part, pikepdf.Stream))


__all__ = ["hidden_by_damage", "repaired"]
