"""What is kept while a golden set is read: questions, and every fault with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fonte.evaluation.golden import GoldenFault, GoldenSet, Question

MAX_QUESTIONS = 200_000
MAX_BYTES = 512 * 1024 * 1024
"""Of one file with questions, needles or judgments. 100,000 questions are about 40 MB."""
TOO_MANY = f"is beyond the {MAX_QUESTIONS:,} questions that are read: divide the set, or draw a sample of it"
_HINT = "correct that line of the golden set"


@dataclass(frozen=True, slots=True)
class Reading:
    """A golden set, or None and the faults that hindered it. Faults are in the order of their lines, file by file.

    ``questions`` counts all that stand in the file, faulty ones too; ``notes`` tell what was left out on purpose.
    """

    golden: GoldenSet | None
    faults: tuple[GoldenFault, ...]
    questions: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Collected:
    """Questions and faults while files are read."""

    file: str
    questions: list[Question] = field(default_factory=list)
    faults: list[GoldenFault] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seen: int = 0

    def fault(self, code: str, line: int, message: str, *, question: str = "", hint: str = "", file: str = "") -> None:
        """Keep a fault."""
        self.faults.append(GoldenFault(code, line, question, message, hint or _HINT, file or self.file))

    def full(self) -> bool:
        """Count one more question; whether there are too many to go on."""
        self.seen += 1
        return self.seen > MAX_QUESTIONS

    def empty(self) -> None:
        """Tell that there is no question."""
        self.fault("empty_set", 1, "has no questions", hint="write a question, or name another file")

    def add(self, question: Question) -> None:
        """Keep a question; tell of one whose id was there before."""
        if question.id in self.lines:
            told = f"question {question.id} stands already in line {self.lines[question.id]}"
            self.fault("duplicate_id", question.line, told, question=question.id, hint="give it an id of its own")
            return
        self.questions.append(question)
        self.lines[question.id] = question.line

    def reading(self, name: str, *, corpus: Mapping[str, str] | None = None, needle_file: str = "") -> Reading:
        """What came of it: the set when there is no fault; a set without questions is one."""
        if not self.seen and not self.faults:
            self.empty()
        if self.faults:
            return Reading(None, tuple(self.faults), self.seen, tuple(self.notes))
        golden = GoldenSet(name, tuple(self.questions), corpus or {}, self.file, needle_file)
        return Reading(golden, (), self.seen, tuple(self.notes))


def read_text(path: Path, collected: Collected) -> str | None:
    """A file's text, or None and a fault."""
    data = _bytes(path, collected)
    if data is None:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        told = f"is not UTF-8 text (byte {error.start})"
        collected.fault("encoding", line, told, file=str(path), hint="save it as UTF-8")
        return None


def _bytes(path: Path, collected: Collected) -> bytes | None:
    try:
        size = path.stat().st_size
        if size <= MAX_BYTES:
            return path.read_bytes()
    except OSError as error:
        unreadable(path, error, collected)
        return None
    told = f"has {size:,} bytes, more than the {MAX_BYTES:,} that are read"
    collected.fault("too_large", 0, told, file=str(path), hint="divide the set, or draw a sample of it")
    return None


def unreadable(path: Path, error: OSError, collected: Collected) -> None:
    """Tell of a file that is missing or may not be read."""
    hint = "name a golden.yaml or a folder with queries.jsonl and qrels.tsv"
    reason = error.strerror or type(error).__name__
    collected.fault("unreadable", 0, f"cannot be read: {reason}", file=str(path), hint=hint)


def lines_of(path: Path, collected: Collected) -> Iterator[tuple[int, str]]:
    """A file's lines that are not blank, with their numbers; a line that is no UTF-8 is told of and left out."""
    try:
        with path.open("rb") as stream:
            for number, data in enumerate(stream, start=1):
                try:
                    text = data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    told = f"is not UTF-8 text (byte {error.start} of the line)"
                    collected.fault("encoding", number, told, file=str(path), hint="save it as UTF-8")
                    continue
                if text.strip():
                    yield number, text
    except OSError as error:
        unreadable(path, error, collected)


class RowFault(Exception):
    """A row that cannot be used: code and words."""

    def __init__(self, message: str, code: str = "shape") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


Row: TypeAlias = Mapping[str, Any]


def rows_of(path: Path, collected: Collected) -> Iterator[tuple[int, Row]]:
    """The JSON objects of a JSONL file with their lines; what is none is told of and left out."""
    for number, text in lines_of(path, collected):
        try:
            row = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            why = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else "too deep"
            collected.fault("json", number, f"is not JSON: {why}", file=str(path))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            collected.fault("shape", number, "should be a JSON object", file=str(path))


def string_of(row: Row, key: str, default: str | None = None) -> str:
    """A text of a row; ``default`` where the key is absent or null.

    Raises:
        RowFault: no text, an empty one, or one that is no Unicode.
    """
    value = row.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"{key} should be text")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise RowFault(f"{key} holds half a character (a lone surrogate)")
    return value


def strings_of(row: Row, key: str) -> tuple[str, ...]:
    """A list of texts; none where the key is absent or null."""
    value = row.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RowFault(f"{key} should be a list of texts")
    return tuple(string_of({key: item}, key) for item in value)


def whole_of(row: Row, key: str) -> int:
    """A whole number of a row; true and false are none."""
    value = row.get(key)
    if type(value) is not int:
        raise RowFault(f"{key} should be a whole number")
    return value
