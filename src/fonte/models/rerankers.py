"""Names of rerankers to rerankers: what a configuration's ``[reranker] source`` may say beside ``late``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fonte.errors import ConfigError
from fonte.models.pairs import PairModel, PairReranker
from fonte.models.registry import tell
from fonte.models.rerank_endpoint import Form
from fonte.protocols import Reranker

KEYS = ("FONTE_RERANKER_API_KEY",)
WINDOW = 512
_FORMS = "use late, path:DIR, hf:NAME@REVISION, st:NAME@REVISION, st:DIR or http:MODEL"


@dataclass(frozen=True, slots=True)
class Served:
    """What ``http:MODEL`` needs beyond the name. ``window`` is the model's documented longest input in tokens."""

    base_url: str
    form: Form
    window: int = WINDOW


def make_reranker(
    source: str,
    *,
    served: Served | None,
    threads: int | None,
    timeout_seconds: float,
    notify: Callable[[str], None] | None = None,
) -> Reranker:
    """The reranker that ``source`` names: path:DIR, hf:NAME@REVISION, st:NAME@REVISION, st:DIR or http:MODEL.

    ``served`` is read for http: only; its key comes from ``FONTE_RERANKER_API_KEY``, or from the file that
    ``FONTE_RERANKER_API_KEY_FILE`` names. ``notify`` as in ``registry.make_embedder``.

    Raises:
        ConfigError: a source of no known form, or settings that contradict each other.
        ModelNotInstalled: a model or library that is not there. ModelUnavailable: the hub cannot be reached.
    """
    return PairReranker(
        _model(source, served, threads, timeout_seconds, notify or tell), timeout_seconds=timeout_seconds
    )


def _model(
    source: str, served: Served | None, threads: int | None, timeout: float, notify: Callable[[str], None]
) -> PairModel:
    kind, _, name = source.partition(":")
    if not name or kind not in {"path", "hf", "st", "http"}:
        raise ConfigError(f"not a reranker: {source!r}", hint=_FORMS)
    if kind == "http":
        from fonte.models.endpoint import Endpoint, read_key
        from fonte.models.rerank_endpoint import HttpPairs

        if served is None:
            raise ConfigError(f"the reranker {source} needs base_url and form", hint="set them in [reranker]")
        key = read_key(KEYS, notify)
        endpoint = Endpoint(served.base_url, what="reranking", key=key, timeout_seconds=timeout)
        try:
            return HttpPairs(name, served.form, endpoint, served.window)
        except ValueError as error:
            raise ConfigError(f"the reranker's window is wrong: {error}") from error
    if kind == "st":
        from fonte.models.sentence_pairs import SentencePairs

        return SentencePairs(name, threads)
    from fonte.models.cross_encoder import folder_cross_encoder

    if kind == "path":
        return folder_cross_encoder(Path(name).expanduser(), threads=threads)
    from fonte.models.hub import hub_folder, parse_source

    repository, revision = parse_source(name)
    return folder_cross_encoder(hub_folder(repository, revision), threads=threads, name=repository)
