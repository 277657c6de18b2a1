"""Which texts are copies: a hash and a sketch of each text, and the texts that come to the same.

A sketch is MinHash (Broder, SEQUENCES 1997) over the runs of three words of a text: of ``HASHES`` random orders of all
runs, the first run of each. The share of orders in which two texts agree estimates |A ∩ B| / |A ∪ B| with a standard
error of sqrt(J (1 - J) / HASHES), .03 at a likeness of .85. Sixteen bits of each minimum are kept (b-bit minwise
hashing, Li and König, WWW 2010). Texts are compared where they share a band of the sketch (Leskovec, Rajaraman and
Ullman, Mining of Massive Datasets, 3.4): at ``NEAR`` one pair in twenty thousand is missed.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from fonte.text.normalise import search_form
from fonte.types import sha256_hex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NEAR: Final = 0.85
"""Estimated likeness from which two texts are told as near copies."""
HASHES: Final = 126
_BAND: Final = 6
_RUN: Final = 3
_FEWEST: Final = 20
"""Runs below which a text is only a copy when it is equal: one word makes too much of a short text."""
_AT_ONCE: Final = 20_000
_HASH_LENGTH: Final = 32
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Copy:
    """A text that comes to the same as an earlier one, both as their keys. ``similarity`` is 1 only of equal texts."""

    key: str
    of: str
    similarity: float


def likeness_of(text: str) -> str:
    """What is kept of a text to tell its copies by: its hash, and its sketch where it is long enough for one."""
    words = _WORD.findall(search_form(text).casefold())
    runs = {zlib.crc32(" ".join(words[at : at + _RUN]).encode()) for at in range(len(words) - _RUN + 1)}
    return sha256_hex(text)[:_HASH_LENGTH] + (_sketch(runs) if len(runs) >= _FEWEST else "")


def copies_among(texts: Iterable[tuple[str, Hashable, str]]) -> list[Copy]:
    """Of (key, group, likeness) in order: every text that comes to the same as an earlier one of its group.

    The earlier one is the first of its kind: it is no copy itself. Texts of two groups are never compared.
    """
    equal: dict[tuple[Hashable, str], str] = {}
    bands: defaultdict[tuple[Hashable, int, bytes], list[tuple[str, bytes]]] = defaultdict(list)
    found: list[Copy] = []
    for key, group, likeness in texts:
        first = equal.setdefault((group, likeness[:_HASH_LENGTH]), key)
        if first != key:
            found.append(Copy(key, first, 1.0))
            continue
        sketch = base64.b85decode(likeness[_HASH_LENGTH:])
        places = [(group, at, sketch[at : at + 2 * _BAND]) for at in range(0, len(sketch), 2 * _BAND)]
        near = _nearest(sketch, [one for place in places for one in bands[place]])
        if near is not None:
            found.append(Copy(key, *near))
            equal[group, likeness[:_HASH_LENGTH]] = near[0]
            continue
        for place in places:
            bands[place].append((key, sketch))
    return found


def _nearest(sketch: bytes, others: Sequence[tuple[str, bytes]]) -> tuple[str, float] | None:
    """The most alike, the earliest of equals, if it is near; never told as quite equal, for its text is not."""
    import numpy as np

    known = dict(others)
    if not known:
        return None
    rows = np.frombuffer(b"".join(known.values()), "<u2").reshape(len(known), HASHES)
    alike = (rows == np.frombuffer(sketch, "<u2")).mean(axis=1)
    best = int(alike.argmax())
    if alike[best] < NEAR:
        return None
    return list(known)[best], round(min(float(alike[best]), 0.99), 2)


def _sketch(runs: set[int]) -> str:
    import numpy as np

    values = np.fromiter(runs, np.uint64, len(runs))
    factors, terms = _orders()
    lowest = np.full(HASHES, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(values), _AT_ONCE):
        ordered = (factors[:, None] * values[None, start : start + _AT_ONCE] + terms[:, None]) >> np.uint64(32)
        lowest = np.minimum(lowest, ordered.min(axis=1))
    return base64.b85encode(lowest.astype("<u2").tobytes()).decode("ascii")


@cache
def _orders() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Factors (odd) and terms of the orders, multiply and shift: the same on every machine and in every version."""
    import numpy as np

    made = b"".join(hashlib.sha256(b"fonte likeness %d" % at).digest()[:16] for at in range(HASHES))
    numbers = np.frombuffer(made, "<u8").reshape(HASHES, 2).astype(np.uint64)
    return numbers[:, 0] | np.uint64(1), numbers[:, 1]
