"""Golden sets in BEIR layout: a folder with ``queries.jsonl`` and judgments, and optional corpus and spans.

``queries.jsonl`` has ``_id`` and ``text``, and as needed ``wordings``, ``answerable``, ``answers`` (the first is the
reference answer), ``tenant``, ``user``, ``roles``, ``segment``, ``lang``, ``half``, ``must_include``,
``must_not_include``, ``note``; other keys are let be. Judgments are ``qrels.tsv`` (query, document, grade; 0 and less
is not relevant) or, as BEIR ships them, ``qrels/test.tsv`` and its like: then queries that the file does not judge are
left out. ``spans.jsonl`` has ``query_id``, ``doc``, ``start``, ``end``, ``text``; ``corpus.jsonl`` ``_id``, ``title``,
``text``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fonte.evaluation.golden import Contradiction, Question
from fonte.evaluation.golden_reading import (
    TOO_MANY,
    Collected,
    Reading,
    Row,
    RowFault,
    lines_of,
    rows_of,
    string_of,
    strings_of,
    whole_of,
)
from fonte.evaluation.measures import Needle
from fonte.types import DEFAULT_TENANT, UNKNOWN_LANGUAGE


@dataclass(slots=True)
class Judgments:
    """Grades by query and document, as they stand in a file, and each query's first line there."""

    file: str
    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def read_folder(folder: Path, split: str | None = None) -> Reading:
    """The set of a folder, or all that is wrong with it; ``split`` names the file of ``qrels/`` (default test)."""
    queries = folder / "queries.jsonl"
    collected = Collected(str(queries))
    judged, partial = _judgments(folder, split, collected)
    spans_file = folder / "spans.jsonl"
    spans = _spans(spans_file, collected) if spans_file.exists() else {}
    known: set[str] = set()
    for line, row in rows_of(queries, collected):
        if collected.full():
            collected.fault("too_large", line, TOO_MANY)
            break
        known.add(str(row.get("_id")))
        if partial and str(row.get("_id")) not in judged.grades:
            continue
        _add(row, line, judged, spans, collected)
    if known:
        _unknown(known, judged, spans, collected)
    else:
        collected.empty()
    if partial and len(known) > len(collected.questions):
        collected.notes.append(f"{len(known) - len(collected.questions)} queries that the split does not judge")
    corpus_file = folder / "corpus.jsonl"
    corpus = read_corpus(corpus_file, collected) if corpus_file.exists() else {}
    if corpus:
        for question in collected.questions:
            for name in question.relevance:
                if name not in corpus:
                    told = f"corpus.jsonl has no document {name}"
                    collected.fault("no_document", question.line, told, question=question.id)
    texts = {name: text for name, (_, text) in corpus.items()}
    return collected.reading(folder.resolve().name, corpus=texts, needle_file=str(spans_file))


def _add(row: Row, line: int, judged: Judgments, spans: Mapping[str, list[Needle]], collected: Collected) -> None:
    name = str(row.get("_id", ""))
    try:
        collected.add(_question(row, line, judged, spans))
    except RowFault as fault:
        collected.fault(fault.code, line, fault.message, question=name)
    except Contradiction as fault:
        collected.fault(fault.code, line, str(fault), question=name)


def _question(row: Row, line: int, judged: Judgments, spans: Mapping[str, list[Needle]]) -> Question:
    name = string_of(row, "_id")
    answerable = row.get("answerable", True)
    if not isinstance(answerable, bool):
        raise RowFault("answerable should be true or false")
    needles = tuple(spans.get(name, ()))
    relevant = {document: grade for document, grade in judged.grades.get(name, {}).items() if grade > 0}
    answers = strings_of(row, "answers")
    reference = string_of(row, "reference_answer", "") or (answers[0] if answers else None)
    return Question(
        id=name,
        wordings=(string_of(row, "text"), *strings_of(row, "wordings")),
        answerable=answerable,
        needles=needles,
        relevance=relevant or dict.fromkeys((needle.document for needle in needles), 1),
        tenant=string_of(row, "tenant", DEFAULT_TENANT),
        user=string_of(row, "user", "") or None,
        roles=frozenset(strings_of(row, "roles")),
        segment=_maybe(row, "segment"),
        language=string_of(row, "lang", UNKNOWN_LANGUAGE),
        reference_answer=reference,
        must_include=strings_of(row, "must_include"),
        must_not_include=strings_of(row, "must_not_include"),
        half=_maybe(row, "half"),
        note=_maybe(row, "note"),
        line=line,
    )


def _maybe(row: Row, key: str) -> str:
    """A text that may be empty."""
    return "" if row.get(key) in (None, "") else string_of(row, key)


def _judgments(folder: Path, split: str | None, collected: Collected) -> tuple[Judgments, bool]:
    """Grades by query and document, and whether the file judges only a part of the queries by design."""
    own = folder / "qrels.tsv"
    if split is None and (own.exists() or not (folder / "qrels").is_dir()):
        return read_qrels(own, collected), False
    return read_qrels(folder / "qrels" / f"{split or 'test'}.tsv", collected), True


def read_qrels(path: Path, collected: Collected, *, trec: bool = False) -> Judgments:
    """Judgments out of BEIR's table (query, document, grade) or TREC's (query, iteration, document, grade)."""
    judged = Judgments(str(path))
    form = "query, iteration, document and grade" if trec else "query, document and grade, with tabs between them"
    for line, text in lines_of(path, collected):
        fields = text.split() if trec else text.split("\t")
        if line == 1 and not trec and fields[-1].strip() == "score":
            continue
        if len(fields) != 3 + trec or not _whole(fields[-1].strip()):
            collected.fault("shape", line, f"should be {form}", file=judged.file)
            continue
        query, document, grade = fields[0], fields[-2], int(fields[-1])
        judged.lines.setdefault(query, line)
        if judged.grades.setdefault(query, {}).setdefault(document, grade) != grade:
            told = f"judges {document} for {query} a second time, otherwise"
            collected.fault("grade", line, told, question=query, file=judged.file)
    return judged


def _whole(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii() and len(text) < 10  # noqa: PLR2004 - no grade is longer


def _spans(path: Path, collected: Collected) -> dict[str, list[Needle]]:
    spans: dict[str, list[Needle]] = {}
    for line, row in rows_of(path, collected):
        try:
            name = string_of(row, "query_id")
            text = string_of(row, "text", "")
            needle = Needle(string_of(row, "doc"), text, whole_of(row, "start"), whole_of(row, "end"), line)
        except RowFault as fault:
            collected.fault(fault.code, line, fault.message, question=str(row.get("query_id", "")), file=str(path))
        except ValueError as error:
            asked = str(row.get("query_id", ""))
            collected.fault("span_mismatch", line, str(error), question=asked, file=str(path))
        else:
            spans.setdefault(name, []).append(needle)
    return spans


def _unknown(known: set[str], judged: Judgments, spans: Mapping[str, list[Needle]], collected: Collected) -> None:
    """Tell of judgments and spans for queries that are not there."""
    for name, line in judged.lines.items():
        if name not in known:
            collected.fault("unknown_query", line, f"there is no query {name}", question=name, file=judged.file)
    for name, needles in spans.items():
        if name not in known:
            file = str(Path(collected.file).with_name("spans.jsonl"))
            collected.fault("unknown_query", needles[0].line, f"there is no query {name}", question=name, file=file)


def read_corpus(path: Path, collected: Collected) -> dict[str, tuple[str, str]]:
    """Title and text by document."""
    corpus: dict[str, tuple[str, str]] = {}
    for line, row in rows_of(path, collected):
        try:
            name, title, text = string_of(row, "_id"), _maybe(row, "title"), _maybe(row, "text")
        except RowFault as fault:
            collected.fault(fault.code, line, fault.message, file=str(path))
            continue
        if name in corpus:
            collected.fault("duplicate_id", line, f"document {name} stands there twice", file=str(path))
        corpus[name] = (title, text)
    return corpus
