"""A section as pieces that stay whole: paragraphs, list items, rows; sentences and words where one is too long."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fonte.text.chunking.measure import Measure
from fonte.text.chunking.tables import Range
from fonte.text.cuts import splits_cluster, trim, word_cut
from fonte.text.sentences import sentences
from fonte.types import BlockKind, Document, Section

_PARAGRAPH = re.compile(r"[^\n](?:[^\n]|\n(?![ \t\r]*\n))*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A range that is not cut, without outer white space.

    ``under`` are the ranges that explain it (column names, a question, the clause above): what a chunk holds the piece
    without is told in the chunk's header.
    """

    start: int
    end: int
    kind: BlockKind
    under: tuple[Range, ...] = ()


def section_pieces(document: Document, section: Section, rows: Mapping[int, tuple[Range, ...]]) -> list[Piece]:
    """The section's blocks in order, headings too, and whatever text lies between blocks: nothing is lost.

    ``rows`` says what each row of a table is read with, by its index in ``document.spans``.
    """
    text, spans = document.text, document.spans
    found: list[Piece] = []
    at = section.start
    index = bisect_right(spans, section.start, key=lambda span: span.end)
    while index < len(spans) and spans[index].start < section.end:
        span = spans[index]
        start, end = max(span.start, at), min(span.end, section.end)
        if start < end:
            found += _paragraphs(text, at, start)
            low, high = trim(text, start, end)
            if low < high:
                found.append(Piece(low, high, span.kind, rows.get(index, ())))
            at = end
        index += 1
    found += _paragraphs(text, at, section.end)
    return found


def _paragraphs(text: str, start: int, end: int) -> Iterator[Piece]:
    """Text outside every block, by blank lines."""
    if not text[start:end].strip():
        return
    for match in _PARAGRAPH.finditer(text, start, end):
        low, high = trim(text, match.start(), match.end())
        if low < high:
            yield Piece(low, high, BlockKind.PARAGRAPH)


def fitted(document: Document, piece: Piece, budget: int, measure: Measure) -> Iterator[Piece]:
    """The piece itself when it fits, else its sentences, else runs of words, else runs of characters."""
    if measure.cost(piece.start, piece.end) <= budget:
        yield piece
        return
    text = document.text
    if piece.kind is BlockKind.CODE:
        ranges = _lines(text, piece.start, piece.end)
    else:
        ranges = [
            (piece.start + start, piece.start + end)
            for start, end in sentences(text[piece.start : piece.end], document.language)
        ]
    for start, end in ranges:
        for low, high in _words(text, start, end, budget, measure):
            yield Piece(low, high, piece.kind, piece.under)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = start
    while at < end:
        stop = text.find("\n", at, end) + 1 or end
        if text[at:stop].strip():
            found.append((at, at + len(text[at:stop].rstrip())))
        at = stop
    return found


def _words(text: str, start: int, end: int, budget: int, measure: Measure) -> Iterator[tuple[int, int]]:
    """The range whole when it fits, else as few runs as fit, cut at white space where there is some."""
    while measure.cost(start, end) > budget:
        reach = min(measure.reach(start, budget), end - 1)
        cut = word_cut(text, start, max(reach, start + 1))
        while cut < end and splits_cluster(text, cut) and cut <= start + 1:
            cut += 1
        low, high = trim(text, start, cut)
        if low < high:
            yield low, high
        start = cut
    low, high = trim(text, start, end)
    if low < high:
        yield low, high
