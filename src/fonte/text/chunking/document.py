"""Each document by the rule that its own structure asks for: a contract, questions and answers, code, tables, or text.

In every one of them a table stands apart from the text around it, and code is cut by its functions and classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fonte.protocols import Tokenizer
from fonte.text.chunking.boundaries import sections_with_pieces
from fonte.text.chunking.clauses import clause_stretches, numbered
from fonte.text.chunking.code import code_pieces, is_code_name
from fonte.text.chunking.faq import answered, faq_stretches
from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece, section_pieces
from fonte.types import BlockKind, Chunk, Document, Recipe, Section

RuleName = Literal["contract", "faq", "code", "tables", "text"]

_FEWEST = 3
"""Clauses or questions that make a document one of them."""
_MOST_OF_IT = 0.5
"""Share of a document's text that its kind must cover."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a document is cut, and what of it decided that."""

    name: RuleName
    reason: str


class DocumentChunker:
    """Cuts by the rule of each document."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        packer = Packer(self._recipe, self._tokenizer, document)
        rule = rule_of(document).name
        for section, pieces in sections_with_pieces(document, packer, headings=not self._recipe.chunking.header):
            packer.measure(section.start, section.end)
            for stretch, settled in _by_rule(rule, document, section, pieces, packer):
                for part in [stretch] if settled else _tables_apart(stretch):
                    packer.add(replace(part, pieces=_by_definitions(document, part, packer)))
        return packer.chunks


def rule_of(document: Document) -> Rule:
    """The rule for a document, and why: the first that holds of contract, faq, code, tables; else text."""
    sections = [(section, section_pieces(document, section, {})) for section in _sections(document)]
    characters = max(1, len(document.text.strip()))
    if is_code_name(document.name):
        return Rule("code", f"the name {document.name} is one of source code")
    numbers, share = numbered(document, sections)
    if len(numbers) >= _FEWEST and share >= _MOST_OF_IT:
        return Rule(
            "contract", f"{len(numbers)} numbered clauses, {numbers[0]} to {numbers[-1]}, {share:.0%} of the text"
        )
    questions, share = answered(document, sections)
    if questions >= _FEWEST and share >= _MOST_OF_IT:
        return Rule("faq", f"{questions} questions with answers, {share:.0%} of the text")
    of_kind = {
        kind: sum(span.end - span.start for span in document.spans if span.kind is kind) / characters
        for kind in (BlockKind.CODE, BlockKind.ROW)
    }
    if of_kind[BlockKind.CODE] >= _MOST_OF_IT:
        return Rule("code", f"blocks of code, {of_kind[BlockKind.CODE]:.0%} of the text")
    if of_kind[BlockKind.ROW] >= _MOST_OF_IT:
        return Rule("tables", f"rows of tables, {of_kind[BlockKind.ROW]:.0%} of the text")
    return Rule("text", "no clauses, questions, code or tables make up most of it")


def _sections(document: Document) -> Sequence[Section]:
    return document.sections or (Section((), 0, 0, len(document.text)),)


def _by_rule(
    rule: RuleName, document: Document, section: Section, pieces: Sequence[Piece], packer: Packer
) -> Iterator[tuple[Stretch, bool]]:
    """The stretches of a section; and whether one is settled, so that no table in it is set apart."""
    if rule == "contract":
        yield from clause_stretches(document, section, pieces, packer)
    elif rule == "faq":
        yield from faq_stretches(document, section, pieces, told=packer.is_whole(section.path))
    elif rule == "code" and is_code_name(document.name) and pieces:
        # A source file is read as paragraphs: its blank lines say nothing.
        yield Stretch(section.path, [Piece(pieces[0].start, pieces[-1].end, BlockKind.CODE)]), True
    else:
        yield Stretch(section.path, pieces), False


def _tables_apart(stretch: Stretch) -> Iterator[Stretch]:
    """The runs of rows, each with its caption before it, and what stands between them."""
    runs: list[list[Piece]] = []
    tabular = False
    for piece in stretch.pieces:
        if not runs or (piece.kind is BlockKind.ROW) != tabular:
            tabular = piece.kind is BlockKind.ROW
            caption = [runs[-1].pop()] if tabular and runs and _explains(runs[-1][-1], piece) else []
            runs.append(caption)
        runs[-1].append(piece)
    for run in runs:
        if run:
            yield replace(stretch, pieces=run)


def _explains(piece: Piece, other: Piece) -> bool:
    return (piece.start, piece.end) in other.under


def _by_definitions(document: Document, stretch: Stretch, packer: Packer) -> Sequence[Piece]:
    """The pieces, code as its functions and classes."""
    budget, _ = packer.budget(stretch.path, whole=stretch.whole)
    found: list[Piece] = []
    for piece in stretch.pieces:
        if piece.kind is BlockKind.CODE:
            found += code_pieces(document.text, piece, budget, packer.measure(piece.start, piece.end))
        else:
            found.append(piece)
    return found
