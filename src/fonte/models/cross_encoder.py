"""A cross-encoder in ONNX: question and passage through one encoder together, one number out.

Nogueira and Cho, "Passage Re-ranking with BERT" (2019). The folder holds ``model.onnx``, ``tokenizer.json`` and
``config.json``, as exports for sequence classification have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled
from fonte.models.files import file_sha256
from fonte.models.folder import GRAPHS, read_tokenizer, weights_sha256
from fonte.models.folder_card import read_pair_window
from fonte.models.session import first_line, open_session, runtime_errors
from fonte.models.threads import available_cores
from fonte.types import sha256_hex

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_EXPORT = "export it for sequence classification with one label"
_PROBES = ("word", "1")


class PairTokenizer:
    """Implements ``fonte.protocols.Tokenizer`` for two texts in one window. Safe for several threads."""

    def __init__(self, backend: Tokenizer, window: int, name: str) -> None:
        """Take over ``backend``: its own truncation and padding are switched off, special tokens in texts are text.

        Raises:
            ConfigError: a window without room.
        """
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self._backend = backend
        self.window = window
        self.overhead = max(len(self.pair(one, one)) - 2 * self.count(one) for one in _PROBES)
        if window - self.overhead < 2:  # noqa: PLR2004 - a token of each text
            raise ConfigError(f"the window of {name} leaves no room for two texts")

    def count(self, text: str) -> int:
        """Number of tokens of one text."""
        return len(self._backend.encode(text, add_special_tokens=False))

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Half-open code point range of each token."""
        return [(start, end) for start, end in self._backend.encode(text, add_special_tokens=False).offsets]

    def pair(self, question: str, text: str) -> Encoding:
        """Both texts with the special tokens around them."""
        return self._backend.encode(question, text)


class CrossEncoder:
    """Implements ``fonte.models.pairs.PairModel`` over onnxruntime. Safe for several threads."""

    batch = 8
    """Small batches are the fastest on a CPU: they stay in its caches and pad little."""

    def __init__(self, name: str, graph: Path, tokenizer: PairTokenizer, identity: str, threads: int | None) -> None:
        """Load ``graph``. ``identity`` is the hash of all that changes a score.

        Raises:
            ModelNotInstalled: a graph that onnxruntime cannot load, or one with inputs that we cannot give.
            ConfigError: one that gives more than one number for a pair.
        """
        self.id = f"onnx:{name}@{identity}"
        self.tokenizer = tokenizer
        self._name = name
        self._session = open_session(name, graph, threads or available_cores())
        self._errors = runtime_errors()
        inputs = self._session.get_inputs()
        if not {"input_ids"} <= {one.name for one in inputs} <= _INPUTS:
            names = ", ".join(sorted(one.name for one in inputs))
            raise ModelNotInstalled(
                f"the model {name} wants other inputs than a cross-encoder's: {names}", hint=_EXPORT
            )
        self._inputs = {one.name: np.int32 if one.type == "tensor(int32)" else np.int64 for one in inputs}
        output = self._session.get_outputs()[0]
        self._output = output.name
        last = output.shape[-1] if output.shape else None
        if len(output.shape or ()) > 2 or (len(output.shape or ()) == 2 and isinstance(last, int) and last != 1):  # noqa: PLR2004 - texts, labels
            raise ConfigError(f"the model {name} gives {output.shape} and not one number for a pair", hint=_EXPORT)

    def values(self, question: str, texts: Sequence[str]) -> list[float]:
        """The logit of each pair.

        Raises:
            BadModelOutput: the graph failed, or its output has another shape.
        """
        pairs = [self.tokenizer.pair(question, text) for text in texts]
        longest = max(map(len, pairs))
        given = {name: np.zeros((len(pairs), longest), kind) for name, kind in self._inputs.items()}
        for row, pair in enumerate(pairs):
            for name, numbers in (
                ("input_ids", pair.ids),
                ("attention_mask", pair.attention_mask),
                ("token_type_ids", pair.type_ids),
            ):
                if name in given:
                    given[name][row, : len(numbers)] = numbers
        try:
            (found,) = self._session.run([self._output], given)
        except self._errors as error:
            raise BadModelOutput(f"the model {self._name} failed: {first_line(error)}") from error
        if found.size != len(pairs):
            raise BadModelOutput(f"the model {self._name} gave numbers of shape {found.shape} for {len(pairs)} pairs")
        return [float(one) for one in found.reshape(-1)]


def folder_cross_encoder(folder: Path, *, threads: int | None, name: str | None = None) -> CrossEncoder:
    """The cross-encoder in ``folder``. Its id follows from the content of its files, not from where it lies.

    Raises:
        ModelNotInstalled: a file is missing or cannot be loaded. ConfigError: files that do not tell the contract.
    """
    if not folder.is_dir():
        raise ModelNotInstalled(f"there is no model folder {folder}")
    called = name or folder.resolve().name
    file = folder / "tokenizer.json"
    graph = next((folder / one for one in GRAPHS if (folder / one).is_file()), None)
    if graph is None or not file.is_file():
        raise ModelNotInstalled(
            f"{folder.name} holds no {'model.onnx' if graph is None else 'tokenizer.json'}",
            hint=_EXPORT if graph is None else "save the fast tokenizer beside it",
        )
    try:
        window = read_pair_window(folder)
        identity = sha256_hex(f"{weights_sha256(graph)}\0{file_sha256(file)}\0{window}")[:16]
    except OSError as error:
        raise ModelNotInstalled(f"{folder.name} cannot be read: {error.strerror}") from error
    tokenizer = PairTokenizer(read_tokenizer(file, called), window, called)
    return CrossEncoder(called, graph, tokenizer, identity, threads)
