"""SQuAD's JSON: articles of paragraphs with questions whose answers are slices of their paragraph.

Version 1.1 (Rajpurkar et al., EMNLP 2016) and 2.0, which adds ``is_impossible`` (Rajpurkar, Jia and Liang, ACL 2018).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from fonte.evaluation.golden import Contradiction, Question
from fonte.evaluation.golden_reading import TOO_MANY, Collected, Row, RowFault, string_of, whole_of
from fonte.evaluation.measures import Needle
from fonte.types import Language


class _Lines:
    """Where the questions' ids stand in the text; JSON itself forgets it. Ids are looked for in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
        self._at = 0

    def of(self, name: str) -> int:
        """The line, from 1, of the next text ``name`` in quotes; 0 when it is written in another way."""
        found = self._text.find(json.dumps(name, ensure_ascii=False), self._at)
        if found < 0:
            return 0
        self._at = found
        return bisect_right(self._ends, found) + 1


def read_squad(text: str, collected: Collected, language: Language) -> dict[str, tuple[str, str]]:
    """Title and text of every paragraph by name; questions and faults go to ``collected``."""
    try:
        root = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line, why = (error.lineno, error.msg) if isinstance(error, json.JSONDecodeError) else (1, "too deep")
        collected.fault("json", line, f"is not JSON: {why}")
        return {}
    documents: dict[str, tuple[str, str]] = {}
    by_text: dict[tuple[str, str], str] = {}
    lines = _Lines(text)
    try:
        for where, title, context, paragraph in _paragraphs(root):
            name = by_text.setdefault((title, context), f"{title or 'article'}#{len(documents):05d}")
            documents[name] = (title, context)
            for number, row in enumerate(_list(paragraph, "qas", where)):
                if collected.full():
                    collected.fault("too_large", 0, TOO_MANY)
                    return documents
                _add(row, f"{where}.qas[{number}]", (name, context), lines, collected, language)
    except RowFault as fault:
        collected.fault(fault.code, 0, fault.message)
    return documents


def _paragraphs(root: object) -> Iterator[tuple[str, str, str, Row]]:
    """Where it stands, title, text and row of every paragraph."""
    if not isinstance(root, dict):
        raise RowFault("should be a JSON object with data")
    for number, article in enumerate(_list(root, "data", "the file")):
        where = f"data[{number}]"
        title = string_of(article, "title", "") if article.get("title") else ""
        for place, paragraph in enumerate(_list(article, "paragraphs", where)):
            try:
                context = string_of(paragraph, "context")
            except RowFault as fault:
                raise RowFault(f"{where}.paragraphs[{place}]: {fault.message}") from fault
            yield f"{where}.paragraphs[{place}]", title, context, paragraph


def _list(row: Row, key: str, where: str) -> list[Row]:
    found = row.get(key)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise RowFault(f"{where}: {key} should be a list of objects")
    return found


def _add(
    row: Row, where: str, document: tuple[str, str], lines: _Lines, collected: Collected, language: Language
) -> None:
    name = row.get("id")
    line = lines.of(name) if isinstance(name, str) else 0
    told = name if isinstance(name, str) else ""
    try:
        collected.add(_question(row, where, document, line, language))
    except RowFault as fault:
        collected.fault(fault.code, line, f"{where}: {fault.message}", question=told)
    except Contradiction as fault:
        collected.fault(fault.code, line, f"{where}: {fault}", question=told)


def _question(row: Row, where: str, document: tuple[str, str], line: int, language: Language) -> Question:
    name, context = document
    impossible = row.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise RowFault("is_impossible should be true or false")
    needles: dict[tuple[int, int], Needle] = {}
    for answer in _list(row, "answers", where):
        text, start = string_of(answer, "text"), whole_of(answer, "answer_start")
        end = start + len(text)
        if start < 0 or context[start:end] != text:
            raise RowFault(f"its paragraph holds {context[max(0, start) : end]!r} there, not {text!r}", "span_mismatch")
        needles.setdefault((start, end), Needle(name, text, start, end, line))
    found = tuple(needles.values())
    return Question(
        id=string_of(row, "id"),
        wordings=(string_of(row, "question"),),
        answerable=not impossible,
        needles=found,
        relevance={name: 1} if found else {},
        language=language,
        reference_answer=found[0].text if found else None,
        line=line,
    )
