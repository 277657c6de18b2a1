"""In how many chunks each term stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class Frequencies:
    """Document frequency of every term of one table. Never changes."""

    def __init__(self, batches: Iterable[pa.Array]) -> None:
        """Count the terms of parts of a column whose values are terms with one space between."""
        self._counts: Counter[str] = Counter()
        for part in batches:
            self._counts.update(_counted(part))
        self._counts.pop("", None)

    def of(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Number of chunks for each of ``terms`` that stands in any."""
        return {term: self._counts[term] for term in terms if term in self._counts}


def _counted(terms: pa.Array) -> dict[str, int]:
    import pyarrow.compute as pc

    lists = pc.split_pattern(terms, " ")
    encoded = lists.flatten().dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    size = len(encoded.dictionary)
    pairs = rows * size + codes
    pairs.sort()  # np.unique hashes first and is thirty times slower here
    first = np.diff(pairs, prepend=np.int64(-1)) != 0
    counts = np.bincount(pairs[first] % max(size, 1), minlength=size)
    return dict(zip(encoded.dictionary.to_pylist(), counts.tolist(), strict=True))
