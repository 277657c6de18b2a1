"""A cross-encoder by the library sentence-transformers, where somebody has installed it: it brings torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled, ModelUnavailable
from fonte.models.hub import parse_source
from fonte.models.session import first_line

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from transformers import PreTrainedTokenizerFast

_LONGEST = 1_000_000
"""Tokenizers without a limit of their own write a huge number."""


class _Tokens:
    """Implements ``fonte.protocols.Tokenizer`` over a fast tokenizer of transformers."""

    def __init__(self, fast: PreTrainedTokenizerFast, window: int) -> None:
        self._fast = fast
        self.window = window
        self.overhead = int(fast.num_special_tokens_to_add(pair=True))

    def count(self, text: str) -> int:
        return len(self.offsets(text))

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        # verbose is off: a text beyond the window is what is looked for here.
        told = self._fast(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
        return [(start, end) for start, end in told["offset_mapping"]]


class SentencePairs:
    """Implements ``fonte.models.pairs.PairModel``. One question at a time: the library promises no more."""

    batch = 8

    def __init__(self, source: str, threads: int | None) -> None:
        """Load ``source``: a folder, or ``NAME@REVISION`` of the hub, pinned.

        Raises:
            ModelNotInstalled: the library or the model is missing. ConfigError: no commit, no fast tokenizer, no
                window, or more than one number for a pair. ModelUnavailable: the hub cannot be reached.
        """
        try:
            import sentence_transformers
        except ImportError as error:
            raise ModelNotInstalled(
                f"the reranker st:{source} needs sentence-transformers",
                hint="run: pip install sentence-transformers, or export the model to ONNX and use path:",
            ) from error
        folder = Path(source).expanduser()
        name, revision = (str(folder), None) if folder.is_dir() else parse_source(source, scheme="st")
        self.id = f"st:{folder.resolve().name if revision is None else f'{name}@{revision[:12]}'}"
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        try:
            self._model: CrossEncoder = sentence_transformers.CrossEncoder(
                name, revision=revision, device="cpu", trust_remote_code=False
            )
        except (OSError, ValueError, RuntimeError) as error:  # a missing repository or file is an OSError there
            raise ModelNotInstalled(f"the model {self.id} cannot be loaded: {first_line(error)}") from error
        self.tokenizer = self._tokens()
        self._lock = threading.Lock()

    def _tokens(self) -> _Tokens:
        fast = self._model.tokenizer
        limits = [one for one in (self._model.max_length, fast.model_max_length) if isinstance(one, int)]
        window = min(limits, default=_LONGEST)
        if window >= _LONGEST:
            raise ConfigError(f"{self.id} does not tell its window", hint="set model_max_length of its tokenizer")
        if not fast.is_fast:
            raise ConfigError(f"{self.id} has no fast tokenizer, which windows need")
        labels = self._model.config.num_labels
        if labels != 1:
            raise ConfigError(f"{self.id} gives {labels} numbers for a pair; a reranker gives one")
        return _Tokens(fast, window)

    def values(self, question: str, texts: Sequence[str]) -> list[float]:
        """What the model predicts for each pair.

        Raises:
            ModelUnavailable: out of memory or another fault while it ran. BadModelOutput: another shape.
        """
        try:
            with self._lock:
                found = self._model.predict(
                    [(question, text) for text in texts], batch_size=self.batch, show_progress_bar=False
                )
        except RuntimeError as error:
            raise ModelUnavailable(f"{self.id} failed: {first_line(error)}") from error
        numbers = np.asarray(found)
        if numbers.shape != (len(texts),):
            raise BadModelOutput(f"{self.id} gave numbers of shape {numbers.shape} for {len(texts)} pairs")
        return [float(one) for one in numbers]
