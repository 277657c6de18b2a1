"""What can be quoted of a passage, and what the encoder reads of it.

A passage may be longer than the encoder's window, since neighbouring chunks that overlap are one: it is read in several
windows, and a piece (a block of code, a row) that does not fit is cut into lines or runs of words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from fonte.ranking.evidence import Piece
from fonte.text.sentences import sentences
from fonte.text.windows import Fits, cut_to_fit, windows
from fonte.types import BlockKind, Language, Passage, TokenVectors

_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\w+(?:[-/.]\w+)*")


def stretches(passage: Passage, borders: Sequence[int], fits: Fits) -> list[tuple[int, int]]:
    """The passage as one stretch when the encoder can read it at once, else in several that it can."""
    if fits(passage.content):
        return [(passage.start, passage.end)]
    return windows(passage.document.text, passage.start, passage.end, borders, fits)


def placed(tokens: TokenVectors, passage: Passage, start: int) -> TokenVectors:
    """Offsets in what the encoder read to characters of the document.

    The context header's tokens stand before the passage; those of a later window's header, which say the same again,
    are left out.
    """
    shift = start - content_offset(passage)
    moved = [(first + shift, last + shift) for first, last in tokens.offsets]
    kept = [at for at, (_, last) in enumerate(moved) if start == passage.start or last > start]
    return TokenVectors(
        tuple(moved[at] for at in kept),
        tokens.vectors[kept],
        tokens.states,
        tuple(tokens.rows[at] for at in kept) if tokens.rows else (),
    )


def joined(parts: Sequence[TokenVectors]) -> TokenVectors:
    """Tokens of a passage's windows as one, without their states."""
    offsets = tuple(offset for part in parts for offset in part.offsets)
    return TokenVectors(offsets, np.concatenate([part.vectors for part in parts]))


def headed(passage: Passage, text: str) -> str:
    """What the encoder reads of a text of the passage: the context header, then its characters as they are."""
    context = passage.stored.chunk.context
    return f"{context}\n{text}" if context else text


def content_offset(passage: Passage) -> int:
    """Where the passage's own characters begin in what the encoder reads."""
    context = passage.stored.chunk.context
    return len(context) + 1 if context else 0


def pieces_of(passage: Passage, position: int, fits: Fits) -> list[Piece]:
    """What can be quoted of a passage, with its characters in the document.

    A table's row and a block of code are whole; everything else gives its sentences. Headings, rows of column names and
    bare questions answer nothing and are left out. What is longer than the encoder reads at once is cut: code into its
    lines, anything else between words.
    """
    text = passage.document.text
    short = fits(passage.content)
    pieces = []
    for kind, start, end in _blocks(passage):
        whole = kind in (BlockKind.ROW, BlockKind.CODE)
        spans = [(start, end)] if whole else _sentences(text, start, end, passage.stored.chunk.language)
        if kind is BlockKind.CODE and not short and not fits(text[start:end]):
            spans = [match.span() for match in _LINE.finditer(text, start, end)]
        if not short:
            spans = [part for first, last in spans for part in _cut(text, first, last, fits)]
        for first, last in spans:
            body = text[first:last]
            if _WORD.search(body) and (whole or not body.rstrip("\"'”’»)").endswith("?")):
                pieces.append(Piece(position, first, last, body, kind is BlockKind.ROW))
    return pieces


def _cut(text: str, start: int, end: int, fits: Fits) -> list[tuple[int, int]]:
    return [(start, end)] if fits(text[start:end]) else cut_to_fit(text, start, end, fits)


def _blocks(passage: Passage) -> Iterator[tuple[BlockKind, int, int]]:
    """Kind and characters of the blocks that a passage touches, cut to it; text outside blocks is a paragraph."""
    spans = passage.document.spans
    if not spans:
        yield BlockKind.PARAGRAPH, passage.start, passage.end
        return
    at = bisect_right(spans, passage.start, key=lambda span: span.end)
    for span in islice(spans, at, None):
        if span.start >= passage.end:
            return
        if span.kind is not BlockKind.HEADING and not span.header:
            yield span.kind, max(span.start, passage.start), min(span.end, passage.end)


def _sentences(text: str, start: int, end: int, language: Language) -> list[tuple[int, int]]:
    found = []
    for first, last in sentences(text[start:end], language):
        bullet = _BULLET.match(text, start + first, start + last)
        found.append((bullet.end() if bullet else start + first, start + last))
    return found
