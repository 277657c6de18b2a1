"""What a sync did, counted and told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from fonte.plan import Plan, Tally
from fonte.types import NOT_WHOLE, DocumentState, DocumentStatus, Failure

MOST_COPIES_TOLD = 20
"""Notes about documents of equal content in one report."""


def counted(plan: Plan, states: Sequence[DocumentState], tally: Tally) -> dict[str, int]:
    """The document counters of a sync report: what changed, and the states of what the sources hold now."""
    kept = [*plan.unchanged, *(state for state, _ in plan.reroled)]
    scanned = {state.document_id for state in kept if _told(plan, state) is not DocumentStatus.FAILED}
    now = Counter(_told(plan, state) for state in states if state.uri in plan.roots)
    return {
        "added": tally.added,
        "unchanged": len(scanned),
        "modified": tally.modified,
        "deleted": len(plan.removed),
        "failed": now[DocumentStatus.FAILED],
        "partial": now[DocumentStatus.PARTIAL],
        "empty": now[DocumentStatus.EMPTY],
        "needs_ocr": now[DocumentStatus.NEEDS_OCR],
    }


def failures(plan: Plan, states: Sequence[DocumentState]) -> tuple[Failure, ...]:
    """Every document of the scanned sources that is not whole, or that could not be tried again, with its reason."""
    return tuple(
        Failure(state.uri, DocumentStatus.FAILED, f"not tried again: {plan.lost[state.document_id]}", retryable=True)
        if state.document_id in plan.lost
        else Failure(state.uri, state.status, state.reason or state.status.value, state.retryable)
        for state in states
        if state.uri in plan.roots and _told(plan, state) in NOT_WHOLE
    )


def _told(plan: Plan, state: DocumentState) -> DocumentStatus:
    """What a report counts a document as: failed when it was to be tried again and could not be."""
    return DocumentStatus.FAILED if state.document_id in plan.lost else state.status


def copies(plan: Plan, states: Sequence[DocumentState]) -> list[str]:
    """A note for each new or changed document whose bytes are those of another document of the generation."""
    new: AbstractSet[str] = {source.uri for source in plan.parse}
    by_content: dict[str, list[DocumentState]] = {}
    for state in states:
        if state.version and state.chunks:
            by_content.setdefault(state.version, []).append(state)
    notes = []
    for alike in by_content.values():
        first, *rest = sorted(alike, key=lambda state: (state.uri in new, state.name, state.uri))
        notes += [f"{state.name} has the same content as {first.name}" for state in rest if state.uri in new]
    told = sorted(notes)[:MOST_COPIES_TOLD]
    return told + ([f"and {len(notes) - len(told)} more copies"] if len(notes) > len(told) else [])


def moves(plan: Plan) -> list[str]:
    """A note for each document that only goes by another name now."""
    told = [f"moved {state.name} → {source.name}" for state, source in plan.renamed[:MOST_COPIES_TOLD]]
    more = len(plan.renamed) - len(told)
    return told + ([f"and {more} more moved"] if more else [])
