"""Any OpenAI-compatible ``/embeddings`` endpoint as an ``Embedder``. A failure is never stored as a vector."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fonte.errors import BadModelOutput
from fonte.models.cards import ModelCard
from fonte.models.endpoint import Endpoint
from fonte.models.estimate import EstimatedTokenizer
from fonte.models.vectors import unit_rows
from fonte.types import Space, Vector, Vectors

_BATCH_TEXTS = 64
_BATCH_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """What a configuration declares of a model behind an endpoint."""

    name: str
    window: int = 512
    dimensions: int | None = None
    """Expected dimensions; asked of the endpoint when it is not declared."""
    revision: str = "undeclared"
    query_prefix: str = ""
    passage_prefix: str = ""


class OpenAIEmbedder:
    """Implements ``fonte.protocols.Embedder``. Safe for several threads."""

    def __init__(self, model: RemoteModel, endpoint: Endpoint) -> None:
        """Nothing is sent yet."""
        self._model = model
        self._endpoint = endpoint
        self._tokenizer = EstimatedTokenizer(model.window, prefix=model.passage_prefix)
        self._lock = threading.Lock()
        self._dimensions = model.dimensions

    @property
    def space(self) -> Space:
        """The space of model, dimensions and declared revision, wherever the endpoint runs.

        Raises:
            ModelUnavailable, BadModelOutput: the dimensions were not declared and the endpoint does not tell.
        """
        model = self._model
        return ModelCard(
            name=model.name,
            revision=model.revision,
            dimensions=self._known_dimensions(),
            window=model.window,
            pooling="none",
            query_prefix=model.query_prefix,
            passage_prefix=model.passage_prefix,
            tokenizer="estimate",
            weights_sha256="",
            licence="",
        ).space

    @property
    def tokenizer(self) -> EstimatedTokenizer:
        """An upper estimate of the tokens that count."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order.

        Raises:
            ValueError: an empty text, or one longer than the window by the estimate; nothing is sent then.
            ModelUnavailable, BadModelOutput
        """
        limit = self._tokenizer.window - self._tokenizer.overhead
        counts = [self._tokenizer.count(text) for text in texts]
        for index, (text, count) in enumerate(zip(texts, counts, strict=True)):
            if not text.strip():
                raise ValueError(f"text {index} is empty: an empty text has no vector")
            if count > limit:
                raise ValueError(f"text {index} has up to {count} tokens; {self._model.name} takes {limit}")
        rows = np.empty((len(texts), self._known_dimensions() if texts else self._dimensions or 0), np.float32)
        for start, end in _batches(counts):
            rows[start:end] = self._request([self._model.passage_prefix + text for text in texts[start:end]])
        return rows

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question; its head is kept where it is longer than the window.

        Raises:
            ValueError: an empty text.
            ModelUnavailable, BadModelOutput
        """
        if not text.strip():
            raise ValueError("an empty question has no vector")
        prefix = self._model.query_prefix
        room = max(1, self._tokenizer.window - self._tokenizer.overhead - self._tokenizer.count(prefix))
        ranges = self._tokenizer.offsets(text)
        head = text if len(ranges) <= room else text[: ranges[room - 1][1]]
        vector: Vector = self._request([prefix + head])[0]
        return vector

    def _known_dimensions(self) -> int:
        with self._lock:
            if self._dimensions is None:
                self._dimensions = self._ask(["dimensions"]).shape[1]
            return self._dimensions

    def _request(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._ask(texts), self._known_dimensions(), self._endpoint.where)

    def _ask(self, texts: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Raw vectors in the order of ``texts``, whatever order the endpoint answers in."""
        body = {"model": self._model.name, "input": list(texts), "encoding_format": "float"}
        data = self._endpoint.post("/embeddings", body).get("data")
        where = self._endpoint.where
        if not isinstance(data, list) or len(data) != len(texts):
            raise BadModelOutput(f"{where} did not give one vector for each of {len(texts)} texts")
        vectors: dict[int, list[float]] = {}
        for item in data:
            index = item.get("index") if isinstance(item, dict) else None
            vector = item.get("embedding") if isinstance(item, dict) else None
            if type(index) is not int or not isinstance(vector, list) or not vector:
                raise BadModelOutput(f"{where} gave an embedding without index or vector")
            if not all(type(number) in {int, float} for number in vector):
                raise BadModelOutput(f"{where} gave a vector that is not made of numbers")
            vectors[index] = vector
        if sorted(vectors) != list(range(len(texts))) or len({len(vector) for vector in vectors.values()}) != 1:
            raise BadModelOutput(f"{where} gave vectors with wrong indexes or of different lengths")
        try:
            return np.array([vectors[index] for index in range(len(texts))], dtype=np.float64)
        except OverflowError as error:
            raise BadModelOutput(f"{where} gave a number that is out of range") from error


def _batches(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = total = 0
    for index, count in enumerate(counts):
        if index > start and (index - start == _BATCH_TEXTS or total + count > _BATCH_TOKENS):
            yield start, index
            start, total = index, 0
        total += count
    if start < len(counts):
        yield start, len(counts)
