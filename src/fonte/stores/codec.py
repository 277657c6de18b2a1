"""A document's canonical text with its tables, as bytes and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import overload

import numpy as np

from fonte.errors import CorruptIndex
from fonte.stores import columns
from fonte.types import Acl, BlockKind, Cell, Document, Place, Section, Span, sha256_hex

_FORM = 1
_WORDS_LEVEL = 6
_TABLES_LEVEL = 1
"""zlib level: tables are small after deltas, and speed counts."""
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
        "cells": len(document.cells),
    }
    words = columns.pack([_json(head), document.text.encode("utf-8", "surrogatepass")])
    tables = columns.pack([_put_spans(document.spans), _put_places(document.places), _put_cells(document.cells)])
    return columns.pack([zlib.compress(words, _WORDS_LEVEL), zlib.compress(tables, _TABLES_LEVEL)])


def decode(data: bytes, acl: Acl) -> Document:
    """The document of ``encode``, readable by ``acl``.

    Raises:
        CorruptIndex: bytes that are damaged, or a text that does not have its hash.
    """
    try:
        return _decode(data, acl)
    except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
        message = f"a stored document is damaged: {error}"
        raise CorruptIndex(message, hint="restore a backup, or sync the document again") from error


def _decode(data: bytes, acl: Acl) -> Document:
    first, second = (columns.unpack(zlib.decompress(part)) for part in columns.unpack(data))
    (form, body), (spans, places, *cells) = first, second  # cells: not in what was written before they were kept
    head = json.loads(form.decode("utf-8", "surrogatepass"))
    text = body.decode("utf-8", "surrogatepass")
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
        cells=_get_cells(cells[0], head["cells"], len(text)) if cells else (),
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
            ("start", starts.tolist()),
            ("end", ends.tolist()),
            ("kind", [_KINDS[code] for code in columns.get_integers(kind_part).tolist()]),
            ("table", columns.Column.integers(table_part, rows).tolist()),
            ("header", map(bool, columns.get_integers(header_part).tolist())),
        ],
        rows,
    )


def _ranges(starts: bytes, lengths: bytes, rows: int, length: int) -> tuple[columns.Integers, columns.Integers]:
    """Starts and ends, all of them half-open ranges inside a text of ``length`` characters."""
    first = columns.get_integers(starts)
    last = first + columns.get_integers(lengths)
    if first.size != rows or bool(np.any((first < 0) | (last < first) | (last > length))):
        raise ValueError("a place lies outside its text")
    return first, last


def _put_cells(cells: Sequence[Cell]) -> bytes:
    return columns.pack(
        [
            columns.put_integers(one.column for one in cells),
            columns.put_integers(one.start for one in cells),
            columns.put_integers(one.end - one.start for one in cells),
        ]
    )


def _get_cells(data: bytes, rows: int, length: int) -> Cells:
    column_part, start_part, length_part = columns.unpack(data)
    starts, ends = _ranges(start_part, length_part, rows, length)
    numbers = columns.get_integers(column_part)
    if numbers.size != rows or bool(np.any(numbers < 0)):
        raise ValueError("a column has no number")
    return Cells(numbers, starts, ends)


class Cells(Sequence[Cell]):  # noqa: PLW1641  equal to tuples of cells, which hash otherwise
    """A document's cells out of columns, made when they are looked at: most questions compute nothing."""

    __slots__ = ("_columns", "_ends", "_starts")

    def __init__(self, numbers: columns.Integers, starts: columns.Integers, ends: columns.Integers) -> None:
        self._columns, self._starts, self._ends = numbers, starts, ends

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> Cell: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Cell, ...]: ...

    def __getitem__(self, at: int | slice) -> Cell | tuple[Cell, ...]:
        if isinstance(at, slice):
            return tuple(map(Cell, self._columns[at].tolist(), self._starts[at].tolist(), self._ends[at].tolist()))
        return Cell(int(self._columns[at]), int(self._starts[at]), int(self._ends[at]))

    def __iter__(self) -> Iterator[Cell]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self)} cells>"


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


def _get_places(data: bytes, rows: int, length: int) -> Places:
    parts = columns.unpack(data)
    starts, ends = _ranges(parts[0], parts[1], rows, length)
    corners = np.array([columns.get_floats(part) for part in parts[4:8]]).T
    boxes = columns.Column.spread(parts[3], corners, rows)
    pages, slides = (columns.Column.integers(part, rows) for part in (parts[2], parts[8]))
    times = [columns.Column.floats(part, rows) for part in parts[9:11]]
    lines = [columns.Column.integers(part, rows) for part in parts[14:16]]
    names = [columns.Choices.of(part, rows) for part in parts[11:14]]
    return Places(starts, ends, pages, boxes, slides, times, names, lines)


class Places(Sequence[Place]):  # noqa: PLW1641  equal to tuples of places, which hash otherwise
    """A document's places out of columns, each made when it is looked at: most questions look at a few dozen."""

    __slots__ = ("_boxes", "_ends", "_lines", "_names", "_pages", "_slides", "_starts", "_times")

    def __init__(
        self,
        starts: columns.Integers,
        ends: columns.Integers,
        pages: columns.Column,
        boxes: columns.Column,
        slides: columns.Column,
        times: Sequence[columns.Column],
        names: Sequence[columns.Choices],
        lines: Sequence[columns.Column],
    ) -> None:
        self._starts, self._ends, self._pages, self._boxes, self._slides = starts, ends, pages, boxes, slides
        self._times, self._names, self._lines = times, names, lines

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> Place: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Place, ...]: ...

    def __getitem__(self, at: int | slice) -> Place | tuple[Place, ...]:
        if isinstance(at, slice):
            return tuple(self._place(one) for one in range(*at.indices(len(self))))
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self._place(at % len(self))

    def _place(self, at: int) -> Place:
        box = self._boxes.at(at)
        first, until = (column.at(at) for column in self._times)
        top, bottom = (column.at(at) for column in self._lines)
        sheet, cells, anchor = (column.at(at) for column in self._names)
        return Place(
            start=int(self._starts[at]),
            end=int(self._ends[at]),
            page=self._pages.at(at),
            box=None if box is None else (box[0], box[1], box[2], box[3]),
            slide=self._slides.at(at),
            time=None if first is None else (first, until),
            sheet=sheet,
            range=cells,
            anchor=anchor,
            lines=None if top is None else (top, bottom),
        )

    def __iter__(self) -> Iterator[Place]:
        return map(self._place, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self)} places>"
