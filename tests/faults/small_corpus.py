"""Folders that change by seed, and everything that a home would say of them, for tests that compare homes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.models import registry
from fonte.protocols import Embedder, Tokenizer
from fonte.types import Principal, Space, Vector, Vectors
from fonte.wiring import make_parts

MODEL = '[embedding]\nsource = "package:all-MiniLM-L6-v2"\n'
QUERIES = ("pump P-7 pressure", "filter of hall 3", "who checks the valve", "note 12", "weeks between inspections")
WHO = Principal()


class Remembering:
    """An embedder that makes each vector once in this process and counts the texts that it was asked for."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, Vector] = {}
        self.texts = 0
        self.calls = 0

    @property
    def space(self) -> Space:
        return self._inner.space

    @property
    def tokenizer(self) -> Tokenizer:
        return self._inner.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        self.texts += len(texts)
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._inner.embed_passages(unknown), strict=True))
        return np.stack([self._known[text] for text in texts])

    def embed_query(self, text: str) -> Vector:
        return self._inner.embed_query(text)


_loaded: list[Remembering] = []


def embedder() -> Remembering:
    """MiniLM, loaded once."""
    if not _loaded:
        _loaded.append(Remembering(registry.make_embedder("package:all-MiniLM-L6-v2", threads=1)))
    return _loaded[0]


def open_corpus(home: Path, model: Embedder | None = None) -> OpenCorpus:
    """A corpus whose model is the shared one."""
    parts = make_parts(home, load_settings(None, home, {}))
    return OpenCorpus(replace(parts, make_embedder=lambda: model or embedder()))


def write(folder: Path, number: int, nonce: int) -> None:
    """One small document: five facts in two sections."""
    (folder / f"n{number:02}.md").write_text(
        f"# Note {number}\n\nPump P-{number} runs at {number * 3 + nonce} bar in hall {number % 7}.\n\n## Care\n\n"
        f"Filter F-{number} is changed every {number % 9 + 1} weeks by team {number % 4}; revision {nonce}.\n",
        encoding="utf-8",
    )


def begin(folder: Path, documents: int) -> None:
    """A folder of so many documents."""
    folder.mkdir()
    for number in range(documents):
        write(folder, number, 0)


def edit(folder: Path, draw: random.Random, nonce: int) -> None:
    """Some documents change, some go, some come."""
    numbers = sorted(int(path.stem[1:]) for path in folder.glob("n*.md"))
    changed = draw.sample(numbers, 8)
    for number in changed[:5]:
        write(folder, number, nonce)
    for number in changed[5:]:
        (folder / f"n{number:02}.md").unlink()
    for number in [number for number in range(99) if number not in numbers][:3]:
        write(folder, number, nonce)


@dataclass(frozen=True)
class Told:
    """All that a home says: documents, chunks, and the order of every query in every mode."""

    documents: dict[str, tuple[str, str, int, tuple[str, ...]]]
    chunks: dict[str, str]
    orders: dict[tuple[str, str], tuple[str, ...]]

    def difference(self, other: Told) -> str:
        """The first thing that is not the same, in words; empty when all is."""
        for name in ("documents", "chunks", "orders"):
            mine, theirs = getattr(self, name), getattr(other, name)
            for key in sorted({*mine, *theirs}, key=str):
                if mine.get(key) != theirs.get(key):
                    return f"{name} at {key}: {mine.get(key)} and {theirs.get(key)}"
        return ""


def told(home: Path) -> Told:
    """What the active generation of a home says."""
    with open_corpus(home) as corpus:
        orders: dict[tuple[str, str], tuple[str, ...]] = {}
        for mode in ("hybrid", "bm25", "dense"):
            for query in QUERIES:
                found = corpus.search(query, principal=WHO, mode=mode, k=10)
                orders[mode, query] = tuple(one.stored.chunk.id for one in found.results)
        states = corpus.documents()
        store = corpus._store_of("default")
        active = store.catalog.active()
        assert active is not None
        reader = store.index.open(active)
        rows = reader._opened.table.search().select(["chunk_id", "content"]).limit(None).to_arrow()
        ids = rows["chunk_id"].to_pylist()
        assert len(set(ids)) == len(ids) == active.chunks == sum(state.chunks for state in states), "lost or doubled"
        return Told(
            {one.uri: (one.status.value, one.version, one.chunks, tuple(sorted(one.acl.roles))) for one in states},
            dict(zip(ids, rows["content"].to_pylist(), strict=True)),
            orders,
        )


def leftovers(home: Path) -> list[str]:
    """What should not be there after a sync that ended: tables nobody names, unfinished generations, drafts."""
    folder = home / "tenants" / "default"
    with open_corpus(home) as corpus:
        known = corpus._store_of("default").catalog.generations()
    tables = {one.table for one in known}
    found = [f"generation {one.id} is {one.state}" for one in known if one.state in {"building", "rejected"}]
    found += [path.name for path in (folder / "lance").iterdir() if path.name.rsplit(".", 1)[0] not in tables]
    found += [path.name for path in (*home.iterdir(), *folder.iterdir()) if path.name.startswith(".")]
    return found
