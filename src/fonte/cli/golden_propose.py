"""fonte golden propose: drafts of questions, taken one by one by a person at a terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fonte.cli.golden import documents_of
from fonte.cli.opening import corpus, principal
from fonte.cli.output import Output, many
from fonte.errors import InputError, NotFound
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.golden_write import write_yaml
from fonte.evaluation.propose import Draft, propose
from fonte.text.sentences import sentences

DEFAULT_COUNT = 20
_HELP = "write the question, or Enter to leave this one out, or q to stop"


def run(options: argparse.Namespace, output: Output) -> int:
    """Show drafts and keep what a person makes of them; with --json only show them."""
    path = Path(options.file)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"{options.file} should be a new .yaml file", hint="fonte golden propose golden.yaml")
    if path.exists() and not output.json_mode:
        raise InputError(f"{path} is there already", hint="name a file that is free: nothing is overwritten")
    asker = principal(options)
    with corpus(options) as opened:
        documents = [one for one in documents_of(opened, asker.tenant) if one.acl.admits(asker)]
    drafts = propose(documents, sentences, options.count or DEFAULT_COUNT)
    if not drafts:
        raise NotFound(
            "no sentence with exactly one number, date or code was found",
            hint="sync documents with prose, or name --roles that may read",
        )
    if output.json_mode:
        output.json({"drafts": [_draft(one) for one in drafts]})
        return 0
    kept = _ask(drafts, output)
    if not kept:
        output.note("nothing was taken, so nothing was written")
        return 0
    write_yaml(GoldenSet(path.stem, tuple(kept)), path)
    output.line(f"{many(len(kept), 'question')} in {path}")
    output.note("add questions that the documents do not answer, then run fonte golden check")
    return 0


def _ask(drafts: list[Draft], output: Output) -> list[Question]:
    """Questions that the person wrote; the end of the input ends it."""
    kept: list[Question] = []
    for number, draft in enumerate(drafts, start=1):
        place = " > ".join((draft.document.name, *draft.section))
        output.line(f"\n{number}/{len(drafts)}  {place}")
        output.line(f"  needle: {draft.needle.text}")
        output.line(f"  fact:   {draft.fact}")
        output.line(f"  draft:  {draft.gapped}")
        output.piece(f"{_HELP}: ")
        line = sys.stdin.readline()
        if not line or line.strip() == "q":
            break
        if line.strip():
            kept.append(draft.question(f"q{len(kept) + 1:03d}", line.strip()))
    return kept


def _draft(one: Draft) -> dict[str, object]:
    return {
        "document_name": one.document.name,
        "section": " > ".join(one.section),
        "needle": one.needle.text,
        "from": one.needle.start,
        "to": one.needle.end,
        "fact": one.fact,
        "draft": one.gapped,
        "language": one.document.language,
        "roles": sorted(one.document.acl.roles),
    }
