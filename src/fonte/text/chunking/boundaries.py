"""Chunks at the text's own boundaries: never across sections, never inside a paragraph that fits the budget.

Pieces (paragraphs, list items, rows; sentences of an over-long one) are packed up to the budget; a last crumb is
balanced with the chunk before it. Strategies C to F of document A are this with and without header and overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from fonte.protocols import Tokenizer
from fonte.text.chunking.emit import Emitter, contains
from fonte.text.chunking.header import fitting_row
from fonte.text.chunking.measure import Measure, measure, safe_cut
from fonte.text.chunking.pieces import Piece, fitted, section_pieces
from fonte.types import BlockKind, Chunk, Document, Recipe, Section, Span

_CRUMB = 0.15
"""A last chunk below this share of the budget is balanced with the one before."""


class BoundariesChunker:
    """Packs the pieces of each section."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        emitter = Emitter(self._recipe, self._tokenizer, document)
        tables = _table_headers(document)
        sections = document.sections or (Section((), 0, 0, len(document.text)),)
        for section, following in zip(sections, [*sections[1:], None], strict=True):
            _SectionChunks(self._recipe, self._tokenizer, document, section, emitter, tables).emit(following)
        return emitter.chunks


class _SectionChunks:
    """The chunks of one section."""

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: Tokenizer,
        document: Document,
        section: Section,
        emitter: Emitter,
        tables: dict[int, list[Span]],
    ) -> None:
        chunking = recipe.chunking
        self._document = document
        self._section = section
        self._emitter = emitter
        self._tables = tables
        self._with_headings = not chunking.header
        self._context = emitter.context(section.path)
        self._measure: Measure = measure(
            "tokens" if emitter.in_tokens else "characters", document.text, section.start, section.end, tokenizer
        )
        self._row_headers: dict[int, tuple[str, int]] = {}
        if emitter.in_tokens:
            room = emitter.limit - emitter.header_cost(section.path)
            self._overlap = min(chunking.overlap, room // 2)
            self._budget = max(1, room - self._overlap)
        else:
            self._overlap, self._budget = chunking.overlap, chunking.size

    def emit(self, following: Section | None) -> None:
        """Add the section's chunks. ``following`` is the next section."""
        pieces = section_pieces(self._document, self._section)
        body = [piece for piece in pieces if piece.kind is not BlockKind.HEADING]
        if not body and pieces and self._carried(following):
            return
        whole = pieces if self._with_headings or not body else body
        # A long row shares the budget with its table's header row.
        atoms = [atom for piece in whole for atom in self._fitted(piece)]
        previous: tuple[int, int] | None = None
        for group in self._packed(atoms):
            start, end = group[0].start, group[-1].end
            context = self._with_row_headers(group)
            if previous is not None and self._overlap:
                start = self._overlapped(start, previous, atoms)
            self._emitter.emit(start, end, self._section.path, context)
            previous = (group[0].start, end)

    def _fitted(self, piece: Piece) -> Sequence[Piece]:
        room = max(1, self._budget - self._row_header_cost([piece]))
        return list(fitted(self._document, piece, room, self._measure))

    def _carried(self, following: Section | None) -> bool:
        """Whether a heading without text stands whole in the header of the section below it."""
        if self._with_headings or following is None:
            return False
        path = self._section.path
        below = len(following.path) > len(path) and following.path[: len(path)] == path
        return below and self._emitter.is_whole(following.path)

    def _packed(self, atoms: Sequence[Piece]) -> list[Sequence[Piece]]:
        """Groups of neighbouring pieces, each within the budget when its pieces are; the last two balanced."""
        edges: list[int] = [0]
        for index in range(1, len(atoms)):
            if self._cost(atoms[edges[-1] : index + 1]) > self._budget:
                edges.append(index)
        if not atoms:
            return []
        edges.append(len(atoms))
        if len(edges) > 2:  # noqa: PLR2004 - two groups at least
            low, high = edges[-3], edges[-1]
            if self._cost(atoms[edges[-2] : high]) < _CRUMB * self._budget:
                edges[-2] = self._balanced(atoms, low, edges[-2], high)
        return [atoms[start:end] for start, end in pairwise(edges)]

    def _balanced(self, atoms: Sequence[Piece], low: int, cut: int, high: int) -> int:
        """The cut that makes the larger of two groups smallest."""

        def larger(at: int) -> int:
            return max(self._cost(atoms[low:at]), self._cost(atoms[at:high]))

        return min(range(low + 1, cut + 1), key=lambda at: (larger(at), -at))

    def _cost(self, group: Sequence[Piece]) -> int:
        return self._measure.cost(group[0].start, group[-1].end) + self._row_header_cost(group)

    def _row_header_cost(self, group: Sequence[Piece]) -> int:
        if not self._emitter.in_tokens or (group[0].table is None and group[-1].table is None):
            return 0
        return sum(self._row_header(table)[1] for table in self._missing_tables(group))

    def _missing_tables(self, group: Sequence[Piece]) -> list[int]:
        """Tables with rows in the group whose header rows are outside it, in order."""
        start, end = group[0].start, group[-1].end
        numbers = dict.fromkeys(piece.table for piece in group if piece.table is not None and not piece.header)
        return [
            number
            for number in numbers
            if number in self._tables
            and not contains([(span.start, span.end) for span in self._tables[number]], start, end)
        ]

    def _row_header(self, table: int) -> tuple[str, int]:
        """The table's header row on one line, within what the section's header leaves of half the budget."""
        known = self._row_headers.get(table)
        if known is None:
            spans = self._tables[table]
            row = " ".join(" ".join(self._document.text[span.start : span.end].split()) for span in spans)
            room = max(0, self._emitter.limit // 2 - self._emitter.header_cost(self._section.path))
            shown = fitting_row(row, room, self._emitter.count)
            known = (shown, self._emitter.count(shown + "\n") if shown else 0)
            self._row_headers[table] = known
        return known

    def _with_row_headers(self, group: Sequence[Piece]) -> str:
        rows = [self._row_header(table)[0] for table in self._missing_tables(group)]
        return "\n".join(line for line in [self._context, *rows] if line)

    def _overlapped(self, start: int, previous: tuple[int, int], atoms: Sequence[Piece]) -> int:
        """``start`` moved back over the last characters or tokens of the chunk before, at most to its start.

        Words are not cut where one begins within the overlap, and rows stay whole.
        """
        text = self._document.text
        low = max(previous[0], self._measure.back(previous[1], self._overlap))
        if low >= previous[1]:
            return start
        low = safe_cut(text, previous[0], low) if low > previous[0] else low
        if low > previous[0] and not text[low - 1].isspace():
            following = next((at for at in range(low, previous[1]) if text[at].isspace()), None)
            low = following + 1 if following is not None and following + 1 < previous[1] else low
        inside = atoms[max(0, bisect_right(atoms, low, key=lambda atom: atom.start) - 1)]
        cuts_row = inside.kind is BlockKind.ROW and inside.start < low < inside.end
        return min(start, inside.end if cuts_row else low)


def _table_headers(document: Document) -> dict[int, list[Span]]:
    """Header rows of each table."""
    found: dict[int, list[Span]] = {}
    for span in document.spans:
        if span.header and span.table is not None:
            found.setdefault(span.table, []).append(span)
    return found
