"""One question asked in several ways: each retrieved under the same rights, brought into one ranking.

Other wordings are fused with the question by reciprocal ranks. What the question's own words say of where to look, and
the parts of a question, take turns with it, so that none is crowded out by the others. Ranks are compared, never
scores: those of two questions do not share a scale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from fonte.retrieve import BM25, Found, RetrievalSettings, Retrieved, Retriever
from fonte.store_protocols import IndexReader
from fonte.types import Query, Ranking

RANK_CONSTANT = 60


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
    plain = replace(query, parts=(), also=(), renamed=(), narrowed=None)
    whole = retriever.retrieve(plain, revoked, settings)
    if not (query.parts or query.also or query.renamed or query.narrowed):
        return Gathered(whole)
    asked = [("other wording", replace(plain, text=text)) for text in query.also]
    asked += [("other name", replace(plain, text=text)) for text in query.renamed]
    asked += [("part", part_query(query, at)) for at in range(len(query.parts))]
    if query.narrowed is not None:
        there = query.narrowed
        asked.append(("first look", replace(plain, text=there.text, filters=there.filters, as_of=there.as_of)))
    made = [(name, retriever.retrieve(one, revoked, settings)) for name, one in asked]
    others = [one for name, one in made if name == "other wording"]
    parts = tuple(one for name, one in made if name == "part")
    first = [one.found for turn in ("first look", "other name", "part") for name, one in made if name == turn]
    turns = [*first, _by_ranks([whole, *others])]
    found = _unlike(_in_turns(turns))[: settings.k]
    rankings = [*whole.rankings]
    numbers: Counter[str] = Counter()
    for name, one in made:
        numbers[name] += 1
        rankings += [Ranking(f"{each.stage} of {name} {numbers[name]}", each.hits) for each in one.rankings]
    timings = {
        name: value + sum(one.timings_ms.get(name, 0.0) for _, one in made) for name, value in whole.timings_ms.items()
    }
    notes = tuple(dict.fromkeys(note for one in (whole, *(one for _, one in made)) for note in one.notes))
    together = replace(whole, found=tuple(found), rankings=tuple(rankings), timings_ms=timings, notes=notes)
    return Gathered(together, parts)


def shortcuts(reader: IndexReader, settings: RetrievalSettings) -> tuple[str, ...]:
    """What has to be told of a search that may have missed some of the nearest passages."""
    if settings.mode == BM25 or not reader.approximate:
        return ()
    return (f"dense search was approximate: {reader.generation.chunks} chunks",)


def part_query(query: Query, at: int) -> Query:
    """The question that one of the parts is."""
    return replace(query, text=query.parts[at].text, parts=(), also=(), renamed=(), narrowed=None)


def _by_ranks(lists: Sequence[Retrieved]) -> list[Found]:
    """One list by reciprocal ranks, as in ``fonte.ranking.fusion``; each as the first of the lists found it."""
    first: dict[str, Found] = {}
    shares: dict[str, list[float]] = {}
    for one in lists:
        for rank, found in enumerate(one.found, start=1):
            first.setdefault(found.stored.chunk.id, found)
            shares.setdefault(found.stored.chunk.id, []).append(1.0 / (RANK_CONSTANT + rank))
    return [first[chunk] for chunk in sorted(shares, key=lambda one: (-math.fsum(shares[one]), one))]


def _in_turns(lists: Sequence[Sequence[Found]]) -> Iterator[Found]:
    for turn in zip_longest(*lists):
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
