"""The rankings of several legs to one: by ranks, or by scores that are brought to one scale leg by leg.

``rrf`` is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): 1 / (60 + rank). The others add scores
(Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023): ``minmax`` from the leg's
least to its greatest as 0 to 1; ``theoretical`` from the least that the leg could give; ``deviations`` from three
standard deviations below the leg's mean to three above it (distribution-based score fusion).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from fonte.types import Hit

Method: TypeAlias = Literal["rrf", "minmax", "theoretical", "deviations"]
Applicable = Callable[[str, str], bool]
"""Whether a chunk (id) could have been found by a leg (name) at all."""

_DEVIATIONS = 3
_HAIR = 1.0 - 1e-9


def fuse(
    legs: Mapping[str, Sequence[Hit]],
    *,
    method: Method = "rrf",
    weights: Mapping[str, float] | None = None,
    least: Mapping[str, float] | None = None,
    rank_constant: int = 60,
    applicable: Applicable | None = None,
    behind: frozenset[str] = frozenset(),
) -> list[Hit]:
    """One ranking out of the legs', best first, ties by chunk id; scores of the legs travel along.

    Each chunk counts once a leg, by its best rank. A leg that does not apply to a chunk (BM25 across languages) is no
    evidence against it: the chunk scores what the legs that do give it, as if the others agreed with them, and never
    less than its plain sum. The order in which legs are named does not matter.

    Args:
        legs: hits of each leg, best first.
        method: how much of a leg's share a hit gets.
        weights: of legs, above 0; 1 for those that are not named.
        least: the least that a leg could give, for ``theoretical``; 0 for those that are not named.
        rank_constant: of ``rrf``.
        applicable: None where every leg applies to every chunk.
        behind: legs whose lone hits come after others of the same score: theirs is a hair less.

    Raises:
        ValueError: the rank constant is negative, or a weight not above 0.
    """
    if rank_constant < 0:
        raise ValueError("the rank constant cannot be negative")
    weight = {leg: (weights or {}).get(leg, 1.0) for leg in legs}
    if not all(value > 0 for value in weight.values()):
        raise ValueError("a leg's weight must be above 0")
    shares: dict[str, dict[str, float]] = {}
    hits: dict[str, list[Hit]] = {}
    for leg in sorted(legs):
        values = _shares(legs[leg], method, (least or {}).get(leg, 0.0), rank_constant)
        for hit, share in zip(legs[leg], values, strict=True):
            found = shares.setdefault(hit.chunk_id, {})
            if leg not in found:
                found[leg] = weight[leg] * share
                hits.setdefault(hit.chunk_id, []).append(hit)
    fused = [
        _fused(hits[one], _score(one, found, weight, applicable) * (_HAIR if behind.issuperset(found) else 1.0), method)
        for one, found in shares.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))


def _shares(hits: Sequence[Hit], method: Method, least: float, rank_constant: int) -> list[float]:
    """What each hit of a leg counts: in ``rrf`` up to 1 / (constant + 1), else 0 to 1; 1 where all score the same."""
    if method == "rrf":
        return [1.0 / (rank_constant + rank) for rank in range(1, len(hits) + 1)]
    scores = [hit.score for hit in hits]
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if method == "theoretical":
        low = min(least, low)
    elif method == "deviations":
        mean, reach = statistics.fmean(scores), _DEVIATIONS * statistics.pstdev(scores)
        low, high = mean - reach, mean + reach
    return [min(1.0, max(0.0, (one - low) / (high - low))) if high > low else 1.0 for one in scores]


def _score(
    chunk: str, shares: Mapping[str, float], weight: Mapping[str, float], applicable: Applicable | None
) -> float:
    plain = math.fsum(shares.values())
    able = [leg for leg in weight if applicable is None or applicable(chunk, leg)]
    if not able or len(able) == len(weight):
        return plain
    share = math.fsum(shares.get(leg, 0.0) for leg in able) / math.fsum(weight[leg] for leg in able)
    return max(plain, share * math.fsum(weight.values()))


def _fused(found: Sequence[Hit], score: float, method: Method) -> Hit:
    """One hit with the scores that its legs know."""
    return Hit(
        chunk_id=found[0].chunk_id,
        document_id=found[0].document_id,
        score=score,
        bm25=_first(hit.bm25 for hit in found),
        dense_distance=_first(hit.dense_distance for hit in found),
        rrf=score if method == "rrf" else None,
        fused=score,
        rerank=_first(hit.rerank for hit in found),
    )


def _first(values: Iterable[float | None]) -> float | None:
    return next((value for value in values if value is not None), None)
