"""erase, backup, restore, check."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.cli.arguments import Unsaid, UsageError
from fonte.cli.opening import corpus, home_of, noted
from fonte.cli.output import Output, many

if TYPE_CHECKING:
    from fonte.stores.backup import Backup


def erase(options: argparse.Namespace, output: Output) -> int:
    """Documents, or else a user, or else the tenant, out of every file."""
    if options.documents and options.user:
        raise UsageError("documents or a user, not both", hint="fonte erase DOCUMENT…, or fonte erase --user NAME")
    if not options.documents and not options.user and isinstance(options.tenant, Unsaid):
        raise UsageError("erase what?", hint="name documents, or --user NAME, or --tenant NAME with all that it has")
    tenant = str(options.tenant)
    with corpus(options) as opened:
        if options.documents:
            what = opened.erase(*options.documents, tenant=tenant)
        elif options.user:
            what = ["a user"]
            opened.erase_user(options.user, tenant=tenant)
        else:
            what = [f"tenant {tenant}"]
            opened.erase_tenant(tenant)
    noted(options, "fonte erase", ", ".join(what))
    if output.json_mode:
        output.json({"erased": what})
    else:
        for one in what:
            output.line(f"erased {one}")
    if options.documents:
        output.note("generations that could be gone back to are gone too")
        output.note("a file that still lies in a synced source comes back with the next sync: remove or --exclude it")
    return 0


def backup(options: argparse.Namespace, output: Output) -> int:
    """The home into one file."""
    from importlib.metadata import version

    from fonte.stores import backup as stored

    made = stored.backup(home_of(options), Path(options.file), version("fonte"))
    return _told({"file": options.file}, made, output)


def restore(options: argparse.Namespace, output: Output) -> int:
    """A home out of a file."""
    from fonte.stores import backup as stored

    found = stored.restore(Path(options.file), Path(options.home))
    return _told({"home": options.home}, found, output)


def _told(where: dict[str, object], found: Backup, output: Output) -> int:
    if output.json_mode:
        output.json(where | {"tenants": found.tenants, "files": found.files, "bytes": found.bytes})
    else:
        counts = (many(found.tenants, "tenant"), many(found.files, "file"), many(found.bytes, "byte"))
        output.line(f"{', '.join(counts)}, every hash noted and right")
    return 0


def check(options: argparse.Namespace, output: Output) -> int:
    """Whether the home is whole."""
    from fonte.stores.checking import check as faults_of

    faults = list(faults_of(home_of(options)))
    if output.json_mode:
        output.json({"whole": not faults, "faults": faults})
    else:
        for one in faults:
            output.line(one)
        output.line("not whole" if faults else "whole")
    return 1 if faults else 0
