"""Golden sets out of files: our YAML form and folders in BEIR layout.

Our form is a mapping with ``name`` and ``questions``; each question has ``id``, ``question`` (and more ``wordings``)
and, as needed, ``answerable``, ``relevant`` (a list of ``document``, ``needle``, ``grade``), ``half``, ``tenant``,
``user``, ``roles``, ``segment``, ``language``, ``reference_answer``, ``must_include``, ``must_not_include``, ``note``.

Every fault is an ``InputError`` that names file and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Never

import yaml

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Needle
from fonte.types import DEFAULT_TENANT, UNKNOWN_LANGUAGE

_TEXT_KEYS = ("id", "question", "tenant", "user", "reference_answer", "segment", "language", "half", "note")
_LIST_KEYS = ("wordings", "roles", "must_include", "must_not_include")
_KEYS = frozenset((*_TEXT_KEYS, *_LIST_KEYS, "answerable", "relevant"))
_RELEVANT_KEYS = frozenset({"document", "needle", "grade"})


def load_golden(path: Path) -> GoldenSet:
    """A golden set out of a YAML file, or a folder in BEIR layout.

    Raises:
        InputError: a missing file, a line that cannot be read, an unknown key, a question that contradicts itself.
    """
    return _load_beir(path) if path.is_dir() else _load_yaml(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path}: cannot be read: {reason}", hint="name a golden.yaml or a folder with queries.jsonl"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error


def _fault(path: Path, line: int, message: str) -> Never:
    raise InputError(f"{path}:{line}: {message}", hint="correct that line of the golden set")


# --- our YAML form ---------------------------------------------------------------------------------------------------


class _Reader:
    """YAML nodes to plain values, each fault with its line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loader = yaml.SafeLoader(_read(path))

    def root(self) -> yaml.Node:
        try:
            node = self._loader.get_single_node()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            _fault(self._path, line, f"is not valid YAML: {error.problem}")
        except yaml.YAMLError as error:
            _fault(self._path, 1, f"is not valid YAML: {error}")
        if node is None:
            _fault(self._path, 1, "is empty")
        return node

    def fail(self, node: yaml.Node, message: str) -> Never:
        _fault(self._path, node.start_mark.line + 1, message)

    def mapping(self, node: yaml.Node, what: str, known: frozenset[str] | None = None) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, f"{what} should be a mapping")
        found: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = self.text(key_node, "a key")
            if key in found:
                self.fail(key_node, f"{what} has {key} twice")
            if known is not None and key not in known:
                self.fail(key_node, f"{what} has no key {key}; known are {', '.join(sorted(known))}")
            found[key] = value
        return found

    def items(self, node: yaml.Node | None, what: str) -> list[yaml.Node]:
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, f"{what} should be a list")
        return list(node.value)

    def text(self, node: yaml.Node, what: str) -> str:
        """Any scalar as it was written: a needle ``1,200`` or ``2026-01-01`` is text, quoted or not."""
        if not isinstance(node, yaml.ScalarNode) or (node.tag == "tag:yaml.org,2002:null" and not node.style):
            self.fail(node, f"{what} should be text")
        return str(node.value)

    def texts(self, node: yaml.Node | None, what: str) -> tuple[str, ...]:
        return tuple(self.text(item, f"each of {what}") for item in self.items(node, what))

    def flag(self, node: yaml.Node, what: str) -> bool:
        if node.tag != "tag:yaml.org,2002:bool":
            self.fail(node, f"{what} should be true or false")
        return bool(self._loader.construct_object(node))

    def grade(self, node: yaml.Node, what: str) -> int:
        if node.tag != "tag:yaml.org,2002:int":
            self.fail(node, f"{what} should be a whole number")
        return int(self._loader.construct_object(node))


def _load_yaml(path: Path) -> GoldenSet:
    reader = _Reader(path)
    root = reader.root()
    top = reader.mapping(root, "the golden set", frozenset({"name", "description", "corpus", "questions"}))
    if "questions" not in top:
        reader.fail(root, "has no questions")
    questions: list[Question] = []
    lines: dict[str, int] = {}
    for node in reader.items(top["questions"], "questions"):
        question = _question(reader, node)
        if question.id in lines:
            reader.fail(node, f"question {question.id} stands already in line {lines[question.id]}")
        lines[question.id] = question.line
        questions.append(question)
    if not questions:
        reader.fail(root, "has no questions")
    name = reader.text(top["name"], "name") if "name" in top else path.stem
    return GoldenSet(name, tuple(questions))


def _question(reader: _Reader, node: yaml.Node) -> Question:
    part = reader.mapping(node, "a question", _KEYS)
    plain = {key: reader.text(part[key], key) for key in _TEXT_KEYS if key in part}
    lists = {key: reader.texts(part.get(key), key) for key in _LIST_KEYS}
    needles, relevance = _relevant(reader, reader.items(part.get("relevant"), "relevant"))
    first = (plain["question"],) if "question" in plain else ()
    try:
        return Question(
            id=plain.get("id", ""),
            wordings=(*first, *lists["wordings"]),
            answerable=reader.flag(part["answerable"], "answerable") if "answerable" in part else True,
            needles=needles,
            relevance=relevance,
            tenant=plain.get("tenant", DEFAULT_TENANT),
            user=plain.get("user"),
            roles=frozenset(lists["roles"]),
            segment=plain.get("segment", ""),
            language=plain.get("language", UNKNOWN_LANGUAGE),
            reference_answer=plain.get("reference_answer"),
            must_include=lists["must_include"],
            must_not_include=lists["must_not_include"],
            half=plain.get("half", ""),
            note=plain.get("note", ""),
            line=node.start_mark.line + 1,
        )
    except ValueError as error:
        reader.fail(node, str(error))


def _relevant(reader: _Reader, nodes: list[yaml.Node]) -> tuple[tuple[Needle, ...], dict[str, int]]:
    """Needles, and the best grade of each document; a document counts 1 where no grade is given."""
    needles: list[Needle] = []
    relevance: dict[str, int] = {}
    for node in nodes:
        part = reader.mapping(node, "each of relevant", _RELEVANT_KEYS)
        if "document" not in part:
            reader.fail(node, "each of relevant needs document")
        document = reader.text(part["document"], "document")
        grade = reader.grade(part["grade"], "grade") if "grade" in part else 1
        if grade < 1:
            reader.fail(part["grade"], "grade should be at least 1")
        relevance[document] = max(grade, relevance.get(document, 1))
        if "needle" not in part:
            continue
        try:
            needles.append(Needle(document, reader.text(part["needle"], "needle")))
        except ValueError as error:
            reader.fail(part["needle"], str(error))
    return tuple(needles), relevance


# --- BEIR layout -----------------------------------------------------------------------------------------------------


def _load_beir(folder: Path) -> GoldenSet:
    relevance = _qrels(folder / "qrels.tsv")
    spans = _spans(folder / "spans.jsonl") if (folder / "spans.jsonl").exists() else {}
    corpus = _corpus(folder / "corpus.jsonl") if (folder / "corpus.jsonl").exists() else {}
    path = folder / "queries.jsonl"
    questions: list[Question] = []
    seen: set[str] = set()
    for line, row in _rows(path):
        name = _string(row, "_id", path, line)
        if name in seen:
            _fault(path, line, f"query {name} stands there twice")
        seen.add(name)
        answerable = row.get("answerable", True)
        if not isinstance(answerable, bool):
            _fault(path, line, "answerable should be true or false")
        needles = tuple(spans.get(name, ())) if answerable else ()
        grades = relevance.get(name) or dict.fromkeys((needle.document for needle in needles), 1)
        try:
            questions.append(
                Question(
                    id=name,
                    wordings=(_string(row, "text", path, line),),
                    answerable=answerable,
                    needles=needles,
                    relevance=grades if answerable else {},
                    tenant=str(row.get("tenant", DEFAULT_TENANT)),
                    roles=frozenset(map(str, row.get("roles", ()))),
                    segment=str(row.get("segment", "")),
                    language=str(row.get("lang", UNKNOWN_LANGUAGE)),
                    reference_answer=next(map(str, row.get("answers") or ()), None),
                    line=line,
                )
            )
        except ValueError as error:
            _fault(path, line, str(error))
    if not questions:
        _fault(path, 1, "has no queries")
    return GoldenSet(folder.name, tuple(questions), corpus)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in enumerate(_read(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            _fault(path, line, f"is not JSON: {error.msg} (column {error.colno})")
        if not isinstance(row, dict):
            _fault(path, line, "should be a JSON object")
        yield line, row


def _string(row: Mapping[str, Any], key: str, path: Path, line: int) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        _fault(path, line, f"{key} should be text")
    return value


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    relevance: dict[str, dict[str, int]] = {}
    for line, text in enumerate(_read(path).split("\n"), start=1):
        fields = text.rstrip("\r").split("\t")
        if not text.strip() or (line == 1 and fields[-1] == "score"):
            continue
        if len(fields) != 3 or not fields[2].lstrip("-").isdecimal():  # noqa: PLR2004 - query, document, grade
            _fault(path, line, "should be query, document and grade, with tabs between them")
        if int(fields[2]) > 0:
            relevance.setdefault(fields[0], {})[fields[1]] = int(fields[2])
    return relevance


def _spans(path: Path) -> dict[str, list[Needle]]:
    spans: dict[str, list[Needle]] = {}
    for line, row in _rows(path):
        start, end = row.get("start"), row.get("end")
        if not isinstance(start, int) or not isinstance(end, int):
            _fault(path, line, "start and end should be whole numbers")
        try:
            needle = Needle(_string(row, "doc", path, line), _string(row, "text", path, line), start, end)
        except ValueError as error:
            _fault(path, line, str(error))
        spans.setdefault(_string(row, "query_id", path, line), []).append(needle)
    return spans


def _corpus(path: Path) -> dict[str, str]:
    return {_string(row, "_id", path, line): str(row.get("text", "")) for line, row in _rows(path)}
