"""A whole corpus whose slow parts are stand-ins: vectors out of words, parsing in this process, sources in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fonte.config import load_settings
from fonte.corpus import OpenCorpus, Parts, SourceOptions
from fonte.errors import FonteError
from fonte.gate import GateModel
from fonte.parsers.containers.walk import MemberReader
from fonte.parsers.registry import parse_body
from fonte.protocols import SourceReader
from fonte.types import Acl, Codes, Parsed, Source, Space, TokenWeights, Vector, Vectors, sha256_hex
from fonte.wiring import make_parts
from strategies import WordTokenizer

DIMENSIONS = 16
WIDE_OPEN = GateModel(weights={}, intercept=9.0, threshold=0.5)
"""Lets every question through, so that whatever was retrieved would show."""


class WordEmbedder:
    """The sum of one fixed random vector for each word, which is also the word's code; counts what it was asked for.

    Without ``codec`` it keeps no codes, as an endpoint does. With it, vectors alone are asked for by the data checks
    alone: these are counted apart.
    """

    def __init__(self, codec: str = "word-codes") -> None:
        self.space = Space("words", "words", "1", DIMENSIONS, 512, codec, DIMENSIONS if codec else 0)
        self.codec = codec
        self.tokenizer = WordTokenizer(window=512)
        self.calls = 0
        self.texts: list[str] = []
        self.checked: list[str] = []
        self._encoding = False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.codec and not self._encoding:
            self.checked += texts
        else:
            self.calls += 1
            self.texts += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        total = np.full(DIMENSIONS, 0.01)
        for word in text.casefold().split():
            total += self._word(word)
        vector: Vector = (total / np.linalg.norm(total)).astype(np.float32)
        return vector

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        self._encoding = True
        try:
            return self.embed_passages(texts), [self._codes(text) for text in texts]
        finally:
            self._encoding = False

    def encode_query(self, text: str) -> tuple[Vector, Codes]:
        return self.embed_query(text), self._codes(text)

    weighing = "words"

    def token_weights(self, codes: Codes) -> TokenWeights:
        """The first word counts twice."""
        return np.where(np.arange(len(codes)) == 0, 2.0, 1.0)

    def _codes(self, text: str) -> Codes:
        words = [self._word(word) for word in text.casefold().split()]
        return np.array([np.round(127 * one / np.linalg.norm(one)) for one in words], np.int8).reshape(-1, DIMENSIONS)

    def _word(self, word: str) -> Vector:
        seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest())
        return np.random.default_rng(seed).normal(size=DIMENSIONS)


class InlinePool:
    """Parses here and now; how often is counted."""

    def __init__(self) -> None:
        self.parsed = 0

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        for source in sources:
            self.parsed += 1
            try:
                yield source, parse_body(replace(source, body=_body(source)))
            except FonteError as error:
                yield source, error


def _body(source: Source) -> bytes:
    if source.inside:
        with MemberReader() as reader:
            return reader.read(source)
    return source.body if source.body is not None else Path(source.path or "").read_bytes()


@dataclass
class Shelf:
    """Sources in memory: name → (text, roles). ``root`` tells shelves apart. All English but those that are named."""

    texts: Mapping[str, tuple[str, frozenset[str]]]
    root: str = "memory://shelf/"
    notes: tuple[str, ...] = ()
    italian: frozenset[str] = frozenset()

    def scan(self) -> Iterator[Source]:
        for name, (text, roles) in sorted(self.texts.items()):
            body, language = text.encode(), "it" if name in self.italian else "en"
            yield Source(self.root + name, name, sha256_hex(body), Acl(roles), body=body, language=language)


@dataclass
class Shelves:
    """What ``open_source`` finds, by the name that the test gave it."""

    by_name: dict[str, Shelf] = field(default_factory=dict)
    others: Callable[[str, SourceOptions, str], SourceReader] | None = None
    """Opens what is not in memory."""

    def open(self, spec: str, options: SourceOptions, tenant: str) -> SourceReader:
        name = spec.rsplit("/", 1)[-1]
        if name not in self.by_name and self.others is not None:
            return self.others(spec, options, tenant)
        return self.by_name[name]


def quick_parts(
    home: Path,
    shelves: Shelves | None = None,
    *,
    embedder: WordEmbedder | None = None,
    environ: Mapping[str, str] | None = None,
) -> Parts:
    """Real stores, chunking, terms, retrieval and citations; stand-ins for the rest."""

    @contextmanager
    def pool(workers: int) -> Iterator[InlinePool]:
        del workers
        yield InlinePool()

    parts = make_parts(home, load_settings(None, home, environ or {}))
    model = embedder or WordEmbedder()
    if shelves is not None:
        shelves.others = parts.open_source
    return replace(
        parts,
        make_embedder=lambda: model,
        make_pool=pool,
        open_source=shelves.open if shelves else parts.open_source,
        gate_for=lambda _space: WIDE_OPEN,
        extractors=dict,
    )


def quick_corpus(
    home: Path,
    shelves: Shelves | None = None,
    *,
    embedder: WordEmbedder | None = None,
    environ: Mapping[str, str] | None = None,
) -> OpenCorpus:
    """An open corpus over ``quick_parts``."""
    return OpenCorpus(quick_parts(home, shelves, embedder=embedder, environ=environ))
