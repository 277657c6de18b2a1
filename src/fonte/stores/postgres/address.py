"""Where a database is, out of its URL."""

from __future__ import annotations

import getpass
import os
import ssl
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from fonte.errors import ConfigError

_SCHEMES = {"postgresql", "postgres"}
_NAMES = {"host", "port", "user", "password", "dbname", "sslmode", "sslrootcert"}
_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_HINT = "postgresql://USER:PASSWORD@HOST:5432/DATABASE, with ?sslmode=verify-full over a network"


@dataclass(frozen=True, slots=True)
class Address:
    """Host (a folder for a socket), port, database, user, password and how TLS is used. The password is not shown."""

    host: str
    port: int
    database: str
    user: str
    password: str | None = field(repr=False)
    mode: str = "prefer"
    roots: str | None = None

    @classmethod
    def of(cls, url: str, password: str | None = None) -> Address:
        """The address of ``postgresql://user:password@host:port/database?sslmode=…`` in libpq's sense.

        ``password`` counts where the URL has none.

        Raises:
            ConfigError: no such URL. The message does not repeat it, for a password may be in it.
        """
        try:
            parts = urlsplit(url)
            told = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
            port = int(told.get("port") or parts.port or 5432)
        except ValueError:
            raise ConfigError("[store] database_url is no URL of a database", hint=_HINT) from None
        if parts.scheme not in _SCHEMES:
            raise ConfigError("[store] database_url is no URL of a PostgreSQL database", hint=_HINT)
        if unknown := sorted(told.keys() - _NAMES):
            raise ConfigError(f"[store] database_url has {unknown[0]}, which fonte does not know", hint=_HINT)
        mode = told.get("sslmode", "prefer")
        if mode not in _MODES:
            raise ConfigError(f"[store] database_url: sslmode should be {' or '.join(_MODES)}", hint=_HINT)
        user = told.get("user") or unquote(parts.username or "") or getpass.getuser()
        return cls(
            host=told.get("host") or unquote(parts.hostname or "") or "localhost",
            port=port,
            database=told.get("dbname") or unquote(parts.path.removeprefix("/")) or user,
            user=user,
            password=told.get("password") or unquote(parts.password or "") or password,
            mode=mode,
            roots=told.get("sslrootcert"),
        )

    @property
    def socket(self) -> str | None:
        """The socket's file where the host is a folder of this machine."""
        return os.path.join(self.host, f".s.PGSQL.{self.port}") if self.host.startswith("/") else None  # noqa: PTH118 - a URL's part

    def tls(self) -> ssl.SSLContext | Literal[False] | None:
        """What a connection encrypts with: False for nothing, None for whatever the server offers, unchecked.

        Raises:
            ConfigError: root certificates that cannot be read.
        """
        if self.socket is not None or self.mode == "disable":
            return False
        if self.mode == "prefer":
            return None
        try:
            context = ssl.create_default_context(cafile=self.roots)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError("the sslrootcert of [store] database_url cannot be read") from error
        if self.mode != "verify-full":
            context.check_hostname = False
        if self.mode == "require" and self.roots is None:
            context.verify_mode = ssl.CERT_NONE
        return context

    def __str__(self) -> str:
        """Where it is, without the password."""
        return f"{self.database} at {self.host}"
