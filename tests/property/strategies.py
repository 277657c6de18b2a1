"""Strategies and stand-ins that property tests share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from fonte.types import (
    Acl,
    Block,
    BlockKind,
    ChunkingRecipe,
    Parsed,
    Place,
    Recipe,
    Source,
    Space,
    Vectors,
    sha256_hex,
)


class WordTokenizer:
    """Words and single marks as tokens; long words count one for every four characters, as subwords would."""

    def __init__(self, window: int = 64, overhead: int = 4) -> None:
        self._window, self._overhead = window, overhead

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]

    def count(self, text: str) -> int:
        return len(self.offsets(text))

    @property
    def overhead(self) -> int:
        return self._overhead

    @property
    def window(self) -> int:
        return self._window


def recipe(chunking: ChunkingRecipe, window: int = 64) -> Recipe:
    space = Space("space", "model", "1", 4, window)
    return Recipe("1", "canonical-1", chunking, "terms-1", space)


def source(name: str = "policy.md", language: str | None = "en") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(name), Acl(frozenset({"public"})), body=b"x", language=language)


WILD = st.one_of(
    st.characters(),
    st.sampled_from(
        [
            *" \n\t.!?-",
            "\r\n",
            "\n\n",
            "\0",
            "\ud800",
            "\udfff",
            "\u0301",
            "\u200d",
            "\U0001f469",
            "\U00020000",
            "\u05d0\u05d1",
            "\u0645",
            "\u00ad",
            "\ufb01",
            "\u200b",
            "e\u0301",
            "\u3002",
            "\u4e2d\u6587",
        ]
    ),
)
WILD_TEXT = st.lists(WILD, max_size=60).map("".join)
WORDS = st.lists(
    st.sampled_from("the policy art. 5 D.Lgs. n. 81/2008 Sig. Rossi e.g. ferie giorni Yes. No! Perché? x".split()),
    max_size=40,
).map(" ".join)
TEXT = st.one_of(WILD_TEXT, WORDS, st.tuples(WORDS, WILD_TEXT, WORDS).map("".join))


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    kind = draw(st.sampled_from(list(BlockKind)))
    text = draw(TEXT)
    places: list[Place] = []
    if text and draw(st.booleans()):
        middle = draw(st.integers(0, len(text)))
        places = [Place(0, middle, page=draw(st.integers(1, 3))), Place(middle, len(text), page=3, box=(1, 2, 3, 4))]
    return Block(
        kind,
        text,
        level=draw(st.integers(1, 4)) if kind is BlockKind.HEADING else 0,
        places=tuple(places),
        before=draw(st.sampled_from([None, None, None, "\n", " ", "", "\r\n\r\n"])),
        table=draw(st.integers(0, 1)) if kind is BlockKind.ROW else None,
        header=draw(st.booleans()) if kind is BlockKind.ROW else False,
    )


@st.composite
def parsed_documents(draw: st.DrawFn) -> Parsed:
    return Parsed(
        tuple(draw(st.lists(blocks(), max_size=8))),
        "test/1",
        title=draw(st.sampled_from([None, "Title", "A title that goes on and on for far too many words to fit " * 3])),
        tail=draw(st.sampled_from(["", "\n", "  \n"])),
    )


CHUNKING = st.builds(
    lambda strategy, size, share, header, unit: ChunkingRecipe(strategy, size, size * share // 4, header, unit),
    st.sampled_from(["boundaries", "blind", "tokens"]),
    st.integers(24, 200),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(["tokens", "characters"]),
)


@st.composite
def every_chunking(draw: st.DrawFn) -> ChunkingRecipe:
    """Every strategy that there is, with what it needs."""
    known = draw(CHUNKING)
    strategy = draw(st.sampled_from([known.strategy, "recursive", "semantic", "document", "parent_child"]))
    return replace(
        known,
        strategy=strategy,
        parent_characters=draw(st.integers(1, 400)) if strategy == "parent_child" else 0,
        percentile=draw(st.integers(1, 99)) if strategy == "semantic" else 0,
    )


def embed(texts: Sequence[str]) -> Vectors:
    """Unit vectors out of hashes: as far apart as any, and the same for the same text."""
    rows = [[byte - 127.5 for byte in bytes.fromhex(sha256_hex(text))[:8]] for text in texts]
    made = np.array(rows, dtype=np.float32).reshape(-1, 8)
    return made / np.linalg.norm(made, axis=1, keepdims=True)
