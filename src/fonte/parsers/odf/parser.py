"""ODT and ODP to blocks, by a walk over their XML."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from fonte.parsers.counting import check_found, count_text
from fonte.parsers.odf.body import (
    ABSENT,
    DESCRIBED,
    FURNITURE,
    HEADING,
    PARAGRAPH,
    SPACING,
    BodyReader,
)
from fonte.parsers.odf.names import DRAW, OFFICE, SHOW, TABLE, TEXT, check_open, dates_of, times, title_of
from fonte.parsers.odf.styles import Styles
from fonte.parsers.ooxml import Package, opened
from fonte.parsers.tables import one_line
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Place, Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_VERSION = "3"
_NAMED = 10
_CHANGED = f"{TEXT}changed-region"
_ROW = f"{TABLE}table-row"


class OdtParser:
    """OpenDocument texts. They have no pages: a citation names heading and paragraph."""

    def __init__(self) -> None:
        self.name = f"odt/{_VERSION} lxml/{version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in document order; notes follow their paragraph.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, past a limit, or text without any block.
        """
        with opened(source) as package:
            body, styles = _opened(package, "text")
            reader = BodyReader(styles)
            reader.read(body)
            return _parsed(package, source, self.name, body, [reader])


class OdpParser:
    """OpenDocument presentations: a heading for each slide, its text, tables and notes."""

    def __init__(self) -> None:
        self.name = f"odp/{_VERSION} lxml/{version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks slide by slide, each with its slide as its place.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, past a limit, or text without any block.
        """
        with opened(source) as package:
            body, styles = _opened(package, "presentation")
            readers: list[BodyReader] = []
            hidden = []
            for number, page in enumerate(body.iterchildren(f"{DRAW}page"), 1):
                is_hidden = styles.is_hidden(page.get(f"{DRAW}style-name", ""))
                tables = readers[-1].tables if readers else 0
                readers.append(_slide(page, number, styles, tables, label=" (hidden slide)" if is_hidden else ""))
                hidden += [str(number)] if is_hidden else []
            parsed = _parsed(package, source, self.name, body, readers, slides=len(readers))
            if not hidden:
                return parsed
            told = Loss("hidden_slide", f"hidden slides kept: {', '.join(hidden[:_NAMED])}", len(hidden))
            return replace(parsed, losses=(*parsed.losses, told))


def _opened(package: Package, kind: str) -> tuple[_Element, Styles]:
    """(the body of that kind, styles of the content and of the file)."""
    check_open(package)
    content = package.xml("content.xml", doctype=True)
    if b"<!ENTITY" in package.read("content.xml"):
        raise package.error("content.xml declares entities, whose text is never read")
    body = content.find(f"{OFFICE}body/{OFFICE}{kind}")
    if body is None:
        raise package.error(f"it has no body of the kind {kind}")
    roots = [content]
    if package.has("styles.xml"):
        roots.append(package.xml("styles.xml", doctype=True))
    return body, Styles(roots)


def _slide(page: _Element, number: int, styles: Styles, first_table: int, *, label: str) -> BodyReader:
    """A heading from the slide's title, else its number, and the label; then the rest, and the notes at its end."""
    reader = BodyReader(styles, number, first_table)
    reader.read(page)
    titles = [frame for frame in page.iterchildren(f"{DRAW}frame") if frame.get(f"{SHOW}class") == "title"]
    said = BodyReader(styles, number)
    for frame in titles:
        said.read(frame)
    heading = one_line(" ".join(block.text for block in said.blocks)) or f"Slide {number}"
    for block in said.blocks:
        if block in reader.blocks:
            reader.blocks.remove(block)
    heading += label
    place = Place(0, len(heading), slide=number)
    notes = BodyReader(styles, number, reader.tables)
    for note in page.iterchildren(f"{SHOW}notes"):
        notes.read(note)
    told = [Block(BlockKind.NOTE, block.text, places=block.places) for block in notes.blocks]
    if titles or reader.blocks or told:
        reader.blocks = [Block(BlockKind.HEADING, heading, 1, (place,)), *reader.blocks, *told]
    return reader


def _parsed(
    package: Package, source: Source, name: str, body: _Element, readers: list[BodyReader], slides: int | None = None
) -> Parsed:
    blocks = tuple(block for reader in readers for block in reader.blocks)
    counts = _counts(body, slides or 0)
    check_found(source, words=counts.words, found=bool(blocks))
    images = sum(reader.images for reader in readers)
    return Parsed(
        blocks=blocks if counts.characters else (),
        parser=name,
        title=title_of(package),
        media_type=source.media_type or "application/vnd.oasis.opendocument",
        source_counts=counts,
        losses=tuple(_losses(body, readers)),
        metadata=dates_of(package),
        empty_reason=None if blocks and counts.characters else "needs_ocr" if images else "empty",
    )


def _losses(body: _Element, readers: list[BodyReader]) -> list[Loss]:
    furniture = [line for reader in readers for line in reader.furniture]
    told = (
        ("images", "pictures not read", sum(reader.images for reader in readers)),
        ("objects_lost", "embedded objects (charts, formulas) not read", sum(reader.objects for reader in readers)),
        ("repeated", "copies of repeated rows and cells left out", sum(reader.left_out for reader in readers)),
        ("comments", "comments left out", sum(reader.comments for reader in readers)),
        ("page_furniture", "lines of slide footers", len(furniture)),
        ("comments", "tracked changes: the text as it was before is left out", sum(1 for _ in body.iter(_CHANGED))),
    )
    return [Loss(code, f"{count} {what}", count) for code, what, count in told if count]


def _counts(body: _Element, slides: int) -> Counts:
    """Words of all text in paragraphs and descriptions, and rows with text, apart from the walk that makes blocks."""
    from lxml import etree

    pieces: list[str] = []
    absent = inside = rows = 0
    outer: list[int] = []  # where in the pieces each open row begins; a table in a cell is part of the outer row
    for event, element in etree.iterwalk(body, events=("start", "end")):
        left_out = element.tag in ABSENT - {f"{SHOW}notes"} or element.get(f"{SHOW}class") in FURNITURE
        if event == "start":
            absent += left_out
            inside += element.tag in (HEADING, PARAGRAPH, *DESCRIBED)
            if inside and not absent:
                pieces.append(f" {element.text or ''}" if element.tag in SPACING else element.text or "")
            if element.tag == _ROW:
                outer.append(len(pieces))
            continue
        if element.tag == _ROW and "".join(pieces[outer.pop() :]).strip() and not outer:
            rows += times(element, f"{TABLE}number-rows-repeated")
        if element.tag in (HEADING, PARAGRAPH, *DESCRIBED):
            inside -= 1
            pieces.append("\n")
        elif element.tag in SPACING or element.tag.endswith("}s"):
            pieces.append(" ")
        absent -= left_out
        if inside and not absent:
            pieces.append(element.tail or "")
    return count_text("".join(pieces), rows=rows, pages=slides)
