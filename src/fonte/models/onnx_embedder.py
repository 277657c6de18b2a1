"""An encoder in ONNX as an ``Embedder``: tokens in, pooled unit vectors out, never a cut passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput, ModelNotInstalled
from fonte.models.cards import ModelCard, Pooling
from fonte.models.session import first_line, open_session, runtime_errors
from fonte.models.threads import available_cores
from fonte.models.tokens import EncoderTokenizer, Tokenized
from fonte.models.vectors import unit_rows
from fonte.ranking.late import TokenCodec
from fonte.types import Codes, Space, TokenVectors, TokenWeights, Vector, Vectors

if TYPE_CHECKING:
    import onnxruntime

_SLAB = 1024
"""Passages tokenized and sorted by length together."""
_BATCH_TEXTS = 8
_BATCH_TOKENS = 1024
"""Small batches are the fastest on a CPU: they stay in its caches and pad little."""
TAPPED = "tapped"
"""The graph's second output, if it has one: the states that a reader goes on from."""
_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxEmbedder:
    """Implements ``fonte.protocols.Embedder`` over onnxruntime. Safe for several threads."""

    def __init__(
        self,
        card: ModelCard,
        graph: Path | bytes,
        tokenizer: EncoderTokenizer,
        *,
        threads: int | None = None,
        codec: TokenCodec | None = None,
    ) -> None:
        """Load ``graph`` (a file, or its bytes). ``threads`` defaults to the physical cores at hand.

        Raises:
            ModelNotInstalled: a graph that onnxruntime cannot load, or one with inputs that we cannot give.
            ValueError: a codec that is not the card's.
        """
        if (codec.id if codec is not None else "") != card.codec:
            raise ValueError(f"the card of {card.name} names another codec of its tokens")
        self._codec = codec
        self._card = card
        self._space = card.space
        self._tokenizer = tokenizer
        self._session = open_session(card.name, graph, threads or available_cores())
        self._errors = runtime_errors()
        inputs = self._session.get_inputs()
        if not {"input_ids"} <= {one.name for one in inputs} <= _KNOWN_INPUTS:
            names = ", ".join(sorted(one.name for one in inputs))
            raise ModelNotInstalled(
                f"the model {card.name} wants other inputs than an encoder's: {names}",
                hint="export it for feature extraction",
            )
        self._inputs = {one.name: np.int32 if one.type == "tensor(int32)" else np.int64 for one in inputs}
        self._output = _output_name(card, self._session)
        shapes = {one.name: one.shape for one in self._session.get_outputs()}
        self._shows_tokens = len(shapes[self._output]) == 3  # noqa: PLR2004 - texts, tokens, dimensions
        self._tapped = TAPPED in shapes

    @property
    def space(self) -> Space:
        """The space that the vectors live in."""
        return self._space

    @property
    def card(self) -> ModelCard:
        """The model's contract."""
        return self._card

    @property
    def tokenizer(self) -> EncoderTokenizer:
        """The tokens that count."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row (n, dimensions) for each text, in order.

        Raises:
            ValueError: an empty text, or one longer than the window; nothing comes back then.
            BadModelOutput: rows that are not finite, or have no length.
        """
        rows = np.empty((len(texts), self._card.dimensions), np.float32)
        for start in range(0, len(texts), _SLAB):
            slab = texts[start : start + _SLAB]
            for index, text in enumerate(slab, start):
                _check_text(text, index)
            self._embed_slab(self._tokenizer.passage_ids(slab), rows[start : start + len(slab)], start)
        return rows

    def embed_query(self, text: str) -> Vector:
        """The unit vector (dimensions,) of a question; its head is kept where it is longer than the window.

        Raises:
            ValueError: an empty text.
            BadModelOutput: as above.
        """
        _check_text(text, 0)
        vector: Vector = self._vectors([self._tokenizer.query_ids(text)])[0]
        return vector

    @property
    def shows_tokens(self) -> bool:
        """Whether the graph gives a vector for each token, not one for the whole text."""
        return self._shows_tokens

    def question_tokens(self, text: str) -> TokenVectors:
        """Tokens of a question: unit vectors (tokens, dimensions) and their ranges in the text.

        Raises:
            ValueError: an empty text. BadModelOutput: rows that are not finite, or have no length.
        """
        _check_text(text, 0)
        return self._token_vectors([self._tokenizer.question(text)])[0]

    def passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The same for passages, in order; of one longer than the window, the head."""
        for index, text in enumerate(texts):
            _check_text(text, index)
        tokenized = [self._tokenizer.passage(text) for text in texts]
        found: dict[int, TokenVectors] = {}
        for batch in _batches([one.ids for one in tokenized]):
            made = self._token_vectors([tokenized[index] for index in batch])
            found.update(zip(batch, made, strict=True))
        return [found[index] for index in range(len(texts))]

    @property
    def codec(self) -> str:
        """Id of the codec that its tokens are kept in; empty where they are not."""
        return self._card.codec

    @property
    def weighing(self) -> str:
        """Id of how its tokens are weighed; empty where they are not kept."""
        return self._codec.weighing if self._codec is not None else ""

    def token_weights(self, codes: Codes) -> TokenWeights:
        """How much each of a question's tokens counts. Raises ValueError where this model has no codec."""
        if self._codec is None:
            raise ValueError(f"{self._card.name} has no codec for its tokens")
        return self._codec.weights(codes)

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """What ``embed_passages`` gives, and of each text its own tokens' codes, out of the same pass.

        Raises:
            ValueError: as ``embed_passages``; also where this model has no codec. BadModelOutput.
        """
        rows = np.empty((len(texts), self._card.dimensions), np.float32)
        codes: dict[int, Codes] = {}
        for index, text in enumerate(texts):
            _check_text(text, index)
        for start in range(0, len(texts), _SLAB):
            tokenized = [self._tokenizer.whole_passage(text) for text in texts[start : start + _SLAB]]
            ids = [one.ids for one in tokenized]
            self._check_window(ids, start)
            for batch in _batches(ids):
                vectors, coded = self._coded([tokenized[at] for at in batch])
                places = [start + at for at in batch]
                rows[places] = vectors
                codes.update(zip(places, coded, strict=True))
        return rows, [codes[at] for at in range(len(texts))]

    def encode_query(self, text: str) -> tuple[Vector, Codes]:
        """What ``embed_query`` gives, and the codes of the question's own tokens, out of the same pass."""
        _check_text(text, 0)
        vectors, (codes,) = self._coded([self._tokenizer.question(text)])
        return vectors[0], codes

    def _coded(self, tokenized: Sequence[Tokenized]) -> tuple[Vectors, list[Codes]]:
        """Unit vectors of texts and codes of their tokens: one pass of the encoder."""
        if self._codec is None:
            raise ValueError(f"{self._card.name} has no codec for its tokens")
        states, mask = self._states([one.ids for one in tokenized])
        name, dimensions = self._card.name, self._card.dimensions
        vectors = unit_rows(_pool(states, mask, self._card.pooling), dimensions, name)
        own = [unit_rows(states[row][one.rows], dimensions, name) for row, one in enumerate(tokenized)]
        return vectors, [self._codec.encode(rows) for rows in own]

    def _token_vectors(self, tokenized: Sequence[Tokenized]) -> list[TokenVectors]:
        outputs = [self._output, TAPPED] if self._tapped else [self._output]
        states, *tapped = self._run([one.ids for one in tokenized], outputs)[0]
        return [
            TokenVectors(
                tuple(one.offsets),
                unit_rows(states[row][one.rows], self._card.dimensions, self._card.name),
                np.concatenate([tapped[0][row, : len(one.ids)], states[row, : len(one.ids)]], 1) if tapped else None,
                tuple(one.rows),
            )
            for row, one in enumerate(tokenized)
        ]

    def _check_window(self, ids: list[list[int]], first: int) -> None:
        window = self._card.window
        for index, tokens in enumerate(ids, first):
            if len(tokens) > window:
                raise ValueError(f"text {index} has {len(tokens)} tokens; the window of {self._card.name} is {window}")

    def _embed_slab(self, ids: list[list[int]], rows: Vectors, first: int) -> None:
        self._check_window(ids, first)
        for batch in _batches(ids):
            rows[batch] = self._vectors([ids[index] for index in batch])

    def _vectors(self, ids: list[list[int]]) -> Vectors:
        states, mask = self._states(ids)
        return unit_rows(_pool(states, mask, self._card.pooling), self._card.dimensions, self._card.name)

    def _states(self, ids: list[list[int]]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """The encoder's output, (texts, tokens, dimensions), and the mask of the tokens that count."""
        (states,), mask = self._run(ids, [self._output])
        return states, mask

    def _run(
        self, ids: list[list[int]], outputs: list[str]
    ) -> tuple[list[npt.NDArray[np.float32]], npt.NDArray[np.int64]]:
        """Outputs of the graph by name, each (texts, tokens, dimensions), and the mask of the tokens that count."""
        longest = max(map(len, ids))
        mask = np.zeros((len(ids), longest), np.int64)
        tokens = np.zeros_like(mask)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        feed = {name: given[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        try:
            return self._session.run(outputs, feed), mask
        except self._errors as error:
            raise BadModelOutput(f"the model {self._card.name} failed: {first_line(error)}") from error


def _output_name(card: ModelCard, session: onnxruntime.InferenceSession) -> str:
    rank = 2 if card.pooling == "none" else 3
    for output in session.get_outputs():
        if output.shape is not None and len(output.shape) == rank:
            name: str = output.name
            return name
    raise ModelNotInstalled(
        f"the model {card.name} has no output of rank {rank} that its pooling ({card.pooling}) needs",
        hint="export it for feature extraction, or name the pooling in fonte-card.toml",
    )


def _check_text(text: str, index: int) -> None:
    if not text.strip():
        raise ValueError(f"text {index} is empty: an empty text has no vector")


def _batches(ids: list[list[int]]) -> Iterator[list[int]]:
    """Indexes of texts of like length, at most ``_BATCH_TEXTS`` and ``_BATCH_TOKENS`` padded tokens together."""
    batch: list[int] = []
    for index in sorted(range(len(ids)), key=lambda one: len(ids[one])):
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * len(ids[index]) > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pool(states: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: Pooling) -> npt.NDArray[np.float32]:
    """Token states (batch, length, dimensions) to one vector each; padding never counts."""
    if pooling == "none":
        return states
    if states.ndim != 3 or states.shape[:2] != mask.shape:  # noqa: PLR2004 - batch, length, dimensions
        raise BadModelOutput(f"token states of shape {states.shape} for input of shape {mask.shape}")
    if pooling == "cls":
        first: npt.NDArray[np.float32] = states[:, 0]
        return first
    if pooling == "max":
        highest: npt.NDArray[np.float32] = np.where(mask[..., None] > 0, states, np.float32(-np.inf)).max(axis=1)
        return highest
    weights = mask.astype(np.float32) / mask.sum(axis=1, keepdims=True, dtype=np.float32)
    pooled: npt.NDArray[np.float32] = np.matmul(weights[:, None, :], states)[:, 0]
    return pooled
