"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): score(d) = Σ over legs of 1 / (60 + rank(d))."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from fonte.types import Hit

Applicable = Callable[[str, str], bool]
"""Whether a chunk (id) could have been found by a leg (name) at all."""


def fuse(
    legs: Mapping[str, Sequence[Hit]], *, rank_constant: int = 60, applicable: Applicable | None = None
) -> list[Hit]:
    """One ranking out of the legs', best first, ties by chunk id; scores of the legs travel along.

    Each chunk counts once a leg, by its best rank. A leg that does not apply to a chunk (BM25 across languages) is no
    evidence against it: the chunk scores the mean over the legs that do, times the number of legs, and never less
    than its plain sum. The order in which legs are named does not matter.

    Raises:
        ValueError: the rank constant is negative.
    """
    if rank_constant < 0:
        raise ValueError("the rank constant cannot be negative")
    shares: dict[str, dict[str, float]] = {}
    hits: dict[str, list[Hit]] = {}
    for leg in sorted(legs):
        for rank, hit in enumerate(legs[leg], start=1):
            found = shares.setdefault(hit.chunk_id, {})
            if leg not in found:
                found[leg] = 1.0 / (rank_constant + rank)
                hits.setdefault(hit.chunk_id, []).append(hit)
    fused = [_fused(hits[chunk], _score(chunk, found, legs, applicable)) for chunk, found in shares.items()]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))


def _score(
    chunk: str, shares: Mapping[str, float], legs: Mapping[str, Sequence[Hit]], applicable: Applicable | None
) -> float:
    plain = math.fsum(shares.values())
    able = [leg for leg in legs if applicable is None or applicable(chunk, leg)]
    if not able or len(able) == len(legs):
        return plain
    return max(plain, math.fsum(shares.get(leg, 0.0) for leg in able) * len(legs) / len(able))


def _fused(found: Sequence[Hit], score: float) -> Hit:
    """One hit with the scores that its legs know."""
    return Hit(
        chunk_id=found[0].chunk_id,
        document_id=found[0].document_id,
        score=score,
        bm25=_first(hit.bm25 for hit in found),
        dense_distance=_first(hit.dense_distance for hit in found),
        rrf=score,
        rerank=_first(hit.rerank for hit in found),
    )


def _first(values: Iterable[float | None]) -> float | None:
    return next((value for value in values if value is not None), None)
