"""Any model that reads two texts together as a ``Reranker``: windows, batches, a time limit, and answers checked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from fonte.errors import BadModelOutput, ModelUnavailable
from fonte.protocols import Tokenizer
from fonte.text.windows import sliding

_QUESTION_SHARE = 2
"""A question may take one part in so many of the window; its head is kept."""
_OVERLAP_SHARE = 4
"""Windows share one part in so many of a passage's room (sliding passages: Dai and Callan, SIGIR 2019)."""


class PairModel(Protocol):
    """Reads a question with some texts. Thread-safe."""

    @property
    def id(self) -> str:
        """Kind, model and weights."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokens; ``overhead`` is what the special tokens of a pair take."""

    @property
    def batch(self) -> int:
        """Most texts that it reads at once."""

    def values(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One number for each text, in order; question and text together fit the window.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput
        """


class PairReranker:
    """Implements ``fonte.protocols.Reranker``: no passage is cut, the best of its windows counts."""

    def __init__(
        self, model: PairModel, *, timeout_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``timeout_seconds`` bounds all passages of a question together; it is looked at between batches."""
        self._model = model
        self._timeout = timeout_seconds
        self._clock = clock

    @property
    def id(self) -> str:
        """Kind, model and weights."""
        return self._model.id

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """The best value of each passage's windows, in order.

        Raises:
            ValueError: an empty question or passage.
            ModelUnavailable, ModelNotInstalled, BadModelOutput: also where a number is not finite or one is missing.
        """
        if not question.strip() or not all(passage.strip() for passage in passages):
            raise ValueError("an empty text cannot be compared")
        asked = self._head(question)
        parts = [(at, text) for at, passage in enumerate(passages) for text in self._windows(asked, passage)]
        best = [-math.inf] * len(passages)
        until = self._clock() + self._timeout
        # Texts of like length together, so that little is padded.
        order = sorted(range(len(parts)), key=lambda one: len(parts[one][1]))
        for start in range(0, len(order), self._model.batch):
            if self._clock() > until:
                raise ModelUnavailable(
                    f"the reranker {self.id} did not read {len(passages)} passages within {self._timeout:g} seconds",
                    hint="raise [reranker] timeout_seconds, or lower depth",
                )
            batch = order[start : start + self._model.batch]
            values = self._model.values(asked, [parts[one][1] for one in batch])
            for one, value in zip(batch, self._checked(values, len(batch)), strict=True):
                at = parts[one][0]
                best[at] = max(best[at], value)
        return best

    def _head(self, question: str) -> str:
        tokenizer = self._model.tokenizer
        most = max(1, (tokenizer.window - tokenizer.overhead) // _QUESTION_SHARE)
        offsets = tokenizer.offsets(question)
        return question if len(offsets) <= most else question[: offsets[most - 1][1]]

    def _windows(self, question: str, passage: str) -> list[str]:
        tokenizer = self._model.tokenizer
        room = max(1, tokenizer.window - tokenizer.overhead - tokenizer.count(question))
        ranges = sliding(
            passage,
            tokenizer.offsets(passage),
            room,
            room // _OVERLAP_SHARE,
            lambda text: tokenizer.count(text) <= room,
        )
        return [passage[start:end] for start, end in ranges]

    def _checked(self, values: Sequence[float], wanted: int) -> Sequence[float]:
        if len(values) != wanted:
            raise BadModelOutput(f"the reranker {self.id} gave {len(values)} numbers for {wanted} passages")
        if not all(math.isfinite(value) for value in values):
            raise BadModelOutput(f"the reranker {self.id} gave a number that is not finite")
        return values
