"""Pages that are pictures: which, their rasters, and the words that OCR reads in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fonte.parsers.ocr.reader import (
    HINT,
    MAX_PIXELS,
    UNREADABLE,
    OcrFailed,
    OcrPage,
    OcrReader,
    missing_languages,
    trouble,
)
from fonte.parsers.ocr.trust import NOT_FOUND, TableTrust, table_trust
from fonte.parsers.pdf.document import FEW_CHARACTERS
from fonte.parsers.pdf.glyphs import Word
from fonte.parsers.pdf.reading import named
from fonte.types import BlockKind, Loss

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfDocument

    from fonte.parsers.pdf.document import PageText
    from fonte.types import Block, Box

_DPI = 300
_COVERED = 0.5
"""Share of a page with hardly any text that pictures must cover for it to be a scan."""
_SLACK = 1.5
"""Points by which printed words may miss the box of the text layer's own."""
_SHOWN = 10


@dataclass(slots=True)
class OcrAccount:
    """What was read by OCR in one document, and what was not; pages from 1."""

    engine: str | None = None
    missing: tuple[str, ...] = ()
    read: dict[int, float] = field(default_factory=dict)
    """Page -> mean confidence."""
    doubtful: dict[int, str] = field(default_factory=dict)
    unread: dict[int, str] = field(default_factory=dict)
    """Page -> why nothing was taken from it."""
    empty: list[int] = field(default_factory=list)
    tables: set[int] = field(default_factory=set)
    confidence: dict[int, dict[Box, int]] = field(default_factory=dict)
    """Page -> confidence of its words by the box of each."""

    def add(self, number: int, page: OcrPage) -> bool:
        """Enter a page; whether its words are to be taken."""
        if not page.words:
            self.empty.append(number)
            return False
        if page.confidence < UNREADABLE:
            self.unread[number] = f"what OCR read is guesses (mean confidence {page.confidence:.0f} of 100)"
            return False
        self.read[number] = page.confidence
        why = trouble(page)
        if why is not None:
            self.doubtful[number] = why
        if page.table:
            self.tables.add(number)
        return True

    @property
    def waiting(self) -> bool:
        """Whether there are pictures that were not read: no engine, no time, or guesses only."""
        return bool(self.unread)

    @property
    def stamp(self) -> str | None:
        """What the document is stamped with: another stamp than that of an engine that was installed later."""
        return self.engine or ("without an engine" if self.unread else None)

    def take_words(self, number: int, words: Sequence[Word], page: OcrPage) -> None:
        """Remember how sure each word of a page is; ``words`` are those of its lines in their order."""
        sure = [word.confidence for line in page.lines for word in line.words]
        self.confidence[number] = {word.page_box: share for word, share in zip(words, sure, strict=True)}

    def trust(self, blocks: Sequence[Block]) -> dict[int, TableTrust]:
        """Page -> how far its table may be trusted, for pages with rows that OCR read, or with rules as of a table."""
        rows: dict[int, list[Block]] = {number: [] for number in self.tables}
        for block in blocks:
            page = block.places[0].page if block.kind is BlockKind.ROW and block.places else None
            if page is not None and page in self.read:
                rows.setdefault(page, []).append(block)
        return {page: self._trust(page, found) for page, found in sorted(rows.items())}

    def _trust(self, page: int, rows: Sequence[Block]) -> TableTrust:
        """That of the worst of a page's tables."""
        tables = {row.table for row in rows}
        sure = self.confidence.get(page, {})
        found = [table_trust([row for row in rows if row.table == table], sure) for table in tables]
        return min(found, key=lambda one: one.trust, default=NOT_FOUND)

    def metadata(self, blocks: Sequence[Block]) -> dict[str, str]:
        """The engine's languages are in the parser's name; here are its pages, how sure it was, and of tables."""
        if not self.read:
            return {}
        mean = sum(self.read.values()) / len(self.read)
        tables = [one.trust for one in self.trust(blocks).values()]
        told = {"ocr_pages": str(len(self.read)), "ocr_confidence": f"{mean:.0f}"}
        return told | ({"ocr_table_trust": str(min(tables))} if tables else {})


@dataclass(slots=True)
class ScanReader:
    """Reads the pages of one PDF that are pictures; looks for the engine only when there is one."""

    account: OcrAccount = field(default_factory=OcrAccount)
    _reader: OcrReader | None = None

    def read(self, document: PdfDocument, index: int, page: PageText) -> PageText:
        """The page (index from 0) with the words of its picture, or as it is."""
        characters = sum(len(word.text) for word in page.words)
        if not (page.images if not characters else characters <= FEW_CHARACTERS and page.cover >= _COVERED):
            return page
        number = index + 1
        if self._reader is None:
            self._reader = OcrReader()
            self.account.engine, self.account.missing = self._reader.name, self._reader.missing
        if self.account.engine is None:
            self.account.unread[number] = HINT
            return page
        try:
            image, scale = _raster(document, index, page.size)
            found = self._reader.read(image, dpi=round(72 * scale), turned=page.rotation)
        except OcrFailed as failure:
            self.account.unread[number] = str(failure)
            return page
        return self._with_words(page, number, found, scale)

    def _with_words(self, page: PageText, number: int, found: OcrPage, scale: float) -> PageText:
        from fonte.parsers.ocr.words import page_words

        if not self.account.add(number, found):
            return page
        printed = page_words(found, 1 / scale)
        self.account.take_words(number, printed, found)
        words = [word for word in printed if not _stands_there(word, page.words)]
        text = "\n".join([page.text, *lines_of(words)])
        return replace(page, words=[*page.words, *words], outside=[*page.outside, *words], text=text)


def lines_of(words: Iterable[Word]) -> list[str]:
    """What OCR read, a string for each line."""
    lines: list[str] = []
    for word in words:
        if word.line_start or not lines:
            lines.append(word.text)
        else:
            lines[-1] += f" {word.text}"
    return lines


def _stands_there(word: Word, known: Sequence[Word]) -> bool:
    """Whether the text layer has a word where OCR read this one."""
    x0, y0, x1, y1 = word.page_box
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    boxes = (one.page_box for one in known)
    return any(a - _SLACK <= x <= c + _SLACK and b - _SLACK <= y <= d + _SLACK for a, b, c, d in boxes)


def _raster(document: PdfDocument, index: int, size: tuple[float, float]) -> tuple[Image, float]:
    """(the page as stored, in grey, pixels a point). Raises OcrFailed when pdfium cannot draw it."""
    import pypdfium2 as pdfium

    width, height = max(size[0], 1.0), max(size[1], 1.0)
    scale = min(_DPI / 72, (MAX_PIXELS / (width * height)) ** 0.5)
    try:
        page = document[index]
        try:
            page.set_rotation(0)
            return page.render(scale=scale, grayscale=True).to_pil().convert("L"), scale
        finally:
            page.close()
    except (pdfium.PdfiumError, ValueError, OSError) as error:
        raise OcrFailed("the page cannot be drawn") from error


def losses_of(account: OcrAccount, blocks: Sequence[Block]) -> tuple[Loss, ...]:
    """Everything that a reader should know of text that OCR read, or could not read."""
    found: list[Loss] = []
    if account.read:
        mean = sum(account.read.values()) / len(account.read)
        what = f"text read from pictures by OCR, mean confidence {mean:.0f} of 100, {named(sorted(account.read))}"
        found.append(Loss("ocr", what, len(account.read)))
    for reason in dict.fromkeys(account.unread.values()):
        pages = [number for number, why in account.unread.items() if why == reason]
        found.append(Loss("page_needs_ocr", f"pictures not read {named(pages)}: {reason}", len(pages)))
    if account.empty:
        found.append(
            Loss(
                "picture_without_text", f"OCR found no word in the pictures {named(account.empty)}", len(account.empty)
            )
        )
    if account.doubtful:
        told = ", ".join(f"page {number} ({why})" for number, why in list(account.doubtful.items())[:_SHOWN])
        more = len(account.doubtful) - _SHOWN
        told += f" and {more} more" if more > 0 else ""
        found.append(Loss("ocr_doubtful", f"OCR text not to be trusted: {told}", len(account.doubtful)))
    trust = account.trust(blocks)
    if trust:
        told = "; ".join(f"page {page} ({one})" for page, one in list(trust.items())[:_SHOWN])
        told += f" and {len(trust) - _SHOWN} more" if len(trust) > _SHOWN else ""
        what = f"tables read from pictures, {told}: figures may be wrong or missing, look at the page"
        found.append(Loss("ocr_table", what, len(trust)))
    if account.read and account.missing:
        found.append(Loss("ocr_languages", missing_languages(account.missing), len(account.missing)))
    return tuple(found)


__all__ = ["OcrAccount", "ScanReader", "lines_of", "losses_of"]
