"""Names of embedding models to the models: what a configuration's ``[embedding] source`` may say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ConfigError, ModelNotInstalled
from fonte.models.cards import E5_SMALL, E5_WEIGHTS, MINILM, MINILM_WEIGHTS, ModelCard, WeightsFile
from fonte.models.files import installed
from fonte.models.graph_cache import default_cache

if TYPE_CHECKING:
    from fonte.models.writing import Prices, Render
    from fonte.protocols import Embedder, Generator

DEFAULT_SOURCE = f"package:{E5_SMALL.name}"
_FORMS = "use package:NAME, path:DIR, hf:NAME@REVISION or openai:MODEL"

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


@dataclass(frozen=True, slots=True)
class Remote:
    """What ``openai:MODEL`` needs beyond the name. ``window`` is the model's documented longest input in tokens."""

    base_url: str = "https://api.openai.com/v1"
    window: int = 512
    dimensions: int | None = None
    """Checked against what the endpoint gives; None: whatever it gives first."""
    timeout_seconds: float = 60.0


def available() -> list[Available]:
    """The packaged models, whether each is installed, and the command that installs it."""
    return [
        Available(f"package:{name}", installed(files), files[0].install, card.licence)
        for name, (card, files) in _PACKAGED.items()
    ]


def make_embedder(
    source: str = DEFAULT_SOURCE,
    *,
    remote: Remote | None = None,
    threads: int | None = None,
    cache: Path | None = None,
    notify: Callable[[str], None] | None = None,
    token_codes: bool = True,
) -> Embedder:
    """The embedder that ``source`` names: package:NAME, path:DIR, hf:NAME@REVISION or openai:MODEL.

    ``remote`` is read for openai: only. ``threads`` defaults to the physical cores at hand, ``cache`` (built graphs)
    to ``default_cache()``; ``notify`` is told, in a line, what a person should know (default: standard error).

    Without ``token_codes`` a model that has them gives none: the index is smaller, and late interaction cannot be done.

    Raises:
        ConfigError: a source of no known form, or settings that contradict each other.
        ModelNotInstalled: an unknown name, or a model that is not there.
        ModelUnavailable: the hub cannot be reached.
    """
    say = notify or tell
    folder = cache or default_cache()
    kind, _, name = source.partition(":")
    if threads is not None and threads < 1:
        raise ConfigError("a model needs at least 1 thread")
    if not name or kind not in {"package", "path", "hf", "openai"}:
        raise ConfigError(f"not a model source: {source!r}", hint=_FORMS)
    if kind == "package":
        return _packaged(name, folder, threads, say, token_codes=token_codes)
    if kind == "openai":
        return _remote(name, remote or Remote(), say)
    from fonte.models.folder import folder_embedder

    if kind == "path":
        return folder_embedder(Path(name).expanduser(), cache=folder, threads=threads, notify=say)
    from fonte.models.hub import hub_folder, parse_source

    repository, revision = parse_source(name)
    return folder_embedder(
        hub_folder(repository, revision),
        cache=folder,
        threads=threads,
        notify=say,
        name=repository,
        revision=revision,
    )


def make_chat(
    model: str,
    render: Render,
    *,
    base_url: str,
    timeout_seconds: float = 60.0,
    max_tokens: int = 1024,
    prices: Prices | None = None,
    notify: Callable[[str], None] | None = None,
) -> Generator:
    """A generator over an OpenAI-compatible endpoint.

    Its key comes from ``FONTE_GENERATION_API_KEY``, else from ``OPENAI_API_KEY``; either may end in ``_FILE`` and name
    a file. ``notify`` as in ``make_embedder``.

    Raises:
        ConfigError: an impossible setting.
    """
    from fonte.models.endpoint import Endpoint, read_key
    from fonte.models.openai_chat import OpenAIChat
    from fonte.models.writing import Prices

    key = read_key(_CHAT_KEYS, notify or tell)
    endpoint = Endpoint(base_url, what="generation", key=key, timeout_seconds=timeout_seconds)
    return OpenAIChat(model, endpoint, render, max_tokens=max_tokens, prices=prices or Prices())


def make_anthropic(
    model: str,
    render: Render,
    *,
    base_url: str | None = None,
    timeout_seconds: float = 60.0,
    max_tokens: int = 1024,
    prices: Prices | None = None,
    notify: Callable[[str], None] | None = None,
) -> Generator:
    """A generator over Anthropic's Messages API, at its own address unless ``base_url`` names another.

    Its key comes from ``FONTE_GENERATION_API_KEY``, else from ``ANTHROPIC_API_KEY``; either may end in ``_FILE`` and
    name a file. ``notify`` as in ``make_embedder``.

    Raises:
        ConfigError: an impossible setting.
    """
    from fonte.models.anthropic import BASE_URL, VERSION, AnthropicMessages
    from fonte.models.endpoint import Endpoint, read_key
    from fonte.models.writing import Prices

    key = read_key(_ANTHROPIC_KEYS, notify or tell)
    headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
    address = (base_url or BASE_URL).rstrip("/").removesuffix("/v1")
    endpoint = Endpoint(address, what="generation", headers=headers, timeout_seconds=timeout_seconds)
    return AnthropicMessages(model, endpoint, render, max_tokens=max_tokens, prices=prices or Prices())


_CHAT_KEYS = ("FONTE_GENERATION_API_KEY", "OPENAI_API_KEY")
_ANTHROPIC_KEYS = ("FONTE_GENERATION_API_KEY", "ANTHROPIC_API_KEY")


def generation_told(name: str, model: str | None, base_url: str | None) -> str:
    """In words, who writes and where, and whether there is a key; nobody is asked.

    Raises:
        ConfigError: a key that cannot be read. ModelNotInstalled: the package or file of a local model is missing.
    """
    from fonte.models.endpoint import read_key

    if name == "gguf":
        from fonte.models.gguf import checked

        return f"gguf, {checked(Path(model or '').expanduser())}"
    if name == "extractive":
        return "extractive, without a model"
    keys = _ANTHROPIC_KEYS if name == "anthropic" else _CHAT_KEYS
    key = "with a key" if read_key(keys, tell) else f"without a key in {' or '.join(keys)}"
    return f"{name}, {model} at {base_url or 'its own address'}, {key}, not asked"


def make_gguf(
    file: Path,
    render: Render,
    *,
    threads: int | None = None,
    context_tokens: int = 8192,
    timeout_seconds: float = 60.0,
    max_tokens: int = 512,
) -> Generator:
    """A generator over a GGUF file; ``threads`` defaults to the physical cores at hand.

    Raises:
        ConfigError: an impossible setting. ModelNotInstalled: the package or the file is missing.
    """
    from fonte.models.gguf import GgufChat, LocalLimits
    from fonte.models.threads import available_cores

    limits = LocalLimits(threads or available_cores(), context_tokens, max_tokens, timeout_seconds)
    return GgufChat(file.expanduser(), render, limits)


def _remote(name: str, remote: Remote, notify: Callable[[str], None]) -> Embedder:
    from fonte.models.endpoint import Endpoint, read_key
    from fonte.models.openai_embedder import OpenAIEmbedder, RemoteModel

    key = read_key(("FONTE_EMBEDDING_API_KEY", "OPENAI_API_KEY"), notify)
    endpoint = Endpoint(remote.base_url, what="embedding", key=key, timeout_seconds=remote.timeout_seconds)
    model = RemoteModel(name, remote.window, remote.dimensions)
    try:
        return OpenAIEmbedder(model, endpoint)
    except ValueError as error:
        raise ConfigError(f"the embedding settings of {name} are wrong: {error}") from error


def _packaged(
    name: str, cache: Path, threads: int | None, notify: Callable[[str], None], *, token_codes: bool
) -> Embedder:
    from fonte.models import packaged

    if name == E5_SMALL.name:
        card = E5_SMALL if token_codes else replace(E5_SMALL, codec="", code_width=0)
        return packaged.e5_small(cache=cache, threads=threads, notify=notify, card=card)
    if name == MINILM.name:
        return packaged.minilm(cache=cache, threads=threads, notify=notify)
    known = ", ".join(f"package:{one}" for one in _PACKAGED)
    raise ModelNotInstalled(f"no packaged model is called {name}", hint=f"known: {known}; or {_FORMS}")


def tell(line: str) -> None:
    """Say a line on standard error: what speaks to the person by default."""
    print(line, file=sys.stderr)  # noqa: T201 - the one place that speaks to the person by default
