"""A source by its name: which reader reads it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from fonte.access.uploads import UPLOADS
from fonte.errors import ConfigError, InputError
from fonte.protocols import SourceReader, Unpacker
from fonte.source_settings import WebSettings
from fonte.sources.fetched import fetched_for
from fonte.sources.files import file_uri
from fonte.sources.folder import open_source
from fonte.sources.sql import SCHEME, RowQuery, SqlSource
from fonte.sources.taking import Taking
from fonte.sources.uploaded import Uploads, UploadSource

_NO_PASSWORD = "let the store take it from the environment or its own file"  # noqa: S105 - a hint's text
_WEB = ("http://", "https://")
LIST_ENDING = ".urls"
"""What a local file of addresses is called."""


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens sources: how this one is read, and what holds for all. ``folder`` keeps what is fetched for the tenant."""

    folder: Path
    taking: Taking = field(default_factory=Taking)
    records: bool = False
    unpacking: Callable[[Path], AbstractContextManager[Unpacker]] | None = None
    """What opens containers, and may keep in a folder of the source what it found in them."""
    web: WebSettings = field(default_factory=WebSettings)
    queries: Sequence[RowQuery] = ()
    uploads: Uploads | None = None
    """Of the tenant."""

    def open(self, spec: str) -> SourceReader:
        """The reader of a source.

        Raises:
            SourceUnreadable: nothing is there. InputError: a scheme that is not read.
            ConfigError: pages of the web without a list of hosts.
        """
        if spec.startswith(_WEB) or (spec.endswith(LIST_ENDING) and os.path.isfile(spec)):
            return self._web(spec)
        if spec == UPLOADS and self.uploads is not None:
            return UploadSource(self.uploads, self._unpacking(spec), self.taking.max_bytes)
        scheme, separator, _ = spec.partition("://")
        if spec.startswith(SCHEME):
            return self._rows(spec)
        if separator and scheme.lower() != "file":
            return self._remote(spec)
        return open_source(
            spec,
            include=self.taking.include,
            exclude=self.taking.exclude,
            rules=self.taking.rules,
            default_roles=self.taking.default_roles,
            records=self.records,
            max_bytes=self.taking.max_bytes,
            unpacking=self._unpacking(spec),
        )

    def _unpacking(self, spec: str) -> Callable[[], AbstractContextManager[Unpacker]] | None:
        if self.unpacking is None:
            return None
        return partial(self.unpacking, fetched_for(self.folder / "listings", spec).folder)

    def _rows(self, spec: str) -> SourceReader:
        name = spec.removeprefix(SCHEME).strip("/")
        query = next((one for one in self.queries if one.name == name), None)
        if query is None:
            known = ", ".join(one.name for one in self.queries) or "none"
            raise ConfigError(
                f"there is no query {name!r}", hint=f"write it in [[queries]] of fonte.toml; known: {known}"
            )
        return SqlSource(query, self.taking)

    def _remote(self, spec: str) -> SourceReader:
        from fonte.sources.remote import RemoteSource

        if any(scheme in spec.lower() for scheme in _WEB):  # zip::https://… would go past the list of hosts
            raise InputError(f"{spec}: pages of the web are not read through other stores", hint="name the page itself")
        if any(urlsplit(one).password is not None for one in spec.split("::")):
            raise ConfigError("an address with a password would be kept in the index", hint=_NO_PASSWORD)
        return RemoteSource(spec, fetched_for(self.folder, spec), self.taking, self.records, self._unpacking(spec))

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
            Fetcher(door, self.web.timeout_seconds, self.web.max_mb * 2**20, self.web.delay_seconds),
            fetched_for(self.folder, root),
            self.taking,
            self.web.max_pages,
        )
