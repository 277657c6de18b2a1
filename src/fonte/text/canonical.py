"""Blocks to one canonical string with its offset tables.

Every offset in fonte is a half-open range of code points into this string. Characters are kept as they are (no
Unicode normalisation: a quote must equal its source) but for NUL and lone surrogates, which no store can hold: each
becomes one U+FFFD, so that offsets do not move.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from fonte.text.dates import with_iso_dates
from fonte.text.language import detect
from fonte.types import Block, BlockKind, Cell, Document, Parsed, Place, Section, Source, Span, document_id

NORMALISER_VERSION: Final = "canonical-1"
"""Changes whenever the same blocks would give another canonical text."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def canonicalise(parsed: Parsed, source: Source, *, tenant: str) -> Document:
    """The document of one version of a source: text, sections, spans (one a block, in order) and places.

    Blocks are joined by their own ``before``; without one by a line end between neighbouring list items and between
    rows of one table, by a blank line elsewhere. An empty block without ``before`` adds nothing.
    """
    blocks = parsed.blocks
    pieces: list[str] = []
    spans: list[Span] = []
    places: list[Place] = []
    cells: list[Cell] = []
    at = 0
    previous: Block | None = None
    for block in blocks:
        between = _separator(previous, block)
        start = at + len(between)
        at = start + len(block.text)
        pieces += (between, block.text)
        spans.append(Span(block.kind, start, at, block.table, block.header))
        places += [place.shifted(start) for place in block.places]
        cells += [cell.shifted(start) for cell in block.cells]
        if block.text:
            previous = block
    text = storable("".join([*pieces, parsed.tail]))
    sections, first_heading = _sections(text, blocks, spans)
    language = source.language or detect(text)
    named = " ".join(storable(source.metadata.get("title") or parsed.title or "").split())
    return Document(
        id=document_id(tenant, source.uri),
        tenant=tenant,
        uri=source.uri,
        name=source.name,
        version=source.content_hash,
        title=named or first_heading or _stem(source.name),
        text=text,
        acl=source.acl,
        language=language,
        media_type=parsed.media_type,
        parser=parsed.parser,
        sections=sections,
        spans=tuple(spans),
        places=_tidy(places, len(text)) if source.line is None else in_line(source.line, len(text)),
        cells=tuple(cells),
        page_labels=tuple(map(storable, parsed.page_labels)),
        pages=parsed.pages,
        lines_are_source_lines=parsed.verbatim,
        metadata=with_iso_dates(
            {storable(key): storable(value) for key, value in {**parsed.metadata, **source.metadata}.items()}, language
        ),
        modified_at=source.modified_at,
    )


def in_line(line: int, length: int) -> tuple[Place, ...]:
    """The places of a record's text: all of it stands in one line of a file."""
    return (Place(0, length, lines=(line, line)),) if length else ()


def storable(text: str) -> str:
    """The text with every NUL and lone surrogate as one U+FFFD; the same object when there is none."""
    return _UNSTORABLE.sub("\ufffd", text)


def _separator(previous: Block | None, block: Block) -> str:
    if block.before is not None:
        return block.before
    if previous is None or not block.text:
        return ""
    if previous.kind is block.kind is BlockKind.LIST_ITEM:
        return "\n"
    if previous.kind is block.kind is BlockKind.ROW and previous.table == block.table:
        return "\n"
    return "\n\n"


def _stem(name: str) -> str:
    path = PurePosixPath(storable(name))
    return path.stem or path.name or storable(name)


def _sections(text: str, blocks: Iterable[Block], spans: list[Span]) -> tuple[tuple[Section, ...], str]:
    """Sections in order, covering the whole text; and the first level-1 heading ("" when there is none)."""
    open_path: list[tuple[int, str]] = []
    starts: list[tuple[tuple[str, ...], int, int]] = [((), 0, 0)]
    first = ""
    for block, span in zip(blocks, spans, strict=True):
        if block.kind is not BlockKind.HEADING:
            continue
        name = " ".join(text[span.start : span.end].split())
        if not name:
            continue
        while open_path and open_path[-1][0] >= block.level:
            open_path.pop()
        open_path.append((block.level, name))
        if block.level == 1 and not first:
            first = name
        starts.append((tuple(heading for _, heading in open_path), span.start, span.end))
    sections: list[Section] = []
    ends = [start for _, start, _ in starts[1:]] + [len(text)]
    for (path, start, heading_end), end in zip(starts, ends, strict=True):
        if start == end:
            continue
        body = min(heading_end, end)
        while path and body < end and text[body].isspace():
            body += 1
        sections.append(Section(path, start, body, end))
    return tuple(sections), first


def _tidy(places: list[Place], length: int) -> tuple[Place, ...]:
    """Sorted, clipped to the text and to each other. What is left empty goes, unless it is an anchor."""
    kept: list[Place] = []
    reached = 0
    for place in sorted(places, key=lambda place: (place.start, place.end)):
        start, end = max(place.start, reached), min(place.end, length)
        if start > end or (start == end and place.anchor is None):
            continue
        inner = place if (start, end) == (place.start, place.end) else replace(place, start=start, end=end)
        kept.append(replace(inner, anchor=storable(inner.anchor)) if inner.anchor is not None else inner)
        reached = end
    return tuple(kept)
