"""Documents to chunks. One strategy a file; all are pure and every chunk is an exact slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fonte.errors import ConfigError
from fonte.protocols import Chunker, Tokenizer
from fonte.text.bibliography import WithoutBibliography
from fonte.text.chunking.blind import BlindChunker
from fonte.text.chunking.boundaries import BoundariesChunker
from fonte.text.chunking.document import DocumentChunker
from fonte.text.chunking.parents import ParentChildChunker
from fonte.text.chunking.recursive import RecursiveChunker
from fonte.text.chunking.semantic import Embed, SemanticChunker
from fonte.types import Recipe

__all__ = ["make_chunker"]

_BY_STRUCTURE: Mapping[str, Callable[[Recipe, Tokenizer], Chunker]] = {
    "boundaries": BoundariesChunker,
    "recursive": RecursiveChunker,
    "document": DocumentChunker,
    "parent_child": ParentChildChunker,
}


def make_chunker(recipe: Recipe, tokenizer: Tokenizer, embed: Embed | None = None) -> Chunker:
    """The chunker that a recipe names. ``tokens`` is the blind strategy counted in the encoder's tokens.

    ``embed`` makes the vectors that the strategy ``semantic`` compares; no other needs it.

    Raises:
        ConfigError: the size, or the encoder's window, leaves no room for text beside the encoder's own tokens; or
            there is no encoder where one is needed.
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
    chunker: Chunker
    if chunking.strategy == "semantic":
        if embed is None:
            raise ConfigError("the semantic strategy needs the encoder", hint='use chunking.strategy = "boundaries"')
        chunker = SemanticChunker(recipe, tokenizer, embed)
    else:
        chunker = _BY_STRUCTURE.get(chunking.strategy, BlindChunker)(recipe, tokenizer)
    return WithoutBibliography(chunker) if chunking.strip_bibliography else chunker
