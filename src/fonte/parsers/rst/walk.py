"""docutils' tree to blocks, each with the source lines that its words are found on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from docutils import nodes

from fonte.parsers.tables import table_blocks
from fonte.types import Block, BlockKind, Place

_WORD = re.compile(r"[^\W_]+")
_ROLE = re.compile(r":[\w:+.-]+:(?=`)|(?<=`):[\w:+.-]+:|<[^<>\n]*>(?=`)")
_FIRST, _FEWER, _LAST = 4, 2, 3
"""Words of a block by which its first and last line are known."""
_AHEAD = 3000
"""Lines that are looked through for a block's words."""
_SILENT = (
    nodes.comment,
    nodes.substitution_definition,
    nodes.system_message,
    nodes.pending,
    nodes.transition,
    nodes.raw,
)


class Lines:
    """The source's lines by their words, looked through in order."""

    def __init__(self, text: str) -> None:
        self._lines = [_WORD.findall(_ROLE.sub("", line)) for line in text.split("\n")]
        self._at = 0

    def find(self, text: str) -> tuple[int, int] | None:
        """First and last source line (from 1) of a block's text, at or below those of the block before."""
        words = _WORD.findall(text)
        if not words:
            return None
        start = self._where(words[:_FIRST], self._at)
        if start is None and len(words) > _FEWER:  # a name may have been put in among the first ones
            start = self._where(words[:_FEWER], self._at)
        if start is None:  # a label of ours may stand before it
            start = self._where(words[-_LAST:], self._at)
        if start is None:
            return None
        end = self._where(words[-_LAST:], start, reach=len(text) // 8 + 40)
        self._at = start
        return start + 1, (self._end(words[-_LAST:], end) if end is not None else start) + 1

    def _where(self, words: Sequence[str], start: int, reach: int = _AHEAD) -> int | None:
        """The first line from ``start`` on which the words begin; they may go on on the next."""
        for index in range(start, min(start + reach, len(self._lines))):
            line = self._lines[index]
            if words[0] not in line:
                continue
            there = [*line, *(self._lines[index + 1] if index + 1 < len(self._lines) else ())]
            for at in range(len(line)):
                if there[at : at + len(words)] == list(words):
                    return index
        return None

    def _end(self, words: Sequence[str], index: int) -> int:
        """The line on which words that begin on line ``index`` end."""
        line = self._lines[index]
        whole = any(line[at : at + len(words)] == list(words) for at in range(len(line)))
        return index if whole else index + 1


class Walk:
    """Blocks so far."""

    def __init__(self, document: nodes.document, text: str) -> None:
        self.blocks: list[Block] = []
        self.comments = 0
        self._lines = Lines(text)
        self._names = {name: node.astext() for name, node in document.substitution_defs.items()}
        self._anchor: str | None = None
        self._prefix = ""
        self._tables = 0
        self._depth = 0
        self._within(document)

    def _within(self, parent: nodes.Element) -> None:
        for node in parent.children:
            self._take(node)

    def _take(self, node: nodes.Node) -> None:
        """Read one node below the document."""
        if isinstance(node, nodes.comment):
            self.comments += 1
        if isinstance(node, nodes.system_message):  # what could not be read is quoted in its message
            for quoted in node.children:
                if isinstance(quoted, nodes.literal_block):
                    self._code(quoted)
        if isinstance(node, _SILENT) or not isinstance(node, nodes.Element):
            return
        if isinstance(node, nodes.target):
            ids = node.get("ids") or [node.get("refid")]
            self._anchor = next(iter(filter(None, ids)), None) or self._anchor
            return
        for kinds, read in _READERS:
            if isinstance(node, kinds):
                read(self, node)
                return
        self._within(node)

    # --- text

    def _said(self, node: nodes.Node) -> str:
        """The text of inline nodes: names put in, marks of footnotes left out, line ends as spaces."""
        if isinstance(node, nodes.Text):
            return str(node).replace("\0", "")
        if isinstance(node, nodes.substitution_reference):
            return self._names.get(str(node.get("refname", "")), node.astext())
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return f"[{node.astext()}]" if node.astext() else ""
        if isinstance(node, nodes.image):
            return str(node.get("alt", ""))
        if isinstance(node, _SILENT) or not isinstance(node, nodes.Element):
            return ""
        return "".join(map(self._said, node.children))

    def _text(self, kind: BlockKind, said: str, *, level: int = 0) -> None:
        text = " ".join(said.split()) if kind is not BlockKind.CODE else said
        if not text:
            return
        lines = self._lines.find(text)
        if kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) and self._prefix:
            text = f"{self._prefix}{text}"
            kind = BlockKind.LIST_ITEM if self._prefix[0] in "-0123456789([" and kind is BlockKind.PARAGRAPH else kind
            self._prefix = ""
        self._add(Block(kind, text, level=level), lines)

    def _add(self, block: Block, lines: tuple[int, int] | None) -> None:
        place = Place(0, len(block.text), anchor=self._anchor, lines=lines)
        placed = lines is not None or self._anchor is not None
        self.blocks.append(Block(block.kind, block.text, block.level, (place,) if placed else ()))
        self._anchor = None

    def _paragraph(self, node: nodes.Element) -> None:
        self._text(BlockKind.PARAGRAPH, self._said(node))

    def _section(self, node: nodes.Element) -> None:
        self._depth += 1
        if self._anchor is None:
            self._anchor = next(iter(node.get("ids", ())), None)
        for child in node.children:
            if isinstance(child, nodes.title):
                self._text(BlockKind.HEADING, self._said(child), level=self._depth)
            else:
                self._take(child)
        self._depth -= 1

    def _caption(self, node: nodes.Element) -> None:
        self._text(BlockKind.CAPTION, self._said(node))

    def _image(self, node: nodes.Element) -> None:
        self._text(BlockKind.CAPTION, str(node.get("alt", "")))

    def _figure(self, node: nodes.Element) -> None:
        captioned = any(isinstance(child, nodes.caption) for child in node.children)
        for child in node.children:
            if not (captioned and isinstance(child, nodes.image)):
                self._take(child)

    def _code(self, node: nodes.Element) -> None:
        text = node.astext().rstrip().strip("\n")
        if text.strip():
            self._prefix = ""
            self._text(BlockKind.CODE, text)

    def _line_block(self, node: nodes.Element) -> None:
        lines = [" ".join(self._said(line).split()) for line in node.findall(nodes.line)]
        text = "\n".join(lines).strip()
        if text:
            self._add(Block(BlockKind.PARAGRAPH, text), self._lines.find(text))

    def _attribution(self, node: nodes.Element) -> None:
        self._text(BlockKind.PARAGRAPH, f"— {self._said(node)}")

    def _admonition(self, node: nodes.Element) -> None:
        title = next((self._said(child) for child in node.children if isinstance(child, nodes.title)), "")
        self._prefix = f"{title or node.tagname.capitalize()}: "
        for child in node.children:
            if not isinstance(child, nodes.title):
                self._take(child)
        self._prefix = ""

    def _footnote(self, node: nodes.Element) -> None:
        label = next((child.astext() for child in node.children if isinstance(child, nodes.label)), "")
        body = " ".join(self._said(child) for child in node.children if not isinstance(child, nodes.label))
        lines = self._lines.find(body)
        text = " ".join(f"[{label}] {body}".split()) if label else " ".join(body.split())
        if text:
            self._add(Block(BlockKind.NOTE, text), lines)

    # --- lists

    def _bullets(self, node: nodes.Element) -> None:
        for item in node.children:
            self._item(cast("nodes.Element", item), "- ")

    def _numbers(self, node: nodes.Element) -> None:
        first = int(node.get("start", 1))
        for number, item in enumerate(node.children, first):
            self._item(cast("nodes.Element", item), f"{number}. ")

    def _item(self, item: nodes.Element, prefix: str) -> None:
        self._prefix = prefix
        self._within(item)
        self._prefix = ""

    def _definition(self, node: nodes.Element) -> None:
        """A term, a field or an option with what is said of it: the first paragraph stands beside its name."""
        terms: list[str] = []
        for child in node.children:
            if isinstance(child, nodes.definition | nodes.field_body | nodes.description):
                self._described(", ".join(terms), cast("nodes.Element", child))
                terms = []
            elif isinstance(child, nodes.Element):
                said = " ".join(self._said(child).split())
                if said and isinstance(child, nodes.classifier) and terms:
                    terms[-1] = f"{terms[-1]} ({said})"
                elif said:
                    terms.append(said)
        if terms:
            self._text(BlockKind.LIST_ITEM, ", ".join(terms))

    def _described(self, term: str, body: nodes.Element) -> None:
        rest = list(body.children)
        first = ""
        if rest and isinstance(rest[0], nodes.paragraph):
            first = self._said(rest.pop(0))
        self._text(BlockKind.LIST_ITEM, f"{term}: {first}" if first else f"{term}:")
        for child in rest:
            self._take(child)

    # --- tables

    def _table(self, node: nodes.Element) -> None:
        for child in node.children:
            if isinstance(child, nodes.title):
                self._text(BlockKind.CAPTION, self._said(child))
        heads = [row for head in node.findall(nodes.thead) for row in head.children]
        bodies = [row for body in node.findall(nodes.tbody) for row in body.children]
        grid = _grid([cast("nodes.Element", row) for row in [*heads, *bodies]], self._said)
        places: list[Place | None] = []
        for row in grid:
            filled = next((cell for cell in row if cell.strip()), "")
            lines = self._lines.find(filled)
            places.append(Place(0, 0, lines=lines) if lines is not None else None)
        header = True if heads else None if node.get("header") else False
        self.blocks += table_blocks(grid, table=self._tables, header=header or None, places=places)
        self._tables += 1
        self._anchor = None


def _grid(rows: Sequence[nodes.Element], said: Callable[[nodes.Node], str]) -> list[list[str]]:
    """Cells of each row; what spans stands once, in its first cell."""
    grid: list[list[str]] = []
    taken: dict[int, int] = {}
    for row in rows:
        cells: list[str] = []
        for entry in row.children:
            while taken.get(len(cells), 0):
                taken[len(cells)] -= 1
                cells.append("")
            element = cast("nodes.Element", entry)
            across = 1 + int(element.get("morecols", 0))
            for column in range(len(cells), len(cells) + across):
                taken[column] = int(element.get("morerows", 0))
            text = " ".join(" ".join(_pieces(element, said)).split())
            cells += [text, *[""] * (across - 1)]
        while taken.get(len(cells), 0):
            taken[len(cells)] -= 1
            cells.append("")
        grid.append(cells)
    return grid


def _pieces(entry: nodes.Element, said: Callable[[nodes.Node], str]) -> Iterator[str]:
    """The texts of a cell's blocks."""
    for node in entry.findall(lambda node: isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline)):
        yield said(node)


# ruff: noqa: SLF001 - the table below names the walk's own readers
_READERS: tuple[tuple[tuple[type, ...], Callable[[Walk, nodes.Element], None]], ...] = (
    ((nodes.section,), Walk._section),
    ((nodes.paragraph,), Walk._paragraph),
    ((nodes.literal_block, nodes.doctest_block, nodes.math_block), Walk._code),
    ((nodes.bullet_list,), Walk._bullets),
    ((nodes.enumerated_list,), Walk._numbers),
    ((nodes.definition_list_item, nodes.field, nodes.option_list_item), Walk._definition),
    ((nodes.table,), Walk._table),
    ((nodes.footnote, nodes.citation), Walk._footnote),
    ((nodes.topic, nodes.sidebar), Walk._within),
    ((nodes.Admonition,), Walk._admonition),
    ((nodes.figure,), Walk._figure),
    ((nodes.image,), Walk._image),
    ((nodes.title, nodes.subtitle, nodes.caption, nodes.rubric), Walk._caption),
    ((nodes.line_block,), Walk._line_block),
    ((nodes.attribution,), Walk._attribution),
)
