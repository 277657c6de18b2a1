"""Blind windows: every so many characters or tokens, whatever stands there (documents A and C).

``for i in range(0, n, size - overlap)``, ended when a window reaches the end of the text. It shows what cutting
through sentences costs; windows longer than the encoder's own are halved, since nothing may be cut silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fonte.protocols import Tokenizer
from fonte.text.chunking.emit import Emitter
from fonte.text.locate import section_at
from fonte.types import Chunk, Document, Recipe


class BlindChunker:
    """Fixed windows over the whole canonical text, trimmed of outer white space."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        chunking = recipe.chunking
        self._tokens = chunking.unit == "tokens" or chunking.strategy == "tokens"

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        emitter = Emitter(self._recipe, self._tokenizer, document)
        windows = self._token_windows(document, emitter) if self._tokens else self._character_windows(document)
        for start, end in windows:
            section = section_at(document, start)
            path = section.path if section else ()
            emitter.emit(start, end, path, emitter.context(path))
        return emitter.chunks

    def _character_windows(self, document: Document) -> Iterator[tuple[int, int]]:
        size, overlap = self._recipe.chunking.size, self._recipe.chunking.overlap
        length = len(document.text)
        for start in range(0, length, size - overlap):
            yield start, min(start + size, length)
            if start + size >= length:
                return

    def _token_windows(self, document: Document, emitter: Emitter) -> Iterator[tuple[int, int]]:
        """Windows of tokens. A window runs to where the next one's token begins, so that no character is lost."""
        length = len(document.text)
        edges = [0]
        for (_, _), (start, _) in pairwise(self._tokenizer.offsets(document.text)):
            if start > edges[-1]:
                edges.append(start)
        overlap = self._recipe.chunking.overlap
        at = 0
        while at < len(edges):
            section = section_at(document, edges[at])
            size = max(1, emitter.limit - emitter.header_cost(section.path if section else ()))
            stop = at + size
            yield edges[at], edges[stop] if stop < len(edges) else length
            if stop >= len(edges):
                return
            # What a header takes, it takes from window and overlap alike.
            at += max(1, size - overlap * size // emitter.limit)
