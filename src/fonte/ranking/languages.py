"""Distances compared across languages: each passage by how far it stands out of the passages of its own language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fonte.types import Hit, Language, Vector

SHRINKAGE = 20
"""A language's mean counts with so many passages of the overall mean: few passages say little about a language."""


def shifts(vector: Vector, centroids: Mapping[Language, tuple[Vector, int]]) -> dict[Language, float]:
    """What a language's similarities to the question are moved by: cos(q, m) - cos(q, m_L).

    m_L is the mean vector of the passages in language L, drawn towards the overall mean m by ``SHRINKAGE`` passages.

    Args:
        vector: the question's, shape (dim,).
        centroids: mean vector (not of unit length) and number of passages of every language in the index.
    """
    total = sum(number for _, number in centroids.values())
    if not total:
        return {}
    overall = np.sum([mean * np.float32(number) for mean, number in centroids.values()], axis=0) / total
    base = float(overall @ vector)
    return {
        language: base - float(((mean * number + overall * SHRINKAGE) / (number + SHRINKAGE)) @ vector)
        for language, (mean, number) in centroids.items()
    }


def centered(found: Mapping[Language, Sequence[Hit]], moved: Mapping[Language, float]) -> list[Hit]:
    """One ranking out of those of each language, best first, ties by chunk id.

    A hit's score is moved by its language's shift; its distance stays what it is. Within a language the order is that
    of the distances.
    """
    merged = [
        replace(hit, score=round(hit.score + moved[language], 6)) for language, hits in found.items() for hit in hits
    ]
    return sorted(merged, key=lambda hit: (-hit.score, hit.chunk_id))
