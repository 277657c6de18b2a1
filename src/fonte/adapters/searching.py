"""What the retrievers search: a home of this machine, or a server. Both give the rows of ``fonte search --json``.

No score is handed on as the frameworks' own: those of rank fusion say nothing across questions. ``scores`` of each row
has them all, and ``max_distance`` is the threshold that means something.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

from fonte import contract
from fonte.errors import (
    ConfigError,
    FonteError,
    InvalidQuery,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    NotPermitted,
    Overloaded,
    RateLimited,
    StoreUnavailable,
    Unauthenticated,
)
from fonte.types import Filters, Principal

if TYPE_CHECKING:
    import httpx

    from fonte.wiring import Corpus

Row = dict[str, Any]
_ERRORS: Final = {
    one.code: one
    for one in (
        InvalidQuery,
        InvalidRequest,
        NotFound,
        Unauthenticated,
        NotPermitted,
        RateLimited,
        Overloaded,
        StoreUnavailable,
        ModelUnavailable,
    )
}


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """As the options of ``fonte search``; what is None goes by the settings."""

    k: int | None = None
    mode: Literal["hybrid", "bm25", "dense"] | None = None
    rerank: bool | None = None
    max_distance: float | None = None
    documents: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    as_of: date | None = None


@runtime_checkable
class Search(Protocol):
    """Where passages come from."""

    def rows(self, query: str, k: int | None = None) -> list[Row]:
        """Rows of the best passages that may be read, best first; ``k`` goes before that of the options.

        Each has also the ``generation`` and the ``trace_id`` of its search. Raises FonteError.
        """


@dataclass(frozen=True)
class HomeSearch:
    """A home of this machine, as ``principal`` sees it. Whoever builds it has made sure who that is."""

    home: str
    principal: Principal
    options: SearchOptions = SearchOptions()
    config: str | None = None

    @cached_property
    def _corpus(self) -> Corpus:
        from fonte.wiring import Corpus

        return Corpus.open(self.home, config=Path(self.config) if self.config else None)

    def rows(self, query: str, k: int | None = None) -> list[Row]:
        """See Search."""
        wanted = self.options
        found = self._corpus.search(
            query,
            principal=self.principal,
            k=k or wanted.k,
            mode=wanted.mode,
            rerank=wanted.rerank,
            max_distance=wanted.max_distance,
            filters=Filters(wanted.documents, wanted.languages, wanted.media_types),
            as_of=wanted.as_of,
        )
        return _rows(contract.search_results(found))

    def close(self) -> None:
        """Close the home's files."""
        self._corpus.close()


@dataclass(frozen=True)
class ServerSearch:
    """A ``fonte serve``, as the user of the key sees it.

    ``key`` is the key itself, ``key_variable`` the environment variable that holds it; neither: a server that runs on
    this machine and has no keys yet.
    """

    url: str
    key: str | None = field(default=None, repr=False)
    key_variable: str | None = None
    options: SearchOptions = SearchOptions()
    timeout_seconds: float = 30.0

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        key = self.key
        if self.key_variable is not None:
            key = os.environ.get(self.key_variable)
            if not key:
                raise ConfigError(f"{self.key_variable} is not set", hint="it holds the key for the server of fonte")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=self.timeout_seconds)

    def rows(self, query: str, k: int | None = None) -> list[Row]:
        """See Search. Raises StoreUnavailable where the server does not answer."""
        import httpx

        wanted = self.options
        body = {
            "query": query,
            "k": k or wanted.k,
            "mode": wanted.mode,
            "rerank": wanted.rerank,
            "max_distance": wanted.max_distance,
            "as_of": wanted.as_of.isoformat() if wanted.as_of else None,
            "filters": {
                "document": list(wanted.documents),
                "language": list(wanted.languages),
                "type": list(wanted.media_types),
            },
        }
        try:
            answer = self._client.post("/v1/search", json=body)
            told = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise StoreUnavailable(
                f"{self.url} does not answer as a server of fonte: {type(error).__name__}",
                hint="look whether fonte serve runs there; try again",
            ) from error
        if answer.is_error:
            raise _refused(told, answer.status_code)
        return _rows(told)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _rows(told: Mapping[str, Any]) -> list[Row]:
    about = {"generation": told["generation"], "trace_id": told["trace_id"]}
    return [{**row, **about} for row in told["results"]]


def _refused(told: object, status: int) -> FonteError:
    error = told.get("error", {}) if isinstance(told, Mapping) else {}
    kind = _ERRORS.get(str(error.get("code")), FonteError)
    return kind(str(error.get("message", f"status {status}")), hint=str(error.get("hint", "")))


def as_plain(search: Search) -> dict[str, Any]:
    """What a search is made of, as JSON, for frameworks that write their pipelines down. No secret goes there.

    Raises:
        ConfigError: a key that is given itself, or a search of one's own.
    """
    made: dict[str, Any]
    if isinstance(search, ServerSearch):
        if search.key is not None:
            raise ConfigError("a key is not written down", hint="give key_variable, the variable that holds it")
        made = {"url": search.url, "key_variable": search.key_variable, "timeout_seconds": search.timeout_seconds}
    elif isinstance(search, HomeSearch):
        who = search.principal
        made = {
            "home": search.home,
            "config": search.config,
            "principal": {"tenant": who.tenant, "user": who.user, "roles": sorted(who.roles)},
        }
    else:
        raise ConfigError(f"{type(search).__name__} cannot be written down", hint="HomeSearch and ServerSearch can")
    options = asdict(search.options)
    options["as_of"] = search.options.as_of.isoformat() if search.options.as_of else None
    return {**made, "options": {name: list(one) if isinstance(one, tuple) else one for name, one in options.items()}}


def from_plain(made: Mapping[str, Any]) -> HomeSearch | ServerSearch:
    """What ``as_plain`` wrote down."""
    told: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in made["options"].items()}
    if told["as_of"]:
        told["as_of"] = date.fromisoformat(told["as_of"])
    options = SearchOptions(**told)
    if "url" in made:
        return ServerSearch(
            made["url"], key_variable=made["key_variable"], options=options, timeout_seconds=made["timeout_seconds"]
        )
    who = made["principal"]
    principal = Principal(who["tenant"], who["user"], frozenset(who["roles"]))
    return HomeSearch(made["home"], principal, options, made["config"])
