"""Destroyed answers: needles that no retriever could find, because no chunk holds them whole (document A).

Judged on the chunks of an index, before anything is searched. A needle beyond the encoder's window is as good as lost:
it stands in a chunk, but no vector has seen it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.measures import Needle
from fonte.types import Chunk


@dataclass(frozen=True, slots=True)
class Destroyed:
    """Needles that no chunk holds whole, and needles held only by chunks longer than the window, with question ids."""

    split: tuple[tuple[str, Needle], ...]
    beyond_window: tuple[tuple[str, Needle], ...]
    needles: int
    truncated_chunks: int
    chunks: int
    header_tokens: int
    tokens: int

    @property
    def questions(self) -> tuple[str, ...]:
        """Ids of the questions that lost a needle, in order, each once."""
        return tuple(dict.fromkeys(question for question, _ in (*self.split, *self.beyond_window)))


def destroyed(golden: GoldenSet, chunks: Mapping[str, Sequence[Chunk]], window: int | None = None) -> Destroyed:
    """What a chunking did to the set's needles; ``chunks`` by document name, ``window`` in the encoder's tokens.

    Needles should have been anchored (`golden.anchored`); one without a range is looked for by its words.

    Raises:
        ValueError: a needle's document has no entry in ``chunks``: that is a loss of another layer.
    """
    split: list[tuple[str, Needle]] = []
    beyond: list[tuple[str, Needle]] = []
    total = 0
    for question in golden.questions:
        for needle in question.needles:
            if needle.document not in chunks:
                raise ValueError(f"question {question.id}: no chunks of {needle.document} were given")
            total += 1
            holding = [chunk for chunk in chunks[needle.document] if _holds(chunk, needle)]
            if not holding:
                split.append((question.id, needle))
            elif window is not None and all(chunk.tokens > window for chunk in holding):
                beyond.append((question.id, needle))
    every = [chunk for group in chunks.values() for chunk in group]
    return Destroyed(
        split=tuple(split),
        beyond_window=tuple(beyond),
        needles=total,
        truncated_chunks=truncated(every, window) if window is not None else 0,
        chunks=len(every),
        header_tokens=sum(chunk.header_tokens for chunk in every),
        tokens=sum(chunk.tokens for chunk in every),
    )


def truncated(chunks: Iterable[Chunk], window: int) -> int:
    """Chunks whose embedded text is longer than the encoder's window."""
    return sum(chunk.tokens > window for chunk in chunks)


def _holds(chunk: Chunk, needle: Needle) -> bool:
    if needle.start is not None and needle.end is not None:
        return chunk.start <= needle.start and needle.end <= chunk.end
    return needle.text in chunk.content
