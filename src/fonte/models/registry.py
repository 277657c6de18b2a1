"""Names of embedding models to the models: what a configuration's ``[embedding] source`` may say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ConfigError, ModelNotInstalled
from fonte.models.cards import E5_SMALL, E5_WEIGHTS, MINILM, MINILM_WEIGHTS, ModelCard, WeightsFile
from fonte.models.files import installed
from fonte.models.graph_cache import default_cache

if TYPE_CHECKING:
    from fonte.protocols import Embedder

DEFAULT_SOURCE = f"package:{E5_SMALL.name}"

_PACKAGED: dict[str, tuple[ModelCard, tuple[WeightsFile, ...]]] = {
    E5_SMALL.name: (E5_SMALL, (E5_WEIGHTS,)),
    MINILM.name: (MINILM, MINILM_WEIGHTS),
}


@dataclass(frozen=True, slots=True)
class Available:
    """One line of ``fonte doctor``."""

    source: str
    installed: bool
    install: str
    licence: str


def available() -> list[Available]:
    """The packaged models, whether each is installed, and the command that installs it."""
    return [
        Available(f"package:{name}", installed(files), files[0].install, card.licence)
        for name, (card, files) in _PACKAGED.items()
    ]


def make_embedder(
    source: str = DEFAULT_SOURCE,
    *,
    threads: int | None = None,
    cache: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Embedder:
    """The embedder that ``source`` names.

    ``cache`` keeps built graphs (default: ``default_cache()``); ``notify`` is told, in a line, what a person should
    know (default: standard error).

    Raises:
        ConfigError: a source of no known form.
        ModelNotInstalled: an unknown name, or a model that is not there.
    """
    tell = notify or _tell
    kind, _, name = source.partition(":")
    if not name:
        raise ConfigError(f"not a model source: {source!r}", hint=_FORMS)
    if kind == "package":
        return _packaged(name, cache or default_cache(), threads, tell)
    raise ConfigError(f"not a model source: {source!r}", hint=_FORMS)


_FORMS = "use package:NAME, path:DIR, hf:NAME@REVISION or openai:MODEL"


def _packaged(name: str, cache: Path, threads: int | None, notify: Callable[[str], None]) -> Embedder:
    from fonte.models import packaged

    if name == E5_SMALL.name:
        return packaged.e5_small(cache=cache, threads=threads, notify=notify)
    if name == MINILM.name:
        return packaged.minilm(cache=cache, threads=threads, notify=notify)
    known = ", ".join(f"package:{one}" for one in _PACKAGED)
    raise ModelNotInstalled(f"no packaged model is called {name}", hint=f"known: {known}; or {_FORMS}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - the one place that speaks to the person by default
