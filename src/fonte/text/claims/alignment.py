"""Where in its sources a claim comes from: the sentence that each of its clauses goes back to.

Words are linked by stem, through the glossary and, where an encoder shows its tokens, by their vectors. Numbers and
their units take no part: they are what is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from fonte.text.claims.days import same_day
from fonte.text.claims.figures import same_quantity
from fonte.text.claims.names import EXONYMS
from fonte.text.claims.reading import Statement
from fonte.text.claims.wording import Word, clauses, strength

Near = npt.NDArray[np.float32]
"""Of each word of a claim (rows) to each word of a source's sentence (columns): about -1 to 1."""
NEAR: Final = 0.55
"""A word whose centered vector is at least so near to another's stands for it; 0.45 gives nearly the same verdicts."""
_KEEP: Final = 0.8
"""A clause goes with the whole claim's sentence where that one covers at least this share of what the best does."""


_FIGURE: Final = 0.1
"""What a figure that both hold adds: enough to tell rows of a table apart that have the same words."""
_MORE_FIGURES: Final = 0.4
"""What each further one adds: one may be by chance, several together are not."""
_LENGTH: Final = 0.004
"""What each word of a source takes away: of two that hold as much, the shorter."""


@dataclass(frozen=True, slots=True)
class Link:
    """A word of a source (its place among the sentence's words) that a claim's word stands for."""

    at: int
    strength: float


@dataclass(frozen=True, slots=True)
class Aligned:
    """A claim over the sentences of its sources."""

    claim: Statement
    sources: tuple[Statement, ...]
    links: tuple[tuple[tuple[Link, ...], ...], ...]
    """By source, by word of the claim."""
    weights: tuple[float, ...]
    """Of each word of the claim; 0 for those that carry no subject."""
    main: int
    """The source that the claim as a whole goes back to."""
    parts: tuple[tuple[int, int, int], ...]
    """Each clause's first and last character, and its source."""

    @property
    def used(self) -> tuple[int, ...]:
        """Every source that some clause goes back to, the main one first."""
        return tuple(dict.fromkeys([self.main, *(source for _, _, source in self.parts)]))

    def source_of(self, at: int) -> tuple[int, ...]:
        """The sources of the clause at a character, the likeliest first."""
        own = [source for start, end, source in self.parts if start <= at < end]
        return tuple(dict.fromkeys([*own, self.main]))

    def covered(self, sources: Sequence[int]) -> float:
        """Share of the claim's words, by weight, that the sources hold: 0 to 1; 1 where it has none."""
        total = math.fsum(self.weights)
        if total <= 0:
            return 1.0
        best = [
            weight * max((link.strength for s in sources for link in self.links[s][at]), default=0.0)
            for at, weight in enumerate(self.weights)
        ]
        return math.fsum(best) / total


def align(claim: Statement, sources: Sequence[Statement], near: Callable[[int], Near] | None = None) -> Aligned:
    """The claim over its sources, of which there is at least one.

    Args:
        claim: what is said.
        sources: sentences of the passages that it cites, in order.
        near: for the position of a source, how near its words are to the claim's; None where no vectors are known.

    Raises:
        ValueError: there is no source.
    """
    if not sources:
        raise ValueError("a claim cannot be aligned with nothing")
    links = tuple(_links(claim, source, near(at) if near else None) for at, source in enumerate(sources))
    weights = _weights(claim, links)
    every = range(len(claim.words))
    bonus = [_bonus(claim, source) for source in sources]
    totals = [_score(links[at], weights, every) + bonus[at] for at in range(len(sources))]
    main = int(np.argmax(totals))
    parts = []
    for start, end in clauses(claim.text, claim.words):
        own = [at for at in every if start <= claim.words[at].start < end]
        scores = [_score(links[at], weights, own) + bonus[at] for at in range(len(sources))]
        best = int(np.argmax(scores))
        parts.append((start, end, main if scores[main] >= _KEEP * scores[best] else best))
    return Aligned(claim, tuple(sources), links, weights, main, tuple(parts))


def _bonus(claim: Statement, source: Statement) -> float:
    shared = _shared_figures(claim, source)
    return _FIGURE * min(shared, 1) + _MORE_FIGURES * max(shared - 1, 0) - _LENGTH * len(source.words)


def _shared_figures(claim: Statement, source: Statement) -> int:
    """How many quantities, dates and hours of the claim a source holds."""
    counted = sum(any(same_quantity(one, other) for other in source.figures) for one in claim.figures)
    counted += sum(any(same_day(day, other, source.years) for other in source.days) for day in claim.days)
    return counted + sum(any(hour.minutes & other.minutes for other in source.hours) for hour in claim.hours)


def _links(claim: Statement, source: Statement, near: Near | None) -> tuple[tuple[Link, ...], ...]:
    found = []
    for row, word in enumerate(claim.words):
        own = []
        for at, other in enumerate(source.words):
            if word.content != other.content and word.form != other.form:
                continue
            sure = strength(word, other)
            if not sure and EXONYMS.get(word.form, "?") == EXONYMS.get(other.form, "!"):
                sure = 1.0
            if not sure and word.content and near is not None and near[row, at] >= NEAR:
                sure = min(0.9, float(near[row, at]))
            if sure:
                own.append(Link(at, sure))
        found.append(tuple(own))
    return tuple(found)


def _weights(claim: Statement, links: Sequence[Sequence[Sequence[Link]]]) -> tuple[float, ...]:
    """Rare words among the sources weigh more (inverse document frequency over their sentences)."""
    skipped = [(one.start, one.end) for one in claim.figures]
    skipped += [(one.start, one.end) for one in claim.days]
    skipped += [(one.start, one.end) for one in claim.hours]
    weights = []
    for at, word in enumerate(claim.words):
        if not word.content or any(start <= word.start < end for start, end in skipped):
            weights.append(0.0)
            continue
        held = sum(1 for source in links if source[at])
        weights.append(math.log1p(len(links) / (held + 0.5)) + 0.3)
    if not any(weights):
        return tuple(1.0 if word.content else 0.0 for word in claim.words)
    return tuple(weights)


def _score(links: Sequence[Sequence[Link]], weights: Sequence[float], rows: Sequence[int]) -> float:
    return math.fsum(
        weights[row] * max((link.strength for link in links[row]), default=0.0) for row in rows if weights[row]
    )


def between(words: Sequence[Word], start: int, end: int) -> list[int]:
    """Positions of the words inside a range of characters."""
    return [at for at, word in enumerate(words) if start <= word.start < end]
