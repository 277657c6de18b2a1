"""show, status, documents, doctor."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from fonte import contract
from fonte.access.standing import Breaker, Rules, Tended, Tries, standing_told, tries_told
from fonte.answer import now
from fonte.cli.opening import corpus, principal, settings_of
from fonte.cli.output import Output, many
from fonte.cli.told_gate import gate_line, told_gate
from fonte.cli.told_ledger import ledger_line, told_ledger
from fonte.listing import copies_of, outliers
from fonte.publish import told_hold
from fonte.tending import rules_of
from fonte.text.chunking.document import rule_of
from fonte.types import CorpusStatus, DocumentStatus, Generation, GenerationState

_AROUND = 400
_MOST_TOLD = 5
"""Copies, and odd documents, that status names."""


def show(options: argparse.Namespace, output: Output) -> int:
    """Canonical text, with the place marked by ⟦ and ⟧."""
    with corpus(options) as opened:
        document, state, place = opened.show(
            options.document, principal=principal(options), start=options.start, end=options.end, page=options.page
        )
        ledger = opened.full_ledgers([state], tenant=options.tenant)[0].ledger if options.ledger else None
    by_structure = state.stamp is not None and state.stamp.chunking.startswith("document/")
    rule = rule_of(document) if by_structure else None
    if output.json_mode:
        cut = {"chunking": {"rule": rule.name, "reason": rule.reason}} if rule else {}
        output.json(contract.shown_document(document, state, place, ledger) | cut)
        return 0
    if rule is not None:
        output.note(f"cut as {rule.name}: {rule.reason}")
    if options.ledger:
        told_ledger(ledger, output)
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
        standing, rules = opened.standing(options.tenant), rules_of(settings_of(options))
        told, tended = standing_told(standing, rules, now()), standing.sources()
        given_up = sum(one.next_try is None for one in standing.tries())
    if output.json_mode:
        output.json(contract.status(found) | {"gate": told_gate(gate), "standing": told})
        return 0
    for line in _active_lines(found):
        output.line(line)
    if found.active is not None:
        output.line(gate_line(gate))
    for one in found.candidates:
        output.line(f"candidate {one} waits to be published")
    if found.held is not None:
        message, hint = told_hold(found.held)
        output.line(f"held: {message}; {hint}")
    if found.stale is None:
        output.line(f"stale: not known, for the model in the settings cannot be asked: {found.unknown_because}")
    for state, fields in found.stale or ():
        output.line(f"stale: {state.name}: {'; '.join(fields)}")
    for source in tended:
        output.line(_tended_line(source, rules))
    if given_up:
        output.line(
            f"given up after {rules.attempts} tries: {many(given_up, 'document')}; fonte retry tries them again"
        )
    _told_of(found, output)
    if found.stale:
        output.note("run fonte sync to build them again with the settings in force")
    return 0


def _active_lines(found: CorpusStatus) -> Iterator[str]:
    """The active generation and its documents."""
    active = found.active
    if active is None:
        yield "no generation is active: run fonte sync FOLDER"
        return
    tokens = "with" if active.recipe.space.codec else "without"
    yield f"generation {active.id}, {active.chunks} chunks, {active.recipe.space.model} {tokens} token vectors"
    if found.token_code_bytes:
        megabytes = found.token_code_bytes / 2**20
        yield f"token vectors: {megabytes:.1f} MB; [embedding] token_codes = false would leave them out"
    if found.approximate:
        yield "dense search: approximate, for there are more than [retrieval] exact_chunks"
    yield "documents: " + (", ".join(f"{number} {name}" for name, number in found.documents.items()) or "none")


def _tended_line(source: Tended, rules: Rules) -> str:
    """How a source that is looked after stands."""
    moment = now()
    looked = f"{source.looked_at.astimezone():%Y-%m-%d %H:%M:%S}" if source.looked_at else "never"
    parts = [f"looked after: {source.source}, last at {looked}"]
    if source.leased(moment):
        parts.append("somebody is at work on it")
    if source.failures:
        parts.append(f"{many(source.failures, 'failure')} in a row ({(source.error or {}).get('message', '')})")
    elif source.error:
        parts.append(f"held back: {source.error.get('message', '')}")
    if source.breaker(rules, moment) is not Breaker.CLOSED:
        parts.append("asked only now and then")
    return "; ".join(parts)


def _told_of(found: CorpusStatus, output: Output) -> None:
    """Copies and odd documents, the first few of each."""
    for copy, first, similarity in found.copies[:_MOST_TOLD]:
        how = "says the same as" if similarity == 1 else f"is {similarity:.0%} like"
        output.line(f"copy: {copy.name} {how} {first.name}")
    for state, reasons in found.odd[:_MOST_TOLD]:
        output.line(f"odd: {state.name}: {'; '.join(reasons)}")
    for what, several in (("copies", found.copies), ("odd documents", found.odd)):
        if len(several) > _MOST_TOLD:
            output.line(f"and {len(several) - _MOST_TOLD} more {what}: fonte documents tells all")


def documents(options: argparse.Namespace, output: Output) -> int:
    """Every document and its state."""
    wanted = DocumentStatus(options.state) if options.state else None
    if options.sample:
        from fonte.cli.sample import sample

        return sample(options, output, wanted)
    with corpus(options) as opened:
        every = opened.documents(tenant=options.tenant, ledgers=True)
        active, known = (None, []) if every else opened.generations(tenant=options.tenant)
        states = [state for state in every if wanted is None or state.status is wanted]
        if options.ledger:
            states = opened.full_ledgers(states, tenant=options.tenant)
        tries = {one.document_id: one for one in opened.standing(options.tenant).tries()}
    if not every and active is None:
        output.note(_nothing_yet(known))
    copies, odd = copies_of(every), outliers(every)
    if output.json_mode:
        told = {name: (copy.of, copy.similarity) for name, copy in copies.items()}
        listed = (
            contract.document_state(one, told.get(one.document_id), odd.get(one.document_id, ()))
            | {"tries": tries_told(tries[one.document_id]) if one.document_id in tries else None}
            for one in states
        )
        output.json({"documents": list(listed)})
        return 0
    names = {state.document_id: state.name for state in every}
    rows = []
    for state in states:
        row = [state.status.value, state.name, str(state.chunks), ",".join(sorted(state.acl.roles)) or "(nobody)"]
        copy = copies.get(state.document_id)
        remarks = [f"{copy.similarity:.0%} like {names[copy.of]}"] if copy else []
        remarks += odd.get(state.document_id, ())
        reason = [state.reason] if state.reason else []
        reason += [_tries_line(tries[state.document_id])] if state.document_id in tries else []
        rows.append([*row, ledger_line(state.ledger) if options.ledger else "; ".join([*reason, *remarks])])
    output.table(("STATE", "DOCUMENT", "CHUNKS", "ROLES", "LEDGER" if options.ledger else "REASON"), rows)
    return 0


def _tries_line(one: Tries) -> str:
    if one.next_try is None:
        return f"given up after {many(one.tries, 'try', 'tries')}"
    return f"{many(one.tries, 'try', 'tries')}, the next at {one.next_try.astimezone():%Y-%m-%d %H:%M:%S}"


def _nothing_yet(known: Sequence[Generation]) -> str:
    """Why there is no document to list where no generation is active."""
    for one in reversed(known):
        if one.state is GenerationState.BUILDING:
            return f"{one.id} is being built, unless its sync was broken off: documents are listed once it is published"
        if one.state is GenerationState.CANDIDATE:
            return f"{one.id} is built and waits: fonte publish {one.id}"
    return "nothing was synced yet: run fonte sync FOLDER"


def doctor(options: argparse.Namespace, output: Output) -> int:
    """What is installed and what is missing."""
    from fonte.doctor import examine

    checks = examine(options.home, options.config)
    wrong = [one for one in checks if one.required and not one.ok]
    if output.json_mode:
        output.json({"checks": [asdict(one) for one in checks]})
        return 1 if wrong else 0
    width = max(len(one.name) for one in checks)
    for one in checks:
        mark = "ok" if one.ok else "NO" if one.required else "--"
        output.line(f"{mark}  {one.name:<{width}}  {one.detail}")
        if not one.ok and one.hint:
            output.line(f"{'':<{width + 4}}  {one.hint}")
    output.line()
    needed = ", ".join(one.name for one in wrong)
    output.line(f"needed, and not as it should be: {needed}" if wrong else "what is needed is there; -- is optional")
    return 1 if wrong else 0
