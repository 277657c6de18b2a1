"""Settings of sources: what holds for them by glob, which pages may be read, and queries whose rows are documents."""

from __future__ import annotations

import ipaddress
import os
import re
from datetime import date
from pathlib import Path
from typing import Annotated, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

_SQLITE = "sqlite:///"


class Section(BaseModel):
    """A table of ``fonte.toml``: keys that it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _split(value: object) -> object:
    """A variable's text, parted by commas; a list as the tuple that strict reading asks for."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


Names: TypeAlias = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_split)]
"""A list of texts; in a variable parted by commas."""


Positive: TypeAlias = Annotated[int, Field(ge=1)]
Seconds: TypeAlias = Annotated[float, Field(gt=0)]


def plain_url(url: str | None) -> str | None:
    """An address without user name and password. Raises ValueError."""
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("should be an address that begins with http:// or https://")
    if parts.password is not None or parts.username is not None:
        raise ValueError("holds a user name or password: secrets come from the environment, never from settings")
    return url


class WebSettings(Section):
    """Which pages of the web may be read. ``hosts`` must name every host; ``addresses`` private networks that may be.

    ``timeout_seconds`` and ``max_mb`` are for one page.
    """

    hosts: Names = ()
    addresses: Names = ()
    timeout_seconds: Annotated[float, Field(gt=0)] = 30.0
    max_mb: Annotated[int, Field(ge=1)] = 20
    max_pages: Annotated[int, Field(ge=1)] = 1000
    delay_seconds: Annotated[float, Field(ge=0)] = 0.5

    @field_validator("hosts")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if "/" in one or "@" in one or one.strip("*.") == "" or "*" in one.removeprefix("*."):
                raise ValueError(f'"{one}" should be a host such as docs.example.com, *.example.com or host:8080')
        return value

    @field_validator("addresses")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ipaddress.ip_network(one)
            except ValueError as error:
                raise ValueError(f'"{one}" should be a network such as 10.0.0.0/8: {error}') from None
        return value


_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _seconds(value: object) -> object:
    """Seconds of ``15m``, ``1h``, ``90`` or 90. Raises ValueError."""
    if not isinstance(value, str):
        return value
    found = _DURATION.fullmatch(value.strip())
    if found is None:
        raise ValueError("should be a number of seconds, or a time such as 30s, 15m, 1h, 1d")
    return float(found[1]) * _UNITS[found[2]]


Duration: TypeAlias = Annotated[float, Field(ge=1, le=366 * 86400), BeforeValidator(_seconds)]
"""A time in seconds, written as a number or as ``15m``; a year at most."""


class WatchSettings(Section):
    """How sources are looked after without a person.

    ``poll`` is between two looks at a source whose changes nothing tells of, ``look_again`` at one where the system
    does; ``settle`` is how long changes are gathered. After ``attempts`` parses a document is left to a person; after
    ``open_after`` failures in a row a source is asked no sooner than half of ``longest_wait`` later.
    """

    settle_seconds: Annotated[float, Field(ge=0.05, le=3600)] = 1.0
    poll: Duration = 60.0
    look_again: Duration = 900.0
    lease_seconds: Annotated[float, Field(ge=1, le=86400)] = 30.0
    attempts: Positive = 5
    open_after: Positive = 5
    longest_wait: Duration = 300.0


class ScheduleSettings(Section):
    """A source that ``fonte serve`` looks after: every so often, or, without ``every``, as ``sync --watch`` does."""

    source: Annotated[str, Field(min_length=1)]
    tenant: Annotated[str, Field(min_length=1)] = "default"
    every: Duration | None = None

    def anchored(self, base: Path) -> Self:
        """The same with a path told from a folder; addresses as they are."""
        if "://" in self.source:
            return self
        return self.model_copy(update={"source": os.path.abspath(base / Path(self.source).expanduser())})  # noqa: PTH100 - a glob is no path


class RuleSettings(Section):
    """What holds for sources whose name matches one of the globs. ``roles = []`` means nobody may read them."""

    match: tuple[str, ...]
    roles: tuple[str, ...] | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] | None = None
    title: str | None = None
    tenant: Annotated[str, Field(min_length=1)] | None = None
    valid_from: date | None = None
    valid_to: date | None = None

    @field_validator("match", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not self.match or any(not item.strip() for item in (*self.match, *(self.roles or ()))):
            raise ValueError("match should name at least one glob, and no glob or role may be empty")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to should not be before valid_from")
        return self


class QuerySettings(Section):
    """A SELECT whose rows are documents, synced as ``sql://NAME``. All but ``text`` name one column each."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    url: str
    query: Annotated[str, Field(min_length=1)]
    id: Annotated[str, Field(min_length=1)]
    text: Names
    title: str | None = None
    tenant: str | None = None
    roles: str | None = None
    language: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if not self.text:
            raise ValueError("text should name at least one column")
        if "://" not in self.url:
            raise ValueError("url should be an address such as sqlite:///tickets.db or postgresql+psycopg://host/name")
        if urlsplit(self.url).password is not None:
            raise ValueError("url holds a password: secrets come from the environment, never from settings")
        return self

    def anchored(self, base: Path) -> Self:
        """The same with ``sqlite:///tickets.db`` relative to a folder; other addresses as they are."""
        if not self.url.startswith(_SQLITE):
            return self
        return self.model_copy(update={"url": f"{_SQLITE}{base / Path(self.url.removeprefix(_SQLITE)).expanduser()}"})
