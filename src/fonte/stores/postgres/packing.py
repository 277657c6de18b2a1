"""Postings as they are kept: for each term the numbers of the chunks that hold it, and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.uint16]
MOST = 65_535
"""A term that stands in a chunk more often counts as so many: the score is the same to four digits."""
_NUMBER, _COUNT = np.dtype("<u4"), np.dtype("<u2")


def key_of(term: str) -> bytes:
    """What a term is kept as."""
    return hashlib.sha256(term.encode("utf-8", "surrogatepass")).digest()[:16]


def packed(numbers: Numbers, counts: Counts) -> bytes:
    """Postings of one term, numbers of chunks rising."""
    return numbers.astype(_NUMBER).tobytes() + counts.astype(_COUNT).tobytes()


def unpacked(body: bytes) -> tuple[Numbers, Counts]:
    """The postings of ``packed``. Raises ValueError: not a whole number of them."""
    size, rest = divmod(len(body), _NUMBER.itemsize + _COUNT.itemsize)
    if rest:
        raise ValueError("damaged postings")
    numbers = np.frombuffer(body, _NUMBER, size)
    return numbers.astype(np.int64), np.frombuffer(body, _COUNT, size, numbers.nbytes)


def joined(parts: Sequence[tuple[Numbers, Counts]]) -> tuple[Numbers, Counts]:
    """Postings of one term out of several blocks, numbers rising."""
    numbers = np.concatenate([one for one, _ in parts])
    counts = np.concatenate([one for _, one in parts])
    order = np.argsort(numbers, kind="stable")
    return numbers[order], counts[order]


class Collected:
    """Postings of chunks in the order of their numbers, until they are written as one block."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._parts: list[tuple[npt.NDArray[np.int32], Numbers, Counts]] = []
        self.size = 0

    def add(self, first: int, terms: Sequence[Sequence[str]]) -> list[int]:
        """Take the terms of chunks with numbers from ``first`` on; how many different terms each has."""
        places = self._places
        flat = np.array([places.setdefault(term, len(places)) for one in terms for term in one], np.int64)
        rows = np.repeat(np.arange(len(terms)), [len(one) for one in terms])
        pairs = flat * len(terms) + rows
        pairs.sort()
        starts = np.flatnonzero(np.diff(pairs, prepend=np.int64(-1)))
        counts = np.diff(starts, append=len(pairs))
        term, row = np.divmod(pairs[starts], max(len(terms), 1))
        self._parts.append((term.astype(np.int32), row + first, np.minimum(counts, MOST).astype(np.uint16)))
        self.size += len(starts)
        different: list[int] = np.bincount(row, minlength=len(terms)).tolist()
        return different

    def take(self) -> Iterator[tuple[bytes, bytes]]:
        """What each term is kept as, with its postings; nothing is left here."""
        if not self.size:
            return
        terms, numbers, counts = (np.concatenate(one) for one in zip(*self._parts, strict=True))
        names = list(self._places)
        self._places, self._parts, self.size = {}, [], 0
        # Chunks came by rising number, so that a stable order by term leaves each term's rising.
        order = np.argsort(terms, kind="stable")
        terms, numbers, counts = terms[order], numbers[order], counts[order]
        ends = np.flatnonzero(np.diff(terms, append=np.int32(-1))) + 1
        start = 0
        for end in ends.tolist():
            yield key_of(names[int(terms[start])]), packed(numbers[start:end], counts[start:end])
            start = end
