"""What a table's rows are read with: its caption and its column names.

A chunk that holds rows without them is told them in its header. A caption is a CAPTION block, or a paragraph that says
"Table 2", directly before its table, else directly after it; each belongs to one table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fonte.types import BlockKind, Document, Span

Range = tuple[int, int]

_NUMBERED = r"\s*(?:[A-Z]?\d+|[IVXLC]+\b)"
_OF_TABLE = re.compile(rf"(?:table|tabelle|tabella|tableau|tabla|tab\.){_NUMBERED}", re.IGNORECASE)
_OF_FIGURE = re.compile(rf"(?:figure|figura|fig\.|abbildung|chart|grafico){_NUMBERED}", re.IGNORECASE)
_LONGEST = 400
"""Characters of a paragraph that can be a caption."""


def read_with(document: Document) -> Mapping[int, tuple[Range, ...]]:
    """For the index in ``document.spans`` of every row of a table: what it is read with, in order.

    The caption first, then the header rows above it; of header rows that say the same (a table that goes on over pages)
    the nearest.
    """
    spans, text = document.spans, document.text
    captions = _captions(document)
    found: dict[int, tuple[Range, ...]] = {}
    names: dict[int, dict[str, Range]] = {}
    shared: dict[int, tuple[Range, ...]] = {}
    for index, span in enumerate(spans):
        if span.kind is not BlockKind.ROW or span.table is None:
            continue
        caption = captions.get(span.table)
        if span.header:
            names.setdefault(span.table, {})[" ".join(text[span.start : span.end].split())] = (span.start, span.end)
            shared[span.table] = tuple(([caption] if caption else []) + list(names[span.table].values()))
            found[index] = (caption,) if caption else ()
        else:
            found[index] = shared.setdefault(span.table, (caption,) if caption else ())
    return found


def _captions(document: Document) -> dict[int, Range]:
    """The caption of each table that has one."""
    spans = [span for span in document.spans if span.start < span.end]
    ends: dict[int, tuple[int, int]] = {}
    for index, span in enumerate(spans):
        if span.table is not None:
            ends[span.table] = (ends.get(span.table, (index, 0))[0], index)
    found: dict[int, Range] = {}
    used: set[int] = set()
    for table, (first, last) in ends.items():
        for index in (first - 1, last + 1):
            if index not in used and _is_caption(document, spans, index):
                used.add(index)
                found[table] = (spans[index].start, spans[index].end)
                break
    return found


def _is_caption(document: Document, spans: Sequence[Span], index: int) -> bool:
    if not 0 <= index < len(spans):
        return False
    span = spans[index]
    said = document.text[span.start : span.end].lstrip()
    if len(said) > _LONGEST or _OF_FIGURE.match(said):
        return False
    return span.kind is BlockKind.CAPTION or (span.kind is BlockKind.PARAGRAPH and _OF_TABLE.match(said) is not None)
