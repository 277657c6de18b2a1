"""fonte golden: check a golden set, import one, propose questions for one."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, settings_of
from fonte.cli.output import Output, many
from fonte.contract import Json
from fonte.errors import InputError
from fonte.evaluation.golden import GoldenFault, GoldenSet
from fonte.evaluation.golden_check import check_golden
from fonte.evaluation.golden_files import load_golden, read_golden
from fonte.evaluation.golden_import import Imported, import_beir, import_squad, import_trec
from fonte.evaluation.golden_write import write_folder, write_yaml
from fonte.types import SEARCHABLE, Document, Principal
from fonte.wiring import Corpus

_SHOWN = 40
"""Faults printed for people; --json gives all."""


def golden(options: argparse.Namespace, output: Output) -> int:
    """One of the actions."""
    if options.action == "check":
        return _check(options, output)
    if options.action == "propose":
        from fonte.cli.golden_propose import run

        return run(options, output)
    return _import(options, output)


def _check(options: argparse.Namespace, output: Output) -> int:
    """Every fault of a set; 1 when one of them is more than a warning."""
    path = Path(options.file)
    reading = read_golden(path)
    if reading.golden is None:
        if all(fault.code == "unreadable" for fault in reading.faults):
            load_golden(path)  # raises: there is nothing to check
        return _told(reading.questions, reading.faults, {"fingerprint": None, "checked_against": None}, output)
    found, against = _checked(reading.golden, options)
    more: Json = {"fingerprint": reading.golden.fingerprint, "checked_against": against}
    return _told(reading.questions, found, more, output)


def _checked(read: GoldenSet, options: argparse.Namespace) -> tuple[list[GoldenFault], str | None]:
    """Faults, and what the needles were looked for in: the index, the set's own corpus, or nothing."""
    own = "corpus" if read.corpus else None
    if not Path(options.home).exists() and settings_of(options).store.database_url is None:
        return check_golden(read), own
    tenants = sorted({question.tenant for question in read.questions})
    with corpus(options) as opened:
        documents = [one for tenant in tenants for one in documents_of(opened, tenant)]
    names = {document.name for document in documents}
    if not names or (read.corpus and names.isdisjoint(read.corpus)):
        return check_golden(read), own
    return check_golden(read, documents), "index"


def documents_of(opened: Corpus, tenant: str) -> Iterator[Document]:
    """Every document of a tenant, for whoever runs the corpus: as somebody who may read it."""
    for state in opened.documents(tenant=tenant):
        role = min(state.acl.roles, default=None)
        if state.status not in SEARCHABLE or role is None:
            continue
        own = role.removeprefix("user:")
        reader = Principal(tenant, own, frozenset()) if own != role else Principal(tenant, None, frozenset({role}))
        yield replace(opened.document(state.document_id, principal=reader), acl=state.acl)


def _import(options: argparse.Namespace, output: Output) -> int:
    """Another form's set into ours, all of it or nothing."""
    if options.out is None:
        raise UsageError("golden import needs --out", hint="--out FOLDER, or --out FILE.yaml")
    out = Path(options.out)
    found = _read(options)
    if found.golden is None:
        return _told(len(found.faults), found.faults, {"out": None, "notes": list(found.notes)}, output)
    if out.suffix in (".yaml", ".yml"):
        write_yaml(found.golden, out)
    else:
        write_folder(found.golden, found.documents, out)
    for note in found.notes:
        output.note(f"left out: {note}")
    more: Json = {
        "out": str(out),
        "documents": len(found.documents),
        "fingerprint": found.golden.fingerprint,
        "notes": list(found.notes),
    }
    return _told(len(found.golden.questions), (), more, output)


def _read(options: argparse.Namespace) -> Imported:
    path = Path(options.file)
    kind = options.format or ("trec" if options.qrels else "beir" if path.is_dir() else "squad")
    if kind == "trec":
        if options.qrels is None:
            raise UsageError("TREC topics need their judgments", hint="name them with --qrels FILE")
        return import_trec(path, Path(options.qrels), options.language or "und")
    if options.qrels is not None:
        raise UsageError(f"--qrels belongs to TREC topics, not to {kind}", hint="leave it out, or say --format trec")
    if kind == "squad":
        return import_squad(path, options.language or "und")
    if not path.is_dir():
        raise InputError(f"{options.file} is no folder", hint="name a folder with queries.jsonl")
    return import_beir(path, options.split)


def _told(questions: int, faults: tuple[GoldenFault, ...] | list[GoldenFault], more: Json, output: Output) -> int:
    """Print the faults; 1 when one of them is more than a warning."""
    wrong = sum(not fault.warning for fault in faults)
    if output.json_mode:
        output.json({"questions": questions, "faults": [_fault(fault) for fault in faults]} | more)
        return 1 if wrong else 0
    for fault in faults[:_SHOWN]:
        output.line(f"{'warning' if fault.warning else 'fault'}[{fault.code}]: {fault}; {fault.hint}")
    if len(faults) > _SHOWN:
        codes = Counter(fault.code for fault in faults[_SHOWN:])
        output.line("… and " + ", ".join(f"{number} {code}" for code, number in codes.most_common()))
    counts = (many(questions, "question"), many(wrong, "fault"), many(len(faults) - wrong, "warning"))
    output.line(", ".join(counts))
    for name in ("checked_against", "out"):
        if more.get(name):
            output.line(f"{name.replace('_', ' ')}: {more[name]}")
    return 1 if wrong else 0


def _fault(fault: GoldenFault) -> Json:
    return {
        "line": fault.line,
        "id": fault.question,
        "code": fault.code,
        "message": fault.message,
        "hint": fault.hint,
        "file": fault.file,
        "warning": fault.warning,
    }
