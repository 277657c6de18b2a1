"""documents --sample: a page for a person to judge what was read of documents."""

from __future__ import annotations

import argparse
from pathlib import Path

from fonte.cli.arguments import UsageError
from fonte.cli.evaluate import write
from fonte.cli.opening import corpus
from fonte.cli.output import Output
from fonte.evaluation.html.sample_page import sample_page
from fonte.types import DocumentStatus


def sample(options: argparse.Namespace, output: Output, status: DocumentStatus | None) -> int:
    """The page, and which documents stand on it."""
    if not options.out:
        raise UsageError("--sample writes a page", hint="name it: --out sample.html")
    with corpus(options) as opened:
        active, _ = opened.generations(tenant=options.tenant)
        judged = opened.sample(options.sample, tenant=options.tenant, seed=options.seed, status=status)
    drawn = {
        "tenant": options.tenant,
        "generation": active.id if active else None,
        "seed": options.seed,
        "asked_for": options.sample,
    }
    write(Path(options.out), sample_page(judged, drawn))
    if output.json_mode:
        rows = [{"document_id": one.state.document_id, "document_name": one.state.name} for one in judged]
        output.json({"sample": drawn, "out": options.out, "documents": rows})
        return 0
    for one in judged:
        output.line(f"{one.state.status.value} {one.state.name}")
    output.line(f"{len(judged)} documents stand in {options.out}: open it, choose verdicts, save them")
    return 0
