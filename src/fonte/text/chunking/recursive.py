"""The largest part that fits: the document, else its sections, theirs in turn, their paragraphs, their sentences.

Neighbours at one level that fit together share a chunk, so that small sections do not stand alone; their headings are
then text of the chunk, and its header is the path that they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fonte.protocols import Tokenizer
from fonte.text.chunking.boundaries import sections_with_pieces
from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece
from fonte.types import BlockKind, Chunk, Document, Recipe, Section

Part = tuple[Section, Sequence[Piece]]


class RecursiveChunker:
    """Splits where it must, from the outermost border inwards."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        packer = Packer(self._recipe, self._tokenizer, document)
        packer.measure(0, len(document.text))
        parts = [part for part in sections_with_pieces(document, packer, headings=True) if part[1]]
        for group in self._split(parts, packer):
            packer.add(self._stretch(group, packer))
        return packer.chunks

    def _split(self, parts: Sequence[Part], packer: Packer) -> Iterator[Sequence[Part]]:
        """Groups of neighbouring sections, each one section or within the budget."""
        open_: list[Part] = []
        for run in _runs(parts):
            if open_ and self._fit([*open_, *run], packer):
                open_ += run
                continue
            if open_:
                yield open_
            open_ = []
            if self._fit(run, packer):
                open_ = list(run)
            elif len(run) == 1:
                yield run
            else:
                yield from self._split(run, packer)
        if open_:
            yield open_

    def _fit(self, parts: Sequence[Part], packer: Packer) -> bool:
        stretch = self._stretch(parts, packer)
        start, end = stretch.pieces[0].start, stretch.pieces[-1].end
        return packer.measure(start, end).cost(start, end) <= packer.budget(stretch.path)[0]

    def _stretch(self, parts: Sequence[Part], packer: Packer) -> Stretch:
        """The sections under what their paths have in common; a heading that the header holds whole is left out."""
        path = _common(parts)
        section, pieces = parts[0]
        rest = [piece for _, more in parts[1:] for piece in more]
        if section.path == path and packer.is_whole(path):
            body = [piece for piece in pieces if piece.kind is not BlockKind.HEADING]
            pieces = body if body or rest else pieces
        return Stretch(path, [*pieces, *rest])


def _common(parts: Sequence[Part]) -> tuple[str, ...]:
    first, last = min(part[0].path for part in parts), max(part[0].path for part in parts)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _runs(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """The parts by what stands one level below their common path; what stands on it, each alone."""
    if not parts:
        return
    depth = len(_common(parts))
    run: list[Part] = []
    for part in parts:
        path = part[0].path
        if run and (len(path) <= depth or path[: depth + 1] != run[0][0].path[: depth + 1]):
            yield run
            run = []
        run.append(part)
    yield run
