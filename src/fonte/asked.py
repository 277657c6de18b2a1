"""A question on its way: what it asks, what was found for it and for each of its parts, and what the gate said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from fonte.retrieve import Retrieved
from fonte.types import Citation, Document, GateVerdict, Language, Passage, Query, QuestionPart


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A part of a question, the passages that it found (best first, the whole's markers), and the gate's verdict."""

    part: QuestionPart
    passages: tuple[Passage, ...]
    verdict: GateVerdict
    found: bool
    """Whether it has evidence: asked with other signs than the gate's (``fonte.gate.part_is_there``)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's state on its way; each step of Asker fills in more of it."""

    query: Query
    language: Language
    retrieved: Retrieved
    documents: Mapping[str, Document]
    passages: tuple[Passage, ...]
    verdict: GateVerdict
    """Of the question, or of the part that has the best evidence."""
    began: float
    parts: tuple[AskedPart, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts without evidence, in the asker's words, where another part has some."""
        missing = tuple(one.part.asked for one in self.parts if not one.found)
        return missing if len(missing) < len(self.parts) else ()

    @property
    def to_draft(self) -> Query:
        """What a generator is asked: the parts that have evidence; the whole question where no part has its own."""
        held = [one.part for one in self.parts if one.found]
        if not held:
            return replace(self.query, parts=())
        if len(held) == 1:
            return replace(self.query, text=held[0].text, parts=())
        return replace(self.query, parts=tuple(held))


def cited_out_of_force(citations: Sequence[Citation], as_of: date | None, today: date) -> tuple[str, ...]:
    """What an answer says of cited documents that do not hold today; as of a day none of those is found."""
    if as_of is not None:
        return ()
    told = ((one, out_of_force(one.valid_from, one.valid_to, today)) for one in citations)
    return tuple(dict.fromkeys(f"{one.document_name}: {why}" for one, why in told if why))


def out_of_force(valid_from: str, valid_to: str, day: date) -> str:
    """Why something does not hold on a day; empty where it does, or where nothing was said of it."""
    if valid_to and valid_to < day.isoformat():
        return f"held until {valid_to}"
    return f"holds from {valid_from}" if valid_from > day.isoformat() else ""
