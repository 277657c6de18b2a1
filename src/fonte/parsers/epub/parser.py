"""EPUB to blocks: what is known of the book, then its chapters in order."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.epub.book import Book, Chapter, read_book
from fonte.parsers.html import read_html, source_rows
from fonte.parsers.html_blocks import fragment_blocks
from fonte.parsers.ooxml import Package, opened
from fonte.types import Block, BlockKind, Loss, Parsed, Place, Source

EPUB_VERSION = "1"
MEDIA_TYPE = "application/epub+zip"
_FRONT = {"creator": "Authors", "contributor": "Contributors", "publisher": "Publisher", "date": "Date"}
"""What is said of the book before its text, by Dublin Core name."""
_PICTURE = re.compile(r"<(?:img|image)\b", re.IGNORECASE)
_NAV = re.compile(rb"<nav\b.*?</nav\s*>", re.IGNORECASE | re.DOTALL)
_CONTENTS_WORDS = 20
"""Words beside its lists that a page of contents may have: titles. More is a chapter that holds the contents too."""
_KEPT_SHARE = 0.9


class EpubParser:
    """Books without digital rights management. An anchor names the chapter's file and the element in it."""

    def __init__(self) -> None:
        self.name = f"epub/{EPUB_VERSION} lxml/{version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Title, authors and description, then every chapter of the spine.

        Raises:
            EncryptedSource: protected. ParseError: damaged, past a limit, or chapters without any block.
        """
        with opened(source) as package:
            return _Reading(package, source, read_book(package)).parsed(self.name)


class _Reading:
    """A book being read."""

    def __init__(self, package: Package, source: Source, book: Book) -> None:
        self._package, self._source, self._book = package, source, book
        self._texts: list[str] = []
        self._rows = 0
        self._tables = 0
        self._pictures = book.pictures
        self._lost = 0
        self._broken: list[str] = []
        self._contents = 0
        self._losses: list[Loss] = []

    def parsed(self, name: str) -> Parsed:
        """The whole book."""
        front = self._front()
        body = [block for chapter in self._book.chapters for block in self._chapter(chapter)]
        text = "\n".join(self._texts)
        lost = self._not_there()
        if not body and lost:
            raise self._package.error(lost[0])
        if not body and count_text(text).words:
            raise ParseError(f"{self._source.name} has text but no block came out", uri=self._source.uri)
        blocks = (*front, *body) if body else ()
        return Parsed(
            blocks=blocks,
            parser=name,
            title=self._book.title or None,
            media_type=MEDIA_TYPE,
            source_counts=count_text("\n".join([text, *(block.text for block in front)]), rows=self._rows),
            losses=tuple(self._told()),
            metadata={key: "; ".join(values) for key, values in self._book.metadata.items()},
            empty_reason=None if blocks else "needs_ocr" if self._pictures else "empty",
        )

    def _front(self) -> list[Block]:
        """The book's title, makers and description, which stand in no chapter for certain."""
        book = self._book
        blocks = [Block(BlockKind.HEADING, book.title, 1)] if book.title else []
        lines = [f"{said}: {', '.join(book.metadata[key])}" for key, said in _FRONT.items() if key in book.metadata]
        blocks += [Block(BlockKind.PARAGRAPH, "\n".join(lines))] if lines else []
        for description in book.metadata.get("description", ()):
            blocks += [Block(BlockKind.PARAGRAPH, one.text) for one in fragment_blocks(description, first_table=0)[0]]
        return blocks

    def _chapter(self, chapter: Chapter) -> list[Block]:
        """A chapter's blocks; one that cannot be read is told and the others go on."""
        try:
            body = self._package.read(chapter.part)
            if chapter.is_contents:
                body = _NAV.sub(b" ", body)
            found = read_html(
                replace(self._source, name=posixpath.basename(chapter.part), body=body),
                first_table=self._tables,
                xhtml=True,
            )
        except ParseError as error:
            self._broken.append(f"{chapter.part}: {error.message}")
            return []
        if chapter.is_contents:
            self._contents += 1
            if found.words <= _CONTENTS_WORDS:
                return []
        reader = found.reader
        self._tables = reader.tables
        self._texts.append(found.stripped)
        self._rows += source_rows(found.text, reader, reader.pieces, ())
        self._pictures += len(_PICTURE.findall(found.text))
        self._losses += found.losses
        words = sum(piece.words for piece in reader.pieces)
        if words < _KEPT_SHARE * found.words:
            self._lost += found.words - words
        blocks = [_placed(piece.block, chapter.part) for piece in reader.pieces]
        if chapter.label and blocks and not any(block.kind is BlockKind.HEADING for block in blocks):
            place = Place(0, len(chapter.label), anchor=chapter.part)
            blocks.insert(0, Block(BlockKind.HEADING, chapter.label, 1, (place,)))
            self._texts.append(chapter.label)
        return blocks

    def _not_there(self) -> Sequence[str]:
        """Chapters that were not read, with the reason."""
        return [*self._broken, *(f"{part} is missing" for part in self._book.missing)]

    def _told(self) -> Sequence[Loss]:
        losses = list(self._losses)
        if self._pictures:
            losses.append(Loss("images", f"{self._pictures} pictures not read", self._pictures))
        if self._contents:
            losses.append(Loss("structure", "the table of contents was not read as text", self._contents))
        if self._lost:
            losses.append(Loss("text_lost", f"{self._lost} words of the source were not found again", self._lost))
        lost = self._not_there()
        if lost:
            losses.append(Loss("chapters_lost", "; ".join(lost[:10]), len(lost)))
        return losses


def _placed(block: Block, part: str) -> Block:
    """A block whose anchors say in which file of the book they stand."""
    places = block.places or (Place(0, len(block.text)),)
    return replace(
        block,
        places=tuple(replace(place, anchor=f"{part}#{place.anchor}" if place.anchor else part) for place in places),
    )
