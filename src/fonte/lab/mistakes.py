"""What went wrong in the run, and why: every mistake is one that was measured, explained by ``why``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fonte.evaluating import Observed, text_of
from fonte.evaluation.answers import is_correct
from fonte.evaluation.golden import Question
from fonte.evaluation.measures import Needle
from fonte.lab.measuring import Measured, Tell
from fonte.text.expected import Expected
from fonte.types import Answered, Principal
from fonte.why import Why

EXPLAINED = 10
PLACES = 5
"""Results among which a needle is looked for."""
REFUSED, WRONG, MISSED, BLUFF = "refused", "wrong answer", "missed", "bluff"
KINDS = {
    REFUSED: "refused, though it can be answered",
    WRONG: "answered, and the answer lacks what a right one holds",
    MISSED: f"answered rightly, and a needle is not among the first {PLACES} results",
    BLUFF: "answered, though nothing answers it",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake of one configuration, with the needle that was lost first and the layer that lost it.

    ``needle`` and ``why`` are None for a bluff, where nothing was to be found.
    """

    configuration: str
    question: Question
    kind: str
    answer: str
    gate: float | None
    threshold: float | None
    cited: tuple[str, ...]
    needle: Needle | None = None
    why: Why | None = None


def mistakes(rows: Sequence[Measured], first: str, tell: Tell) -> tuple[list[Mistake], dict[str, dict[str, int]]]:
    """Mistakes, explained where something was to be found; and how many of each kind there were, by configuration.

    At most ``EXPLAINED``, each question once: those of the configuration ``first``, then those of the others; and all
    bluffs of ``first``.
    """
    ordered = sorted(rows, key=lambda row: row.configuration.name != first)
    counts: dict[str, dict[str, int]] = {}
    told: list[Mistake] = []
    bluffs: list[Mistake] = []
    known: set[str] = set()
    for row in ordered:
        own = list(_of(row))
        counts[row.configuration.name] = dict(Counter(one.kind for one in own))
        if row.configuration.name == first:
            bluffs = [one for one in own if one.kind == BLUFF]
        for one in own:
            if one.kind == BLUFF or one.question.id in known or len(told) == EXPLAINED:
                continue
            known.add(one.question.id)
            tell(f"explaining mistake {len(told) + 1} of at most {EXPLAINED}: {one.question.id}")
            told.append(_explained(row, one))
    return [*told, *bluffs], counts


def _of(row: Measured) -> Iterator[Mistake]:
    at_hand = row.found.scores.values[f"needle@{PLACES}"]
    for question, number, _ in row.found.golden.queries():
        one = row.found.observed[question.id, number]
        kind = _kind(question, one, at_hand.get((question.id, number), 1.0))
        if kind:
            yield Mistake(
                configuration=row.configuration.name,
                question=question,
                kind=kind,
                answer=text_of(one.answer) if one.answer is not None else "",
                gate=one.verdict.score if one.verdict is not None else None,
                threshold=one.verdict.threshold if one.verdict is not None else None,
                cited=tuple(one.label for one in one.answer.citations) if isinstance(one.answer, Answered) else (),
            )


def _kind(question: Question, one: Observed, at_hand: float) -> str:
    answered = isinstance(one.answer, Answered)
    if not question.answerable:
        return BLUFF if answered else ""
    if not answered:
        return REFUSED
    if question.must_include and one.answer is not None and not is_correct(question, text_of(one.answer)):
        return WRONG
    return MISSED if at_hand < 1 else ""


def _explained(row: Measured, mistake: Mistake) -> Mistake:
    """With the first of its needles that was lost; where none was, the last, whose layers say so."""
    question = mistake.question
    asker = Principal(question.tenant, question.user, question.roles)
    found = mistake
    for needle in question.needles:
        expected = Expected(words=needle.text, document=needle.document)
        why = row.corpus.why(question.wordings[0], expected, principal=asker)
        found = replace(mistake, needle=needle, why=why)
        if why.lost_at is not None:
            break
    return found


def lost_layers(told: Sequence[Mistake]) -> Mapping[str, int]:
    """How many of the explained mistakes each layer made, most first."""
    return dict(Counter(one.why.lost_at or "none" for one in told if one.why is not None).most_common())
