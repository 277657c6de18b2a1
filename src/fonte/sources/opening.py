"""A source by its name: which reader reads it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from fonte.errors import ConfigError
from fonte.protocols import SourceReader, Unpacker
from fonte.sources.fetched import fetched_for
from fonte.sources.files import file_uri
from fonte.sources.folder import open_source
from fonte.sources.taking import Taking

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
    taking: Taking = field(default_factory=Taking)
    records: bool = False
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
            include=self.taking.include,
            exclude=self.taking.exclude,
            rules=self.taking.rules,
            default_roles=self.taking.default_roles,
            records=self.records,
            max_bytes=self.taking.max_bytes,
            unpacking=self.unpacking,
        )

    def _web(self, spec: str) -> SourceReader:
        from fonte.sources.web.addresses import Door
        from fonte.sources.web.fetch import Fetcher
        from fonte.sources.web.reader import WebSource

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
            self.taking,
            self.web.max_pages,
        )
