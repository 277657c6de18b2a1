"""Models of the Hugging Face Hub, pinned to a commit: a name alone may mean other weights tomorrow."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from fonte.errors import ConfigError, ModelNotInstalled, ModelUnavailable
from fonte.models.folder import GRAPHS, SAFETENSORS

_SOURCE = re.compile(r"(?P<name>[\w.-]+(?:/[\w.-]+)?)@(?P<revision>[0-9a-f]{40})")
_CONTRACT = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
    "fonte-card.toml",
)
_GRAPH_FILES = (*GRAPHS, *(f"{graph}_data" for graph in GRAPHS))
_TRUE = frozenset({"1", "on", "yes", "true"})


def parse_source(source: str, *, scheme: str = "hf") -> tuple[str, str]:
    """Name and revision out of ``NAME@REVISION``; ``scheme`` stood before it.

    Raises:
        ConfigError: no revision, or one that is not a whole commit hash.
    """
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise ConfigError(
            f"{scheme}:{source} does not pin a commit",
            hint=f"write {scheme}:NAME@REVISION with the 40 hexadecimal digits of a commit; a branch or tag may move",
        )
    return match["name"], match["revision"]


def hub_folder(name: str, revision: str) -> Path:
    """The folder with the model's files, downloaded once; never asked for when ``HF_HUB_OFFLINE`` is set.

    Only the contract's files and one form of the weights are taken: ONNX, or where there is none safetensors.

    Raises:
        ModelNotInstalled: the extra is missing, no such model or commit, or offline and not downloaded yet.
        ModelUnavailable: the hub cannot be reached.
    """
    offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE
    folder = _snapshot(name, revision, (*_CONTRACT, *_GRAPH_FILES), offline=offline)
    if not any((folder / graph).is_file() for graph in GRAPHS):
        folder = _snapshot(name, revision, (*_CONTRACT, SAFETENSORS), offline=offline)
    return folder


def _snapshot(name: str, revision: str, patterns: Sequence[str], *, offline: bool) -> Path:
    try:
        import httpx
        from huggingface_hub import errors, snapshot_download
    except ImportError as error:
        raise ModelNotInstalled(
            f"the model hf:{name} needs huggingface-hub",
            hint="run: pip install 'fonte[hub]'",
        ) from error
    try:
        return Path(
            snapshot_download(
                name,
                revision=revision,
                allow_patterns=list(patterns),
                local_files_only=offline,
            )
        )
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise ModelNotInstalled(
            f"the hub has no model {name} at {revision[:12]} that may be read",
            hint="check name, commit and HF_TOKEN",
        ) from error
    except errors.HFValidationError as error:
        raise ConfigError(f"hf:{name} is not a name of the hub") from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        if offline:
            raise ModelNotInstalled(
                f"the model {name} at {revision[:12]} is not downloaded yet",
                hint="unset HF_HUB_OFFLINE once",
            ) from error
        raise ModelUnavailable(f"the hub cannot be reached for {name}", hint="try again when online") from error
    except (errors.HfHubHTTPError, httpx.HTTPError) as error:
        raise ModelUnavailable(f"the hub did not give {name}", hint="try again later") from error
