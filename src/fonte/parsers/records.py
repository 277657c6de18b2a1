"""JSON: one record of a file of records, JSON lines, and JSON files. Numbers stay as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.plain import decoded_body, undecoded, verbatim_blocks
from fonte.parsers.tables import joined_line
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Place, Source

_WHITE = re.compile(r"[ \t\n\r]*")
_TITLES = ("title", "name")
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object with its members in order, repeated keys kept."""

    members: tuple[tuple[str, Json], ...]

    def first(self, key: str) -> Json:
        """The value of a key (the last one given, as JSON readers do), or None."""
        return next((value for name, value in reversed(self.members) if name == key), None)


Json: TypeAlias = "JsonObject | list[Json] | str | bool | None"
"""A JSON value; numbers are strings, exactly as written."""

_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: JsonObject(tuple(pairs)), parse_int=str, parse_float=str, parse_constant=str
)


class _Members(list[tuple[str, object]]):
    """An object's members as the second reading sees them."""


_COUNTER = json.JSONDecoder(object_pairs_hook=_Members, parse_int=str, parse_float=str, parse_constant=str)
"""Reads a source a second time, to count in it what the blocks must hold."""


class RecordParser:
    """One record. ``text`` (with ``title``) is taken verbatim; any other object gives a paragraph for each value."""

    name = "record/1"

    def parse(self, source: Source) -> Parsed:
        """The record's text.

        Raises:
            ParseError: not a JSON object.
        """
        body = decoded_body(source).text
        record = _loads(body, source.uri)
        if not isinstance(record, JsonObject):
            raise ParseError("a record must be a JSON object", uri=source.uri)
        text, title = record.first("text"), _title(record)
        if isinstance(text, str) and text.strip():
            return self._verbatim(record, text, title)
        if isinstance(text, str) and title is not None:
            blocks: tuple[Block, ...] = (Block(BlockKind.PARAGRAPH, title),)
        else:
            blocks = tuple(Block(BlockKind.PARAGRAPH, f"{path}: {value}") for path, value in leaves(record))
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=title,
            source_counts=_counted_record(body),
            metadata=_scalars(record),
            empty_reason=None if blocks else "empty",
        )

    def _verbatim(self, record: JsonObject, text: str, title: str | None) -> Parsed:
        blocks, tail = verbatim_blocks(text)
        plain = tuple(Block(block.kind, block.text, before=block.before) for block in blocks)
        return Parsed(
            blocks=plain,
            parser=self.name,
            title=title,
            source_counts=count_text(text),
            metadata=_scalars(record),
            tail=tail,  # not verbatim: the text's lines are no lines of the file
        )


class JsonLinesParser:
    """A file of JSON lines as one document: a row ``key: value; …`` for each record, with its line."""

    name = "jsonl/2"

    def parse(self, source: Source) -> Parsed:
        """A row for each line; lines that are not JSON are told as a loss.

        Raises:
            ParseError: no line at all is JSON.
        """
        decoded = decoded_body(source)
        blocks: list[Block] = []
        bad: list[int] = []
        columns: dict[str, int] = {}
        lines = normalise_newlines(decoded.text).split("\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = _DECODER.decode(line.strip())
            except (ValueError, RecursionError):
                bad.append(number)
                continue
            blocks.extend(_record_block(value, (number, number), columns))
        if bad and not blocks:
            raise ParseError(f"no line is JSON (the first that is not: line {bad[0]})", uri=source.uri)
        losses = undecoded(decoded)
        if bad:
            some = ", ".join(map(str, bad[:20]))
            losses = (*losses, Loss("bad_line", f"lines that are not JSON: {some}", len(bad)))
        counts = _counted([one for line in lines if (one := _again(line)) is not None])
        return _parsed(self.name, blocks, losses, decoded.encoding, counts)


class JsonParser:
    """A JSON file as one document: a row for each record of an array, a paragraph for every other value."""

    name = "json/2"

    def parse(self, source: Source) -> Parsed:
        """Rows and paragraphs in order.

        Raises:
            ParseError: not JSON; the message says where.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        start = _skip_white(text, 0)
        blocks: list[Block] = []
        columns: dict[str, int] = {}
        if text.startswith("[", start):
            for value, lines in _array_items(text, start + 1, source.uri):
                blocks.extend(_record_block(value, lines, columns))
        else:
            value = _loads(text, source.uri)
            blocks = list(_object_blocks(value))
        return _parsed(self.name, blocks, undecoded(decoded), decoded.encoding, _counted_file(_again(text)))


def leaves(value: Json) -> Iterator[tuple[str, str]]:
    """(dotted path, text) of every value that has text, in order; members of arrays have their number from 0."""
    stack: list[tuple[str, Json]] = [("", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, JsonObject):
            inner: Sequence[tuple[str, Json]] = item.members
        elif isinstance(item, list):
            inner = [(str(index), member) for index, member in enumerate(item)]
        else:
            text = {True: "true", False: "false", None: ""}.get(item, item) if not isinstance(item, str) else item
            if isinstance(text, str) and text.strip():
                yield path, text.strip()
            continue
        stack.extend((f"{path}.{key}" if path else key, member) for key, member in reversed(inner))


def _again(text: str) -> object:
    """The text's JSON value, read for counting; None where there is none."""
    try:
        return _COUNTER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _said(value: object, path: str = "") -> list[str]:
    """Every value that has text, after the path to it."""
    said: list[str] = []
    left: list[tuple[str, object]] = [(path, value)]
    while left:
        at, one = left.pop()
        before = f"{at}." if at else ""
        if isinstance(one, _Members):
            left += [(before + name, member) for name, member in one]
        elif isinstance(one, list):
            left += [(f"{before}{number}", member) for number, member in enumerate(one)]
        elif one is not None and str(one).strip():
            said.append(f"{at}: {str(one).lower() if isinstance(one, bool) else one}")
    return said


def _counted(records: Sequence[object], others: Sequence[str] = ()) -> Counts:
    """What records and other values hold; a record with any text is a row."""
    each = [_said(record) for record in records]
    return count_text("\n".join([*others, *(line for said in each for line in said)]), rows=sum(map(bool, each)))


def _counted_record(body: str) -> Counts:
    """What a record without a text of its own holds: its title where its text is there and empty, else its values."""
    members = _again(body)
    known = dict(members) if isinstance(members, _Members) else {}
    titles = [title for name in _TITLES if isinstance(title := known.get(name), str) and title.strip()]
    if isinstance(known.get("text"), str) and titles:
        return count_text(titles[0])
    return count_text("\n".join(_said(members)))


def _counted_file(value: object) -> Counts:
    """What a file holds: the members of an array are rows, and so are those of an object's lists of objects."""
    if isinstance(value, list) and not isinstance(value, _Members):
        return _counted(value)
    records: list[object] = []
    others: list[str] = []
    for name, member in value if isinstance(value, _Members) else [("", value)]:
        if isinstance(member, list) and member and all(isinstance(one, _Members) for one in member):
            records += member
        else:
            others += _said(member, name)
    return _counted(records, others)


def _parsed(parser: str, blocks: list[Block], losses: tuple[Loss, ...], encoding: str, counts: Counts) -> Parsed:
    return Parsed(
        blocks=tuple(blocks),
        parser=parser,
        source_counts=counts,
        losses=losses,
        metadata={"encoding": encoding},
        empty_reason=None if blocks else "empty",
    )


def _object_blocks(value: Json) -> Iterator[Block]:
    """A row for each record of a list, a paragraph for every other value."""
    members = value.members if isinstance(value, JsonObject) else (("", value),)
    for table, (name, member) in enumerate(members):
        if isinstance(member, list) and member and all(isinstance(one, JsonObject) for one in member):
            columns: dict[str, int] = {}
            for record in member:
                yield from _record_block(record, None, columns, table)
            continue
        for path, leaf in leaves(member):
            yield Block(BlockKind.PARAGRAPH, _pair(".".join(part for part in (name, path) if part), leaf))


def _record_block(value: Json, lines: tuple[int, int] | None, columns: dict[str, int], table: int = 0) -> list[Block]:
    """One row of a record, none for a record without any text; ``columns`` are the paths of its table so far."""
    parts = [
        (columns.setdefault(path, len(columns)), _pair(path, ""), " ".join(text.split()))
        for path, text in leaves(value)
    ]
    text, cells = joined_line(parts, between="; ")
    place = Place(0, len(text), lines=lines)
    return [Block(BlockKind.ROW, text, places=(place,), table=table, cells=cells)] if text else []


def _pair(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text


def _title(record: JsonObject) -> str | None:
    for key in _TITLES:
        value = record.first(key)
        if isinstance(value, str) and value.strip():
            return _sayable(" ".join(value.split())[:_LONGEST_TITLE])
    return None


def _scalars(record: JsonObject) -> dict[str, str]:
    """Values that are neither text nor title nor nested."""
    kept: dict[str, str] = {}
    for key, value in record.members:
        if key in ("text", "title") or isinstance(value, JsonObject | list) or value is None:
            continue
        kept[_sayable(key)] = _sayable(value) if isinstance(value, str) else str(value).lower()
    return kept


def _sayable(text: str) -> str:
    """Without lone surrogates, which JSON can spell and UTF-8 cannot (in text the canonical form replaces them)."""
    return text.encode("utf-8", "replace").decode()


def _loads(text: str, uri: str) -> Json:
    try:
        value: Json = _DECODER.decode(text.strip())
    except json.JSONDecodeError as error:
        raise ParseError(f"not JSON: {error.msg} in line {error.lineno}, column {error.colno}", uri=uri) from error
    except RecursionError as error:
        raise ParseError("JSON nested too deeply", uri=uri) from error
    return value


def _array_items(text: str, start: int, uri: str) -> Iterator[tuple[Json, tuple[int, int]]]:
    """(value, first and last line) of each member of the array whose ``[`` stands before ``start``."""
    line, counted = 1, 0
    at = _skip_white(text, start)
    while not text.startswith("]", at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            message = f"not JSON: {error.msg} in line {error.lineno}, column {error.colno}"
            raise ParseError(message, uri=uri) from error
        except RecursionError as error:
            raise ParseError("JSON nested too deeply", uri=uri) from error
        line += text.count("\n", counted, at)
        last = line + text.count("\n", at, end)
        yield value, (line, last)
        line, counted = last, end
        at = _skip_white(text, end)
        if text.startswith(",", at):
            at = _skip_white(text, at + 1)
        elif not text.startswith("]", at):
            raise ParseError(f"not JSON: the array breaks off in line {line}", uri=uri)
    if text[at + 1 :].strip():
        raise ParseError("not JSON: text after the array", uri=uri)


def _skip_white(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return match.end() if match else at
