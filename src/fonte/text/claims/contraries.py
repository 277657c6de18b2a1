"""Words of a claim that stand against what its sources say: must and may, before and after, minimum and maximum."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.text.claims.alignment import Aligned
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.figures import same_quantity
from fonte.text.claims.polarity import QUIET, Pole
from fonte.text.claims.reading import Statement

_AROUND: Final = 3
_NEAR: Final = 8
"""Words between a negation and what it denies."""
_OF_FIGURES: Final = frozenset({"limit", "side"})


def opposites(scope: Scope) -> Iterable[Finding]:
    """Words that stand against what the source says: must and may, before and after, minimum and maximum."""
    aligned = scope.aligned
    claim = aligned.claim
    sides = {(pole.what, pole.side) for pole in claim.turns.poles}
    told = set()
    for pole in claim.turns.poles:
        if pole.what in told or pole.what.startswith(QUIET):
            continue
        beside = aligned.source_of(pole.start)
        sources = [aligned.sources[at] for at in beside]
        alike = [(other, source) for source in sources for other in source.turns.poles if other.what == pole.what]
        if (exact := _bound_turned(pole, claim, alike)) is not None:
            told.add(pole.what)
            yield Finding("opposites", f"{pole.text}, source: {exact.text}", grave=True)
            continue
        if any(other.side == pole.side for other, _ in alike):
            continue
        for at in beside:
            source = aligned.sources[at]
            for other in source.turns.poles:
                against = other.what == pole.what and (other.what, other.side) not in sides
                if against and _about_the_same(pole, other, aligned, at) and not _turned(pole, other, aligned, at):
                    told.add(pole.what)
                    yield Finding("opposites", f"{pole.text}, source: {other.text}", grave=True)
                    break


def _bound_turned(pole: Pole, claim: Statement, others: Sequence[tuple[Pole, Statement]]) -> Pole | None:
    """The other side of the same quantity, where the source has no bound of it on this side: more than eight hours."""
    if pole.what != "side" or negated(pole, claim) or not _beside_figure(pole, claim):
        return None
    close = [(other, source) for other, source in others if _beside_figure(other, source)]
    same = [(other, source) for other, source in close if _same_figure(pole, claim, other, source)]
    if not same or any(other.side == pole.side or negated(other, source) for other, source in same):
        return None
    return same[0][0]


def _beside_figure(pole: Pole, statement: Statement) -> bool:
    """Whether a quantity stands right behind a bound."""
    return any(
        one.start >= pole.end and len(statement.text[pole.end : one.start].split()) <= 1 for one in statement.figures
    )


def _about_the_same(pole: Pole, other: Pole, aligned: Aligned, at: int) -> bool:
    source = aligned.sources[at]
    if pole.what in _OF_FIGURES and _same_figure(pole, aligned.claim, other, source):
        return True
    places = set(_around(other, source))
    rows = _around(pole, aligned.claim)
    if any(link.at in places for row in rows for link in aligned.links[at][row]):
        return True
    return not rows or not places


def _same_figure(pole: Pole, claim: Statement, other: Pole, source: Statement) -> bool:
    """Whether the quantities behind two bounds are the same."""
    mine = next((one for one in claim.figures if one.start >= pole.end), None)
    theirs = next((one for one in source.figures if one.start >= other.end), None)
    return mine is not None and theirs is not None and same_quantity(mine, theirs)


def _around(pole: Pole, statement: Statement) -> list[int]:
    """The nearest content words on either side; behind a modal verb only what follows."""
    rows = [at for at, word in enumerate(statement.words) if word.content and not pole.start <= word.start < pole.end]
    after = [at for at in rows if statement.words[at].start >= pole.end][:_AROUND]
    if pole.what == "obligation":
        return after[:2]
    return [at for at in rows if statement.words[at].end <= pole.start][-_AROUND:] + after


def _turned(pole: Pole, other: Pole, aligned: Aligned, at: int) -> bool:
    """Whether just one of the two is negated: not forbidden is allowed."""
    return negated(pole, aligned.claim) != negated(other, aligned.sources[at])


def negated(pole: Pole, statement: Statement) -> bool:
    """Whether a negation stands near a word, in its clause."""
    for cue in statement.turns.cues:
        low, high = sorted((cue.start, pole.start))
        between_them = statement.text[low:high]
        if not re.search(r"[;!?()|]|[,.:](?!\d)", between_them) and len(between_them.split()) <= _NEAR:
            return True
    return False
