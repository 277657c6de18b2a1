"""What a parser process answers, in a form that is safe to read: JSON and columns of numbers, never pickle.

The child has read hostile bytes and may be in the hands of their author; ``decode_parsed`` therefore checks
everything and can make nothing but the types of ``Parsed``.
"""

from __future__ import annotations

import json
import math
import re
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fonte.errors import (
    EncryptedSource,
    FonteError,
    InputError,
    ParseError,
    ParserCrashed,
    ParseTimeout,
    SourceTooLarge,
    SourceUnreadable,
    UnsupportedMediaType,
)
from fonte.types import Block, BlockKind, Cell, Contents, Counts, Loss, Member, Parsed, Place

_HEAD = struct.Struct("<QQ??")
_INTEGER, _BYTES = "i", array("i").itemsize
_ABSENT = -1
_KINDS = tuple(BlockKind)
_INTEGERS = ("count", "start", "end", "page", "slide", "line", "last")
"""Columns of integers: places of each block, then for each place its fields (-1: absent)."""


_ERRORS: dict[str, type[FonteError]] = {
    error.code: error
    for error in (
        ParseError, ParseTimeout, ParserCrashed, EncryptedSource, SourceTooLarge, SourceUnreadable, InputError,
        UnsupportedMediaType,
    )
}  # fmt: skip
"""What a child may tell of a source."""
_HASH = re.compile("[0-9a-f]{64}")


_NO_BOX, _NO_TIME = (math.nan,) * 4, (math.nan,) * 2
_AT_ONCE = 20_000
"""Places whose boxes are written at once."""


class BadReply(ValueError):
    """An answer that is not what ``encode_parsed`` writes."""


def encode_parsed(parsed: Parsed) -> bytearray:
    """The value as bytes: sizes, a JSON object, integers of four bytes by column, floats (all boxes, then all times).

    Boxes or times of which there are none are left out; NaN stands for single ones that are absent.

    A long document has some hundred thousand places: they are written column by column, never held twice.
    """
    places = [place for block in parsed.blocks for place in block.places]
    columns: list[Iterable[int]] = [
        (len(block.places) for block in parsed.blocks),
        (place.start for place in places),
        (place.end for place in places),
        (_ABSENT if place.page is None else place.page for place in places),
        (_ABSENT if place.slide is None else place.slide for place in places),
        (_ABSENT if place.lines is None else place.lines[0] for place in places),
        (_ABSENT if place.lines is None else place.lines[1] for place in places),
    ]
    integer_count = len(parsed.blocks) + (len(columns) - 1) * len(places)
    boxes = any(place.box is not None for place in places)
    times = any(place.time is not None for place in places)
    head = json.dumps(_head(parsed, places)).encode()
    reply = bytearray(_HEAD.pack(len(head), integer_count, boxes, times))
    reply += head
    for column in columns:
        reply += array(_INTEGER, column).tobytes()
    for first in range(0, len(places) if boxes else 0, _AT_ONCE):
        part = places[first : first + _AT_ONCE]
        reply += array("d", (number for place in part for number in (place.box or _NO_BOX))).tobytes()
    if times:
        reply += array("d", (number for place in places for number in (place.time or _NO_TIME))).tobytes()
    return reply


def _head(parsed: Parsed, places: Sequence[Place]) -> dict[str, object]:
    counts = parsed.source_counts
    return {
        "kinds": [_KINDS.index(block.kind) for block in parsed.blocks],
        "texts": [block.text for block in parsed.blocks],
        "levels": [block.level for block in parsed.blocks],
        "befores": [block.before for block in parsed.blocks],
        "tables": [block.table for block in parsed.blocks],
        "headers": [block.header for block in parsed.blocks],
        "cells": [[number for cell in block.cells for number in cell] for block in parsed.blocks],
        "sheets": _column([place.sheet for place in places]),
        "ranges": _column([place.range for place in places]),
        "anchors": _column([place.anchor for place in places]),
        "parser": parsed.parser,
        "title": parsed.title,
        "media_type": parsed.media_type,
        "page_labels": parsed.page_labels,
        "pages": parsed.pages,
        "counts": [counts.characters, counts.words, counts.numbers, counts.rows, counts.pages],
        "losses": [[loss.code, loss.message, loss.count] for loss in parsed.losses],
        "metadata": dict(parsed.metadata),
        "verbatim": parsed.verbatim,
        "tail": parsed.tail,
        "empty_reason": parsed.empty_reason,
    }


def _column(values: list[str | None]) -> list[str | None]:
    return values if any(value is not None for value in values) else []


def decode_parsed(data: bytes | bytearray) -> Parsed:
    """What ``encode_parsed`` was given.

    Raises:
        BadReply: anything else.
    """
    try:
        return _decode(data)
    except BadReply:
        raise
    except (ValueError, KeyError, IndexError, TypeError, struct.error, RecursionError) as error:
        raise BadReply(f"{type(error).__name__}: {error}") from error


def _decode(data: bytes | bytearray) -> Parsed:
    head_size, integer_count, has_boxes, has_times = _HEAD.unpack_from(data)
    middle = _HEAD.size + head_size
    split = middle + _BYTES * integer_count
    _require(split <= len(data), "sizes do not add up")
    head = _mapping(json.loads(bytes(data[_HEAD.size : middle]), parse_constant=_refuse))
    integers, floats = array(_INTEGER), array("d")
    integers.frombytes(bytes(data[middle:split]))
    floats.frombytes(bytes(data[split:]))
    texts = _strings(head["texts"])
    counts = _integers(head["counts"], 5)
    labels = tuple(_strings(head["page_labels"]))
    return Parsed(
        blocks=tuple(_blocks(head, texts, integers.tolist(), floats.tolist(), (has_boxes, has_times))),
        parser=_string(head["parser"]),
        title=_string_or_none(head["title"]),
        media_type=_string(head["media_type"]),
        page_labels=labels,
        pages=_integer_or_none(head["pages"]),
        source_counts=Counts(*counts),
        losses=tuple(_loss(item) for item in _list(head["losses"])),
        metadata={_string(key): _string(value) for key, value in _mapping(head["metadata"]).items()},
        verbatim=_boolean(head["verbatim"]),
        tail=_string(head["tail"]),
        empty_reason=_string_or_none(head["empty_reason"]),
    )


def encode_error(error: FonteError) -> bytes:
    """An error as bytes."""
    return json.dumps(_told(error)).encode()


def decode_error(data: bytes | bytearray, uri: str) -> FonteError:
    """What ``encode_error`` was given, about the source at ``uri``.

    Raises:
        BadReply: anything else.
    """
    try:
        return _error(json.loads(bytes(data)), uri)
    except BadReply:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadReply(f"{type(error).__name__}: {error}") from error


def encode_contents(contents: Contents) -> bytes:
    """What a container holds as bytes (JSON)."""
    members = [[list(one.inside), one.content_hash, _told(one.error), one.own] for one in contents.members]
    return json.dumps({"members": members, "itself": contents.itself, "error": _told(contents.error)}).encode()


def decode_contents(data: bytes | bytearray) -> Contents:
    """What ``encode_contents`` was given.

    Raises:
        BadReply: anything else.
    """
    try:
        head = _mapping(json.loads(bytes(data)))
        members = tuple(_member(item) for item in _list(head["members"]))
        error = None if head["error"] is None else _error(head["error"], "")
        return Contents(members, _boolean(head["itself"]), error)
    except BadReply:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadReply(f"{type(error).__name__}: {error}") from error


def _member(item: object) -> Member:
    inside, content_hash, error, own = _list(item, 4)
    names = tuple(_strings(inside))
    _require(bool(names) and all(names), "a member without a name")
    told = None if error is None else _error(error, "")
    _require((told is None) == (_HASH.fullmatch(_string(content_hash)) is not None), "no hash and no reason")
    return Member(names, content_hash, told, _string(own))


def _told(error: Exception | None) -> dict[str, object] | None:
    if not isinstance(error, FonteError):
        return None
    page = error.page if isinstance(error, ParseError) else None
    return {"code": error.code, "message": error.message, "hint": error.hint, "page": page}


def _error(value: object, uri: str) -> FonteError:
    told = _mapping(value)
    kind = _ERRORS.get(_string(told["code"]), ParseError)
    message, hint = _string(told["message"]), _string(told["hint"])
    if issubclass(kind, ParseError):
        page = told["page"]
        return kind(message, hint=hint, uri=uri, page=page if isinstance(page, int) else None)
    return kind(message, hint=hint)


def _blocks(
    head: Mapping[str, Any], texts: list[str], integers: list[int], floats: list[float], measured: tuple[bool, bool]
) -> list[Block]:
    size = len(texts)
    rest = len(integers) - size
    _require(rest >= 0 and rest % (len(_INTEGERS) - 1) == 0, "integer columns of odd length")
    total = rest // (len(_INTEGERS) - 1)
    per_block = integers[:size]
    _require(all(count >= 0 for count in per_block) and sum(per_block) == total, "places do not add up")
    places = _places(head, integers[size:], floats, measured, total)
    kinds, levels, headers = (_list(head[name], size) for name in ("kinds", "levels", "headers"))
    befores, tables, cells = (_list(head[name], size) for name in ("befores", "tables", "cells"))
    blocks: list[Block] = []
    done = 0
    for index, text in enumerate(texts):
        following = done + per_block[index]
        blocks.append(
            Block(
                kind=_KINDS[_integer(kinds[index])],
                text=text,
                level=_integer(levels[index]),
                places=tuple(places[done:following]),
                before=_string_or_none(befores[index]),
                table=_integer_or_none(tables[index]),
                header=_boolean(headers[index]),
                cells=_cells(cells[index]),
            )
        )
        done = following
    return blocks


def _cells(value: object) -> tuple[Cell, ...]:
    numbers = [_integer(number) for number in _list(value)]
    _require(len(numbers) % 3 == 0, "half a cell")
    return tuple(map(Cell, numbers[::3], numbers[1::3], numbers[2::3]))


def _places(
    head: Mapping[str, Any], integers: list[int], floats: list[float], measured: tuple[bool, bool], total: int
) -> list[Place]:
    starts, ends, pages, slides, firsts, lasts = (integers[at * total : (at + 1) * total] for at in range(6))
    sheets, ranges, anchors = (_texts_or_none(head[name], total) for name in ("sheets", "ranges", "anchors"))
    split = len(_NO_BOX) * total if measured[0] else 0
    _require(len(floats) - split == (len(_NO_TIME) * total if measured[1] else 0), "float columns of odd length")
    boxes, times = _measures(floats[:split], total, 4), _measures(floats[split:], total, 2)
    columns = zip(
        starts, ends, _optional(pages), boxes, _optional(slides), times,
        sheets, ranges, anchors, _lines(firsts, lasts), strict=True,
    )  # fmt: skip
    return [Place(*fields) for fields in columns]


def _optional(values: list[int]) -> list[int | None]:
    return [None if value == _ABSENT else value for value in values]


def _lines(firsts: list[int], lasts: list[int]) -> list[tuple[int, int] | None]:
    return [None if first == _ABSENT else (first, last) for first, last in zip(firsts, lasts, strict=True)]


def _measures(floats: list[float], total: int, width: int) -> list[Any]:
    """Tuples of ``width`` numbers, None for those that are absent."""
    columns = [floats[at::width] for at in range(width)]
    _all_or_none(columns)
    if not floats:
        return [None] * total
    return [None if math.isnan(values[0]) else values for values in zip(*columns, strict=True)]


def _all_or_none(columns: list[list[float]]) -> None:
    """Each row is finite or wholly absent (NaN)."""
    finite = [list(map(math.isfinite, column)) for column in columns]
    _require(all(column == finite[0] for column in finite), "half a place")
    _require(not any(map(math.isinf, (value for column in columns for value in column))), "not a finite place")


def _require(fine: bool, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not fine:
        raise BadReply(message)


def _refuse(name: str) -> object:
    raise BadReply(f"{name} is no number here")


def _loss(item: object) -> Loss:
    code, message, count = _list(item, 3)
    return Loss(_string(code), _string(message), _integer(count))


def _list(value: object, size: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (size is not None and len(value) != size):
        raise BadReply("not the promised list")
    return value


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadReply("not an object")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise BadReply("not a string")
    return value


def _string_or_none(value: object) -> str | None:
    return None if value is None else _string(value)


def _strings(value: object) -> list[str]:
    return [_string(item) for item in _list(value)]


def _texts_or_none(value: object, size: int) -> list[str | None]:
    if value == []:
        return [None] * size
    return [_string_or_none(item) for item in _list(value, size)]


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadReply("not an integer")
    return value


def _integers(value: object, size: int) -> list[int]:
    return [_integer(item) for item in _list(value, size)]


def _integer_or_none(value: object) -> int | None:
    return None if value is None else _integer(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadReply("not a truth value")
    return value
