"""Small chunks that are searched, and the larger stretch around each that is shown.

A parent is a section, or so much of one as its pieces give within ``parent_characters``. It is not stored: the same
document and recipe give the same parents, so that it is cut when a chunk of it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fonte.protocols import Tokenizer
from fonte.text.chunking.boundaries import sections_with_pieces, to_cut
from fonte.text.chunking.measure import Characters
from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece, fitted, section_pieces
from fonte.text.chunking.tables import Range
from fonte.text.locate import section_at
from fonte.types import Chunk, ChunkingRecipe, Document, Recipe


class ParentChildChunker:
    """The chunks of each parent, which none of them leaves."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        chunking = self._recipe.chunking
        packer = Packer(self._recipe, self._tokenizer, document)
        for section, pieces in sections_with_pieces(document, packer, headings=not chunking.header):
            packer.measure(section.start, section.end)
            for parent in _parents(document, pieces, chunking.parent_characters):
                packer.add(Stretch(section.path, parent))
        return packer.chunks


def parent_of(document: Document, chunking: ChunkingRecipe, start: int, end: int) -> Range:
    """What is shown for a chunk: the range of its parent; its own where the recipe has no parents."""
    if chunking.strategy != "parent_child":
        return start, end
    section = section_at(document, start)
    if section is None:
        return start, end
    pieces = to_cut(section_pieces(document, section, {}), headings=not chunking.header)
    for parent in _parents(document, pieces, chunking.parent_characters):
        if parent[0].start <= start < parent[-1].end:
            return min(start, parent[0].start), max(end, parent[-1].end)
    return start, end


def _parents(document: Document, pieces: Sequence[Piece], most: int) -> Iterator[Sequence[Piece]]:
    """Neighbouring pieces, as many as ``most`` characters hold; a longer piece is cut into sentences."""
    counted = Characters()
    parent: list[Piece] = []
    for piece in (part for one in pieces for part in fitted(document, one, most, counted)):
        if parent and piece.end - parent[0].start > most:
            yield parent
            parent = []
        parent.append(piece)
    if parent:
        yield parent
