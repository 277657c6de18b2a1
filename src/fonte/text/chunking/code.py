"""Code by its functions and classes, by a light rule set over many languages: no grammar, lines and indentation.

A definition begins at a line that looks like one in some common language, with the comments and decorators right above
it; it ends where its indentation ends. What lies between definitions stays together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from fonte.text.chunking.measure import Measure
from fonte.text.chunking.pieces import Piece
from fonte.text.chunking.tables import Range
from fonte.types import BlockKind

SUFFIXES = frozenset(
    ".py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hpp .cs .go .rs .rb .php "
    ".swift .m .mm .sh .bash .zsh .ps1 .pl .pm .lua .r .jl .sql .dart .ex .exs .zig .vb .proto".split()
)
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|sealed|open|suspend|inline|async"
    r"|export|default|declare|unsafe|const|extern|pub(?:\([^)]*\))?)\s+)*"
)
_DEFINES = re.compile(
    rf"""\s*{_MODIFIERS}(?:
        (?:def|class|function\*?|interface|enum|struct|trait|impl|mod|module|namespace|record|object|protocol|extension
          |fn|fun|func|sub|macro|union|contract|message|service|defmodule|defp?)\b[^=;]*
        |type\s+\w+\s+(?:struct|interface)\b.*
        |(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>.*
        |create\s+(?:or\s+replace\s+)?(?:\w+\s+)?(?:table|view|function|procedure|trigger|index|type)\b.*
        |[\w-]+\s*\(\)\s*\{{.*
        |(?!(?:if|for|while|switch|catch|return|else|elif|do|with|using|lock|when|unless|until|and|or|not|from|import
            |raise|assert|await|yield|throw|new|delete|echo|print|go|defer|case|package|use|require|include|select)\b)
          [A-Za-z_][\w:<>,.*&\[\]?]*\s+[\w:<>,.*&\[\]?\s]*\w\s*\([^;=]*\)\s*(?:(?:const|noexcept|throws|->|:)[^;={{]*)?\{{?\s*
    )$""",
    re.VERBOSE | re.IGNORECASE,
)
_DEEPEST = 8
"""Definitions inside definitions that are looked for."""
_LONGEST = 300
"""Characters of a line that can define something."""
_ABOVE = re.compile(r"\s*(?:@|\#|//|/\*|\*|--\s|'''|\"\"\"|\[[A-Z])")
_CLOSES = re.compile(r"\s*(?:[)\]}{]|end\b|else\b|except\b|finally\b|catch\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A definition, or lines between two. ``head`` is the line that defines."""

    start: int
    end: int
    head: Range | None = None


def is_code_name(name: str) -> bool:
    """Whether a file's name says that it is source code."""
    return PurePosixPath(name).suffix.casefold() in SUFFIXES


def code_pieces(text: str, piece: Piece, budget: int, measure: Measure) -> Iterator[Piece]:
    """Code as definitions that stay whole; of one that passes the budget, the definitions inside it, told its head."""
    yield from _pieces(text, (piece.start, piece.end), piece.under, budget, measure, depth=0)


def _pieces(
    text: str, where: Range, under: tuple[Range, ...], budget: int, measure: Measure, *, depth: int
) -> Iterator[Piece]:
    for part in definitions(text, *where):
        own = (*under, part.head) if part.head else under
        fits = measure.cost(part.start, part.end) <= budget or part.head is None or depth == _DEEPEST
        inner = [] if fits or part.head is None else definitions(text, part.head[1], part.end)
        if not any(one.head for one in inner):
            yield Piece(part.start, part.end, BlockKind.CODE, own)
            continue
        first = inner[0].start if inner[0].head else inner[0].end
        low, high = _trimmed(text, part.start, first)
        if low < high:
            yield Piece(low, high, BlockKind.CODE, own)
        yield from _pieces(text, (first, part.end), own, budget, measure, depth=depth + 1)


def definitions(text: str, start: int, end: int) -> Sequence[Part]:
    """The definitions of the outermost level in a range, and what lies between them; together all of its text."""
    lines = [line for line in _lines(text, start, end) if text[line[0] : line[1]].strip()]
    if not lines:
        return []
    level = min(_indent(text, line) for line in lines)
    edges: list[tuple[int, Range | None]] = [(0, None)]
    inside = False
    for number, line in enumerate(lines):
        if _indent(text, line) > level:
            continue
        words = text[line[0] : line[1]]
        if _DEFINES.match(words) is not None:
            at = number
            while at > edges[-1][0] and _above(text, lines[at - 1], level):
                at -= 1
            if edges[-1] == (at, None):
                edges.pop()
            edges.append((at, _trimmed(text, *line)))
            inside = True
        elif inside and not _CLOSES.match(words):
            edges.append((number, None))
            inside = False
    stops = [at for at, _ in edges[1:]] + [len(lines)]
    return [
        Part(*_trimmed(text, lines[at][0], lines[stop - 1][1]), head)
        for (at, head), stop in zip(edges, stops, strict=True)
        if stop > at
    ]


def _above(text: str, line: Range, level: int) -> bool:
    """Whether a line is a comment or decorator of the definition below it."""
    return _indent(text, line) <= level and _ABOVE.match(text[line[0] : line[1]]) is not None


def _lines(text: str, start: int, end: int) -> list[Range]:
    """Lines of a range. The first one's indentation counts though the range begins behind it."""
    found: list[Range] = []
    at = start
    while at < end:
        stop = text.find("\n", at, end) + 1 or end
        found.append((at, stop))
        at = stop
    return found


def _indent(text: str, line: Range) -> int:
    """Columns before a line's first character, a tab as eight."""
    begin = text.rfind("\n", 0, line[0]) + 1
    return len(text[begin : line[1]].expandtabs()) - len(text[begin : line[1]].expandtabs().lstrip())


def _trimmed(text: str, start: int, end: int) -> Range:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
