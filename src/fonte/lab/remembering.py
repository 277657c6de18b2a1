"""An encoder that remembers the passages and sentences that it has read for the gate.

The gate reads the same ones for sixty questions in every configuration, and nothing but time is saved by not reading
them anew. What indexes and questions are embedded with is left alone, so that their times stay true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from fonte.protocols import Embedder, TokenCoder, TokenEmbedder, Tokenizer
from fonte.types import Codes, Space, TokenVectors, TokenWeights, Vector, Vectors

MOST_PASSAGES = 600
"""Passages whose tokens are remembered at once: some 300 MB at 300 tokens of 384 dimensions."""
MOST_SENTENCES = 50_000
_Kept = TypeVar("_Kept")


class _Memory(Generic[_Kept]):
    """What was made of each text, the oldest forgotten first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, _Kept] = {}

    def of(self, texts: Sequence[str], make: Callable[[list[str]], Sequence[_Kept]]) -> list[_Kept]:
        """One for each text, in order; each text is made once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, make(new), strict=True)) if new else {}
        told = [self._known[text] for text in texts]
        for text in list(self._known)[: max(0, len(self._known) - self._most)]:
            del self._known[text]
        return told


class Remembering:
    """A local encoder with a memory. See `remembering` for which encoders can have one."""

    def __init__(self, inner: Embedder, shown: TokenEmbedder, coded: TokenCoder) -> None:
        self._inner, self._shown, self._coded = inner, shown, coded
        self._passages = _Memory[TokenVectors](MOST_PASSAGES)
        self._sentences = _Memory[Vector](MOST_SENTENCES)

    @property
    def space(self) -> Space:
        """As the encoder's."""
        return self._inner.space

    @property
    def tokenizer(self) -> Tokenizer:
        """As the encoder's."""
        return self._inner.tokenizer

    @property
    def shows_tokens(self) -> bool:
        """As the encoder's."""
        return self._shown.shows_tokens

    @property
    def codec(self) -> str:
        """As the encoder's."""
        return self._coded.codec

    @property
    def weighing(self) -> str:
        """As the encoder's."""
        return self._coded.weighing

    def token_weights(self, codes: Codes) -> TokenWeights:
        """As the encoder does."""
        return self._coded.token_weights(codes)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As the encoder does, each text once; an index is made of ``encode_passages`` instead."""
        if not texts:
            return self._inner.embed_passages(texts)
        return np.stack(self._sentences.of(texts, lambda new: list(self._inner.embed_passages(new))))

    def embed_query(self, text: str) -> Vector:
        """As the encoder does."""
        return self._inner.embed_query(text)

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """As the encoder does."""
        return self._coded.encode_passages(texts)

    def encode_query(self, text: str) -> tuple[Vector, Codes]:
        """As the encoder does."""
        return self._coded.encode_query(text)

    def question_tokens(self, text: str) -> TokenVectors:
        """As the encoder does."""
        return self._shown.question_tokens(text)

    def passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """As the encoder shows them, each text once."""
        return self._passages.of(texts, self._shown.passage_tokens)


def remembering(embedder: Embedder) -> Embedder:
    """The encoder with a memory, where it shows its tokens and makes codes of them; else as it is."""
    if isinstance(embedder, TokenEmbedder) and embedder.shows_tokens and isinstance(embedder, TokenCoder):
        return Remembering(embedder, embedder, embedder)
    return embedder
