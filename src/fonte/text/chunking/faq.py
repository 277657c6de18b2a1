"""Questions with their whole answers: as headings, or as paragraphs and list items that ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fonte.text.chunking.packing import Stretch
from fonte.text.chunking.pieces import Piece
from fonte.types import BlockKind, Document, Section

_MARKED = re.compile(r"(?:[*_#\s]*)(?:Q|D|F|Question|Domanda|Frage|Pregunta)\s*\d*\s*[.:)]\s*\S", re.IGNORECASE)
_ASKS = re.compile(r"[^\n]{3,300}\?[*_\"'”’»)\s]*(?:\n|$)")
"""A first line that ends as a question does."""
_LONGEST = 2500
"""Characters from a question in the text to the next: one that a long text asks itself makes no FAQ."""
_MAY_ASK = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING)


def asks(document: Document, piece: Piece) -> bool:
    """Whether a piece is, or begins with, a question."""
    if piece.kind not in _MAY_ASK:
        return False
    said = document.text[piece.start : piece.end]
    return _MARKED.match(said) is not None or _ASKS.match(said) is not None


def answered(document: Document, sections: Sequence[tuple[Section, Sequence[Piece]]]) -> tuple[int, float]:
    """How many questions of a document have an answer, and the share of its text that they take with their answers."""
    count = covered = 0
    for section, pieces in sections:
        if _is_question(section):
            body = [piece for piece in pieces if piece.kind is not BlockKind.HEADING]
            count += bool(body)
            covered += section.end - section.start if body else 0
            continue
        for question, answer in _pairs(document, pieces):
            if question is None or not (answer or "\n" in document.text[question.start : question.end]):
                continue
            length = (answer[-1] if answer else question).end - question.start
            if length <= _LONGEST:
                count += 1
                covered += length
    return count, covered / max(1, len(document.text.strip()))


def faq_stretches(
    document: Document, section: Section, pieces: Sequence[Piece], *, told: bool
) -> Iterator[tuple[Stretch, bool]]:
    """Each question with its answer, whole if the encoder can read it; and whether a stretch is one.

    ``told`` says that the section's heading stands whole in the header of every chunk.
    """
    if _is_question(section):
        head = [piece for piece in pieces if piece.kind is BlockKind.HEADING]
        yield Stretch(section.path, _explained(pieces, () if told else head), whole=True), True
        return
    for question, answer in _pairs(document, pieces):
        if question is None:
            yield Stretch(section.path, answer), False
        else:
            yield Stretch(section.path, [question, *_explained(answer, [question])], whole=True), True


def _is_question(section: Section) -> bool:
    return bool(section.path) and section.path[-1].rstrip("*_\"'”’») ").endswith("?")


def _pairs(document: Document, pieces: Sequence[Piece]) -> Iterator[tuple[Piece | None, Sequence[Piece]]]:
    """Questions with what follows each up to the next; None for what stands before the first."""
    question: Piece | None = None
    answer: list[Piece] = []
    for piece in pieces:
        if asks(document, piece):
            if question is not None or answer:
                yield question, answer
            question, answer = piece, []
        else:
            answer.append(piece)
    if question is not None or answer:
        yield question, answer


def _explained(pieces: Sequence[Piece], by: Sequence[Piece]) -> list[Piece]:
    above = tuple((one.start, one.end) for one in by)
    return [
        piece if (piece.start, piece.end) in above else replace(piece, under=(*above, *piece.under)) for piece in pieces
    ]
