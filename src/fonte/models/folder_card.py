"""The card of a model in a folder, out of the files that Hugging Face and sentence-transformers put beside it.

Nothing is guessed: what the files do not say must stand in ``fonte-card.toml``, which wins over them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from fonte.errors import ConfigError
from fonte.models.cards import ModelCard, Pooling

CARD_FILE = "fonte-card.toml"
_CARD_KEYS = frozenset({"name", "revision", "window", "pooling", "query_prefix", "passage_prefix", "licence"})
_FIRST_POSITION = {"roberta": 2, "xlm-roberta": 2, "camembert": 2}
"""Families that leave the first rows of the position table unused, so that their window is shorter than it."""
_POOLING_FLAGS: Mapping[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
_WINDOW_LIMIT = 1_000_000
"""Tokenizers without a limit of their own write a huge number."""


@dataclass(frozen=True, slots=True)
class FolderModel:
    """A card with what the graph's builder needs beyond it."""

    card: ModelCard
    config: Mapping[str, object]

    @property
    def first_position(self) -> int:
        """Row of the position table that the first token gets."""
        return _FIRST_POSITION.get(str(self.config.get("model_type")), 0)


def read_folder(folder: Path, *, name: str, revision: str, weights_sha256: str, tokenizer_sha256: str) -> FolderModel:
    """The card of the model in ``folder``.

    Raises:
        ConfigError: a file that is missing, broken or contradicts another, or a fact that none of them tells.
    """
    config = _json(folder / "config.json")
    if config is None:
        raise ConfigError(f"{folder.name} holds no config.json", hint="copy the whole model folder")
    own = _own_card(folder)
    queries, passages = _prompts(folder)
    card = ModelCard(
        name=str(own.get("name", name)),
        revision=str(own.get("revision", revision)),
        dimensions=_positive(config, "hidden_size", folder),
        window=_window(folder, config, own),
        pooling=_pooling(folder, own),
        query_prefix=str(own.get("query_prefix", queries)),
        passage_prefix=str(own.get("passage_prefix", passages)),
        tokenizer=tokenizer_sha256,
        weights_sha256=weights_sha256,
        licence=str(own.get("licence", "not stated")),
    )
    return FolderModel(card, config)


def read_pair_window(folder: Path) -> int:
    """Longest input in tokens of a model in ``folder`` that reads two texts together.

    Raises:
        ConfigError: as ``read_folder``.
    """
    config = _json(folder / "config.json")
    if config is None:
        raise ConfigError(f"{folder.name} holds no config.json", hint="copy the whole model folder")
    return _window(folder, config, _own_card(folder))


def _json(path: Path) -> Mapping[str, object] | None:
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path.name} of the model folder cannot be read") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path.name} of the model folder is not a JSON object")
    return value


def _own_card(folder: Path) -> Mapping[str, object]:
    try:
        card = tomllib.loads((folder / CARD_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ConfigError(f"{CARD_FILE} cannot be read: {error}") from error
    unknown = sorted(set(card) - _CARD_KEYS)
    if unknown:
        raise ConfigError(f"{CARD_FILE} has unknown keys: {', '.join(unknown)}", hint=f"known: {sorted(_CARD_KEYS)}")
    wrong = [key for key, value in card.items() if not isinstance(value, int if key == "window" else str)]
    if wrong:
        raise ConfigError(f"{CARD_FILE} has values of the wrong type: {', '.join(wrong)}")
    return card


def _positive(values: Mapping[str, object], key: str, folder: Path) -> int:
    value = values.get(key)
    if type(value) is not int or value < 1:
        raise ConfigError(f"config.json of {folder.name} has no usable {key}")
    return value


def _window(folder: Path, config: Mapping[str, object], own: Mapping[str, object]) -> int:
    """What the card says, else sentence-transformers' own limit, else the least of table and tokenizer limits."""
    positions = config.get("max_position_embeddings")
    table = positions - _FIRST_POSITION.get(str(config.get("model_type")), 0) if type(positions) is int else None
    tokenizer = _json(folder / "tokenizer_config.json") or {}
    sentence = _json(folder / "sentence_bert_config.json") or {}
    said = own.get("window", sentence.get("max_seq_length"))
    limits = [limit for limit in (table,) if limit is not None]
    if type(said) is int:
        limits.append(said)
    elif type(longest := tokenizer.get("model_max_length")) is int and longest < _WINDOW_LIMIT:
        limits.append(longest)
    if not limits or min(limits) < 1:
        raise ConfigError(f"no file of {folder.name} tells the window", hint=f"write window = N in {CARD_FILE}")
    if "window" in own and min(limits) != own["window"]:
        raise ConfigError(f"{CARD_FILE} says window = {own['window']}, but the model has {table} positions")
    return min(limits)


def _pooling(folder: Path, own: Mapping[str, object]) -> Pooling:
    if "pooling" in own:
        if own["pooling"] not in get_args(Pooling):
            raise ConfigError(f"{CARD_FILE} has an unknown pooling", hint=f"known: {', '.join(get_args(Pooling))}")
        return cast("Pooling", own["pooling"])
    _check_modules(folder)
    stated = _json(folder / "1_Pooling" / "config.json")
    if stated is None:
        raise ConfigError(
            f"no file of {folder.name} tells the pooling",
            hint=f'write pooling = "mean" (or "cls") in {CARD_FILE}',
        )
    if stated.get("pooling_mode") in set(_POOLING_FLAGS.values()):
        return cast("Pooling", stated["pooling_mode"])
    modes = [key for key, value in stated.items() if key.startswith("pooling_mode_") and value is True]
    if len(modes) != 1 or modes[0] not in _POOLING_FLAGS:
        raise ConfigError(f"{folder.name} pools in a way that fonte does not know: {', '.join(modes) or 'none'}")
    return _POOLING_FLAGS[modes[0]]


def _check_modules(folder: Path) -> None:
    """Refuse sentence-transformers pipelines with stages that change vectors beyond pooling and normalising."""
    path = folder / "modules.json"
    if not path.is_file():
        return
    try:
        modules = [str(module["type"]).rsplit(".", 1)[-1] for module in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError("modules.json of the model folder cannot be read") from error
    foreign = sorted(set(modules) - {"Transformer", "Pooling", "Normalize"})
    if foreign:
        raise ConfigError(f"{folder.name} has stages that fonte does not run: {', '.join(foreign)}")


def _prompts(folder: Path) -> tuple[str, str]:
    """Prefixes of questions and passages that sentence-transformers' configuration names; empty where it does not."""
    prompts = (_json(folder / "config_sentence_transformers.json") or {}).get("prompts") or {}
    if not isinstance(prompts, dict):
        raise ConfigError("config_sentence_transformers.json has prompts of a wrong form")
    query = prompts.get("query") or ""
    passage = prompts.get("passage") or prompts.get("document") or prompts.get("corpus") or ""
    return str(query), str(passage)
