"""An entailment model in ONNX: premise and hypothesis through one encoder together, the odds of its labels out.

Models trained for natural language inference (Bowman et al., EMNLP 2015) tell entailment, neutral and contradiction
apart; which of their numbers is which stands in the folder's ``config.json``, under ``id2label``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled
from fonte.models.cross_encoder import PairTokenizer
from fonte.models.files import file_sha256
from fonte.models.folder import GRAPHS, read_tokenizer, weights_sha256
from fonte.models.folder_card import read_pair_window
from fonte.models.session import first_line, open_session, runtime_errors
from fonte.models.threads import available_cores
from fonte.types import sha256_hex

_EXPORT = "export a model for natural language inference, with its config.json and tokenizer.json"
ENTAILMENT = "entailment"
"""What the label that counts is called."""


class FolderEntailer:
    """Implements ``fonte.protocols.Entailer`` over onnxruntime. Safe for several threads."""

    def __init__(self, folder: Path, *, threads: int | None = None, name: str | None = None) -> None:
        """Load the model in ``folder``: ``model.onnx``, ``tokenizer.json``, ``config.json``; called as the folder is.

        Raises:
            ModelNotInstalled: a file is missing or cannot be loaded.
            ConfigError: no label of the model is called entailment, or the files do not tell the window.
        """
        if not folder.is_dir():
            raise ModelNotInstalled(f"there is no model folder {folder}")
        self._name = name or folder.resolve().name
        graph = next((folder / one for one in GRAPHS if (folder / one).is_file()), None)
        tokenizer = folder / "tokenizer.json"
        if graph is None or not tokenizer.is_file():
            missing = "model.onnx" if graph is None else "tokenizer.json"
            raise ModelNotInstalled(f"{folder.name} holds no {missing}", hint=_EXPORT)
        self._tokenizer = PairTokenizer(read_tokenizer(tokenizer, self._name), read_pair_window(folder), self._name)
        self._labels, self._yes = _labels(folder)
        identity = sha256_hex(f"{weights_sha256(graph)}\0{file_sha256(tokenizer)}\0{self._labels}\0{self._yes}")[:16]
        self.id = f"onnx:{self._name}@{identity}"
        self._session = open_session(self._name, graph, threads or available_cores())
        self._errors = runtime_errors()
        self._inputs = {
            one.name: np.int32 if one.type == "tensor(int32)" else np.int64 for one in self._session.get_inputs()
        }

    def score(self, premise: str, hypothesis: str) -> float:
        """Probability of entailment, 0 to 1; of a premise longer than the window the head is read.

        Raises:
            BadModelOutput: the graph failed, or gave something else than one number for each label.
        """
        pair = self._tokenizer.pair(premise, hypothesis)
        if len(pair) > self._tokenizer.window:
            room = self._tokenizer.window - self._tokenizer.overhead - self._tokenizer.count(hypothesis)
            places = self._tokenizer.offsets(premise)
            if room < 1:
                raise BadModelOutput(f"the sentence is longer than the window of {self._name}")
            pair = self._tokenizer.pair(premise[: places[min(room, len(places)) - 1][1]], hypothesis)
        known = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        given = {name: np.array([known[name]], kind) for name, kind in self._inputs.items() if name in known}
        try:
            (found, *_) = self._session.run(None, given)
        except self._errors as error:
            raise BadModelOutput(f"the model {self._name} failed: {first_line(error)}") from error
        odds = np.asarray(found, np.float64).reshape(-1)
        if odds.size != self._labels or not np.isfinite(odds).all():
            raise BadModelOutput(
                f"the model {self._name} gave numbers of shape {found.shape} for {self._labels} labels"
            )
        likely = np.exp(odds - odds.max())
        return float(likely[self._yes] / likely.sum())


def _labels(folder: Path) -> tuple[int, int]:
    """How many labels the model has, and which of them is entailment."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"config.json of {folder.name} cannot be read", hint=_EXPORT) from error
    names = config.get("id2label") if isinstance(config, dict) else None
    if isinstance(names, Mapping) and len(names) > 1:
        for number, name in names.items():
            if str(name).casefold() == ENTAILMENT and str(number).isdigit() and int(number) < len(names):
                return len(names), int(number)
    raise ConfigError(f"no label of {folder.name} is called {ENTAILMENT}", hint=_EXPORT)
