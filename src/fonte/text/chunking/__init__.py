"""Documents to chunks. One strategy a file; all are pure and every chunk is an exact slice."""

from __future__ import annotations

from fonte.errors import ConfigError
from fonte.protocols import Chunker, Tokenizer
from fonte.text.chunking.blind import BlindChunker
from fonte.text.chunking.boundaries import BoundariesChunker
from fonte.types import Recipe

__all__ = ["make_chunker"]


def make_chunker(recipe: Recipe, tokenizer: Tokenizer) -> Chunker:
    """The chunker that a recipe names. ``tokens`` is the blind strategy counted in the encoder's tokens.

    Raises:
        ConfigError: the size, or the encoder's window, leaves no room for text beside the encoder's own tokens.
    """
    chunking = recipe.chunking
    counted_in_tokens = chunking.unit == "tokens" or chunking.strategy == "tokens"
    limit = min(chunking.size, tokenizer.window) if counted_in_tokens else tokenizer.window
    room = limit - tokenizer.overhead
    if room < 1 or (counted_in_tokens and chunking.overlap >= room):
        message = (
            f"chunks of {limit} tokens leave {room} for text beside the encoder's own {tokenizer.overhead}"
            f" and an overlap of {chunking.overlap}"
        )
        raise ConfigError(message, hint="raise chunking.size or lower chunking.overlap")
    if chunking.strategy == "boundaries":
        return BoundariesChunker(recipe, tokenizer)
    return BlindChunker(recipe, tokenizer)
