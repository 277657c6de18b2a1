"""BM25 from memory: for each term the rows that it stands in and how often, as arrays.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
idf = ln(1 + (N - n + 0.5) / (n + 0.5)); N, n and the mean length are over all rows that have terms, whoever asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from fonte.stores.document_facts import Mask
from fonte.stores.freed import give_back

if TYPE_CHECKING:
    import pyarrow as pa

Rows: TypeAlias = npt.NDArray[np.int32]
Scores: TypeAlias = npt.NDArray[np.float32]

K1 = 1.2
B = 0.75
MOST_ROWS = 2**16
"""Rows of a part: their places in it are kept in two bytes while postings are collected."""
_NONE = -1.0
"""Below every score."""
_LEAST = float(np.finfo(np.float32).tiny)
"""Above what a row without a term has."""
_SLACK = 1.0001
"""Sums of the same numbers in another order differ in their last digits."""
_TERM_BYTES = 20
"""What a term takes beside its text: where it ends, where its rows begin, the most that it weighs."""
_AT_ONCE = 2**22
"""Postings whose weight is computed at once."""


class Dictionary:
    """Terms in order, as one text: their places in it are their numbers."""

    def __init__(self, terms: Sequence[bytes]) -> None:
        """Take sorted terms."""
        self._text = b"".join(terms)
        # Read one by one, which a view does sooner than an array.
        self._ends = memoryview(np.cumsum([0, *(len(term) for term in terms)], dtype=np.int64).tobytes()).cast("q")

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return len(self._text) + self._ends.nbytes

    def _at(self, place: int) -> bytes:
        return self._text[self._ends[place] : self._ends[place + 1]]

    def find(self, term: str) -> int | None:
        """The number of a term; None where it stands nowhere."""
        wanted = term.encode("utf-8", "surrogatepass")
        place = bisect_left(range(len(self)), wanted, key=self._at)
        return place if place < len(self) and self._at(place) == wanted else None


class Postings:
    """The postings of one table. Never changes."""

    def __init__(
        self,
        dictionary: Dictionary,
        starts: npt.NDArray[np.int64],
        rows: Rows,
        counts: npt.NDArray[np.unsignedinteger],
        lengths: npt.NDArray[np.int64],
    ) -> None:
        """``rows[starts[t] : starts[t + 1]]`` are those of term ``t``, ascending, ``counts`` how often it stands there.

        ``lengths`` are terms of each row.
        """
        self._dictionary, self._starts, self._rows, self._counts = dictionary, starts, rows, counts
        self._size = int(np.count_nonzero(lengths))
        average = lengths.sum() / max(self._size, 1)
        self._norms = (K1 * (1 - B + B * lengths / max(average, 1e-9))).astype(np.float32)
        self._most = self._greatest()

    def _greatest(self) -> npt.NDArray[np.float32]:
        """Of each term the most that it weighs in any row, its idf left out."""
        most = np.zeros(len(self._dictionary), np.float32)
        first = 0
        while first < len(most):
            last = max(first + 1, int(np.searchsorted(self._starts, self._starts[first] + _AT_ONCE, side="right")) - 1)
            low, high = int(self._starts[first]), int(self._starts[last])
            weights = self._weights(self._rows[low:high], self._counts[low:high])
            most[first:last] = np.maximum.reduceat(weights, self._starts[first:last] - low)
            first = last
        return most

    def _weights(self, rows: Rows, counts: npt.NDArray[np.unsignedinteger]) -> Scores:
        found = counts.astype(np.float32)
        return np.asarray(found * np.float32(K1 + 1) / (found + self._norms[rows]), np.float32)

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        arrays = (self._starts, self._rows, self._counts, self._norms, self._most)
        return self._dictionary.nbytes + sum(one.nbytes for one in arrays)

    def of(self, terms: Iterable[str]) -> Mapping[str, int]:
        """In how many rows each term stands; absent ones are left out."""
        return {term: self._frequency(place) for term, place in self._known(terms).items()}

    def _known(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: place for term in terms if (place := self._dictionary.find(term)) is not None}

    def _frequency(self, place: int) -> int:
        return int(self._starts[place + 1] - self._starts[place])

    def best(self, terms: Sequence[str], mask: Mask, k: int) -> tuple[Rows, Scores]:
        """The rows of the mask with the highest scores for distinct terms: ``k``, and all that tie with the last one.

        In no order; fewer where fewer hold any of the terms.
        """
        places = sorted(self._known(terms).values(), key=lambda place: (self._frequency(place), place))
        idfs = [self._idf(self._frequency(place)) for place in places]
        most_of = [idf * float(self._most[place]) for idf, place in zip(idfs, places, strict=True)]
        # Of terms from this one on, the most that they can add to any row.
        bounds = np.cumsum(most_of[::-1])[::-1] * _SLACK
        scores = np.zeros(len(mask), np.float32)
        leaders, floor = np.zeros(0, np.int32), _NONE
        for at, (place, idf) in enumerate(zip(places, idfs, strict=True)):
            if bounds[at] < floor:  # rows that hold none of the terms so far cannot be among the best
                rows = _reaching(floor - float(bounds[at]), scores)
                return self._completed(rows, scores[rows], places[at:], idfs[at:], k)
            rows, weights = self._of(place, mask)
            found = scores[rows] + np.float32(idf) * weights
            scores[rows] = found
            leaders = _leaders(leaders, rows, found, scores, k)
            floor = float(scores[leaders[-1]]) if len(leaders) == k else _NONE
        rows = _reaching(floor, scores)
        return rows, scores[rows]

    def _idf(self, frequency: int) -> float:
        return float(np.log1p((self._size - frequency + 0.5) / (frequency + 0.5)))

    def _of(self, place: int, mask: Mask) -> tuple[Rows, Scores]:
        """The rows of the mask that a term stands in, and what it weighs there."""
        part = slice(int(self._starts[place]), int(self._starts[place + 1]))
        rows, counts = self._rows[part], self._counts[part]
        admitted = mask[rows]
        if not admitted.all():
            rows, counts = rows[admitted], counts[admitted]
        return rows, self._weights(rows, counts)

    def _completed(
        self, rows: Rows, scores: Scores, places: Sequence[int], idfs: Sequence[float], k: int
    ) -> tuple[Rows, Scores]:
        """The same of ascending rows that alone can be among the best, whose last terms are still to be counted."""
        for place, idf in zip(places, idfs, strict=True):
            part = slice(int(self._starts[place]), int(self._starts[place + 1]))
            there = self._rows[part]
            at = np.minimum(np.searchsorted(there, rows), len(there) - 1)
            holds = np.flatnonzero(there[at] == rows)
            scores[holds] += np.float32(idf) * self._weights(rows[holds], self._counts[part][at[holds]])
        floor = np.partition(scores, len(scores) - k)[len(scores) - k] if len(scores) >= k else _NONE
        return rows[scores >= floor], scores[scores >= floor]


def _reaching(floor: float, scores: Scores) -> Rows:
    """Rows with a score, of ``floor`` or more, ascending."""
    return np.flatnonzero(scores >= max(floor, _LEAST)).astype(np.int32)


def _leaders(before: Rows, rows: Rows, found: Scores, scores: Scores, k: int) -> Rows:
    """The ``k`` rows with the highest scores, best first, of those that led before and those that just got more.

    No other can lead: what a row has now it had when it last got more, and it led then, for the k-th never falls.
    """
    if len(rows) > k:
        rows = rows[np.argpartition(found, len(rows) - k)[len(rows) - k :]]
    every = np.sort(np.concatenate([before, rows]))
    every = every[np.diff(every, prepend=np.int32(-1)) != 0]
    return np.asarray(every[np.argsort(-scores[every], kind="stable")[:k]], np.int32)


class Collector:
    """Postings part by part, in the order of rows."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._parts: list[_Part] = []
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._size = 0
        self.nbytes = 0
        """About what the postings will take in memory."""

    def add(self, terms: pa.Array) -> None:
        """Take the next rows, at most ``MOST_ROWS``: of each its terms with one space between."""
        import pyarrow.compute as pc

        size = len(terms)
        lists = pc.split_pattern(terms, " ")
        encoded = lists.flatten().dictionary_encode()
        names = encoded.dictionary.to_pylist()
        self.nbytes += sum(len(name) + _TERM_BYTES for name in names if name not in self._places)
        places = np.array([self._places.setdefault(name, len(self._places)) for name in names], np.int64)
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
        if "" in names:
            said = codes != names.index("")
            codes, rows = codes[said], rows[said]
        self._lengths.append(np.bincount(rows, minlength=size))
        pairs = codes * MOST_ROWS + rows
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=np.int64(-1)))
        counts = np.diff(first, append=len(pairs))
        pairs = pairs[first]
        of_term = np.bincount(pairs // MOST_ROWS, minlength=len(names))
        there, kept = of_term > 0, _small(counts)
        rows_of_part = (pairs % MOST_ROWS).astype(np.uint16)
        self._parts.append(_Part(self._size, places[there], of_term[there], rows_of_part, kept))
        self._size += size
        self.nbytes += len(pairs) * (4 + kept.itemsize) + 4 * size

    def done(self) -> Postings:
        """The postings of all rows so far; nothing can be added afterwards."""
        self._places.pop("", None)
        terms = sorted((name.encode("utf-8", "surrogatepass"), place) for name, place in self._places.items())
        order = np.zeros(len(self._places) + 1, np.int64)  # one more where no term was left out
        for number, (_, place) in enumerate(terms):
            order[place] = number
        self._places.clear()
        sizes = np.zeros(len(terms), np.int64)
        for part in self._parts:
            sizes[order[part.terms]] += part.sizes
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        # Rows first: what they took in the parts is free again before there is room for counts.
        rows, free = np.empty(int(starts[-1]), np.int32), starts[:-1].copy()
        for part in self._parts:
            rows[part.where(order, free)] = part.rows.astype(np.int32) + part.start
            part.rows = part.rows[:0].copy()
        give_back()
        kinds = [part.counts.dtype for part in self._parts]
        counts = np.empty(len(rows), max(kinds, key=lambda kind: kind.itemsize, default=np.dtype(np.uint8)))
        free = starts[:-1].copy()
        for part in self._parts:
            counts[part.where(order, free)] = part.counts
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int64)
        self._parts.clear()
        return Postings(Dictionary([term for term, _ in terms]), starts, rows, counts, lengths)


class _Part:
    """Postings of some rows, term by term."""

    def __init__(
        self,
        start: int,
        terms: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.int64],
        rows: npt.NDArray[np.uint16],
        counts: npt.NDArray[np.unsignedinteger],
    ) -> None:
        self.start = start
        self.terms = terms
        self.sizes = sizes
        self.rows = rows
        self.counts = counts

    def where(self, order: npt.NDArray[np.int64], free: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where they go: the next free places of their terms, which then are free no more. ``order`` numbers terms."""
        numbers = order[self.terms]
        begins = np.cumsum(self.sizes) - self.sizes
        found = np.repeat(free[numbers] - begins, self.sizes) + np.arange(len(self.counts))
        free[numbers] += self.sizes
        return found


def _small(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.unsignedinteger]:
    most = int(counts.max(initial=0))
    return counts.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32)
