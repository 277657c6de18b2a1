"""A question as it was asked to what is looked for: each step a setting of its own, its outcome kept for the trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, TypeAlias

from fonte.errors import ModelError
from fonte.protocols import Rewriter
from fonte.text.asking.followup import rewritten
from fonte.text.asking.parts import split_question
from fonte.text.asking.worded import worded
from fonte.text.asking.wordings import other_wordings, with_aliases
from fonte.types import Query, QueryStep

HISTORY = "history"
PARTS = "parts"
ALIASES = "aliases"
VARIANTS = "variants"
FILTERS = "filters"

Names: TypeAlias = Callable[[], Mapping[str, Sequence[str]]]
"""Names of the documents that the asker may read, with their ids, asked for only where a step needs them."""


@dataclass(frozen=True, slots=True)
class Processing:
    """Which steps are taken."""

    history: Literal["off", "rules", "model"] = "rules"
    """In a conversation, what reads a question that leaves something out with what was said before."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names for the same things; a question is also looked for with the others in their place."""
    variants: bool = False
    """A question is also looked for as its subject alone, and word by word in the other language."""
    filters: Literal["off", "first", "only"] = "off"
    """What a question says of where to look: looked at first, or nowhere else."""
    parts: bool = True
    """Questions that ask several things are told apart, and each is looked for and judged on its own."""


def read_as(steps: Sequence[QueryStep]) -> str:
    """How a follow-up was read, where what was said before changed its words; else nothing."""
    return next((step.texts[0] for step in steps if step.name == HISTORY and step.texts), "")


def in_context(query: Query, steps: Processing, rewriter: Rewriter | None = None) -> Query:
    """The question as one that stands on its own, where it was asked in a conversation and leaves something out.

    Where a model is to do it and fails, the rules do it, and the step tells so.
    """
    if steps.history == "off" or not query.history:
        return query
    failed = ""
    if steps.history == "model" and rewriter is not None:
        try:
            text = rewriter.rewrite(query)
        except ModelError as error:
            failed = f", for the model failed: {error.message}"
        else:
            if text == query.text:
                return query
            taken = tuple(dict.fromkeys(document for said in query.history for document in said.documents))
            step = QueryStep(HISTORY, "rewritten by a model", (text,), taken)
            return replace(query, text=text, asked=query.question, steps=(*query.steps, step))
    found = rewritten(query.text, query.history)
    if found is None:
        return query
    step = QueryStep(HISTORY, found.rule + failed, (found.text,), found.documents)
    return replace(query, text=found.text, asked=query.question, required=found.required, steps=(*query.steps, step))


def process(query: Query, steps: Processing, names: Names, today: date) -> Query:
    """The question with what the steps made of it; its text is never lost."""
    if steps.filters != "off":
        query = _narrowed(query, names(), today, only=steps.filters == "only")
    if steps.aliases:
        query = _renamed(query, with_aliases(query.text, steps.aliases))
    if steps.variants:
        query = _also(query, other_wordings(query.text, query.languages))
    if steps.parts and not query.parts:
        query = _parted(query)
    return query


def _narrowed(query: Query, names: Mapping[str, Sequence[str]], today: date, *, only: bool) -> Query:
    found = worded(query.text, list(names), today)
    if found is None:
        return query
    own, said = query.filters, found.narrowed.filters
    # What the asker set by hand comes first.
    filters = replace(
        own,
        documents=own.documents or said.documents,
        languages=own.languages or said.languages,
        media_types=own.media_types or said.media_types,
    )
    day = query.as_of or found.narrowed.as_of
    how = "looked for only in" if only else "looked for first in"
    named = tuple(document for name in said.documents for document in names[name])
    step = QueryStep(FILTERS, f"{how} {'; '.join(found.told)}", (found.narrowed.text,), named)
    query = replace(query, steps=(*query.steps, step))
    if only:
        return replace(query, filters=filters, as_of=day)
    return replace(query, narrowed=replace(found.narrowed, filters=filters, as_of=day))


def _renamed(query: Query, texts: tuple[str, ...]) -> Query:
    if not texts:
        return query
    step = QueryStep(ALIASES, "also looked for by other names", texts)
    return replace(query, renamed=texts, steps=(*query.steps, step))


def _also(query: Query, texts: tuple[str, ...]) -> Query:
    if not texts:
        return query
    step = QueryStep(VARIANTS, "also looked for in other wordings", texts)
    return replace(query, also=texts, steps=(*query.steps, step))


def _parted(query: Query) -> Query:
    parts = split_question(query.text)
    if not parts:
        return query
    step = QueryStep(PARTS, f"asks {len(parts)} things", tuple(part.text for part in parts))
    return replace(query, parts=parts, steps=(*query.steps, step))
