"""A corpus and a principal out of the common options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ConfigError, InputError
from fonte.types import Principal

if TYPE_CHECKING:
    from fonte.config import Settings
    from fonte.parts import Parts
    from fonte.wiring import Corpus


def corpus(options: argparse.Namespace, *, must_exist: bool = True) -> Corpus:
    """The corpus at --home, with the settings in force.

    Raises:
        ConfigError: wrong settings. InputError: there is no home, and the command does not make one.
    """
    from fonte.wiring import Corpus

    if must_exist:
        home_of(options)
    config = Path(options.config) if options.config else None
    return Corpus.open(Path(options.home), config=config, environ=os.environ)


def home_of(options: argparse.Namespace) -> Path:
    """The home, which must be there, unless a database is.

    Raises:
        InputError
    """
    home = Path(options.home)
    if not home.exists() and settings_of(options).store.database_url is None:
        raise InputError(
            f"there is no index at {options.home}", hint="run fonte sync FOLDER first, or name another --home"
        )
    return home


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings in force. Raises ConfigError."""
    from fonte.config import load_settings

    return load_settings(Path(options.config) if options.config else None, Path(options.home), os.environ)


def parts(
    options: argparse.Namespace, *, config: Path | None = None, overrides: Mapping[str, object] | None = None
) -> tuple[Parts, Settings]:
    """The concrete parts over --home, by another settings file or with other settings than --config names.

    Raises:
        ConfigError, InputError
    """
    from fonte.config import load_settings
    from fonte.wiring import make_parts

    home = home_of(options)
    named = Path(options.config) if options.config else None
    settings = load_settings(config or named, home, os.environ, overrides)
    return make_parts(home, settings), settings


def noted(options: argparse.Namespace, action: str, subject: str) -> None:
    """Put into the audit log what was done to a home from the command line, and by which account of the machine."""
    from getpass import getuser

    from fonte.access.records import AuditEntry
    from fonte.answer import now
    from fonte.homes import stores_of

    try:
        account = getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        account = str(os.getuid())
    log = stores_of(home_of(options), settings_of(options)).audit()
    log.record(AuditEntry(now(), str(options.tenant), f"command line: {account}", None, action, subject, "ok"))
    log.close()


def principal(options: argparse.Namespace) -> Principal:
    """Who asks. Raises ConfigError for a role that cannot be claimed."""
    try:
        return Principal(tenant=options.tenant, user=options.user or None, roles=frozenset(options.roles))
    except ValueError as error:
        raise ConfigError(str(error), hint="see --user and --roles") from error
