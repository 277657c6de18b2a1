"""Short ways to documents for the tests of this folder."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.types import Acl, Block, BlockKind, Chunk, ChunkingRecipe, Document, Parsed, Place, Recipe, Source, Space


class Words:
    """A stand-in for an encoder's tokenizer: words and marks."""

    def __init__(self, window: int = 512, overhead: int = 2) -> None:
        self.window, self.overhead = window, overhead

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]

    def count(self, text: str) -> int:
        return len(self.offsets(text))


def heading(text: str, level: int = 1, places: Sequence[Place] = ()) -> Block:
    return Block(BlockKind.HEADING, text, level, tuple(places))


def paragraph(text: str, *places: Place, before: str | None = None) -> Block:
    return Block(BlockKind.PARAGRAPH, text, places=places, before=before)


def row(text: str, *places: Place, header: bool = False, table: int = 0) -> Block:
    return Block(BlockKind.ROW, text, places=places, table=table, header=header)


def item(text: str) -> Block:
    return Block(BlockKind.LIST_ITEM, text)


def document(*blocks: Block, name: str = "policy.md", language: str | None = "en", **fields: object) -> Document:
    parsed = Parsed(blocks, "test/1", **fields)  # type: ignore[arg-type]
    return canonicalise(parsed, source(name, language), tenant="t")


def source(name: str = "policy.md", language: str | None = "en") -> Source:
    return Source(f"file:///{name}", name, "0" * 64, Acl(frozenset({"public"})), language=language)


def chunks(doc: Document, chunking: ChunkingRecipe, window: int = 512) -> Sequence[Chunk]:
    recipe = Recipe("1", "canonical-1", chunking, "terms", Space("s", "m", "1", 4, window))
    return make_chunker(recipe, Words(window)).chunk(doc)
