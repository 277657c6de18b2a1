"""A source by its name: which reader reads it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from fonte.errors import ConfigError
from fonte.protocols import SourceReader, Unpacker
from fonte.sources.fetched import fetched_for
from fonte.sources.files import DEFAULT_MAX_BYTES, file_uri
from fonte.sources.folder import open_source
from fonte.sources.rules import SourceRule
from fonte.types import PUBLIC_ROLE

_WEB = ("http://", "https://")
LIST_ENDING = ".urls"
"""What a local file of addresses is called."""


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Which pages may be fetched, and at what cost: see ``[web]``."""

    hosts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    timeout_seconds: float = 30.0
    max_bytes: int = 20 * 2**20
    max_pages: int = 1000
    delay_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens sources: how this one is read, and what holds for all. ``folder`` keeps what is fetched for the tenant."""

    folder: Path
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    rules: Sequence[SourceRule] = ()
    default_roles: frozenset[str] = frozenset({PUBLIC_ROLE})
    records: bool = False
    max_bytes: int = DEFAULT_MAX_BYTES
    unpacking: Callable[[], AbstractContextManager[Unpacker]] | None = None
    web: WebLimits = field(default_factory=WebLimits)

    def open(self, spec: str) -> SourceReader:
        """The reader of a source.

        Raises:
            SourceUnreadable: nothing is there. InputError: a scheme that is not read.
            ConfigError: pages of the web without a list of hosts.
        """
        if spec.startswith(_WEB) or (spec.endswith(LIST_ENDING) and os.path.isfile(spec)):
            return self._web(spec)
        return open_source(
            spec,
            include=self.include,
            exclude=self.exclude,
            rules=self.rules,
            default_roles=self.default_roles,
            records=self.records,
            max_bytes=self.max_bytes,
            unpacking=self.unpacking,
        )

    def _web(self, spec: str) -> SourceReader:
        from fonte.sources.web.addresses import Door
        from fonte.sources.web.fetch import Fetcher
        from fonte.sources.web.reader import WebOptions, WebSource

        if not self.web.hosts:
            hint = "name the hosts that may be read in [web] hosts, or in FONTE_WEB_HOSTS"
            raise ConfigError("pages of the web are only read from hosts that are listed", hint=hint)
        root = spec if spec.startswith(_WEB) else file_uri(spec)
        door = Door(self.web.hosts, tuple(ipaddress.ip_network(one) for one in self.web.addresses))
        return WebSource(
            spec,
            root,
            Fetcher(door, self.web.timeout_seconds, self.web.max_bytes, self.web.delay_seconds),
            fetched_for(self.folder, root),
            WebOptions(self.include, self.exclude, self.rules, self.default_roles, self.web.max_pages),
        )
