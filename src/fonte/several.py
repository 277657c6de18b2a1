"""One question asked in several ways: each retrieved under the same rights and filters, brought into one ranking.

The parts of a question take turns, so that none is crowded out by the others; what the whole question finds takes its
turn as well. Ranks are compared, never scores: those of two questions do not share a scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from fonte.retrieve import Found, RetrievalSettings, Retrieved, Retriever
from fonte.types import Query, Ranking


@dataclass(frozen=True, slots=True)
class Gathered:
    """What came back for a question as a whole, and what each of its parts found by itself, in the order of parts."""

    retrieved: Retrieved
    parts: tuple[Retrieved, ...] = ()


def gather(retriever: Retriever, query: Query, revoked: Sequence[str], settings: RetrievalSettings) -> Gathered:
    """The best ``settings.k`` stretches for the question and its parts.

    Raises:
        As ``Retriever.retrieve``.
    """
    whole = retriever.retrieve(query, revoked, settings)
    if not query.parts:
        return Gathered(whole)
    parts = tuple(retriever.retrieve(part_query(query, at), revoked, settings) for at in range(len(query.parts)))
    found = _unlike(_in_turns([*parts, whole]))[: settings.k]
    rankings = [*whole.rankings]
    for number, part in enumerate(parts, start=1):
        rankings += [Ranking(f"{one.stage} of part {number}", one.hits) for one in part.rankings]
    timings = {
        name: value + sum(part.timings_ms.get(name, 0.0) for part in parts) for name, value in whole.timings_ms.items()
    }
    notes = tuple(dict.fromkeys(note for one in (whole, *parts) for note in one.notes))
    together = replace(whole, found=tuple(found), rankings=tuple(rankings), timings_ms=timings, notes=notes)
    return Gathered(together, parts)


def part_query(query: Query, at: int) -> Query:
    """The question that one of the parts is."""
    return replace(query, text=query.parts[at].text, parts=())


def _in_turns(lists: Sequence[Retrieved]) -> Iterator[Found]:
    for turn in zip_longest(*(one.found for one in lists)):
        yield from (found for found in turn if found is not None)


def _unlike(found: Iterator[Found]) -> list[Found]:
    """The first of those that show the same characters of a document, or copies of the same passage."""
    kept: list[Found] = []
    for one in found:
        chunk = one.stored.chunk
        if not any(
            other.stored.chunk.content == chunk.content
            or (other.stored.chunk.document_id == chunk.document_id and other.start < one.end and one.start < other.end)
            for other in kept
        ):
            kept.append(one)
    return kept
