"""Texts and vectors for large indexes: real words by their real frequencies, and vectors that the words make.

A document is about one of many topics. Of its words a quarter come out of its topic's, the others are drawn by their
frequency in the language. A text's vector is the sum of its words' vectors, each weighed by how rare the word is: one
half of a word's vector is its topic's centre, the other its own. Both have the spread of multilingual-e5-small
over 940 passages of two sets (variance of the n-th direction as n to the power of -0.8, mean vector of length 0.89), so
that two texts of two topics stand as near each other as two passages there do, and two of one topic nearer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from common import LENGTH, InstantEncoder, Vocabulary
from scipy.sparse import csr_matrix

from fonte.protocols import Embedder
from fonte.types import Codes, Vector, Vectors, sha256_hex

CHUNKS = 20
"""Chunks of a document."""
TOPICS = 2000
TOPIC_WORDS = 40
SHARE = 0.25
"""Of a text's words, those of its topic."""
ROLES = ("public", "staff", "hr", "board")
ROLE_SHARES = (0.55, 0.3, 0.1, 0.05)
"""Of the documents, by the one role that may read each."""
MEAN_LENGTH, DECAY = 0.89, 0.8
COMMON = 300
"""So many of a language's commonest words say nothing about a text."""
TOGETHER = 500
"""Documents drawn at once."""
_POOL = 1 << 22


@dataclass(frozen=True, slots=True)
class Made:
    """A document: name, role, language, and its chunks' texts."""

    number: int
    role: str
    language: str
    chunks: tuple[str, ...]

    @property
    def name(self) -> str:
        """Path of its file, by role."""
        return f"{self.role}/{self.number // 1000:03}/{self.number}.md"

    @property
    def text(self) -> str:
        """The file: a heading and a paragraph for each chunk."""
        return "\n\n".join((f"# Record {self.number}", *self.chunks)) + "\n"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Documents from number ``start`` on: their roles, and their words (documents, chunks, length) by place."""

    start: int
    roles: tuple[str, ...]
    words: npt.NDArray[np.int32]


class World:
    """Words of some languages, with topics and vectors. The same seed makes the same world."""

    def __init__(self, known: Sequence[Vocabulary], dimensions: int, seed: int = 7) -> None:
        draw = np.random.default_rng(seed)
        self.known = known
        spread = np.arange(1, dimensions + 1, dtype=np.float32) ** (-DECAY / 2)
        self._turn = np.linalg.qr(draw.standard_normal((dimensions, dimensions)))[0].astype(np.float32)
        centres = draw.standard_normal((TOPICS, dimensions), np.float32) * spread
        self.words: list[str] = []
        self._begins: list[int] = []
        self._chances: list[npt.NDArray[np.float64]] = []
        self._own: list[npt.NDArray[np.int64]] = []
        self._at: dict[str, int] = {}
        rows, weights = [], []
        for one in known:
            counts = np.diff(np.array([0, *one.cumulative]))
            rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
            rare = np.flatnonzero((rank >= COMMON) & np.array([len(word) > 3 for word in one.words]))  # noqa: PLR2004 - content words
            own = rare[draw.integers(0, len(rare), (TOPICS, TOPIC_WORDS))]
            topic = draw.integers(0, TOPICS, len(one.words))
            topic[own] = np.arange(TOPICS)[:, None]
            vectors = centres[topic] + draw.standard_normal((len(one.words), dimensions), np.float32) * spread
            weight = np.where(rank >= COMMON, np.log(counts.sum() / counts), 0.0).astype(np.float32)
            for at, word in enumerate(one.words, len(self.words)):
                self._at.setdefault(word.lower(), at)
            self._begins.append(len(self.words))
            self.words += one.words
            rows.append(vectors)
            weights.append(weight)
            self._chances.append(np.array(one.cumulative) / one.cumulative[-1])
            self._own.append(own)
        self._weights = np.concatenate(weights)
        self._vectors = np.concatenate(rows) @ self._turn
        mean = draw.standard_normal(dimensions)
        self._mean = (MEAN_LENGTH * mean / np.linalg.norm(mean)).astype(np.float32)

    def drawn(self, count: int, seed: int = 1) -> Iterator[Drawn]:
        """So many documents, some hundred at once, of the languages in turn."""
        draw = np.random.default_rng(seed)
        for start in range(0, count, TOGETHER):
            size = min(TOGETHER, count - start)
            roles = draw.choice(len(ROLES), size, p=ROLE_SHARES)
            topics = draw.integers(0, TOPICS, size)
            words = np.empty((size, CHUNKS, LENGTH), np.int32)
            for language in range(len(self.known)):
                own = np.arange(start, start + size) % len(self.known) == language
                shape = (int(own.sum()), CHUNKS, LENGTH)
                picked = np.searchsorted(self._chances[language], draw.random(shape))
                about = self._own[language][topics[own, None, None], draw.integers(0, TOPIC_WORDS, shape)]
                words[own] = np.where(draw.random(shape) < SHARE, about, picked) + self._begins[language]
            yield Drawn(start, tuple(ROLES[role] for role in roles), words)

    def documents(self, count: int, seed: int = 1) -> Iterator[Made]:
        """The same documents one by one, as text."""
        for some in self.drawn(count, seed):
            for at, (role, chunks) in enumerate(zip(some.roles, some.words, strict=True)):
                number = some.start + at
                texts = tuple(_sentences([self.words[word] for word in chunk]) for chunk in chunks.tolist())
                yield Made(number, role, self.language(number), texts)

    def language(self, number: int) -> str:
        """Language of a document."""
        return self.known[number % len(self.known)].language

    def summed(self, words: npt.NDArray[np.int32]) -> Vectors:
        """A unit row for each row of words (n, length), given by their places among ``words``."""
        ends = np.arange(len(words) + 1) * words.shape[1]
        return self._vectors_of(words.ravel(), ends)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A unit row for each text, out of its words alone."""
        places = [[self._at[word] for word in _plain(text) if word in self._at] for text in texts]
        return self._vectors_of(
            np.array([at for one in places for at in one], np.int32), np.cumsum([0, *map(len, places)])
        )

    def _vectors_of(self, flat: npt.NDArray[np.int32], ends: npt.NDArray[np.int64]) -> Vectors:
        shape = (len(ends) - 1, len(self._vectors))
        sums = np.asarray(csr_matrix((self._weights[flat], flat, ends), shape) @ self._vectors, np.float32)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        apart = np.float32(np.sqrt(1 - MEAN_LENGTH**2)) * sums / np.maximum(lengths, np.float32(1e-6))
        whole = self._mean + apart
        return np.asarray(whole / np.linalg.norm(whole, axis=1, keepdims=True), np.float32)

    def question(self, chance: random.Random, text: str) -> str:
        """A few words out of a text, most of them such as say something."""
        words = list(dict.fromkeys(_plain(text)))
        telling = [word for word in words if word in self._at and self._weights[self._at[word]] > 0]
        wanted = chance.randint(3, 7)
        kept = chance.sample(telling, min(len(telling), wanted - 1))
        return " ".join([*kept, *chance.sample(words, min(len(words), 1 + wanted - len(kept)))])


def _plain(text: str) -> list[str]:
    """The words of a made-up text, as they stand in the vocabulary but for capitals."""
    return text.lower().replace(".", "").split()


def _sentences(drawn: list[str]) -> str:
    return " ".join(" ".join(drawn[at : at + 13]).capitalize() + "." for at in range(0, len(drawn), 13))


@dataclass
class WordEncoder(InstantEncoder):
    """The real encoder's tokens and space; vectors out of a text's words, and codes that mean nothing."""

    world: World | None = None

    def __post_init__(self) -> None:
        self.instant_questions = True
        self._pool = np.random.default_rng(3).integers(-40, 41, _POOL, np.int8)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """A unit row for each text."""
        assert self.world is not None
        return self.world.vectors(texts)

    def _vector(self, text: str) -> Vector:
        return self.embed_passages([text])[0]

    def _codes(self, text: str, tokens: int) -> Codes:
        size = tokens * self.space.code_width
        start = int(sha256_hex(text)[:8], 16) % (_POOL - size)
        return self._pool[start : start + size].reshape(tokens, self.space.code_width)


def make_encoder(real: Embedder, known: Sequence[Vocabulary]) -> WordEncoder:
    """An encoder of the words of some languages."""
    return WordEncoder(real, world=World(known, real.space.dimensions))
