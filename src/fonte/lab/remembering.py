"""An encoder that remembers the passages whose tokens it has shown.

The gate reads the same passages for sixty questions in every configuration, and nothing but time is saved by not
reading them anew. What indexes and questions are embedded with is left alone, so that their times stay true.
"""

from __future__ import annotations

from collections.abc import Sequence

from fonte.protocols import Embedder, TokenCoder, TokenEmbedder, Tokenizer
from fonte.types import Codes, Space, TokenVectors, Vector, Vectors

MOST = 600
"""Passages remembered at once: some 300 MB at 300 tokens of 384 dimensions."""


class Remembering:
    """A local encoder with a memory. See `remembering` for which encoders can have one."""

    def __init__(self, inner: Embedder, shown: TokenEmbedder, coded: TokenCoder) -> None:
        self._inner, self._shown, self._coded = inner, shown, coded
        self._known: dict[str, TokenVectors] = {}

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

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As the encoder does."""
        return self._inner.embed_passages(texts)

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
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(new, self._shown.passage_tokens(new), strict=True)) if new else {}
        told = [self._known[text] if text in self._known else made[text] for text in texts]
        self._known |= made
        for text in list(self._known)[: max(0, len(self._known) - MOST)]:
            del self._known[text]
        return told


def remembering(embedder: Embedder) -> Embedder:
    """The encoder with a memory where it shows its tokens; else as it is."""
    if isinstance(embedder, TokenEmbedder) and embedder.shows_tokens and isinstance(embedder, TokenCoder):
        return Remembering(embedder, embedder, embedder)
    return embedder
