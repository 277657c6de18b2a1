"""What a generation's table holds, as whoever checks it sees it: nobody's rights are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fonte.types import Codes, StoredChunk, Vector


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a whole pass over a table found; lists of chunks hold their ids."""

    chunks: Mapping[str, Sequence[str]]
    """Chunk ids by document id."""
    repeated: Sequence[str]
    """Chunks that stand there twice."""
    other_text: Sequence[str]
    """Chunks whose text does not have the hash that their vector was made under."""
    not_unit: Sequence[str]
    """Chunks whose vector is not finite and of length 1."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row as it is stored: the chunk with its vector, its terms in order, and its tokens' codes."""

    stored: StoredChunk
    terms: tuple[str, ...]
    codes: Codes | None
    """Shape (tokens, width); None where the space has no codec."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A passage as other programs keep it: where it is from, its place there, its text, its vector."""

    source: str
    chunk_index: int
    content: str
    embedding: Vector
