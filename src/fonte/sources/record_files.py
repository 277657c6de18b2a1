"""A file of records (JSON lines, an array, or one object) as one source a record."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from fonte.errors import FonteError, InputError, ParseError
from fonte.protocols import Scanned
from fonte.sources.files import shown_name, too_large, unreadable
from fonte.sources.own import KEYS, Own, narrowed
from fonte.sources.rules import Ruling
from fonte.types import RECORD_MEDIA_TYPE, Source, sha256_hex

RECORD_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_SAID = (*KEYS, "lang")
_LONGEST_ID = 500


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file that holds records, and what is said of all of them."""

    path: str
    uri: str
    name: str
    ruling: Ruling
    modified_at: datetime | None
    max_bytes: int

    @property
    def _shown(self) -> str:
        return shown_name(os.path.basename(self.path))

    def scan(self) -> Iterator[Scanned]:
        """One source for each record, in order; (uri, name, error) for a line that is none.

        A record's name is its ``_id``, else its ``id``, else its line (in an array: its number); its URI is the
        file's with ``#`` and that. An id that comes again is an error of the later record.
        """
        seen: set[str] = set()
        try:
            for number, line, is_line in self._records():
                yield self._source(number, line, seen, is_line=is_line)
        except OSError as error:
            yield self.uri, self._shown, unreadable(self.path, error)
        except FonteError as error:
            yield self.uri, self._shown, error

    def _records(self) -> Iterator[tuple[int, bytes | FonteError, bool]]:
        """(number, JSON or why not, whether the number is that of a line).

        Raises:
            OSError: it cannot be read. ParseError, SourceTooLarge: none of it can be used.
        """
        with open(self.path, "rb") as file:
            if Path(self.path).suffix.lower() in _LINE_SUFFIXES or _has_lines(file):
                file.seek(0)
                yield from ((number, line, True) for number, line in self._lines(file))
                return
            file.seek(0)
            body = file.read(self.max_bytes + 1)
        if len(body) > self.max_bytes:
            raise too_large(self.path, self.max_bytes)
        try:
            value = json.loads(body.decode("utf-8-sig"), parse_float=_Written, parse_int=_Written)
        except json.JSONDecodeError as error:
            raise ParseError(f"not JSON: {error.msg} in line {error.lineno}", uri=self.uri) from error
        except (ValueError, RecursionError) as error:
            raise ParseError(f"not JSON: {error}", uri=self.uri) from error
        for number, member in enumerate(value if isinstance(value, list) else [value], 1):
            yield number, _dumped(member).encode(), False

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, bytes | FonteError]]:
        number = 0
        while line := file.readline(self.max_bytes + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > self.max_bytes:
                while line and not line.endswith(b"\n"):
                    line = file.readline(self.max_bytes)
                yield number, too_large(f"{self.path}, line {number},", self.max_bytes)
            elif line.strip():
                yield number, line.strip()

    def _source(self, number: int, line: bytes | FonteError, seen: set[str], *, is_line: bool) -> Scanned:
        if isinstance(line, FonteError):
            return self._failure(number, line)
        try:
            record = json.loads(line.decode("utf-8"), parse_int=str, parse_float=str)
        except (ValueError, RecursionError) as error:
            return self._failure(number, ParseError(f"line {number} is not JSON: {error}", uri=self.uri))
        if not isinstance(record, dict):
            return self._failure(number, ParseError(f"line {number} is no JSON object", uri=self.uri))
        name = _identity(record) or str(number)
        if name in seen:
            return self._failure(number, InputError(f"line {number} repeats the id {name}", hint="ids must be unique"))
        seen.add(name)
        said = {key: record[key] for key in _SAID if key in record}
        ruling = narrowed(self.ruling, replace(Own.of("the record itself", said), title=None))  # its parser's affair
        return Source(
            uri=f"{self.uri}#{quote(name, safe='')}",
            name=name,
            content_hash=sha256_hex(line),
            acl=ruling.acl,
            body=line,
            media_type=RECORD_MEDIA_TYPE,
            modified_at=self.modified_at,
            language=ruling.language,
            metadata={**ruling.metadata, "file": self.name},
            tenant=ruling.tenant,
            line=number if is_line else None,
        )

    def _failure(self, number: int, error: FonteError) -> tuple[str, str, Exception]:
        # No id can give this URI: in one, the sign would be percent-encoded.
        return f"{self.uri}#line={number}", f"{self._shown}, line {number}", error


class _Written(str):
    """A number as it was written, so that it can be written again without change."""

    __slots__ = ()


def _dumped(value: object) -> str:
    """JSON with numbers exactly as they were; lone surrogates stay escaped."""
    if isinstance(value, _Written):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_dumped(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_dumped, value)) + "]"
    return json.dumps(value)


def _identity(record: dict[str, object]) -> str | None:
    for key in ("_id", "id"):
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value.encode("utf-8", "replace").decode().strip()[:_LONGEST_ID]
    return None


def _has_lines(file: BinaryIO) -> bool:
    """Whether the first line with text is a JSON object of its own and another follows."""
    for line in iter(file.readline, b""):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            continue
        try:
            return isinstance(json.loads(text), dict) and bool(file.read(1))
        except (ValueError, RecursionError):
            return False
    return False
