"""Names of entailment models to models: what a configuration's ``[support] entailment`` may say."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from fonte.errors import BadModelOutput, ConfigError
from fonte.models.endpoint import Endpoint, read_key
from fonte.models.entailment import ENTAILMENT, FolderEntailer
from fonte.models.registry import tell
from fonte.protocols import Entailer

KEYS = ("FONTE_SUPPORT_API_KEY",)
_FORMS = "use path:DIR, hf:NAME@REVISION or http:MODEL"
_PATH = "/predict"


class HttpEntailer:
    """Implements ``fonte.protocols.Entailer`` over Hugging Face's text-embeddings-inference. Safe for several threads.

    It answers ``[[{"label", "score"}, ...]]``, a probability for each label, to ``{"inputs": [[premise, sentence]]}``
    at ``/predict`` below the base URL.
    """

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        """Nothing is sent yet; the server decides which model it is, ``model`` only names it."""
        self.id = f"http:tei:{model}"
        self._endpoint = endpoint

    def score(self, premise: str, hypothesis: str) -> float:
        """The probability of the label called entailment. Nothing is cut: what is too long for the model is an error.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: also where no label is called entailment.
        """
        body = {"inputs": [[premise, hypothesis]], "raw_scores": False, "truncate": False}
        rows = self._endpoint.post_list(_PATH, body)
        labels = rows[0] if len(rows) == 1 and isinstance(rows[0], list) else rows
        for row in labels:
            label, value = (row.get("label"), row.get("score")) if isinstance(row, dict) else (None, None)
            if not isinstance(label, str) or not isinstance(value, int | float) or isinstance(value, bool):
                raise BadModelOutput(f"{self._endpoint.where} gave a label without name or score")
            if label.casefold() == ENTAILMENT:
                if not (math.isfinite(value) and 0 <= value <= 1):
                    raise BadModelOutput(f"{self._endpoint.where} gave a score that is no probability")
                return float(value)
        raise BadModelOutput(f"{self._endpoint.where} gave no label called {ENTAILMENT}")


def make_entailer(
    source: str,
    *,
    base_url: str | None,
    threads: int | None,
    timeout_seconds: float,
    notify: Callable[[str], None] | None = None,
) -> Entailer:
    """The entailment model that ``source`` names: path:DIR, hf:NAME@REVISION or http:MODEL.

    ``base_url`` and ``timeout_seconds`` are read for http: only; its key comes from ``FONTE_SUPPORT_API_KEY``, or from
    the file that ``FONTE_SUPPORT_API_KEY_FILE`` names. ``notify`` as in ``registry.make_embedder``.

    Raises:
        ConfigError: a source of no known form, or a model whose labels do not tell which one is entailment.
        ModelNotInstalled: a model or library that is not there. ModelUnavailable: the hub cannot be reached.
    """
    kind, _, name = source.partition(":")
    if not name or kind not in {"path", "hf", "http"}:
        raise ConfigError(f"not an entailment model: {source!r}", hint=_FORMS)
    if kind == "http":
        if base_url is None:
            raise ConfigError(f"the entailment model {source} needs base_url", hint="set it in [support]")
        key = read_key(KEYS, notify or tell)
        return HttpEntailer(name, Endpoint(base_url, what="entailment", key=key, timeout_seconds=timeout_seconds))
    if kind == "path":
        return FolderEntailer(Path(name).expanduser(), threads=threads)
    from fonte.models.hub import hub_folder, parse_source

    repository, revision = parse_source(name)
    return FolderEntailer(hub_folder(repository, revision), threads=threads, name=repository)
