"""What the terminal shows of a ledger."""

from __future__ import annotations

from fonte.cli.output import Output
from fonte.types import Counts, LedgerEntry

_COUNTED = ("words", "numbers", "rows", "pages")


def ledger_line(ledger: LedgerEntry | None) -> str:
    """One line: a figure where every stage agrees, else that of each stage in order."""
    if ledger is None:
        return ""
    stages = [counts for _, counts in _stages(ledger)]
    parts = []
    for name in _COUNTED:
        figures = [str(getattr(counts, name)) for counts in stages]
        if any(figure != "0" for figure in figures):
            parts.append(f"{name} " + "→".join(figures if len(set(figures)) > 1 else figures[:1]))
    parts += [f"{loss.code} {loss.count}" for loss in ledger.losses]
    return ("" if ledger.balanced else "NOT BALANCED ") + ", ".join(parts)


def told_ledger(ledger: LedgerEntry | None, output: Output) -> None:
    """A row for each stage, then everything that is known to be missing or was left out."""
    if ledger is None:
        output.line("nothing was counted of it")
        return
    names = ("characters", *_COUNTED)
    output.table(
        ("STAGE", *(name.upper() for name in names)),
        [(stage, *(str(getattr(counts, name)) for name in names)) for stage, counts in _stages(ledger)],
    )
    output.line("balanced" if ledger.balanced else "NOT BALANCED")
    for loss in ledger.losses:
        output.line(f"{loss.code}: {loss.message}")


def _stages(ledger: LedgerEntry) -> list[tuple[str, Counts]]:
    stages = (
        ("source", ledger.source),
        ("parsed", ledger.parsed),
        ("canonical", ledger.canonical),
        ("chunks", ledger.chunks),
        ("index", ledger.index),
    )
    return [(name, counts) for name, counts in stages if counts is not None]
