"""Where what is expected stands: in chunks, stretches, passages and drafts; and how that is told in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fonte.retrieve import ACROSS, BM25, Found
from fonte.text.expected import holds
from fonte.types import Document, Draft, Hit, Passage, StoredChunk

DEEPEST: Final = 5000
"""Ranks that are looked at in each leg."""
ADVICE: Final[Mapping[str, str]] = {
    "access": "if the asker should read it, let a role of the asker read the document and run fonte sync",
    "chunking": "cut larger, with overlap, or at boundaries (see [chunking]), then run fonte sync",
    "window": "cut smaller than the encoder's window (chunking.size), then run fonte sync",
    "bm25": "ask in the document's own words, or let the dense leg take part (--mode hybrid)",
    "dense": "ask more precisely, let words take part (--mode hybrid), or raise retrieval.candidates",
    "fusion": "raise --k, or look which passages stand before it with fonte search",
    "rerank": "raise --k, or compare with --no-rerank",
    "context": "cut smaller chunks, so that more of them fit the budget, or ask more precisely",
    "gate": "calibrate the gate on questions of your own, or ask in the document's own words",
    "answer": "compare with the extractive generator, or ask for this alone",
    "citation": "the generator wrote no marker that was handed out: compare with the extractive generator",
    "support": "the answer says figures that the source does not: compare with the extractive generator",
}
"""What to do about a loss, by layer."""
ADVICE_EXTRACTIVE: Final = "ask for this alone, or in the document's own words"
_MARKERS = re.compile(r"\[\s*(\d{1,4})\s*\]")


@dataclass(frozen=True, slots=True)
class Place:
    """One place that holds what is expected. ``exact``: it counts as a whole, else any part of it does."""

    document: Document
    start: int
    end: int
    exact: bool

    @property
    def words(self) -> str:
        """Its characters."""
        return self.document.text[self.start : self.end]

    def within(self, document_id: str, start: int, end: int) -> bool:
        """Whether characters of a document hold it."""
        if document_id != self.document.id:
            return False
        return (start <= self.start and self.end <= end) if self.exact else (start < self.end and self.start < end)


def found_in(one: Found, places: Sequence[Place]) -> bool:
    """Whether a stretch holds a place, or stands for a copy that does."""
    copies = {document for document, _ in one.copies}
    return any(
        place.within(one.stored.chunk.document_id, one.start, one.end)
        or (place.document.id in copies and (not place.exact or holds(one.stored.chunk.content, place.words)))
        for place in places
    )


def shown_in(one: Passage, places: Sequence[Place]) -> bool:
    """The same of a passage."""
    copies = {document for document, _ in one.copies}
    return any(
        place.within(one.document.id, one.start, one.end)
        or (place.document.id in copies and (not place.exact or holds(one.content, place.words)))
        for place in places
    )


def held_in(one: StoredChunk, places: Sequence[Place]) -> bool:
    """Whether a chunk holds a place."""
    return any(place.within(one.chunk.document_id, one.chunk.start, one.chunk.end) for place in places)


def touched_in(one: StoredChunk, places: Sequence[Place]) -> bool:
    """Whether a chunk holds some of a place."""
    loose = [replace(place, exact=False) for place in places]
    return held_in(one, loose)


def cut_detail(stored: Sequence[StoredChunk], touching: Sequence[StoredChunk], places: Sequence[Place]) -> str:
    """How chunks lost a place: cut through it, left it out as a heading, or were never written."""
    if not stored:
        return "the index holds no chunk of its document: run fonte sync"
    place = places[0]
    told = f"characters {place.start}..{place.end} of {place.document.name}"
    if len(touching) > 1:
        ranges = ", ".join(f"{one.chunk.start}..{one.chunk.end}" for one in touching[:3])
        return f"{told} are cut by every chunk: {ranges}"
    if any(holds(one.chunk.context, place.words) for one in stored):
        return f"{told} are a heading: it is context of chunks, and no chunk quotes it"
    return f"{told} stand whole in no chunk"


def best_rank(hits: Sequence[Hit], ids: set[str]) -> tuple[int | None, Hit | None]:
    """The best rank of one of the chunks, from 1."""
    return next(((at, hit) for at, hit in enumerate(hits, start=1) if hit.chunk_id in ids), (None, None))


def leg_rank(stages: Mapping[str, Sequence[Hit]], leg: str, ids: set[str]) -> tuple[int | None, Hit | None]:
    """The best rank of one of the chunks in a leg; what BM25 finds by translated words counts as BM25's."""
    names = (BM25, ACROSS) if leg == BM25 else (leg,)
    return min((best_rank(stages.get(name, ()), ids) for name in names), key=lambda one: one[0] or math.inf)


def parts_of(found: Sequence[Found]) -> set[str]:
    """Ids of all chunks that stretches were made of."""
    return {part for one in found for part in one.parts}


def leg_detail(leg: str, rank: int | None, *, asked: bool, there: bool, candidates: int) -> str:
    """A rank in a leg, in words."""
    if rank is None:
        told = "shares no word with the question" if leg == BM25 else f"not among the first {DEEPEST}"
    else:
        told = f"rank {rank}"
    if not asked:
        return f"this leg was not asked; {told}"
    return told if there or rank is None else f"{told}, beyond the {candidates} candidates"


def order_detail(rank: int | None, k: int, *, arrived: bool) -> str:
    """A rank in the common order, in words."""
    if rank is None:
        return "as a copy of another passage" if arrived else "not ranked"
    return f"rank {rank}" if arrived else f"rank {rank}, and not among the {k} passages"


def uses(draft: Draft, holding: Sequence[Passage], places: Sequence[Place]) -> bool:
    """Whether the draft rests on a passage that holds it: on its own sentence, where sentences were taken."""
    by_marker = {one.marker: one for one in holding}
    if draft.taken:
        loose = [replace(place, exact=False) for place in places]
        return any(
            one.marker in by_marker
            and any(
                place.within(by_marker[one.marker].document.id, one.start, one.end)
                or holds(place.words, one.text)
                or holds(one.text, place.words)
                for place in loose
            )
            for one in draft.taken
        )
    written = {int(number) for number in _MARKERS.findall(draft.text)}
    return bool(written & set(by_marker)) or any(holds(draft.text, place.words) for place in places if place.exact)
