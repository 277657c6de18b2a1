"""Pieces to chunks: packed up to the budget, a last crumb balanced with the chunk before it.

A stretch is what chunks may not leave (a section, a parent, a clause). What explains a piece (column names, a caption,
a question, the clause above) and is not in its chunk stands in the chunk's header.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from fonte.protocols import Tokenizer
from fonte.text.chunking.emit import Emitter
from fonte.text.chunking.header import fitting_row
from fonte.text.chunking.measure import Measure, measure
from fonte.text.chunking.pieces import Piece, fitted
from fonte.text.chunking.tables import Range
from fonte.text.cuts import safe_cut
from fonte.types import BlockKind, Chunk, Document, Recipe

_CRUMB = 0.15
"""A last chunk below this share of the budget is balanced with the one before."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring pieces in order, and the heading path that their chunks have."""

    path: tuple[str, ...]
    pieces: Sequence[Piece]
    whole: bool = False
    """Kept in one chunk where the encoder's window allows it, whatever the budget says."""


class Packer:
    """Collects the chunks of one document, stretch by stretch."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, document: Document) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._document = document
        self._emitter = Emitter(recipe, tokenizer, document)
        self._measured: tuple[Range, Measure] | None = None

    @property
    def chunks(self) -> Sequence[Chunk]:
        """What was added so far."""
        return self._emitter.chunks

    def is_whole(self, path: tuple[str, ...]) -> bool:
        """Whether the header of a path holds every heading unshortened."""
        return self._emitter.is_whole(path)

    def measure(self, start: int, end: int) -> Measure:
        """What ranges inside ``start..end`` cost, in the recipe's unit; for a part of it nothing is counted anew."""
        if self._measured is None or not self._measured[0][0] <= start <= end <= self._measured[0][1]:
            unit: Literal["tokens", "characters"] = "tokens" if self._emitter.in_tokens else "characters"
            made = measure(unit, self._document.text, start, end, self._tokenizer)
            self._measured = (start, end), made
        return self._measured[1]

    def budget(self, path: tuple[str, ...], *, whole: bool = False) -> tuple[int, int]:
        """What the content of one chunk may cost under the header of a path, and how much of it is overlap."""
        chunking, emitter = self._recipe.chunking, self._emitter
        if not emitter.in_tokens:
            return (len(self._document.text) if whole else chunking.size), (0 if whole else chunking.overlap)
        limit = self._tokenizer.window - self._tokenizer.overhead if whole else emitter.limit
        room = limit - emitter.header_cost(path)
        overlap = 0 if whole else min(chunking.overlap, room // 2)
        return max(1, room - overlap), overlap

    def add(self, stretch: Stretch) -> None:
        """Add the chunks of a stretch."""
        if not stretch.pieces:
            return
        measured = self.measure(stretch.pieces[0].start, stretch.pieces[-1].end)
        _Packed(self, self._emitter, self._document, stretch, measured).emit()


class _Packed:
    """The chunks of one stretch."""

    def __init__(
        self, packer: Packer, emitter: Emitter, document: Document, stretch: Stretch, measured: Measure
    ) -> None:
        self._emitter = emitter
        self._document = document
        self._stretch = stretch
        self._measure = measured
        self._context = emitter.context(stretch.path)
        self._budget, self._overlap = packer.budget(stretch.path, whole=stretch.whole)
        self._told: dict[tuple[Range, ...], tuple[str, int]] = {}

    def emit(self) -> None:
        # A long row shares the budget with its table's header row.
        atoms = [atom for piece in self._stretch.pieces for atom in self._fitted(piece)]
        previous: Range | None = None
        for group in (part for packed in self._packed(atoms) for part in self._readable(packed)):
            start, end = group[0].start, group[-1].end
            context = self._header(group)
            if previous is not None and self._overlap:
                longer = self._overlapped(start, previous, atoms)
                # What the encoder could not read with its neighbour's end stands without it.
                start = longer if self._emitter.fits(longer, end, context) else start
            self._emitter.emit(start, end, self._stretch.path, context)
            previous = (group[0].start, end)

    def _fitted(self, piece: Piece) -> Sequence[Piece]:
        if self._measure.cost(piece.start, piece.end) <= self._budget:
            return [piece]  # whole, if need be with less of what explains it
        room = max(1, self._budget - self._told_cost([piece]))
        return list(fitted(self._document, piece, room, self._measure))

    def _packed(self, atoms: Sequence[Piece]) -> list[Sequence[Piece]]:
        """Groups of neighbouring pieces, each within the budget when its pieces are; the last two balanced."""
        edges: list[int] = [0]
        for index in range(1, len(atoms)):
            if self._cost(atoms[edges[-1] : index + 1]) > self._budget:
                edges.append(self._with_what_explains(atoms, edges[-1], index))
        if not atoms:
            return []
        edges.append(len(atoms))
        if len(edges) > 2:  # noqa: PLR2004 - two groups at least
            low, high = edges[-3], edges[-1]
            if self._cost(atoms[edges[-2] : high]) < _CRUMB * self._budget:
                edges[-2] = self._balanced(atoms, low, edges[-2], high)
        return [atoms[start:end] for start, end in pairwise(edges)]

    def _with_what_explains(self, atoms: Sequence[Piece], low: int, cut: int) -> int:
        """The cut, before what explains the piece there and would end the group before it, where both fit together."""
        at = cut
        while at - 1 > low and (atoms[at - 1].start, atoms[at - 1].end) in atoms[cut].under:
            at -= 1
        return at if self._cost(atoms[at : cut + 1]) <= self._budget else cut

    def _balanced(self, atoms: Sequence[Piece], low: int, cut: int, high: int) -> int:
        """The cut that makes the larger of two groups smallest."""

        def larger(at: int) -> int:
            return max(self._cost(atoms[low:at]), self._cost(atoms[at:high]))

        return min(range(low + 1, cut + 1), key=lambda at: (larger(at), -at))

    def _readable(self, group: Sequence[Piece]) -> list[Sequence[Piece]]:
        """The group, halved between its pieces where the encoder's window is smaller than the budget."""
        if len(group) == 1 or self._emitter.fits(group[0].start, group[-1].end, self._header(group)):
            return [group]
        cut = self._balanced(group, 0, len(group) - 1, len(group))
        return [*self._readable(group[:cut]), *self._readable(group[cut:])]

    def _cost(self, group: Sequence[Piece]) -> int:
        return self._measure.cost(group[0].start, group[-1].end) + self._told_cost(group)

    def _told_cost(self, group: Sequence[Piece]) -> int:
        return self._lines(group)[1] if self._emitter.in_tokens else 0

    def _header(self, group: Sequence[Piece]) -> str:
        lines, cost = self._lines(group)
        if cost and self._emitter.in_tokens:
            left = self._budget - self._measure.cost(group[0].start, group[-1].end)
            if 0 <= left < cost:
                lines, _ = self._shown(self._missing(group), left)
        return "\n".join(line for line in (self._context, lines) if line)

    def _missing(self, group: Sequence[Piece]) -> tuple[Range, ...]:
        """What explains the pieces and lies outside the group."""
        start, end = group[0].start, group[-1].end
        wanted = dict.fromkeys(low for piece in group for low in piece.under)
        return tuple(one for one in wanted if not (start <= one[0] and one[1] <= end))

    def _lines(self, group: Sequence[Piece]) -> tuple[str, int]:
        """What explains the pieces and is missing, within half the budget; and its cost."""
        missing = self._missing(group)
        known = self._told.get(missing)
        if known is None:
            room = self._emitter.limit // 2 - self._emitter.header_cost(self._stretch.path)
            known = self._told[missing] = self._shown(missing, max(0, room))
        return known

    def _shown(self, ranges: tuple[Range, ...], left: int) -> tuple[str, int]:
        """Ranges as lines that together cost at most ``left``, each shortened where it must be."""
        lines: list[str] = []
        cost = 0
        for position, (start, end) in enumerate(ranges):
            line = " ".join(self._document.text[start:end].split())
            # What comes first leaves room for what comes after.
            shown = fitting_row(line, (left - cost) // (len(ranges) - position), self._emitter.count)
            if shown:
                lines.append(shown)
                cost = self._emitter.count("\n".join(lines) + "\n")
        return "\n".join(lines), cost

    def _overlapped(self, start: int, previous: Range, atoms: Sequence[Piece]) -> int:
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
