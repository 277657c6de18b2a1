"""A corpus and a principal out of the common options."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import ConfigError, InputError
from fonte.types import Principal

if TYPE_CHECKING:
    from fonte.wiring import Corpus


def corpus(options: argparse.Namespace, *, must_exist: bool = True) -> Corpus:
    """The corpus at --home, with the settings in force.

    Raises:
        ConfigError: wrong settings. InputError: there is no home, and the command does not make one.
    """
    from fonte.wiring import Corpus

    home = Path(options.home)
    if must_exist and not home.exists():
        raise InputError(
            f"there is no index at {options.home}", hint="run fonte sync FOLDER first, or name another --home"
        )
    config = Path(options.config) if options.config else None
    return Corpus.open(home, config=config, environ=os.environ)


def principal(options: argparse.Namespace) -> Principal:
    """Who asks. Raises ConfigError for a role that cannot be claimed."""
    try:
        return Principal(tenant=options.tenant, user=options.user or None, roles=frozenset(options.roles))
    except ValueError as error:
        raise ConfigError(str(error), hint="see --user and --roles") from error
