"""show, status, documents, doctor."""

from __future__ import annotations

import argparse

from fonte import contract
from fonte.cli.opening import corpus, principal
from fonte.cli.output import Output
from fonte.cli.told_books import books_line, told_books
from fonte.cli.told_gate import gate_line, told_gate
from fonte.types import DocumentStatus

_AROUND = 400


def show(options: argparse.Namespace, output: Output) -> int:
    """Canonical text, with the place marked by ⟦ and ⟧."""
    with corpus(options) as opened:
        document, state, place = opened.show(
            options.document, principal=principal(options), start=options.start, end=options.end, page=options.page
        )
        books = opened.books([state], tenant=options.tenant)[0].ledger if options.ledger else None
    if output.json_mode:
        output.json(contract.shown_document(document, state, place, books))
        return 0
    if options.ledger:
        told_books(books, output)
        return 0
    text = document.text
    if options.start is None and options.end is None and options.page is None:
        output.line(text)
        return 0
    before = text[max(0, place.start - _AROUND) : place.start]
    after = text[place.end : place.end + _AROUND]
    output.line(f"{document.name} {place.start}..{place.end}")
    output.line(f"{before}⟦{text[place.start : place.end]}⟧{after}")
    return 0


def status(options: argparse.Namespace, output: Output) -> int:
    """What is there, and what is stale and why."""
    with corpus(options) as opened:
        found = opened.status(tenant=options.tenant)
        gate = opened.calibration(tenant=options.tenant)
    if output.json_mode:
        output.json(contract.status(found) | {"gate": told_gate(gate)})
        return 0
    active = found.active
    if active is None:
        output.line("no generation is active: run fonte sync FOLDER")
    else:
        tokens = "with" if active.recipe.space.codec else "without"
        output.line(
            f"generation {active.id}, {active.chunks} chunks, {active.recipe.space.model} {tokens} token vectors"
        )
        output.line(
            "documents: " + (", ".join(f"{number} {name}" for name, number in found.documents.items()) or "none")
        )
        output.line(gate_line(gate))
    for one in found.candidates:
        output.line(f"candidate {one} waits to be published")
    if found.stale is None:
        output.line(f"stale: not known, for the model in the settings cannot be asked: {found.unknown_because}")
    for state, fields in found.stale or ():
        output.line(f"stale: {state.name}: {'; '.join(fields)}")
    if found.stale:
        output.note("run fonte sync to build them again with the settings in force")
    return 0


def documents(options: argparse.Namespace, output: Output) -> int:
    """Every document and its state."""
    wanted = DocumentStatus(options.state) if options.state else None
    with corpus(options) as opened:
        states = opened.documents(tenant=options.tenant, status=wanted, ledgers=options.ledger or output.json_mode)
        if options.ledger:
            states = opened.books(states, tenant=options.tenant)
    if output.json_mode:
        output.json({"documents": [contract.document_state(state) for state in states]})
        return 0
    rows = []
    for state in states:
        row = [state.status.value, state.name, str(state.chunks), ",".join(sorted(state.acl.roles)) or "(nobody)"]
        rows.append([*row, books_line(state.ledger) if options.ledger else state.reason or ""])
    output.table(("STATE", "DOCUMENT", "CHUNKS", "ROLES", "LEDGER" if options.ledger else "REASON"), rows)
    return 0


def doctor(options: argparse.Namespace, output: Output) -> int:
    """What is installed and what is missing."""
    from fonte.wiring import examine

    checks = examine(options.home, options.config)
    if output.json_mode:
        output.json(
            {"checks": [{"name": one.name, "ok": one.ok, "detail": one.detail, "hint": one.hint} for one in checks]}
        )
    else:
        output.table(
            ("", "CHECK", "FOUND", "WHAT TO DO"),
            [("ok" if one.ok else "--", one.name, one.detail, "" if one.ok else one.hint) for one in checks],
        )
    return 0 if all(one.ok or not one.required for one in checks) else 1
