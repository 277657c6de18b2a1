"""PDF to blocks."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.pdf.document import bytes_of, dates_of, labels_of, opened, outline_of, read_page, title_of
from fonte.parsers.pdf.reading import Reading, blocks_of
from fonte.parsers.pdf.repair import hidden_by_damage
from fonte.parsers.pdf.scans import ScanReader, losses_of
from fonte.types import Loss, Parsed

if TYPE_CHECKING:
    from fonte.types import Source

LAYOUT_VERSION = "5"
_SAY_NOTHING = frozenset({"blank_page", "repaired"})
"""Losses beside which a file without text may yet hold some."""


class PdfParser:
    """PDF through pdfium and our own layout layer; pages that are pictures through OCR."""

    def __init__(self) -> None:
        self.name = f"pdf/{LAYOUT_VERSION} pypdfium2/{version('pypdfium2')}"

    def name_with(self, engine: str) -> str:
        """What documents are stamped with of which pages were read by an OCR engine."""
        return f"pdf+ocr/{self.name.removeprefix('pdf/')} {engine}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in reading order; each word has its page (from 1) and box.

        Raises:
            EncryptedSource: a password is needed. ParseError: damaged, or characters without any block.
        """
        with opened(source) as (document, mended):
            total = len(document)
            reading, scans = Reading(), ScanReader()
            for index in range(total):
                page = read_page(document, index)
                if page is not None:
                    page = scans.read(document, index, page)
                reading.take(index + 1, page)
            if total and len(reading.unreadable) == total:
                raise ParseError(f"{source.name}: none of its {total} pages could be read", uri=source.uri)
            outline = outline_of(document)
            labels = labels_of(document)
            title, dates = title_of(document), dates_of(document)
        blocks = blocks_of(reading, outline)
        losses = (*_told_of_repair(total, mended=mended), *reading.losses(), *losses_of(scans.account, blocks))
        if not blocks:
            _check_that_it_is_empty(source, reading, losses)
        stamp = scans.account.stamp
        return Parsed(
            blocks=blocks,
            parser=self.name_with(stamp) if stamp else self.name,
            title=title,
            media_type="application/pdf",
            page_labels=labels,
            pages=total,
            source_counts=reading.counts,
            losses=losses,
            metadata={**dates, **scans.account.metadata(blocks)},
            empty_reason=None if blocks else "needs_ocr" if scans.account.waiting else "empty",
        )


def _told_of_repair(pages: int, *, mended: bool) -> tuple[Loss, ...]:
    what = f"the file is damaged: a repaired copy was read, in which {pages} pages were found; others may be missing"
    return (Loss("repaired", what, pages),) if mended else ()


def _check_that_it_is_empty(source: Source, reading: Reading, losses: Sequence[Loss]) -> None:
    """Raise ParseError where nothing came out of a file that may hold text."""
    if reading.counts.characters:
        message = f"{source.name} has {reading.counts.characters} characters but no text came out"
        raise ParseError(message, uri=source.uri)
    if any(loss.code not in _SAY_NOTHING for loss in losses):
        return
    reason = hidden_by_damage(bytes_of(source))
    if reason is not None:
        raise ParseError(f"no text came out of {source.name}: {reason}", uri=source.uri)
