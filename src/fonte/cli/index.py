"""Commands that change the index: sync, retry, delete, generations, publish, rollback."""

from __future__ import annotations

import argparse

from fonte import contract, told_diff
from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, noted
from fonte.cli.output import Output, one_line
from fonte.errors import GateFailed
from fonte.parts import SourceOptions
from fonte.publish import told_hold
from fonte.types import SyncReport

FAILED = 1
INCOMPLETE = 3
_INCOMPLETE_STATES = ("failed", "partial", "needs_ocr")


def sync(options: argparse.Namespace, output: Output) -> int:
    """Sources to the active generation."""
    how = SourceOptions(
        allow=tuple(options.allow),
        include=tuple(options.include),
        exclude=tuple(options.exclude),
        records=options.records,
    )
    if not options.allow:
        output.note("--allow names no role: nobody will be able to read these documents")
    if options.watch:
        from fonte.cli.watching import watch

        return watch(options, how, output)
    with corpus(options, must_exist=False) as opened, output.progress() as progress:
        report = opened.sync(
            *options.sources,
            tenant=options.tenant,
            options=how,
            publish=not options.no_publish,
            workers=options.workers,
            progress=progress,
        )
    return _told(report, output, wanted_published=not options.no_publish)


def retry(options: argparse.Namespace, output: Output) -> int:
    """Parse again what failed."""
    with corpus(options) as opened, output.progress() as progress:
        report = opened.retry(*options.documents, tenant=options.tenant, workers=options.workers, progress=progress)
    return _told(report, output, wanted_published=True)


def _told(report: SyncReport, output: Output, *, wanted_published: bool) -> int:
    if output.json_mode:
        refused = contract.error(_held_back(report.held_back)) if report.held_back else {}
        output.json({**contract.sync_report(report), **refused})
    else:
        counts = ", ".join(f"{number} {name}" for name, number in report.documents.items() if number) or "nothing found"
        output.line(f"documents: {counts}")
        output.line(
            f"chunks: {report.chunks_added} added, {report.chunks_removed} removed, {report.chunks_total} in all; "
            f"{report.embedded_texts} embedded; {report.seconds:.1f} s"
        )
        state = "active" if report.published else "a candidate, not published"
        output.line(f"generation {report.generation} is {state}")
        if report.failures:
            output.table(
                ("STATE", "SOURCE", "REASON"),
                [(one.state.value, one.source_uri, one.reason) for one in report.failures],
            )
            output.note("these are not searched whole: mend or convert them and sync again; fonte documents lists all")
    for note in report.notes:
        output.note(note)
    if report.held_back is not None:
        Output(json_mode=False, quiet=output.quiet).error(_held_back(report.held_back))
    if wanted_published and not report.published:
        return FAILED
    return INCOMPLETE if any(report.documents.get(state) for state in _INCOMPLETE_STATES) else 0


def _held_back(why: tuple[str, str]) -> GateFailed:
    message, hint = why
    return GateFailed(message, hint=hint)


def delete(options: argparse.Namespace, output: Output) -> int:
    """Tombstones."""
    with corpus(options) as opened:
        states = opened.delete(*options.documents, tenant=options.tenant)
    if output.json_mode:
        output.json({"deleted": [{"document_id": one.document_id, "document_name": one.name} for one in states]})
    else:
        for one in states:
            output.line(f"deleted {one.name} ({one.document_id})")
    output.note("a file that still lies in a synced source comes back with the next sync: remove or --exclude it")
    return 0


def generations(options: argparse.Namespace, output: Output) -> int:
    """Index states, oldest first."""
    if options.compared:
        return _diff(options, output)
    with corpus(options) as opened:
        active, known = opened.generations(tenant=options.tenant)
        judged = opened.judgments(tenant=options.tenant)
        checked = opened.checks(tenant=options.tenant)
        held = opened.held(tenant=options.tenant)
    if output.json_mode:
        output.json(contract.generations(active, known, judged, checked, held))
        return 0
    output.table(
        ("GENERATION", "STATE", "CREATED", "DOCUMENTS", "CHUNKS", "RECIPE", "VERDICT"),
        [
            (
                one.id,
                one.state.value,
                one.created_at.strftime("%Y-%m-%d %H:%M:%S"),
                str(one.documents),
                str(one.chunks),
                one.recipe.id,
                one.verdict or "",
            )
            for one in known
        ],
    )
    if held is not None:
        output.note("; ".join(told_hold(held)))
    return 0


def _diff(options: argparse.Namespace, output: Output) -> int:
    what, *two = options.compared
    if what != "diff" or len(two) != 2:  # noqa: PLR2004 - A and B
        told = " ".join(options.compared)
        raise UsageError(f"not a word of generations: {told}", hint="fonte generations diff A B, or no word at all")
    if options.limit < 0:
        raise UsageError(f"--limit is {options.limit}", hint="0 or more")
    with corpus(options) as opened:
        found = opened.diff(*two, tenant=options.tenant)
    if output.json_mode:
        output.json(told_diff.diff(found, options.limit))
    else:
        for line in told_diff.lines(found, options.limit):
            output.line(one_line(line))
    return 0


def publish(options: argparse.Namespace, output: Output) -> int:
    """Make a generation active."""
    with corpus(options) as opened, output.progress() as progress:
        active, previous = opened.publish(
            options.generation, tenant=options.tenant, override=options.override, progress=progress
        )
        verdict = opened.verdict(active, tenant=options.tenant)
    noted(options, "fonte publish", f"{active}: {verdict}")
    return _moved(active, previous, output)


def rollback(options: argparse.Namespace, output: Output) -> int:
    """Go back one generation."""
    with corpus(options) as opened:
        active, previous = opened.rollback(tenant=options.tenant)
    noted(options, "fonte rollback", f"from {previous} to {active}")
    output.note("watches and schedules publish nothing from here on until you run fonte sync or fonte publish")
    return _moved(active, previous, output)


def _moved(active: str, previous: str | None, output: Output) -> int:
    if output.json_mode:
        output.json({"generation": active, "previous": previous})
    else:
        output.line(f"generation {active} is active" + (f" (before: {previous})" if previous else ""))
    return 0
