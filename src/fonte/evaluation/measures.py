"""Measures of one question, and rates over questions whose right outcome may be a refusal.

A ranking is document names, best first, each once: `documents_in_order` makes one out of chunks. Relevance is a grade
for each relevant document, above 0; a question without any has no recall (0/0) and is refused with ``ValueError``: it
belongs to the rates at the end. All values lie in 0..1, and ``k`` counts from 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Needle:
    """A stretch of a document's canonical text that answers a question, anchored in the document, never in a chunk.

    ``start..end`` is its half-open range of code points, both None when only its words are known. ``text`` may be
    empty where a range was given without words; anchoring fills it. ``line`` is where it stands in its golden file.
    """

    document: str
    text: str
    start: int | None = None
    end: int | None = None
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if (self.start is None) != (self.end is None):
            raise ValueError("a needle has both ends of its range or neither")
        if self.start is None or self.end is None:
            if not self.text.strip():
                raise ValueError("a needle needs text")
            return
        if not 0 <= self.start < self.end:
            raise ValueError(f"not a half-open range with characters in it: {self.start}..{self.end}")
        if self.text and self.end - self.start != len(self.text):
            raise ValueError("a needle's text does not have its range's length")
        if self.text and not self.text.strip():
            raise ValueError("a needle needs text")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A chunk that a retriever returned or an index holds: its document and its exact slice ``start..end``."""

    document: str
    start: int
    end: int
    content: str

    def holds(self, needle: Needle) -> bool:
        """Whether the whole needle lies in this chunk."""
        if self.document != needle.document:
            return False
        if needle.start is not None and needle.end is not None:
            return self.start <= needle.start and needle.end <= self.end
        return needle.text in self.content


def documents_in_order(retrieved: Sequence[Retrieved]) -> list[str]:
    """Documents by their best chunk, each once."""
    return list(dict.fromkeys(chunk.document for chunk in retrieved))


def needle_at(retrieved: Sequence[Retrieved], needles: Sequence[Needle], k: int) -> float:
    """Share of the needles that some chunk of the first ``k`` holds whole (document A's R@k for one needle)."""
    _check(k)
    if not needles:
        raise ValueError("a question without needles has no needle measure")
    return sum(any(chunk.holds(needle) for chunk in retrieved[:k]) for needle in needles) / len(needles)


def needle_rank(retrieved: Sequence[Retrieved], needles: Sequence[Needle]) -> int | None:
    """Rank, from 1, of the first chunk that holds one of the needles whole; None when no chunk does."""
    for rank, chunk in enumerate(retrieved, start=1):
        if any(chunk.holds(needle) for needle in needles):
            return rank
    return None


class Characters(NamedTuple):
    """Recall, precision and IoU of the characters that passages bring (Smith and Troynikov, Chroma, 2024)."""

    recall: float
    precision: float
    iou: float


def characters_of(retrieved: Sequence[Retrieved], needles: Sequence[Needle]) -> Characters:
    """How the passages' characters cover the needles', by their ranges.

    Characters that two passages bring count twice against precision and IoU, as they do in a prompt.
    """
    wanted = {
        (one.document, at)
        for one in needles
        if one.start is not None and one.end is not None
        for at in range(one.start, one.end)
    }
    if not wanted:
        raise ValueError("a question without needles in known ranges has no characters to find")
    brought = sum(one.end - one.start for one in retrieved)
    held = sum(any(one.document == name and one.start <= at < one.end for one in retrieved) for name, at in wanted)
    return Characters(held / len(wanted), held / brought if brought else 0.0, held / (brought + len(wanted) - held))


def first_characters(retrieved: Sequence[Retrieved], budget: int) -> list[Retrieved]:
    """The first ``budget`` characters that passages bring: the last one is cut where they end.

    Raises:
        ValueError: no budget.
    """
    _check(budget)
    shown: list[Retrieved] = []
    for one in retrieved:
        if budget <= 0:
            break
        size = min(one.end - one.start, budget)
        shown.append(replace(one, end=one.start + size, content=one.content[:size]))
        budget -= size
    return shown


def recall_at(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Relevant documents among the first ``k``, by all relevant ones (document B, section 12)."""
    relevant = _relevant(ranking, relevance, k)
    return sum(name in relevant for name in ranking[:k]) / len(relevant)


def precision_at(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Relevant documents among the first ``k``, by ``k``, also where fewer were returned."""
    relevant = _relevant(ranking, relevance, k)
    return sum(name in relevant for name in ranking[:k]) / k


def hit_at(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """1 when the first ``k`` hold a relevant document, else 0."""
    relevant = _relevant(ranking, relevance, k)
    return float(any(name in relevant for name in ranking[:k]))


def reciprocal_rank_at(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """1/rank of the first relevant document among the first ``k``, else 0; its mean is MRR@k (Voorhees, TREC-8)."""
    relevant = _relevant(ranking, relevance, k)
    return next((1 / rank for rank, name in enumerate(ranking[:k], start=1) if name in relevant), 0.0)


def ndcg_at(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Normalised discounted cumulative gain with linear gain.

    DCG@k = sum of grade / log2(rank + 1), divided by that of the ideal order (Järvelin and Kekäläinen, TOIS 20(4),
    2002, with the discount that trec_eval uses; document B, section 12).
    """
    relevant = _relevant(ranking, relevance, k)
    ideal = sorted(relevant.values(), reverse=True)
    return _dcg([relevant.get(name, 0) for name in ranking[:k]]) / _dcg(ideal[:k])


def _dcg(grades: Sequence[int]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _check(k: int) -> None:
    if k < 1:
        raise ValueError(f"k counts from 1, not {k}")


def _relevant(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> dict[str, int]:
    _check(k)
    if len(set(ranking)) != len(ranking):
        raise ValueError("a ranking names a document twice")
    relevant = {name: grade for name, grade in relevance.items() if grade > 0}
    if not relevant:
        raise ValueError("a question without relevant documents has no recall, precision or gain")
    return relevant


# --- rates over questions, answerable or not -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. ``correct`` is None while nobody has judged the answer.

    ``sufficient`` is the gate's verdict, before any draft; ``answered`` what the asker got.
    """

    answerable: bool
    answered: bool
    sufficient: bool
    correct: bool | None = None

    def __post_init__(self) -> None:
        if self.correct and not (self.answered and self.answerable):
            raise ValueError("only an answer to an answerable question can be correct")


def false_retrieval_rate(outcomes: Sequence[Outcome]) -> float:
    """Share of unanswerable questions for which the system claimed to have evidence (document B, section 12)."""
    return _share([outcome.sufficient for outcome in outcomes if not outcome.answerable], "unanswerable")


def bluff_rate(outcomes: Sequence[Outcome]) -> float:
    """Share of unanswerable questions that got an answer all the same (document A)."""
    return _share([outcome.answered for outcome in outcomes if not outcome.answerable], "unanswerable")


def abstention_correctness(outcomes: Sequence[Outcome]) -> float:
    """Share of questions that were answered when they could be, and refused when they could not."""
    return _share([outcome.answered == outcome.answerable for outcome in outcomes], "")


def c_at_1(outcomes: Sequence[Outcome]) -> float:
    """c@1 = (right + unanswered · right / n) / n over answerable questions (Peñas and Rodrigo, ACL 2011).

    A refusal earns what the system earns where it answers: better than a wrong answer, worse than a right one.
    """
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    if any(outcome.answered and outcome.correct is None for outcome in answerable):
        raise ValueError("c@1 needs every answer judged")
    right = sum(bool(outcome.correct) for outcome in answerable)
    unanswered = sum(not outcome.answered for outcome in answerable)
    if not answerable:
        raise ValueError("no answerable question")
    return (right + unanswered * right / len(answerable)) / len(answerable)


def _share(values: Sequence[bool], kind: str) -> float:
    if not values:
        raise ValueError(f"no {kind} question".replace("  ", " "))
    return sum(values) / len(values)
