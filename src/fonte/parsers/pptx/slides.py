"""One slide: its shapes, in reading order, as blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.hidden import marked
from fonte.parsers.pptx.charts import diagram_texts, read_chart
from fonte.parsers.pptx.names import ALTERNATE, CHOICE, DECORATIVE, FALLBACK, a, c, dgm, p, r
from fonte.parsers.pptx.order import Frame, reading_order
from fonte.parsers.pptx.text import Paragraph, paragraphs, table_rows, unescaped
from fonte.parsers.tables import one_line, table_blocks
from fonte.types import Block, BlockKind, Place

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package

_MAX_DEPTH = 40
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr"})
_BULLETED = frozenset({"body", "obj", ""})
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)", re.IGNORECASE)
_EMU = re.compile(r"-?\d{1,12}")
_SHAPES = frozenset({p("sp"), p("cxnSp"), p("pic"), p("graphicFrame"), p("grpSp"), p("contentPart")})
Frames = dict[tuple[str, str], Frame]
"""Frames of a layout's placeholders, by (``idx`` or ``type``, its value)."""


@dataclass(slots=True)
class Tally:
    """What was met over all slides and is told of the document."""

    tables: int = 0
    chart_rows: int = 0
    images: int = 0
    hidden_words: int = 0
    furniture: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Charts and diagrams whose data are not in the package, by slide."""
    damaged: list[str] = field(default_factory=list)
    """Charts and diagrams whose parts are there and cannot be read."""
    other_text: list[str] = field(default_factory=list)
    """Text of charts and diagrams: it stands in other parts than the slide's."""


class SlideReader:
    """Reads the shapes of one slide.

    Args:
        package: the file.
        part: the slide's part.
        number: of the slide, from 1.
        frames: where the placeholders of its layout stand.
        tally: shared by all slides.

    """

    def __init__(self, package: Package, part: str, number: int, frames: Frames, tally: Tally) -> None:
        self.title = ""
        self._package, self._number, self._frames, self._tally = package, number, frames, tally
        self._relations = package.relations(part)

    def read(self, root: _Element) -> list[Block]:
        """Blocks of the slide but for its title, which is ``title`` afterwards."""
        tree = root.find(f"{p('cSld')}/{p('spTree')}")
        return [] if tree is None else self._shapes(tree, 0)

    def _shapes(self, tree: _Element, depth: int) -> list[Block]:
        items = [(self._frame(shape), self._shape(shape, depth)) for shape in _members(tree)]
        return [block for blocks in reading_order([item for item in items if item[1]]) for block in blocks]

    def _shape(self, shape: _Element, depth: int) -> list[Block]:
        if shape.tag == p("grpSp"):
            return self._shapes(shape, depth + 1) if depth < _MAX_DEPTH else []
        if shape.tag == p("graphicFrame"):
            return self._graphic(shape)
        if shape.tag == p("pic"):
            self._tally.images += 1
            return self._alternative_text(shape)
        return self._text(shape)

    # --- text

    def _text(self, shape: _Element) -> list[Block]:
        body = shape.find(p("txBody"))
        found = paragraphs(body) if body is not None else []
        if not found:
            return self._alternative_text(shape) if shape.find(f"{p('spPr')}/{a('blipFill')}") is not None else []
        kind = _placeholder(shape)
        if kind is not None and kind[0] in _FURNITURE:
            self._tally.furniture += [part.text for part in found]
            return []
        if kind is not None and kind[0] in _TITLES and not self.title:
            self.title = one_line(" ".join(part.text for part in found))
            return []
        if _properties(shape).get("hidden") in ("1", "true"):
            self._tally.hidden_words += sum(len(part.text.split()) for part in found)
            found = [replace(part, text=marked(part.text)) for part in found]
        bulleted = kind is not None and kind[0] in _BULLETED and len(found) > 1
        return [self._paragraph(part, bulleted=bulleted) for part in found]

    def _paragraph(self, part: Paragraph, *, bulleted: bool) -> Block:
        listed = bulleted if part.bullet is None else part.bullet
        return self._block(BlockKind.LIST_ITEM if listed else BlockKind.PARAGRAPH, part.text)

    def _alternative_text(self, shape: _Element) -> list[Block]:
        """What a picture's author wrote for those who do not see it; no file names, nothing of mere decoration."""
        properties = _properties(shape)
        said = unescaped(properties.get("descr", ""))
        decorative = next(properties.iter(DECORATIVE), None)
        shown = decorative is None or decorative.get("val") in ("0", "false")
        text = one_line(said)
        return [self._block(BlockKind.CAPTION, text)] if text and shown and not _FILE_NAME.fullmatch(text) else []

    def _block(self, kind: BlockKind, text: str) -> Block:
        return Block(kind, text, places=(Place(0, len(text), slide=self._number),))

    # --- tables, charts, diagrams

    def _graphic(self, shape: _Element) -> list[Block]:
        data = shape.find(f"{a('graphic')}/{a('graphicData')}")
        if data is None:
            return []
        table = data.find(a("tbl"))
        if table is not None:
            rows, header = table_rows(table)
            merged = any(cell.get("vMerge") is not None for cell in table.iter(a("tc")))
            return self._rows(rows, header=header, merged=merged)
        told = self._alternative_text(shape)
        chart = data.find(c("chart"))
        if chart is not None:
            return self._chart(chart.get(r("id"), "")) + told
        diagram = data.find(dgm("relIds"))
        if diagram is not None:
            return self._diagram(diagram.get(r("dm"), "")) + told
        self._tally.unread.append(f"slide {self._number}: {_properties(shape).get('name', 'an object')}")
        return told

    def _rows(self, rows: list[list[str]], *, header: bool | None, merged: bool = False) -> list[Block]:
        places = [Place(0, 0, slide=self._number)] * len(rows)
        blocks = table_blocks(rows, table=self._tally.tables, header=header, places=places, merged=merged)
        self._tally.tables += bool(blocks)
        return blocks

    def _part(self, relation: str) -> _Element | None:
        target = self._relations.get(relation, ("", ""))[1]
        try:
            return self._package.xml(target) if target and self._package.has(target) else None
        except ParseError as error:
            self._tally.damaged.append(f"slide {self._number}: {error.message}")
            return None

    def _chart(self, relation: str) -> list[Block]:
        part = self._part(relation)
        if part is None:
            self._tally.unread.append(f"slide {self._number}: a chart")
            return []
        chart = read_chart(part)
        blocks = [self._block(BlockKind.CAPTION, chart.title)] if chart.title else []
        self._tally.other_text.append(chart.title)
        for table in chart.tables:
            self._tally.other_text += [cell for row in table for cell in row]
            self._tally.chart_rows += sum(any(row) for row in table)
            blocks += self._rows([list(row) for row in table], header=True)
        if not chart.tables:
            self._tally.unread.append(f"slide {self._number}: a chart without stored values")
        return blocks

    def _diagram(self, relation: str) -> list[Block]:
        part = self._part(relation)
        if part is None:
            self._tally.unread.append(f"slide {self._number}: a diagram")
            return []
        texts = diagram_texts(part)
        self._tally.other_text += texts
        return [self._block(BlockKind.LIST_ITEM, text) for text in texts]

    # --- where shapes stand

    def _frame(self, shape: _Element) -> Frame | None:
        own = frame_of(shape)
        kind = _placeholder(shape)
        if own is not None or kind is None:
            return own
        return self._frames.get(("idx", kind[1])) or self._frames.get(("type", kind[0]))


def frame_of(shape: _Element) -> Frame | None:
    """Where a shape says that it stands."""
    for path in (f"{p('spPr')}/{a('xfrm')}", p("xfrm"), f"{p('grpSpPr')}/{a('xfrm')}"):
        transform = shape.find(path)
        if transform is None:
            continue
        offset, extent = transform.find(a("off")), transform.find(a("ext"))
        if offset is None or extent is None:
            continue
        said = (offset.get("x", ""), offset.get("y", ""), extent.get("cx", ""), extent.get("cy", ""))
        if all(_EMU.fullmatch(value) for value in said):
            x, y, width, height = map(int, said)
            return x, y, x + max(width, 0), y + max(height, 0)
    return None


def placeholder_frames(root: _Element | None, below: Frames) -> Frames:
    """Frames of a layout's placeholders, on top of those of its master."""
    frames = {key: frame for key, frame in below.items() if key[0] == "type"}
    for shape in root.iter(p("sp"), p("pic"), p("graphicFrame")) if root is not None else ():
        kind = _placeholder(shape)
        if kind is None:
            continue
        frame = frame_of(shape) or frames.get(("type", kind[0]))
        if frame is not None:
            frames["idx", kind[1]] = frame
            frames.setdefault(("type", kind[0]), frame)
    return frames


def notes_text(root: _Element) -> str:
    """What the speaker's notes of a slide say."""
    lines = []
    for shape in root.iter(p("sp")):
        kind = _placeholder(shape)
        body = shape.find(p("txBody"))
        if body is not None and (kind is None or kind[0] in ("body", "")):
            lines += [part.text for part in paragraphs(body)]
    return "\n".join(lines)


def _placeholder(shape: _Element) -> tuple[str, str] | None:
    """(type, index) of the placeholder that a shape fills."""
    found = next((holder for part in shape if (holder := part.find(f"{p('nvPr')}/{p('ph')}")) is not None), None)
    return None if found is None else (found.get("type", ""), found.get("idx", "0"))


def _properties(shape: _Element) -> _Element:
    """The element with a shape's name and alternative text; the shape itself where it has none."""
    found = next((named for part in shape if (named := part.find(p("cNvPr"))) is not None), None)
    return shape if found is None else found


def _members(tree: _Element) -> Iterator[_Element]:
    """Shapes below a tree, one form of alternative content."""
    for element in tree:
        if element.tag == ALTERNATE:
            form = element.find(CHOICE)
            known = form is not None and any(child.tag in _SHAPES for child in form)
            form = form if known else element.find(FALLBACK)
            if form is not None:
                yield from (child for child in form if child.tag in _SHAPES)
        elif element.tag in _SHAPES:
            yield element
