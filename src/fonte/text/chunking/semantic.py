"""Chunks that end where the text changes its subject, as the configured encoder sees it.

The similarity of the sentences before and after each place (unit vectors; the mean of up to two on either side) is
compared over the document: a place whose drop is among the greatest ends a chunk, as Kamradt's "semantic chunking" (5
levels of text splitting, 2024) does by a percentile. Sections are always borders; the budget still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fonte.protocols import Tokenizer
from fonte.text import windows
from fonte.text.chunking.boundaries import sections_with_pieces
from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece, fitted
from fonte.text.normalise import search_form
from fonte.text.sentences import sentences
from fonte.types import BlockKind, Chunk, Document, Recipe, Section, Vectors

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors, as an Embedder's ``embed_passages``."""

_AROUND = 2
"""Sentences on either side of a place that are compared."""
_LEAST = 0.25
"""A chunk is not ended below this share of the budget."""
_DIGITS = 4
"""Similarities are compared by so many digits: the last ones are the machine's."""


class SemanticChunker:
    """Packs the sentences between two changes of subject."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, embed: Embed) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._embed = embed

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty.

        Raises:
            ModelUnavailable, BadModelOutput: the encoder failed.
        """
        packer = Packer(self._recipe, self._tokenizer, document)
        parts = [
            (section, self._sentences(document, section, pieces, packer))
            for section, pieces in sections_with_pieces(document, packer, headings=not self._recipe.chunking.header)
        ]
        drops = self._drops(document, [pieces for _, pieces in parts])
        known = sorted(drop for of_section in drops for drop in of_section)
        # Nearest rank: so many places in a hundred are below it.
        rank = len(known) * self._recipe.chunking.percentile // 100
        least = known[min(rank, len(known) - 1)] if known else 0.0
        for (section, pieces), of_section in zip(parts, drops, strict=True):
            packer.measure(section.start, section.end)
            for run in self._runs(section, pieces, [drop >= least for drop in of_section], packer):
                packer.add(Stretch(section.path, run))
        return packer.chunks

    def _sentences(
        self, document: Document, section: Section, pieces: Sequence[Piece], packer: Packer
    ) -> Sequence[Piece]:
        """Rows, items and code as they are, prose by sentences; nothing longer than a chunk."""
        measured, (budget, _) = packer.measure(section.start, section.end), packer.budget(section.path)
        return [
            part
            for piece in pieces
            for one in _by_sentences(document, piece)
            for part in fitted(document, one, budget, measured)
        ]

    def _drops(self, document: Document, parts: Sequence[Sequence[Piece]]) -> list[list[float]]:
        """For each part, the distance between what stands before and after each place inside it."""
        if not any(len(pieces) > 1 for pieces in parts):
            return [[] for _ in parts]
        vectors = self._embed(
            [self._readable(document.text[one.start : one.end]) for pieces in parts for one in pieces]
        )
        found: list[list[float]] = []
        at = 0
        for pieces in parts:
            own = vectors[at : at + len(pieces)]
            cuts = range(1, len(pieces))
            found.append([_distance(own[max(0, cut - _AROUND) : cut], own[cut : cut + _AROUND]) for cut in cuts])
            at += len(pieces)
        return found

    def _readable(self, text: str) -> str:
        """What the encoder reads of a sentence: its beginning where normalising made it longer than the window."""
        room = self._tokenizer.window - self._tokenizer.overhead
        said = search_form(text)
        parts = windows.cut_to_fit(said, 0, len(said), lambda part: self._tokenizer.count(part) <= room)
        return said[slice(*parts[0])] if parts else text

    def _runs(
        self, section: Section, pieces: Sequence[Piece], changes: Sequence[bool], packer: Packer
    ) -> Iterator[Sequence[Piece]]:
        """The pieces between changes of subject, none of them (but the last) a crumb."""
        measured, (budget, _) = packer.measure(section.start, section.end), packer.budget(section.path)
        low = 0
        for cut, change in enumerate(changes, start=1):
            if change and measured.cost(pieces[low].start, pieces[cut - 1].end) >= _LEAST * budget:
                yield pieces[low:cut]
                low = cut
        yield pieces[low:]


def _by_sentences(document: Document, piece: Piece) -> Iterator[Piece]:
    if piece.kind not in (BlockKind.PARAGRAPH, BlockKind.NOTE):
        yield piece
        return
    for start, end in sentences(document.text[piece.start : piece.end], document.language):
        yield Piece(piece.start + start, piece.start + end, piece.kind, piece.under)


def _distance(before: Vectors, after: Vectors) -> float:
    """Cosine distance of the means of two runs of unit vectors."""
    left, right = before.sum(axis=0), after.sum(axis=0)
    norm = float((left @ left) * (right @ right)) ** 0.5
    return round(1.0 - float(left @ right) / norm, _DIGITS) if norm else 1.0
