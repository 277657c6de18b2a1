"""The head of a fused ranking, ordered anew by a model that reads; where it fails the order stays, and it is said."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from fonte.deferred import Once
from fonte.errors import ModelError, ModelUnavailable
from fonte.protocols import Reranker
from fonte.types import Hit, StoredChunk

REST_SECONDS = 15.0
"""How long a reranker that could not be reached is not asked: as long as a few questions would have waited for it."""


@dataclass(frozen=True, slots=True)
class Reordered:
    """The first hits, best first, by ``reranker``, and the others as they were; or none, and why, in ``note``."""

    first: tuple[Hit, ...]
    rest: tuple[Hit, ...]
    reranker: str
    note: str = ""


class Deferred:
    """A reranker, loaded when it is first needed. Where that fails every question hears why, and none waits again."""

    def __init__(self, source: str, load: Callable[[], Reranker]) -> None:
        """``source`` names it until it is loaded, ``load`` makes it."""
        self._source = source
        self._loaded = Once(load)

    @property
    def id(self) -> str:
        """The loaded reranker's, or where it cannot be loaded the source. Loads it."""
        try:
            return self._loaded.there().id
        except ModelError:
            return self._source

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """As the loaded reranker scores, or raise what loading raised."""
        return self._loaded.there().score(question, passages)


class Resting:
    """A reranker that is left alone for some seconds after it could not be reached: no question waits for it then."""

    def __init__(self, reranker: Reranker, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._reranker = reranker
        self._clock = clock
        self._lock = Lock()
        self._until = 0.0
        self._failed = ModelUnavailable("")

    @property
    def id(self) -> str:
        """The reranker's."""
        return self._reranker.id

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """As the reranker scores. Raises ModelUnavailable at once while it is left alone, and says so."""
        with self._lock:
            left, failed = self._until - self._clock(), self._failed
        if left > 0:
            raise ModelUnavailable(f"{failed.message}; it is asked again in {math.ceil(left)} s", hint=failed.hint)
        try:
            return self._reranker.score(question, passages)
        except ModelUnavailable as error:
            with self._lock:
                self._until, self._failed = self._clock() + REST_SECONDS, error
            raise


def reordered(
    reranker: Reranker,
    question: str,
    hits: Sequence[Hit],
    stored: Mapping[str, StoredChunk],
    *,
    depth: int,
    required: bool,
) -> Reordered:
    """The first ``depth`` hits by what the reranker makes of their texts, ties by chunk id; nothing is cut by a score.

    Its scores stand alone: those of other stages have no part in them.

    Raises:
        ModelError: it failed, and ``required`` says that no other order will do.
    """
    first = hits[:depth]
    try:
        scores = reranker.score(question, [stored[hit.chunk_id].chunk.text for hit in first]) if first else []
    except ModelError as error:
        if required:
            raise
        note = f"not reranked, the fused order was kept: {error.message}"
        return Reordered((), tuple(hits), reranker.id, note)
    # Rounded, so that what is equal but for the order of additions ties.
    marked = [
        replace(hit, score=value, rerank=value)
        for hit, value in zip(first, (round(score, 6) for score in scores), strict=True)
    ]
    ordered = sorted(marked, key=lambda hit: (-hit.score, hit.chunk_id))
    return Reordered(tuple(ordered), tuple(hits[depth:]), reranker.id)
