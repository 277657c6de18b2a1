"""Texts of chunks to vectors and token codes: what the encoder reads of them, and what is known of it already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fonte.errors import BadModelOutput
from fonte.protocols import Embedder, TokenCoder
from fonte.store_protocols import VectorCache
from fonte.text.normalise import search_form
from fonte.types import Chunk, Codes, Vector, Vectors, sha256_hex


@dataclass(frozen=True, slots=True)
class Embedded:
    """What the encoder made of texts, in their order, and how many of them it had to read for it."""

    vectors: Vectors
    codes: list[Codes] | None
    """Of each text's tokens; None where the space has no codec."""
    new: int


def embed_cached(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> Embedded:
    """Unit vectors (n, dim) of texts that fit the window, and codes of their tokens where the space has a codec."""
    space = embedder.space
    keys = [sha256_hex(text) for text in texts]  # see vector_key
    distinct = list(dict.fromkeys(keys))
    known = cache.get(space.key, distinct)
    codes = cache.codes(space.key, distinct) if space.codec else {}
    if space.codec:
        known = {key: vector for key, vector in known.items() if key in codes}
    wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if wanted:
        made, coded = _made(list(wanted.values()), embedder)
        fresh: dict[str, Vector] = dict(zip(wanted, made, strict=True))
        new = dict(zip(wanted, coded, strict=True)) if coded is not None else {}
        cache.put(space.key, fresh, new)
        known, codes = {**known, **fresh}, {**codes, **new}
    vectors = np.stack([known[key] for key in keys])
    return Embedded(vectors, [codes[key] for key in keys] if space.codec else None, len(wanted))


def _made(texts: Sequence[str], embedder: Embedder) -> tuple[Vectors, list[Codes] | None]:
    """Vectors and codes in one pass of the encoder.

    Raises:
        BadModelOutput: a space with a codec whose embedder does not give it.
    """
    space = embedder.space
    if not space.codec:
        return embedder.embed_passages(texts), None
    if not isinstance(embedder, TokenCoder) or embedder.codec != space.codec:
        raise BadModelOutput(f"the embedder of {space.model} does not give the token codes that its space names")
    return embedder.encode_passages(texts)


def vector_key(text: str) -> str:
    """Under what name the vector of a chunk's text is remembered when the text fits the window."""
    return sha256_hex(search_form(text))


def fitted(chunk: Chunk, embedder: Embedder) -> str:
    """What is embedded of a chunk: its search form, or the head of it that fits the window.

    The ledger has counted a chunk beyond the window as truncated before it comes here.
    """
    text = search_form(chunk.text)
    if chunk.tokens <= embedder.tokenizer.window:
        return text
    room = embedder.tokenizer.window - embedder.tokenizer.overhead
    offsets = embedder.tokenizer.offsets(text)
    if len(offsets) <= room:
        return text
    cut = text[: offsets[room - 1][1]]
    # Cutting can change how the last word is split, by a token or two.
    while embedder.tokenizer.count(cut) > room:
        room -= 1
        cut = text[: offsets[room - 1][1]]
    return cut
