"""Contracts and regulations: numbered clauses, each with its number, the nested ones with the words they hang on.

A clause begins with ``Art. 5``, ``Section 3``, ``§ 4``, ``3.``, ``3.2``, ``3.2(a)``, ``(a)`` or ``(i)``. One that
fits is one chunk with all that hangs on it; of a longer one, each clause below it is cut on its own and told the words
above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fonte.text.chunking.packing import Packer, Stretch
from fonte.text.chunking.pieces import Piece
from fonte.text.chunking.tables import Range
from fonte.types import BlockKind, Document, Section

_ARTICLE = re.compile(
    r"(?:art(?:icolo|icle|ikel|\.)|section|sezione|clause|clausola|§{1,2})\s*(\d+(?:\.\d+)*(?:[-\s](?:bis|ter|quater))?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3})+|\d{1,3}(?=[.)]))[.)]?(?:\s|(?=\())")
_ITEM = re.compile(r"\(?([a-z]|[ivx]{1,6})\)\s", re.IGNORECASE)
_CLAUSE_KINDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi")
_LEAD = 300
"""Characters of a clause's first paragraph that those below it are told."""
_DEEPEST, _LETTER_DEPTH, _ROMAN_DEPTH = 9, 50, 60


@dataclass(slots=True)
class Clause:
    """A clause with its own pieces and those below it. ``depth`` 0 is an article, n a number of n parts."""

    number: str
    depth: int
    pieces: list[Piece] = field(default_factory=list)
    below: list[Clause] = field(default_factory=list)

    def every(self) -> list[Piece]:
        """Its pieces and those of all clauses below it, in order."""
        return [*self.pieces, *(piece for clause in self.below for piece in clause.every())]


def numbered(document: Document, sections: Sequence[tuple[Section, Sequence[Piece]]]) -> tuple[list[str], float]:
    """The numbers that only clauses have (articles, and numbers of several parts in the text); the clauses' share."""
    found: list[str] = []
    covered = 0
    for _, pieces in sections:
        clauses = [clause for clause in _tree(document, pieces) if clause.number]
        for piece in pieces:
            said = document.text[piece.start : piece.end]
            number, depth = _number(said, piece.kind)
            in_text = piece.kind is not BlockKind.HEADING and depth is not None and 1 < depth < _LETTER_DEPTH
            if in_text or (depth is not None and _ARTICLE.match(said)):
                found.append(number)
        covered += sum(clause.every()[-1].end - clause.every()[0].start for clause in clauses)
    return found, covered / max(1, len(document.text.strip()))


def clause_stretches(
    document: Document, section: Section, pieces: Sequence[Piece], packer: Packer
) -> Iterator[tuple[Stretch, bool]]:
    """The clauses of a section; and whether a stretch is one."""
    for clause in _tree(document, pieces):
        if clause.number:
            for stretch in _cut(document, section, clause, (), packer):
                yield stretch, True
        else:
            yield Stretch(section.path, clause.pieces), False


def _cut(
    document: Document, section: Section, clause: Clause, above: tuple[Range, ...], packer: Packer
) -> Iterator[Stretch]:
    """The clause whole where it fits; else its own words, and each clause below it told what it hangs on."""
    every = clause.every()
    start, end = every[0].start, every[-1].end
    own = (*above, _lead(document, clause.pieces[0]))
    if packer.measure(start, end).cost(start, end) <= packer.budget(section.path)[0] or not clause.below:
        yield Stretch(section.path, _items(document, clause, above))
        return
    items = [one for one in clause.below if one.depth >= _LETTER_DEPTH]
    numbers = [one for one in clause.below if one.depth < _LETTER_DEPTH]
    # Letters of one list share chunks; numbered clauses do not.
    listed = [piece for one in items for piece in _items(document, one, own)]
    yield Stretch(section.path, [*_under(clause.pieces, own), *listed])
    for one in numbers:
        yield from _cut(document, section, one, own, packer)


def _items(document: Document, clause: Clause, above: tuple[Range, ...]) -> list[Piece]:
    own = (*above, _lead(document, clause.pieces[0]))
    return [*_under(clause.pieces, own), *(piece for one in clause.below for piece in _items(document, one, own))]


def _under(pieces: Sequence[Piece], told: tuple[Range, ...]) -> list[Piece]:
    return [replace(piece, under=(*told, *piece.under)) for piece in pieces]


def _lead(document: Document, piece: Piece) -> Range:
    """A clause's number and the first words after it."""
    end = min(piece.end, piece.start + _LEAD)
    if end < piece.end:
        end = max(document.text.rfind(" ", piece.start, end), piece.start + 1)
    return piece.start, end


def _tree(document: Document, pieces: Sequence[Piece]) -> list[Clause]:
    """The outermost clauses of some pieces in order; what stands before the first is a clause without a number."""
    found: list[Clause] = []
    open_: list[Clause] = []
    for piece in pieces:
        number, depth = _number(document.text[piece.start : piece.end], piece.kind)
        if depth is None:
            if not open_:
                open_.append(Clause("", -1))
                found.append(open_[-1])
            open_[-1].pieces.append(piece)
            continue
        if depth == _LETTER_DEPTH and _is_roman(number, open_):
            depth = _ROMAN_DEPTH
        while open_ and (open_[-1].depth >= depth or not open_[-1].number):
            open_.pop()
        clause = Clause(number, depth, [piece])
        (open_[-1].below if open_ else found).append(clause)
        open_.append(clause)
    return found


def _number(said: str, kind: BlockKind) -> tuple[str, int | None]:
    """The clause number that a piece begins with, and its depth; ("", None) where it begins with none."""
    if kind not in _CLAUSE_KINDS:
        return "", None
    if match := _ARTICLE.match(said):
        return match.group(), min(match.group(1).count("."), _DEEPEST)
    if match := _NUMBER.match(said):
        return match.group(1), min(1 + match.group(1).count("."), _DEEPEST)
    if match := _ITEM.match(said):
        return match.group(1).casefold(), _LETTER_DEPTH
    return "", None


def _is_roman(number: str, open_: Sequence[Clause]) -> bool:
    """Whether ``(i)`` is one and not the letter after (h): by what it goes on from."""
    if number not in _ROMAN:
        return False
    before = [clause for clause in open_ if clause.depth >= _LETTER_DEPTH]
    at = _ROMAN.index(number)
    if before and before[-1].depth == _ROMAN_DEPTH:
        return at > 0 and before[-1].number == _ROMAN[at - 1]
    letters = [clause.number for clause in before if clause.depth == _LETTER_DEPTH]
    return at == 0 and (not letters or letters[-1] != "h")
