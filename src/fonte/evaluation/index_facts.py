"""What an index costs and what its chunking lost, to stand beside its quality in every report.

A report gets it from `index_facts`: the chunks of the generation under judgment (`by_document`), the encoder's window,
and what was measured while it was built and asked. What was not measured is None, never 0.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fonte.evaluation.destroyed import Destroyed, destroyed
from fonte.evaluation.golden import GoldenSet
from fonte.types import Chunk, StoredChunk


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of a number of queries."""

    p50: float
    p95: float
    n: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Costs and losses of one index.

    ``tokens`` are those of all embedded texts, ``header_tokens`` their share that is context and never quoted.
    ``size_bytes`` is what the index takes on disk; ``build_seconds`` and ``embedded_texts`` what its last build took
    (a build that found its vectors in the cache embeds none).
    """

    documents: int
    chunks: int
    tokens: int
    header_tokens: int
    truncated_chunks: int
    window: int
    lost: Destroyed
    size_bytes: int | None = None
    build_seconds: float | None = None
    embedded_texts: int | None = None
    timings: Timings | None = None

    @property
    def header_share(self) -> float:
        """Tokens of headers by all tokens; 0 for an index without chunks."""
        return self.header_tokens / self.tokens if self.tokens else 0.0

    def as_json(self) -> dict[str, object]:
        """The keys of ``fonte eval --json``, and those that a comparison of configurations shows beside them."""
        return {
            "destroyed": {"n": len(self.lost.questions), "queries": list(self.lost.questions)},
            "destroyed_needles": {
                "split": len(self.lost.split),
                "beyond_window": len(self.lost.beyond_window),
                "n": self.lost.needles,
            },
            "truncated_chunks": self.truncated_chunks,
            "header_tokens": self.header_tokens,
            "header_share": round(self.header_share, 4),
            "documents": self.documents,
            "chunks": self.chunks,
            "tokens": self.tokens,
            "window": self.window,
            "size_bytes": self.size_bytes,
            "build_seconds": self.build_seconds,
            "embedded_texts": self.embedded_texts,
            "timings_ms": {"p50": self.timings.p50, "p95": self.timings.p95} if self.timings else None,
        }


def index_facts(
    golden: GoldenSet,
    chunks: Mapping[str, Sequence[Chunk]],
    window: int,
    *,
    size_bytes: int | None = None,
    build_seconds: float | None = None,
    embedded_texts: int | None = None,
    query_ms: Sequence[float] | None = None,
) -> IndexFacts:
    """The facts of one index: ``chunks`` by document name, ``golden`` anchored in the same documents.

    Raises:
        ValueError: a needle's document has no entry in ``chunks``.
    """
    lost = destroyed(golden, chunks, window)
    return IndexFacts(
        documents=len(chunks),
        chunks=lost.chunks,
        tokens=lost.tokens,
        header_tokens=lost.header_tokens,
        truncated_chunks=lost.truncated_chunks,
        window=window,
        lost=lost,
        size_bytes=size_bytes,
        build_seconds=build_seconds,
        embedded_texts=embedded_texts,
        timings=timings(query_ms) if query_ms else None,
    )


def by_document(stored: Iterable[StoredChunk], names: Iterable[str] = ()) -> dict[str, list[Chunk]]:
    """Chunks by document name, in their order; ``names`` are documents that may have none, and are listed so."""
    found: dict[str, list[Chunk]] = {name: [] for name in names}
    for one in stored:
        found.setdefault(one.document_name, []).append(one.chunk)
    for chunks in found.values():
        chunks.sort(key=lambda chunk: chunk.index)
    return found


def timings(milliseconds: Sequence[float]) -> Timings:
    """Median and 95th percentile by nearest rank: values that were measured, none made up between two.

    Raises:
        ValueError: nothing was measured.
    """
    if not milliseconds:
        raise ValueError("no query was timed")
    ordered = sorted(milliseconds)

    def at(share: float) -> float:
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    return Timings(at(0.5), at(0.95), len(ordered))


def bytes_under(folder: Path) -> int:
    """Bytes of all files below a folder, each file once however many names it has; 0 for no folder."""
    seen: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                status = (Path(place) / name).lstat()
            except FileNotFoundError:
                continue  # a writer has just removed it
            seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())
