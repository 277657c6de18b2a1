"""A document's canonical text with its tables, as bytes and back."""

from __future__ import annotations

import gc
import json
import zlib
from collections.abc import Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import numpy as np

from fonte.errors import CorruptIndex
from fonte.stores import columns
from fonte.types import Acl, BlockKind, Box, Document, Place, Section, Span, sha256_hex

_FORM = 1
_KINDS = tuple(BlockKind)


def encode(document: Document) -> bytes:
    """Everything of a document but its rights, which are not part of a text."""
    head = {
        "form": _FORM,
        "id": document.id,
        "tenant": document.tenant,
        "uri": document.uri,
        "name": document.name,
        "version": document.version,
        "title": document.title,
        "language": document.language,
        "media_type": document.media_type,
        "parser": document.parser,
        "sections": [[list(one.path), one.start, one.body_start, one.end] for one in document.sections],
        "page_labels": list(document.page_labels),
        "pages": document.pages,
        "lines_are_source_lines": document.lines_are_source_lines,
        "metadata": dict(document.metadata),
        "modified_at": document.modified_at.isoformat() if document.modified_at else None,
        "text_hash": document.text_hash,
        "spans": len(document.spans),
        "places": len(document.places),
    }
    return columns.pack(
        [
            zlib.compress(_json(head), 6),
            zlib.compress(document.text.encode("utf-8", "surrogatepass"), 6),
            _put_spans(document.spans),
            _put_places(document.places),
        ]
    )


def decode(data: bytes, acl: Acl) -> Document:
    """The document of ``encode``, readable by ``acl``.

    Raises:
        CorruptIndex: bytes that are damaged, or a text that does not have its hash.
    """
    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of records without cycles: the collector would only walk them again and again
    try:
        return _decode(data, acl)
    except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
        message = f"a stored document is damaged: {error}"
        raise CorruptIndex(message, hint="restore a backup, or sync the document again") from error
    finally:
        if collecting:
            gc.enable()


def _decode(data: bytes, acl: Acl) -> Document:
    first, second, spans, places = columns.unpack(data)
    head = json.loads(zlib.decompress(first).decode("utf-8", "surrogatepass"))
    text = zlib.decompress(second).decode("utf-8", "surrogatepass")
    if head["form"] != _FORM or sha256_hex(text.encode("utf-8", "surrogatepass")) != head["text_hash"]:
        raise ValueError("its text does not have its hash")
    return Document(
        id=head["id"],
        tenant=head["tenant"],
        uri=head["uri"],
        name=head["name"],
        version=head["version"],
        title=head["title"],
        text=text,
        acl=acl,
        language=head["language"],
        media_type=head["media_type"],
        parser=head["parser"],
        sections=tuple(Section(tuple(path), start, body, end) for path, start, body, end in head["sections"]),
        spans=_get_spans(spans, head["spans"], len(text)),
        places=_get_places(places, head["places"], len(text)),
        page_labels=tuple(head["page_labels"]),
        pages=head["pages"],
        lines_are_source_lines=head["lines_are_source_lines"],
        metadata=head["metadata"],
        modified_at=datetime.fromisoformat(head["modified_at"]) if head["modified_at"] else None,
    )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _put_spans(spans: Sequence[Span]) -> bytes:
    return columns.pack(
        [
            columns.put_integers(one.start for one in spans),
            columns.put_integers(one.end - one.start for one in spans),
            columns.put_integers(_KINDS.index(one.kind) for one in spans),
            columns.put_optional([one.table for one in spans], columns.put_integers),
            columns.put_integers(int(one.header) for one in spans),
        ]
    )


def _get_spans(data: bytes, rows: int, length: int) -> tuple[Span, ...]:
    start_part, length_part, kind_part, table_part, header_part = columns.unpack(data)
    starts, ends = _ranges(start_part, length_part, rows, length)
    return columns.build(
        Span,
        [
            ("start", starts),
            ("end", ends),
            ("kind", [_KINDS[code] for code in columns.get_integers(kind_part).tolist()]),
            ("table", columns.get_optional(table_part, columns.get_integers, rows)),
            ("header", map(bool, columns.get_integers(header_part).tolist())),
        ],
        rows,
    )


def _ranges(starts: bytes, lengths: bytes, rows: int, length: int) -> tuple[list[int], list[int]]:
    """Starts and ends, all of them half-open ranges inside a text of ``length`` characters."""
    first = columns.get_integers(starts)
    last = first + columns.get_integers(lengths)
    if first.size != rows or bool(np.any((first < 0) | (last < first) | (last > length))):
        raise ValueError("a place lies outside its text")
    return first.tolist(), last.tolist()


def _put_places(places: Sequence[Place]) -> bytes:
    boxes = [one.box for one in places if one.box is not None]
    return columns.pack(
        [
            columns.put_integers(one.start for one in places),
            columns.put_integers(one.end - one.start for one in places),
            columns.put_optional([one.page for one in places], columns.put_integers),
            columns.put_optional([0 if one.box is not None else None for one in places], columns.put_integers),
            *(columns.put_floats([box[corner] for box in boxes]) for corner in range(4)),
            columns.put_optional([one.slide for one in places], columns.put_integers),
            *(
                columns.put_optional([one.time[end] if one.time else None for one in places], columns.put_floats)
                for end in range(2)
            ),
            columns.put_choices([one.sheet for one in places]),
            columns.put_choices([one.range for one in places]),
            columns.put_choices([one.anchor for one in places]),
            *(
                columns.put_optional([one.lines[end] if one.lines else None for one in places], columns.put_integers)
                for end in range(2)
            ),
        ]
    )


def _get_places(data: bytes, rows: int, length: int) -> tuple[Place, ...]:
    parts = columns.unpack(data)
    starts, ends = _ranges(parts[0], parts[1], rows, length)
    corners = [columns.get_floats(part).tolist() for part in parts[4:8]]
    boxes: list[Box | None] = list(zip(*corners, strict=True))
    if len(boxes) != rows:
        boxed = iter(boxes)
        has_box = columns.get_optional(parts[3], columns.get_integers, rows)
        boxes = [None if mark is None else next(boxed) for mark in has_box]
    return columns.build(
        Place,
        [
            ("start", starts),
            ("end", ends),
            ("page", columns.get_optional(parts[2], columns.get_integers, rows)),
            ("box", boxes),
            ("slide", columns.get_optional(parts[8], columns.get_integers, rows)),
            ("time", _pairs(parts[9], parts[10], columns.get_floats, rows)),
            ("sheet", columns.get_choices(parts[11])),
            ("range", columns.get_choices(parts[12])),
            ("anchor", columns.get_choices(parts[13])),
            ("lines", _pairs(parts[14], parts[15], columns.get_integers, rows)),
        ],
        rows,
    )


def _pairs(first: bytes, second: bytes, get: Any, rows: int) -> Any:
    firsts = columns.get_optional(first, get, rows)
    if firsts.count(None) == rows:
        return repeat(None, rows)
    seconds = columns.get_optional(second, get, rows)
    return [None if one is None else (one, other) for one, other in zip(firsts, seconds, strict=True)]
