"""A question as it was asked to what is looked for: each step a setting of its own, its outcome kept for the trace."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fonte.text.asking.followup import rewritten
from fonte.text.asking.parts import split_question
from fonte.types import Query, QueryStep

HISTORY = "history"
PARTS = "parts"


@dataclass(frozen=True, slots=True)
class Processing:
    """Which steps are taken."""

    history: bool = True
    """In a conversation, a question that leaves something out is read with what was said before."""
    parts: bool = False
    """Questions that ask several things are told apart, and each is looked for and judged on its own."""


def in_context(query: Query, steps: Processing) -> Query:
    """The question as one that stands on its own, where it was asked in a conversation and leaves something out."""
    found = rewritten(query.text, query.history) if steps.history else None
    if found is None:
        return query
    step = QueryStep(HISTORY, found.rule, (found.text,), found.documents)
    return replace(query, text=found.text, asked=query.question, steps=(*query.steps, step))


def process(query: Query, steps: Processing) -> Query:
    """The question with what the steps made of it; its text is never lost."""
    if steps.parts and not query.parts:
        query = _parted(query)
    return query


def _parted(query: Query) -> Query:
    parts = split_question(query.text)
    if not parts:
        return query
    step = QueryStep(PARTS, f"asks {len(parts)} things", tuple(part.text for part in parts))
    return replace(query, parts=parts, steps=(*query.steps, step))
