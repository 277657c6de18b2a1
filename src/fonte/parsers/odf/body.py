"""The content of OpenDocument texts and slides: headings, paragraphs, lists, tables, notes, text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fonte.parsers.odf.names import DRAW, OFFICE, SHOW, SVG, TABLE, TEXT, times
from fonte.parsers.ooxml import local
from fonte.parsers.tables import one_line, table_blocks
from fonte.types import Block, BlockKind, Place

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.odf.styles import Styles

MAX_REPEATED = 1000
"""Equal rows, columns and spaces that a file may stand for with one element."""
_MAX_COPIED = 100_000
"""Characters of the copies of repeated rows and cells that are written out; the rest is told."""
_MAX_DEPTH = 60
_MAX_LEVEL = 6
_SPACES = re.compile(r"[ \t\r\n]+")
HEADING, PARAGRAPH = f"{TEXT}h", f"{TEXT}p"
SPACING = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_INDEX_RULES = "table-of-content illustration-index table-index object-index user-index alphabetical-index bibliography"
ABSENT = frozenset(
    {f"{TEXT}{name}" for name in ("tracked-changes", "sequence-decls", "note-citation", "ruby-text", "script")}
    | {f"{TEXT}{name}-source" for name in _INDEX_RULES.split()}
    | {f"{OFFICE}annotation", f"{OFFICE}annotation-end", f"{OFFICE}forms", f"{SHOW}notes", f"{DRAW}page-thumbnail"}
)
"""What is no text of the document: deleted text, comments, the rules of an index."""
_ROW_GROUPS = (f"{TABLE}table-header-rows", f"{TABLE}table-rows", f"{TABLE}table-row-group")
_OBJECTS = frozenset({f"{DRAW}object", f"{DRAW}object-ole", f"{DRAW}plugin", f"{DRAW}applet"})
FURNITURE = frozenset({"footer", "date-time", "page-number", "header"})
DESCRIBED = (f"{SVG}title", f"{SVG}desc")


@dataclass(slots=True)
class _Inline:
    """What a paragraph holds: its text, notes and drawings in order."""

    pieces: list[str] = field(default_factory=list)
    notes: list[_Element] = field(default_factory=list)
    drawings: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Lines without white space at their ends."""
        return "\n".join(" ".join(line.split(" ")).strip() for line in "".join(self.pieces).split("\n")).strip()


class BodyReader:
    """Walks a body and gathers blocks; on slides each has the slide's number as its place.

    Rows of a table in a cell stand inside a row, which names its own columns: theirs are written without names.
    """

    def __init__(
        self, styles: Styles, slide: int | None = None, first_table: int = 0, *, in_cell: bool = False
    ) -> None:
        self.blocks: list[Block] = []
        self.images = 0
        self.objects = 0
        self.comments = 0
        self.left_out = 0
        """Copies of repeated rows and cells beyond the limits."""
        self._copied = 0
        self.furniture: list[str] = []
        self.tables = first_table
        self._styles = styles
        self._slide = slide
        self._in_cell = in_cell
        self._label = ""

    def read(self, parent: _Element, depth: int = 0) -> None:
        """Add the blocks below an element."""
        if depth <= _MAX_DEPTH:
            for element in parent:
                self._element(element, depth)

    def _element(self, element: _Element, depth: int) -> None:
        tag = element.tag
        if tag == f"{OFFICE}annotation":
            self.comments += 1
        elif tag in ABSENT or not local(tag):
            return
        elif tag in (HEADING, PARAGRAPH):
            self._paragraph(element, depth)
        elif tag == f"{TEXT}list":
            self._list(element, element.get(f"{TEXT}style-name", ""), 1, depth)
        elif tag == f"{TABLE}table":
            self._table(element, depth)
        elif tag == f"{DRAW}image":
            self.images += 1
        elif tag in _OBJECTS:
            self.objects += 1
        elif tag in DESCRIBED:
            self._add(BlockKind.CAPTION, one_line("".join(map(str, element.itertext()))))
        elif element.get(f"{SHOW}class") in FURNITURE:
            self.furniture += [one_line(text) for text in map(str, element.itertext()) if text.strip()]
        else:
            self.read(element, depth + 1)

    # --- paragraphs

    def _paragraph(self, element: _Element, depth: int) -> None:
        inline = _Inline()
        self._walk(element, inline, depth)
        text = inline.text
        style = element.get(f"{TEXT}style-name", "")
        if element.tag == HEADING:
            self._add(BlockKind.HEADING, one_line(text), times(element, f"{TEXT}outline-level", _MAX_LEVEL))
        elif self._styles.is_title(style) and self._slide is None:
            self._add(BlockKind.HEADING, one_line(text), 1)
        elif text and self._label:
            label, self._label = self._label, ""
            self._add(BlockKind.LIST_ITEM, f"{label}{text}")
        else:
            self._add(BlockKind.PARAGRAPH, text)
        for drawing in inline.drawings:
            self._element(drawing, depth + 1)
        for note in inline.notes:
            blocks = self._inside(note, depth)
            self._add(BlockKind.NOTE, "\n".join(block.text for block in blocks))

    def _walk(self, parent: _Element, inline: _Inline, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        inline.pieces.append(_SPACES.sub(" ", parent.text or ""))
        for element in parent:
            tag = element.tag
            if tag == f"{OFFICE}annotation":
                self.comments += 1
            elif tag == f"{TEXT}s":
                inline.pieces.append(" " * times(element, f"{TEXT}c", MAX_REPEATED))
            elif tag in SPACING:
                inline.pieces.append(SPACING[tag])
            elif tag == f"{TEXT}note":
                inline.notes += element.findall(f"{TEXT}note-body")
            elif local(tag) and tag.startswith(DRAW) and tag != f"{DRAW}a":
                inline.drawings.append(element)
            elif local(tag) and tag not in ABSENT:
                self._walk(element, inline, depth + 1)
            inline.pieces.append(_SPACES.sub(" ", element.tail or ""))

    def _add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if text:
            place = () if self._slide is None else (Place(0, len(text), slide=self._slide),)
            self.blocks.append(Block(kind, text, level, place))

    def _inside(self, element: _Element, depth: int, *, in_cell: bool = False) -> list[Block]:
        """The blocks below an element on their own: of a cell, of a note."""
        inner = BodyReader(self._styles, self._slide, self.tables, in_cell=in_cell)
        inner.read(element, depth + 1)
        self.images += inner.images
        self.objects += inner.objects
        self.comments += inner.comments
        self.left_out += inner.left_out
        return inner.blocks

    def _times(self, element: _Element, name: str, size: int) -> int:
        """How often a row or cell of ``size`` characters is written; the copies that are not are counted."""
        wanted = times(element, name)
        written = min(wanted, MAX_REPEATED, 1 + max(_MAX_COPIED - self._copied, 0) // max(size, 1))
        self._copied += (written - 1) * size
        self.left_out += wanted - written if size else 0
        return written

    # --- lists

    def _list(self, element: _Element, style: str, level: int, depth: int) -> None:
        number = 0
        for item in element:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header") or depth > _MAX_DEPTH:
                continue
            number = times(item, f"{TEXT}start-value") if item.get(f"{TEXT}start-value") else number + 1
            self._label = self._styles.label(style, level, number) if item.tag == f"{TEXT}list-item" else ""
            for child in item:
                if child.tag == f"{TEXT}list":
                    number -= bool(self._label)  # an item of deeper items alone has no number
                    self._label = ""
                    self._list(child, child.get(f"{TEXT}style-name", style), level + 1, depth + 1)
                elif child.tag in (HEADING, PARAGRAPH):
                    self._paragraph(child, depth + 1)
            self._label = ""

    # --- tables

    def _table(self, table: _Element, depth: int) -> None:
        rows: list[list[str]] = []
        notes: list[Block] = []
        head = 0
        for row, heads in _rows(table, depth):
            cells: list[str] = []
            for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
                blocks = self._inside(cell, depth, in_cell=True)
                notes += [block for block in blocks if block.kind is BlockKind.NOTE]
                said = [_in_cell(block) for block in blocks if block.kind is not BlockKind.NOTE]
                text = said[0].removeprefix("- ") if len(said) == 1 else " ".join(said)
                spanned = not rows and cells and cell.tag == f"{TABLE}covered-table-cell"
                known = cells[-1] if spanned else ""  # a name over several columns names each of them
                said_again = text or known
                cells += [said_again] * self._times(cell, f"{TABLE}number-columns-repeated", len(said_again))
            head += heads
            again = self._times(row, f"{TABLE}number-rows-repeated", sum(map(len, cells))) if any(cells) else 1
            rows += [cells[:MAX_REPEATED]] * again
        place = None if self._slide is None else Place(0, 0, slide=self._slide)
        header = False if self._in_cell else True if head and rows and any(rows[0]) else None
        reach = f"{TABLE}number-rows-spanned"
        merged = any(times(cell, reach, MAX_REPEATED) > 1 for cell in table.iter(f"{TABLE}table-cell"))
        places = [place] * len(rows)
        blocks = table_blocks(rows, table=self.tables, header=header, places=places, merged=merged)
        self.blocks += [*blocks, *notes]
        self.tables += bool(blocks)


def _in_cell(block: Block) -> str:
    """A block of a cell on one line; a mark ends a row of a table inside."""
    return one_line(block.text) + (";" if block.kind is BlockKind.ROW else "")


def _rows(parent: _Element, depth: int, *, heads: bool = False) -> Iterator[tuple[_Element, bool]]:
    """Rows of a table with whether they are marked as its header; groups opened."""
    for element in parent:
        if element.tag == f"{TABLE}table-row":
            yield element, heads
        elif element.tag in _ROW_GROUPS and depth < _MAX_DEPTH:
            yield from _rows(element, depth + 1, heads=heads or element.tag.endswith("header-rows"))
