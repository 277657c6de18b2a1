"""BM25 over postings in memory: the embedded store's formula, to the same digits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

K1, B = 1.2, 0.75
Rows: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.uint16]
Lengths: TypeAlias = npt.NDArray[np.uint32]
Scores: TypeAlias = npt.NDArray[np.float32]


def scored(postings: Iterable[tuple[Rows, Counts]], lengths: Lengths) -> Scores:
    """BM25 of every row, 0 where no term stands, out of the postings of each term and the rows' numbers of terms.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
    idf = ln(1 + (N - n + 0.5) / (n + 0.5)); N and the mean length are over all rows that have terms. Single precision,
    so that rows with the same words in another order are equal.
    """
    size = int(np.count_nonzero(lengths))
    scores = np.zeros(len(lengths))
    if not size:
        return scores.astype(np.float32)
    average = float(lengths.sum(dtype=np.float64)) / size
    for rows, counts in postings:
        if len(rows):
            idf = np.log(1 + (size - len(rows) + 0.5) / (len(rows) + 0.5))
            often = counts.astype(np.float64)
            scores[rows] += idf * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[rows] / average))
    return scores.astype(np.float32)


def best(scores: Scores, admitted: npt.NDArray[np.bool_], k: int) -> tuple[Rows, Rows]:
    """Rows with the highest scores above 0 among those admitted: those that are surely in, and those tied at the end.

    The second are all that have the ``k``-th score; together they are at least ``k`` where so many exist.
    """
    rows = np.flatnonzero((scores > 0) & admitted).astype(np.int32)
    if len(rows) <= k:
        return rows, rows[:0]
    found = scores[rows]
    floor = np.partition(found, len(rows) - k)[len(rows) - k]
    return rows[found > floor], rows[found == floor]
