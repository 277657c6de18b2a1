"""A reader in ONNX: the encoder's last layers, trained to find where a passage answers.

The question and the passage go through the encoder's lower layers each alone, as for retrieval, and through the
reader's layers together (Cao et al., "DeFormer: Decomposing Pre-trained Transformers for Faster Question Answering",
ACL 2020), whose heads are told the cosines between the tokens of the two. It marks where an answer starts and ends, or
that there is none (Rajpurkar et al. 2018, "Know What You Don't Know": SQuAD 2.0).
docs/reader.md is its card: data, command, figures, licence.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput, ModelNotInstalled
from fonte.models.cards import ReaderCard
from fonte.models.graph_cache import cached_graph
from fonte.models.onnx_graph import GRAPH_VERSION, Dense, Layer, Norm, ReaderWeights, reader_graph
from fonte.models.session import first_line, open_session, runtime_errors
from fonte.models.threads import available_cores
from fonte.types import Reading, TokenVectors

if TYPE_CHECKING:
    import onnxruntime

_BATCH_TEXTS = 8
_BATCH_TOKENS = 1536
_SHORTEST = 1e-9


class OnnxReader:
    """Implements ``fonte.protocols.Reader`` over onnxruntime. Safe for several threads."""

    def __init__(
        self, card: ReaderCard, graph: Path | bytes, mean: npt.NDArray[np.float32], *, threads: int | None = None
    ) -> None:
        """Load ``graph`` (a file, or its bytes); cosines are taken after ``mean``, (dim,), is taken away.

        Raises:
            ModelNotInstalled: a graph that onnxruntime cannot load.
        """
        self._card = card
        self._mean = mean
        self._session: onnxruntime.InferenceSession = open_session(card.name, graph, threads or available_cores())
        self._errors = runtime_errors()

    @property
    def id(self) -> str:
        """Hash of its weights."""
        return self._card.sha256[:12]

    def read(self, question: TokenVectors, texts: Sequence[TokenVectors]) -> list[Reading]:
        """A reading of each text, in order.

        Raises:
            ValueError: tokens without states. BadModelOutput: odds that are not finite.
        """
        asked = _states(question)
        readings: dict[int, Reading] = {}
        for batch in _batches([len(_states(text)) for text in texts], len(asked)):
            readings.update(zip(batch, self._read(asked, [texts[at] for at in batch]), strict=True))
        return [readings[index] for index in range(len(texts))]

    def _read(self, asked: npt.NDArray[np.float32], texts: Sequence[TokenVectors]) -> Iterator[Reading]:
        head, hidden = len(asked), asked.shape[1] // 2
        longest = head + max(len(_states(text)) for text in texts)
        both = np.zeros((len(texts), longest, 2 * hidden), np.float32)
        mask = np.zeros((len(texts), longest), np.int64)
        segments = np.ones((len(texts), longest), np.int64)
        segments[:, :head] = 0
        for row, text in enumerate(texts):
            end = head + len(_states(text))
            both[row, :head] = asked
            both[row, head:end] = _states(text)
            mask[row, :end] = 1
        vectors = both[:, :, hidden:] - self._mean
        lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
        vectors = vectors / np.maximum(lengths, _SHORTEST) * mask[:, :, None].astype(np.float32)
        states = np.ascontiguousarray(both[:, :, :hidden])
        feed = {"states": states, "vectors": vectors, "segments": segments, "attention_mask": mask}
        try:
            spans, nulls = self._session.run(["spans", "nulls"], feed)
        except self._errors as error:
            raise BadModelOutput(f"the reader {self._card.name} failed: {first_line(error)}") from error
        for row, text in enumerate(texts):
            odds = spans[row, [head + at for at in text.rows]] - nulls[row]
            if not np.isfinite(odds).all():
                raise BadModelOutput(f"the reader {self._card.name} gave odds that are not finite")
            yield Reading(odds[:, 0], odds[:, 1])


def packaged_reader(card: ReaderCard, *, cache: Path, threads: int | None, notify: Callable[[str], None]) -> OnnxReader:
    """A reader out of ``data/NAME.npz``, which fonte brings itself.

    Raises:
        ModelNotInstalled: the file is missing, damaged or of another version.
    """
    place = files("fonte.models").joinpath("data", f"{card.name}.npz")
    try:
        data = place.read_bytes()
    except OSError as error:
        raise ModelNotInstalled(f"the reader {card.name} is missing: {error}", hint="install fonte again") from error
    if hashlib.sha256(data).hexdigest() != card.sha256:
        message = f"the reader {card.name} is damaged or of another version"
        raise ModelNotInstalled(message, hint="install fonte again")
    mean = read_weights(data, card)[1]
    graph = cached_graph(
        f"{card.name}-{card.sha256[:16]}-g{GRAPH_VERSION}",
        lambda: reader_graph(read_weights(data, card)[0]).SerializeToString(),
        folder=cache,
        notify=notify,
    )
    return OnnxReader(card, graph, mean, threads=threads)


def read_weights(data: bytes, card: ReaderCard) -> tuple[ReaderWeights, npt.NDArray[np.float32]]:
    """Weights, and the mean of token vectors, out of the file that ``evaluation/train_reader.py`` writes.

    Matrices lie there as int8 codes with one scale for each row, everything else as float32.

    Raises:
        ModelNotInstalled: a file that is not one.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            held = {name: parts[name] for name in parts.files}
        weights = ReaderWeights(
            segments=held["segments"].astype(np.float32),
            near=_dense(held, "near"),
            beta=held["beta"].astype(np.float32),
            layers=tuple(_layer(held, at) for at in range(card.layers)),
            span=_dense(held, "span"),
            null=_dense(held, "null"),
            heads=card.heads,
            epsilon=card.epsilon,
        )
        return weights, held["mean"].astype(np.float32)
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        message = f"the reader {card.name} cannot be read: {error}"
        raise ModelNotInstalled(message, hint="install fonte again") from error


def _layer(held: Mapping[str, npt.NDArray[np.generic]], at: int) -> Layer:
    def norm(name: str) -> Norm:
        parts = (held[f"{at}.{name}.{kind}"].astype(np.float32) for kind in ("weight", "bias"))
        return Norm(*parts)

    def dense(name: str) -> Dense:
        return _dense(held, f"{at}.{name}")

    return Layer(
        query=dense("query"),
        key=dense("key"),
        value=dense("value"),
        attention_output=dense("attention_output"),
        attention_norm=norm("attention_norm"),
        inner=dense("inner"),
        output=dense("output"),
        output_norm=norm("output_norm"),
    )


def _dense(held: Mapping[str, npt.NDArray[np.generic]], name: str) -> Dense:
    weight = held[f"{name}.weight"].astype(np.float32)
    if f"{name}.scale" in held:
        weight = weight * held[f"{name}.scale"].astype(np.float32)[:, None]
    return Dense(np.asarray(weight, np.float32), held[f"{name}.bias"].astype(np.float32))


def _states(tokens: TokenVectors) -> npt.NDArray[np.float32]:
    if tokens.states is None:
        raise ValueError("a reader needs the states of the encoder's tokens")
    return tokens.states


def _batches(lengths: Sequence[int], head: int) -> Iterator[list[int]]:
    """Indexes of texts of like length, few enough to stay in the caches."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * (head + lengths[index]) > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
