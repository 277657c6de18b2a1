"""Rows to blocks: headings, paragraphs that run over lines, columns and pages, list items, table rows.

Every word keeps its page and box; a word that was broken at a line's end has two places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from fonte.parsers.pdf.glyphs import Word, is_cjk
from fonte.parsers.pdf.hyphens import breaks_word, keeps_hyphen
from fonte.parsers.pdf.layout import Row, Segment, joined
from fonte.parsers.tables import is_number, looks_like_header
from fonte.types import Block, BlockKind, Cell, Place

_BULLET = re.compile(r"^(?:[•◦▪‣·●○■□►➢✓–—*\-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])(?=\s|$)")
_CAPTION = re.compile(
    r"(?:table|tabelle|tabella|tab\.|tavola|tableau|tabla|figure|figura|fig\.|abbildung|abb\.|chart|grafico|listing)"
    r"\s*(?:[A-Z]?\d+(?:[.-]\d+)*|[IVXLC]+)\s*[.:|\u2013\u2014-](?:\s|$)",
    re.IGNORECASE,
)
"""A label with a number and a mark behind it: without the mark it may be a sentence that speaks of a table."""
_NUMBER = re.compile(r"^\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]$")
_TERMINAL = (".", "!", "?", ":", ";", "。", "！", "？", ".”", '."', ".)", "»")
_MAX_INDENT = 80
_SETTLED = 200
"""Pieces of a growing block that may still change; those before them do not."""
_SAME_EDGE = 3.0
"""Points."""
_MAX_HEADING = 250
"""Characters; larger print that goes on for longer is a paragraph."""


@dataclass(slots=True)
class _Piece:
    """Characters with one place, or none."""

    text: str
    place: tuple[int, Word] | None


@dataclass(slots=True)
class _Written:
    """Text with its places. ``sides`` are the numbers of the document's boxes, each held once."""

    sides: dict[float, float]
    text: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    length: int = 0

    def add(self, pieces: Sequence[_Piece]) -> None:
        """Write pieces behind the text."""
        known = self.sides
        for piece in pieces:
            self.text.append(piece.text)
            end = self.length + len(piece.text)
            if piece.place is not None and piece.text:
                page, word = piece.place
                x0, y0, x1, y1 = (known.setdefault(side, side) for side in word.page_box)
                self.places.append(Place(self.length, end, page=page, box=(x0, y0, x1, y1)))
            self.length = end


@dataclass(slots=True)
class _Open:
    """A block that is still growing: what is written of it, and the last ``pieces``, which may still change."""

    kind: BlockKind
    level: int
    last: Row
    written: _Written
    pieces: list[_Piece] = field(default_factory=list)
    rows: int = 1
    indent: float = 0.0

    @property
    def length(self) -> int:
        return self.written.length + sum(len(piece.text) for piece in self.pieces)

    def write(self, *, keep: int = 0) -> None:
        """Write all pieces but the last ``keep``: a text without paragraphs would hold all its words till its end."""
        settled = len(self.pieces) - keep
        self.written.add(self.pieces[:settled])
        del self.pieces[:settled]


@dataclass(frozen=True, slots=True)
class _Ruled:
    """The ruled table before, for one that goes on over the page's end."""

    page: int
    edges: tuple[float, ...]
    names: Sequence[str] | None
    number: int

    def meets(self, segment: Segment) -> bool:
        """Whether the other table has the same columns."""
        return len(self.edges) == len(segment.edges) and all(
            abs(mine - other) <= _SAME_EDGE for mine, other in zip(self.edges, segment.edges, strict=True)
        )


class BlockBuilder:
    """Takes rows in reading order and gives blocks.

    ``levels`` maps a row (by identity) to its heading level, ``pitch`` a font size to the usual distance between lines;
    ``code`` says that lines in a fixed-width font are program text.
    """

    def __init__(
        self, words: Counter[str], levels: Mapping[int, int], pitch: Mapping[float, float], *, code: bool = True
    ) -> None:
        self._code = code
        self._words = words
        self._levels = levels
        self._pitch = pitch
        self._open: _Open | None = None
        self._tables = 0
        self._ruled: _Ruled | None = None
        self._sides: dict[float, float] = {}
        self.blocks: list[Block] = []

    def add_page(self, rows: Sequence[Row]) -> None:
        """Take one page's rows."""
        index = 0
        while index < len(rows):
            ruled = rows[index].table
            if ruled is not None:
                self.close()
                self._add_ruled(rows[index].page, rows[index].cells[0], ruled)
                index += 1
                continue
            end = self._table_end(rows, index)
            if end > index:
                self.close()
                self._add_rows(rows[index:end])
                index = end
                continue
            after = rows[index + 1] if index + 1 < len(rows) else None
            self._add_row(rows[index], after)
            index += 1

    def close(self) -> None:
        """End the block that is still growing."""
        block, self._open = self._open, None
        if block is None:
            return
        block.write()
        text, places = "".join(block.written.text), tuple(block.written.places)
        if not text.strip():
            return
        kind, level = block.kind, block.level
        if kind is BlockKind.HEADING and len(text) > _MAX_HEADING:
            kind, level = BlockKind.PARAGRAPH, 0
        self.blocks.append(Block(kind, text, level=level, places=places))

    # --- lines of text

    def _add_row(self, row: Row, after: Row | None) -> None:
        level = self._levels.get(id(row), 0)
        if row.fixed and self._code and not level:
            self._add_code(row)
            return
        bullet = not level and _BULLET.match(row.text) is not None
        goes_on = self._open is not None and not bullet and self._continues(self._open, row, after, level)
        caption = not level and not bullet and _CAPTION.match(row.text) is not None
        if self._open is not None and goes_on and not (caption and self._open.last.text.endswith(_TERMINAL)):
            self._append(self._open, row)
            return
        self.close()
        kind = BlockKind.LIST_ITEM if bullet else BlockKind.CAPTION if caption else BlockKind.PARAGRAPH
        kind = BlockKind.HEADING if level else kind
        self._open = _Open(kind, level, row, _Written(self._sides), indent=row.x0)
        self._open.pieces += _pieces(row.words, row.page)

    def _add_code(self, row: Row) -> None:
        """A line of program text: it keeps its line end and its indent."""
        block = self._open
        step = max((row.words[0].x1 - row.words[0].x0) / len(row.words[0].text), 1.0)
        near = block is not None and (block.last.page, block.last.region) == (row.page, row.region)
        if block is None or block.kind is not BlockKind.CODE or not near or block.last.y0 - row.y0 > 3 * row.size:
            self.close()
            block = self._open = _Open(BlockKind.CODE, 0, row, _Written(self._sides), indent=row.x0)
        else:
            indent = max(round((row.x0 - block.indent) / step), 0)
            block.pieces.append(_Piece("\n" + " " * min(indent, _MAX_INDENT), None))
            block.last = row
        block.pieces += _pieces(row.words, row.page)

    def _continues(self, block: _Open, row: Row, after: Row | None, level: int) -> bool:
        """Whether a line belongs to the block that is still growing."""
        last = block.last
        if level or block.level:
            near = last.page == row.page and last.region == row.region and last.y0 - row.y0 < 2.2 * row.size
            return level == block.level and near and block.length + len(row.text) <= _MAX_HEADING
        other_size = abs(last.em - row.em) > 0.08 * max(last.em, row.em)
        if other_size or block.kind is BlockKind.CODE or (last.bold != row.bold and not _broken(last)):
            return False
        if (last.page, last.region) != (row.page, row.region):
            return self._continues_elsewhere(block, row)
        distance = last.y0 - row.y0
        if distance > 1.3 * self._pitch.get(round(row.size), 1.25 * row.size) or distance < -row.size:
            return False
        if _broken(last):
            return True
        if block.kind is BlockKind.LIST_ITEM and row.x0 > block.indent + 0.3 * row.size:
            return True
        return not _starts_indented(block, row, after) and not _ended_early(last, row)

    def _continues_elsewhere(self, block: _Open, row: Row) -> bool:
        """Whether a paragraph goes on in the next column or on the next page."""
        last = block.last
        if _broken(last):
            return row.words[0].text[:1].islower()
        if row.page > last.page + 1 or last.text.endswith(_TERMINAL):
            return False
        return row.text[:1].islower() or (
            last.x1 > last.right - 0.15 * (last.right - last.left) and len(last.text) > 30 and len(row.text) > 30  # noqa: PLR2004 - prose
        )

    def _append(self, block: _Open, row: Row) -> None:
        pieces = _pieces(row.words, row.page)
        last = block.last.words[-1] if block.last.words else None
        if last is not None and breaks_word(last.text, soft=last.soft) and block.pieces[-1].place is not None:
            self._join(block.pieces[-1], last, pieces[0])
        elif not (is_cjk(ord(block.pieces[-1].text[-1])) and is_cjk(ord(pieces[0].text[0]))):
            block.pieces.append(_Piece(" ", None))
        if len(block.pieces) > _SETTLED:
            block.write(keep=1)
        block.pieces += pieces
        block.last = row
        block.rows += 1

    def _join(self, left: _Piece, word: Word, right: _Piece) -> None:
        """Bring the two halves of a broken word together."""
        if not word.soft and not keeps_hyphen(left.text[:-1], right.text, self._words):
            left.text = left.text[:-1]

    # --- tables

    def _table_end(self, rows: Sequence[Row], start: int) -> int:
        """End of the run of rows from ``start`` that stand in aligned cells; ``start`` when there is no table."""
        end = start
        while end < len(rows) and _cells(rows[end]) > 1 and not self._levels.get(id(rows[end])):
            if end > start and not (rows[end].region == rows[end - 1].region and _aligned(rows[end - 1], rows[end])):
                break
            end += 1
        prose = all(_justified(row) or _broken(row) for row in rows[start:end])
        return end if end - start > 1 and not prose else start

    def _add_rows(self, rows: Sequence[Row]) -> None:
        """A table without rules: every visual row is a block of its own."""
        width = max(len(row.cells) for row in rows)
        grid = [[cell.words for cell in row.cells] for row in rows]
        texts = [[joined(cell) for cell in row] for row in grid]
        numbers = any(map(is_number, chain.from_iterable(texts[1:])))
        headed = len(grid[0]) == width and numbers and looks_like_header(texts)
        self._add_grid(rows[0].page, grid, texts[0] if headed else None, headed=headed, ruled=False)
        self._tables += 1

    def _add_ruled(self, page: int, segment: Segment, grid: Sequence[Sequence[Sequence[Word]]]) -> None:
        """A table with rules: its cells are whole. Columns that go on over the page's end stay one table."""
        texts = [[joined(cell) for cell in row] for row in grid]
        names: Sequence[str] | None = texts[0] if looks_like_header(texts) else None
        above = self._ruled
        goes_on = above is not None and above.page == page - 1 and above.meets(segment) and self._is_last(above.number)
        number = above.number if above is not None and goes_on else self._tables
        if above is not None and goes_on and (names is None or names == above.names):
            self._tables = number
            self._add_grid(page, grid, above.names, headed=names is not None)
            names = above.names
        else:
            number = self._tables
            self._add_grid(page, grid, names, headed=names is not None)
        self._ruled = _Ruled(page, segment.edges, names, number)
        self._tables = number + 1

    def _is_last(self, table: int) -> bool:
        return bool(self.blocks) and self.blocks[-1].table == table

    def _add_grid(
        self,
        page: int,
        grid: Sequence[Sequence[Sequence[Word]]],
        names: Sequence[str] | None,
        *,
        headed: bool,
        ruled: bool = True,
    ) -> None:
        """ROW blocks in the form of ``fonte.parsers.tables``, every word of the page with its place.

        ``headed`` says that the first row holds the ``names``.
        """
        width = len(names) if names is not None else max(map(len, grid))
        for index, row in enumerate(grid):
            header = headed and index == 0
            named = names is not None and not header and len(row) == len(names)
            pieces: list[_Piece] = []
            cells: list[Cell] = []
            for column, cell in enumerate(row):
                if not cell:
                    continue
                if pieces:
                    pieces.append(_Piece("; " if named else " | ", None))
                if named and names is not None and names[column]:
                    pieces.append(_Piece(f"{names[column]}: ", None))
                begun = _length(pieces)
                pieces += _pieces(cell, page)
                cells.append(Cell(column, begun, _length(pieces)))
            written = _Written(self._sides)
            written.add(pieces)
            text = "".join(written.text)
            if text:
                places = tuple(written.places)
                # A visual row of a table without rules may be a piece of a row: its cells are not told.
                known = tuple(cells) if ruled and len(row) == width else ()
                self.blocks.append(
                    Block(BlockKind.ROW, text, places=places, table=self._tables, header=header, cells=known)
                )


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)


def _pieces(words: Sequence[Word], page: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for index, word in enumerate(words):
        if index and word.spaced:
            pieces.append(_Piece(" ", None))
        pieces.append(_Piece(word.text, (page, word)))
    return pieces


def _starts_indented(block: _Open, row: Row, after: Row | None) -> bool:
    """Whether a line is indented against the line before and the line after, as a paragraph's first line is."""
    last, indent = block.last, 0.8 * row.size
    if block.kind is BlockKind.LIST_ITEM or row.x0 - last.x0 <= indent:
        return False
    if block.rows == 1 and not last.text.endswith(_TERMINAL):
        return False
    returns = after is None or after.region != row.region or row.x0 - after.x0 > indent
    return returns and row.x0 - row.left < 0.25 * (row.right - row.left)


def _broken(row: Row) -> bool:
    return bool(row.words) and breaks_word(row.words[-1].text, soft=row.words[-1].soft)


def _ended_early(last: Row, row: Row) -> bool:
    """Whether the line before left room for this one's first word, so that its end was meant."""
    width = last.right - last.left
    free = last.right - last.x1
    first = row.words[0]
    if free <= (first.x1 - first.x0) + 0.6 * row.size + 0.02 * width:
        return False
    return last.text.endswith(_TERMINAL) or free > 0.4 * width


def _cells(row: Row) -> int:
    """Cells of a row, a bullet or number at its start not counted."""
    if len(row.cells) > 1 and _is_marker(row.cells[0]):
        return len(row.cells) - 1
    return len(row.cells)


def _justified(row: Row) -> bool:
    """Whether a line is stretched over the region's whole width with equal gaps between all its words."""
    if row.x1 - row.x0 < 1 or row.x0 > row.left + row.size or row.x1 < row.right - 0.2 * row.size:
        return False
    gaps = [right.x0 - left.x1 for left, right in pairwise(row.words) if right.spaced]
    return bool(gaps) and min(gaps) > 0 and max(gaps) < 1.1 * min(gaps) and max(gaps) < 8 * row.size


def _is_marker(cell: Segment) -> bool:
    text = cell.text
    return _NUMBER.match(text) is not None or (len(text) == 1 and _BULLET.match(text) is not None)


def _aligned(above: Row, below: Row) -> bool:
    """Whether a cell of one row stands under a cell of the other, by its left edge, right edge or middle."""
    tolerance = 0.6 * max(above.size, below.size)
    for upper in above.cells[1:]:
        for lower in below.cells[1:]:
            if (
                abs(upper.x0 - lower.x0) < tolerance
                or abs(upper.x1 - lower.x1) < tolerance
                or abs(upper.x0 + upper.x1 - lower.x0 - lower.x1) < tolerance
            ):
                return True
    return False
