"""Questions that are nearly the same: found exactly, by token Jaccard with prefix filtering.

Two texts are near duplicates when |A ∩ B| / |A ∪ B| of their word sets reaches a threshold and they hold the same
words with digits in them: "CVE-2024-1" and "CVE-2024-2" are asked for separately. Sets of such likeness share two
words among the rarest |A| - ⌈t·|A|⌉ + 2 of each (Chaudhuri, Ganti and Kaushik, ICDE 2006; with longer prefixes Wang,
Li and Feng, SIGMOD 2012), so that only few pairs are looked at. It is exact, where MinHash would miss some.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

THRESHOLD = 0.8
MAX_PAIRS = 3_000_000
"""Pairs compared at most: sets written from one pattern would have billions."""
_HALF, _ENOUGH = 0.5, 2
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Near:
    """The later text, an earlier one that it is like, both as places in the given sequence, and their likeness."""

    later: int
    earlier: int
    similarity: float


@dataclass(frozen=True, slots=True)
class _Entry:
    place: int
    owner: Hashable
    words: frozenset[str]


def near_duplicates(
    texts: Sequence[tuple[Hashable, Hashable, str]], *, threshold: float = THRESHOLD, max_pairs: int = MAX_PAIRS
) -> tuple[list[Near], bool]:
    """For each text that is like earlier ones, the first of the same words, else the first of nearly the same.

    Told besides: whether all pairs that matter were compared (else ``max_pairs`` was reached).

    Each text comes with its owner and its group: texts of one owner are never compared (a question's wordings say the
    same on purpose), nor texts of two groups (askers with other rights may get other answers).

    Raises:
        ValueError: a threshold outside 0.5..1.
    """
    if not _HALF < threshold <= 1:
        raise ValueError("a threshold lies above 0.5 and at most at 1")
    sets = [frozenset(_WORD.findall(text.casefold())) for _, _, text in texts]
    frequency = Counter(word for words in sets for word in words)
    index: dict[Hashable, list[_Entry]] = defaultdict(list)
    same: dict[Hashable, list[_Entry]] = defaultdict(list)
    found: list[Near] = []
    left = max_pairs
    for place, ((owner, group, _), words) in enumerate(zip(texts, sets, strict=True)):
        if not words:
            continue
        mine = _Entry(place, owner, words)
        codes = frozenset(word for word in words if any(map(str.isdigit, word)))
        prefix = sorted(words, key=lambda word: (frequency[word], word))
        prefix = prefix[: len(words) - math.ceil(threshold * len(words)) + 2]
        keys = [(group, codes, pair) for pair in combinations(prefix, 2)]
        equal = same[group, words]
        best = next((Near(place, one.place, 1.0) for one in equal if one.owner != owner), None)
        if best is None and left > 0:
            best, looked = _earliest(mine, [index.get(key, ()) for key in keys], threshold, left)
            left -= looked
        if best is not None:
            found.append(best)
        # Two owners of one set are enough: whoever asks later differs from one of them.
        if len(equal) < _ENOUGH and all(one.owner != owner for one in equal):
            equal.append(mine)
            for key in keys:
                index[key].append(mine)
    return found, left > 0


def _earliest(
    mine: _Entry, postings: Sequence[Sequence[_Entry]], threshold: float, left: int
) -> tuple[Near | None, int]:
    """The earliest entry like ``mine``, and how many were compared, at most ``left``."""
    best: Near | None = None
    looked = 0
    for posting in postings:
        for other in posting:
            if best is not None and other.place >= best.earlier:
                break
            if looked >= left:
                return best, looked
            looked += 1
            if other.owner == mine.owner:
                continue
            small, large = sorted((len(mine.words), len(other.words)))
            if small < threshold * large:
                continue
            shared = len(mine.words & other.words)
            similarity = shared / (small + large - shared)
            if similarity >= threshold:
                best = Near(mine.place, other.place, similarity)
    return best, looked
