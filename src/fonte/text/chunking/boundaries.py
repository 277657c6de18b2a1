"""Chunks at the text's own boundaries: never across sections, never inside a paragraph that fits the budget.

Pieces (paragraphs, list items, rows; sentences of an over-long one) are packed up to the budget. Strategies C to F of
document A are this with and without header and overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fonte.protocols import Tokenizer
from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece, section_pieces
from fonte.text.chunking.tables import read_with
from fonte.types import BlockKind, Chunk, Document, Recipe, Section


class BoundariesChunker:
    """Packs the pieces of each section."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        packer = Packer(self._recipe, self._tokenizer, document)
        for section, pieces in sections_with_pieces(document, packer, headings=not self._recipe.chunking.header):
            packer.measure(section.start, section.end)
            packer.add(Stretch(section.path, pieces))
        return packer.chunks


def sections_with_pieces(
    document: Document, packer: Packer, *, headings: bool
) -> Iterator[tuple[Section, Sequence[Piece]]]:
    """Each section with what is to be cut of it.

    Args:
        document: to be cut.
        packer: knows which headers are shortened.
        headings: whether headings are text of their sections. Else they stand in headers alone, but for a section of
            nothing else that no section below it names whole.
    """
    rows = read_with(document)
    sections = document.sections or (Section((), 0, 0, len(document.text)),)
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        pieces = section_pieces(document, section, rows)
        told_below = following is not None and _below(section, following) and packer.is_whole(following.path)
        if headings or not told_below or any(piece.kind is not BlockKind.HEADING for piece in pieces):
            yield section, to_cut(pieces, headings=headings)


def to_cut(pieces: Sequence[Piece], *, headings: bool) -> Sequence[Piece]:
    """The pieces of a section without its headings, unless these are wanted or all that there is."""
    body = [piece for piece in pieces if piece.kind is not BlockKind.HEADING]
    return body if body and not headings else pieces


def _below(section: Section, following: Section) -> bool:
    path = section.path
    return len(following.path) > len(path) and following.path[: len(path)] == path
