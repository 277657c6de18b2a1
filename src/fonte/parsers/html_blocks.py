"""HTML events to blocks: one reader for a parsed tree, for broken HTML and for the HTML inside Markdown.

Nothing here recurses: 200,000 nested elements are as good as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from fonte.parsers.counting import count_words
from fonte.parsers.hidden import Grounds, say_hidden
from fonte.parsers.html_tables import Cell, Frame, grid_of, span
from fonte.parsers.tables import count_empty_cells, is_number, one_line, table_blocks
from fonte.types import Block, BlockKind, Place

_SILENT = frozenset(
    "script style template svg iframe object embed applet canvas audio video head noembed noframes "
    "textarea select datalist annotation annotation-xml".split()
)
_NAMING = ("name", "property", "itemprop", "http-equiv")
_META = {
    **{name: name for name in ("author", "description", "keywords", "date", "created", "published", "modified")},
    **dict.fromkeys(("dc.date", "dcterms.date", "dc.date.issued", "dcterms.issued", "pubdate"), "date"),
    **dict.fromkeys(("dc.date.created", "dcterms.created"), "created"),
    **dict.fromkeys(("article:published_time", "datepublished"), "published"),
    **dict.fromkeys(("article:modified_time", "datemodified", "dcterms.modified", "last-modified"), "modified"),
}
"""How pages name what is kept of their ``<meta>`` elements."""
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BOILERPLATE = frozenset({"nav", "footer", "aside", "header", "noscript", "button"})
_BOILERPLATE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"})
_OF_THE_PAGE = ("banner", "contentinfo")
"""Inside the main part these, and its header and footer, are its own."""
_MAIN = frozenset({"main", "article"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK = frozenset(
    "p div section article main nav footer aside header ul ol li dl dt dd table caption tr td th thead tbody tfoot "
    "blockquote pre figure figcaption form fieldset legend address details summary hr h1 h2 h3 h4 h5 h6 body html "
    "center dir menu search hgroup dialog option noscript button title".split()
)
_ANCHORED = _BLOCK | {"a"}
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "body", "html"})
_LANGUAGES = 0.7
"""Share of a block that must be links to the page in other languages for it to be a choice of them."""
_RAISED = frozenset("0123456789-−+")


@dataclass(slots=True)
class Piece:
    """A block with what decides whether it is kept."""

    block: Block
    words: int
    main: bool
    boilerplate: bool


class BlockReader:
    """Takes ``start``, ``end`` and ``text`` events and collects pieces; ``finish`` ends the last one."""

    def __init__(self, *, first_table: int = 0) -> None:
        self.pieces: list[Piece] = []
        self.title: str | None = None
        self.language: str | None = None
        self.meta: dict[str, str] = {}
        self.empty_cells = 0
        self.unrowed = 0
        """Rows of the source that rightly became no ROW: empty ones, those of layout, and those of a single column."""
        self.tables = first_table
        self._open: list[tuple[str, str]] = []
        """(tag, what it switched on: s silent, b boilerplate, m main, h hidden, p preformatted, l link to the page in
        another language; letters)."""
        self._counts: Counter[str] = Counter()
        self._depth = dict.fromkeys("sbmhpl", 0)
        self._text: list[str] = []
        self._grounds = Grounds()
        self._title: list[str] | None = None
        self._kind = BlockKind.PARAGRAPH
        self._level = 0
        self._prefix = ""
        self._lists: list[int | None] = []
        self._frames: list[Frame] = []
        self._anchor: str | None = None
        self._superscript = False
        self._elsewhere = 0
        """Characters of the current block that are links to the page in other languages."""

    # --- events

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if tag == "meta":
            self._take_meta(attributes)
        if tag == "html" and attributes.get("lang"):
            self.language = attributes["lang"]
        if tag == "title" and self.title is None and not self._in_graphics():
            self._title = []
        self._superscript = tag == "sup"
        if tag == "br":
            self._text.append("\n")
        elif tag == "math" and "alttext" in attributes and not self._depth["s"] and not self._depth["h"]:
            self._text.append(f"${one_line(attributes['alttext'])}$")
        elif tag == "img" and not self._depth["s"]:
            self._text.append(f" {one_line(attributes.get('alt', ''))} ")
        if tag in _VOID:
            if tag == "hr":
                self._flush()
            return
        if tag in _BLOCK and not self._depth["s"]:
            self._begin_block(tag, attributes)
        switches = self._switches(tag, attributes)
        self._open.append((tag, switches))
        self._counts[tag] += 1
        for switch in switches:
            self._depth[switch] += 1
        if tag in _ANCHORED and not self._depth["s"] and (not self._depth["b"] or tag in _HEADINGS):
            anchor = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
            self._anchor = anchor or self._anchor

    def end(self, tag: str) -> None:
        """An element ends; those inside it that were left open end with it."""
        if tag == "title" and self._title is not None:
            self.title = one_line("".join(self._title)) or None
            self._title = None
        if tag in _VOID or not self._counts[tag] or self._behind_cell(tag):
            return
        while self._open:
            name, switches = self._open.pop()
            self._counts[name] -= 1
            if name in _BLOCK and not self._depth["s"]:
                self._end_block(name)
            for switch in switches:
                self._depth[switch] -= 1
            self._grounds.end(len(self._open))
            if name == tag:
                return

    def text(self, data: str) -> None:
        """Characters."""
        if self._title is not None:
            self._title.append(data)
        elif not self._depth["s"]:
            data = raised(data, self._text) if self._superscript else data
            data = data if self._depth["p"] else _SPACE.sub(" ", data)
            if self._depth["h"]:
                say_hidden(data, self._text)
            else:
                self._text.append(data)
            self._elsewhere += len(data.strip()) if self._depth["l"] else 0
        self._superscript = False

    def finish(self) -> None:
        """The document ends."""
        while self._frames:
            self._close_table()
        self._flush()

    # --- inside

    def _behind_cell(self, tag: str) -> bool:
        """Whether the open ``tag`` lies outside the table cell that is open: then its end tag is a stray."""
        if tag in _TABLE_PARTS or not (self._counts["td"] or self._counts["th"]):
            return False
        for name, _ in reversed(self._open):
            if name == tag:
                return False
            if name in ("td", "th"):
                return True
        return False

    def _in_graphics(self) -> bool:
        return any(name in ("svg", "math", "template") for name, _ in self._open)

    def _switches(self, tag: str, attributes: Mapping[str, str]) -> str:
        role = attributes.get("role", "").lower()
        hidden = self._grounds.hides(tag, attributes, len(self._open))
        inside_main = self._depth["m"] > 0
        boilerplate = role in _BOILERPLATE_ROLES or tag in _BOILERPLATE
        boilerplate = boilerplate and not (inside_main and (tag in ("header", "footer") or role in _OF_THE_PAGE))
        flags = {
            "s": tag in _SILENT or (tag == "math" and (hidden or self._depth["h"] > 0 or "alttext" in attributes)),
            "b": boilerplate,
            "m": tag in _MAIN or role == "main",
            "h": hidden,
            "p": tag == "pre",
            "l": tag == "a" and "hreflang" in attributes,
        }
        return "".join(letter for letter, on in flags.items() if on)

    def _take_meta(self, attributes: Mapping[str, str]) -> None:
        name = next((attributes[one].lower() for one in _NAMING if attributes.get(one)), "")
        name, content = _META.get(name, name), one_line(attributes.get("content", ""))
        if name in _META.values() and content:
            self.meta.setdefault(name, content)

    def _begin_block(self, tag: str, attributes: Mapping[str, str]) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is not None and not frame.layout and (tag in _HEADINGS or tag in ("table", "pre")):
            self._spread(frame)
        if tag == "table":
            self._flush()
            self._frames.append(Frame())
            return
        if frame is not None and not frame.layout:
            self._begin_in_table(frame, tag, attributes)
            return
        self._flush()
        self.unrowed += tag == "tr"
        if tag in _HEADINGS:
            self._kind, self._level = BlockKind.HEADING, _HEADINGS[tag]
        elif tag == "pre":
            self._kind = BlockKind.CODE
        elif tag in ("figcaption", "caption"):
            self._kind = BlockKind.CAPTION
        elif tag in ("ul", "ol", "menu", "dir"):
            start = attributes.get("start", "1")
            self._lists.append((int(start) if start.isascii() and start.isdecimal() else 1) if tag == "ol" else None)
        elif tag == "li":
            self._begin_item()

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        self._prefix = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def _begin_in_table(self, frame: Frame, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "thead":
            frame.in_head = True
        elif tag == "tr":
            self._end_cell(frame)
            frame.rows.append([])
            frame.anchors.append(self._anchor)
            frame.head_rows += frame.in_head
        elif tag in ("td", "th"):
            self._end_cell(frame)
            if not frame.rows:
                frame.rows.append([])
                frame.anchors.append(self._anchor)
            frame.cell = Cell("", tag == "th", span(attributes.get("colspan")), span(attributes.get("rowspan")))
            self._text.clear()
        elif tag == "caption":
            self._flush()
            self._kind = BlockKind.CAPTION
        else:
            self._text.append(" ")

    def _end_block(self, tag: str) -> None:
        frame = self._frames[-1] if self._frames else None
        if tag == "table" and frame is not None:
            self._close_table()
        elif frame is not None and not frame.layout:
            if tag in ("td", "th", "tr"):
                self._end_cell(frame)
            elif tag == "thead":
                frame.in_head = False
            elif tag == "caption":
                self._flush()
            else:
                self._text.append(" ")
        else:
            self._flush()
            if tag in ("ul", "ol", "menu", "dir") and self._lists:
                self._lists.pop()
            elif tag == "li":
                self._prefix = ""

    def _end_cell(self, frame: Frame) -> None:
        if frame.cell is not None:
            frame.cell.text = one_line("".join(self._text))
            frame.rows[-1].append(frame.cell)
            frame.cell = None
            self._text.clear()
        elif "".join(self._text).strip():
            self._flush()

    def _spread(self, frame: Frame) -> None:
        """A table turns out to be layout: its cells so far become paragraphs, in order."""
        pending, inside = "".join(self._text), frame.cell is not None
        self.unrowed += len(frame.rows)
        self._text.clear()
        for row in frame.rows:
            for cell in row:
                self._text.append(cell.text)
                self._flush()
        self._text.append(pending)
        frame.layout, frame.cell, frame.rows = True, None, []
        if inside:
            self._flush()

    def _close_table(self) -> None:
        frame = self._frames[-1]
        if frame.layout:
            self._flush()
        else:
            self._end_cell(frame)
            self._add_rows(frame)
        self._frames.pop()

    def _add_rows(self, frame: Frame) -> None:
        if not frame.rows:
            self._flush()
            return
        grid = grid_of(frame.rows)
        if max(map(len, grid)) == 1:  # one column: paragraphs in a frame
            self.unrowed += len(frame.rows)
            for row in grid:
                self._text.extend(row)
                self._flush()
            return
        first = frame.rows[0]
        header = True if frame.head_rows or (first and all(cell.heading for cell in first)) else None
        places = [Place(0, 0, anchor=anchor) for anchor in frame.anchors]
        # A label over several rows is each row's; an amount over several rows is not several amounts.
        merged = any(cell.rows > 1 and is_number(cell.text) for row in frame.rows for cell in row)
        for block in table_blocks(grid, table=self.tables, header=header, places=places, merged=merged):
            self._append(block)
        self.empty_cells += count_empty_cells(grid)
        self.unrowed += sum(not "".join(row).strip() for row in grid)
        self.tables += 1

    def _flush(self) -> None:
        """End the current block."""
        raw = "".join(self._text)
        self._text.clear()
        kind, level, prefix = self._kind, self._level, self._prefix
        text = _preformatted(raw) if kind is BlockKind.CODE else _flowed(raw)
        if not text:
            return
        self._kind, self._level = BlockKind.PARAGRAPH, 0
        if kind is BlockKind.HEADING:
            text = " ".join(text.split())
        elif kind is BlockKind.PARAGRAPH and prefix:
            kind, text = BlockKind.LIST_ITEM, prefix + text
        self._prefix = ""
        self._append(Block(kind, text, level, (Place(0, len(text), anchor=self._anchor),)))

    def _append(self, block: Block) -> None:
        depth = self._depth
        words = count_words(block.text)
        furniture = depth["b"] > 0 or self._elsewhere > _LANGUAGES * len(block.text.removeprefix("- "))
        self.pieces.append(Piece(block, words, depth["m"] > 0, furniture))
        self._elsewhere = 0


def raised(superscript: str, before: Sequence[str]) -> str:
    """A superscript as plain text: 10⁶ must not read as 106, so a digit after a letter or digit gets a ``^``."""
    last = next((piece[-1] for piece in reversed(before) if piece), " ")
    return f"^{superscript}" if last.isalnum() and superscript[:1] in _RAISED else superscript


def _flowed(raw: str) -> str:
    """Inline text: white space collapsed, line breaks kept as line ends."""
    return "\n".join(filter(None, (_SPACE.sub(" ", line).strip() for line in raw.split("\n"))))


def _preformatted(raw: str) -> str:
    lines = raw.rstrip().split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(lines)


class EventParser(HTMLParser):
    """The standard library's tokenizer as a source of events: no tree, no depth limit."""

    def __init__(self, reader: BlockReader) -> None:
        super().__init__(convert_charrefs=True)
        self._reader = reader

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Pass on."""
        self._reader.start(tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        """Pass on."""
        self._reader.end(tag)

    def handle_data(self, data: str) -> None:
        """Pass on."""
        self._reader.text(data)


def read_events(text: str, *, first_table: int = 0) -> BlockReader:
    """The pieces of HTML that need not be well formed."""
    reader = BlockReader(first_table=first_table)
    parser = EventParser(reader)
    parser.feed(text)
    parser.close()
    reader.finish()
    return reader


def fragment_blocks(text: str, *, first_table: int) -> tuple[list[Block], int]:
    """(blocks, number of tables) of a piece of HTML in which everything counts as content."""
    reader = read_events(text, first_table=first_table)
    return [piece.block for piece in reader.pieces], reader.tables - first_table
