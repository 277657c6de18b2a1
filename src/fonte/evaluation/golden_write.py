"""Golden sets into files: a folder in BEIR layout, or our YAML form. All of it or nothing.

The files are written beside their place and moved there at the end, so that nobody ever sees half a set.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet, Question
from fonte.types import DEFAULT_TENANT, UNKNOWN_LANGUAGE


def write_folder(golden: GoldenSet, documents: Mapping[str, tuple[str, str]], folder: Path) -> None:
    """The set as ``queries.jsonl``, ``qrels.tsv``, ``spans.jsonl`` and, with documents, ``corpus.jsonl``.

    Needles without a range cannot be written there.

    Raises:
        InputError: something is at ``folder`` already, the place cannot be written, or a needle has no range.
    """
    _must_be_free(folder)
    loose = next((one for question in golden.questions for one in question.needles if one.start is None), None)
    if loose is not None:
        raise InputError(
            f"the needle {loose.text!r} has no range, which spans.jsonl needs", hint="write a .yaml file instead"
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            _write_lines(made / "queries.jsonl", (_json(_query(question)) for question in golden.questions))
            _write_lines(made / "qrels.tsv", _qrels(golden))
            if any(question.needles for question in golden.questions):
                _write_lines(made / "spans.jsonl", _spans(golden))
            if documents:
                _write_lines(
                    made / "corpus.jsonl",
                    (_json({"_id": name, "title": title, "text": text}) for name, (title, text) in documents.items()),
                )
            made.chmod(0o755)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def write_yaml(golden: GoldenSet, path: Path) -> None:
    """The set in our own form; texts that came with it are left out.

    Raises:
        InputError: something is at ``path`` already, or the place cannot be written.
    """
    import yaml

    _must_be_free(path)
    rows = [_yaml_question(question) for question in golden.questions]
    dumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
    text = yaml.dump(
        {"name": golden.name, "questions": rows}, Dumper=dumper, allow_unicode=True, sort_keys=False, width=1_000_000
    )
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            made.write_text(text, encoding="utf-8")
            made.rename(path)
        finally:
            made.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def _must_be_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} is there already", hint="name a place that is free: nothing is overwritten")


def _unwritable(path: Path, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(f"{path}: cannot be written: {reason}", hint="name another place with --out")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _query(question: Question) -> dict[str, object]:
    """A line of ``queries.jsonl``; what is as it is anyway is left out."""
    first, *others = question.wordings
    row: dict[str, object] = {"_id": question.id, "text": first, "answerable": question.answerable}
    optional: dict[str, object] = {
        "wordings": others,
        "answers": [question.reference_answer] if question.reference_answer else [],
        "tenant": "" if question.tenant == DEFAULT_TENANT else question.tenant,
        "user": question.user,
        "roles": sorted(question.roles),
        "segment": question.segment,
        "lang": "" if question.language == UNKNOWN_LANGUAGE else question.language,
        "half": question.half,
        "must_include": list(question.must_include),
        "must_not_include": list(question.must_not_include),
        "note": question.note,
    }
    return row | {key: value for key, value in optional.items() if value}


def _qrels(golden: GoldenSet) -> Iterable[str]:
    yield "query-id\tcorpus-id\tscore"
    for question in golden.questions:
        for document, grade in question.relevance.items():
            if set("\t\r\n") & set(question.id + document):
                raise InputError(
                    f"question {question.id!r}, document {document!r}: a tab or a line end cannot stand in qrels.tsv",
                    hint="rename it, or write a .yaml file instead",
                )
            yield f"{question.id}\t{document}\t{grade}"


def _spans(golden: GoldenSet) -> Iterable[str]:
    for question in golden.questions:
        for one in question.needles:
            yield _json(
                {"query_id": question.id, "doc": one.document, "start": one.start, "end": one.end, "text": one.text}
            )


def _yaml_question(question: Question) -> dict[str, object]:
    first, *others = question.wordings
    relevant: list[dict[str, object]] = []
    for needle in question.needles:
        row: dict[str, object] = {"document": needle.document}
        if needle.text:
            row["needle"] = needle.text
        if needle.start is not None:
            row["span"] = [needle.start, needle.end]
        relevant.append(row | _grade(question, needle.document))
    needled = {needle.document for needle in question.needles}
    relevant += [{"document": name} | _grade(question, name) for name in question.relevance if name not in needled]
    optional: dict[str, object] = {
        "wordings": others,
        "language": "" if question.language == UNKNOWN_LANGUAGE else question.language,
        "segment": question.segment,
        "half": question.half,
        "tenant": "" if question.tenant == DEFAULT_TENANT else question.tenant,
        "user": question.user,
        "roles": sorted(question.roles),
        "relevant": relevant,
        "reference_answer": question.reference_answer,
        "must_include": list(question.must_include),
        "must_not_include": list(question.must_not_include),
        "note": question.note,
    }
    row = {"id": question.id, "question": first, "answerable": question.answerable}
    return row | {key: value for key, value in optional.items() if value}


def _grade(question: Question, document: str) -> dict[str, object]:
    grade = question.relevance[document]
    return {} if grade == 1 else {"grade": grade}
