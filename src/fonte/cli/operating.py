"""erase, backup, restore, migrate, export, check."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.cli.arguments import Unsaid, UsageError
from fonte.cli.opening import corpus, home_of, noted, principal, settings_of
from fonte.cli.output import Output, many
from fonte.errors import InputError
from fonte.homes import needing_postgres, password, stores_of
from fonte.stores.home import Home

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
    _in_files(options, "pg_dump -Fc -n fonte URL as its owner saves the database, and cp -a the folder of files")
    from importlib.metadata import version

    from fonte.stores import backup as stored

    made = stored.backup(home_of(options), Path(options.file), version("fonte"))
    return _told({"file": options.file}, made, output)


def restore(options: argparse.Namespace, output: Output) -> int:
    """A home out of a file."""
    _in_files(options, "pg_restore puts back what pg_dump saved")
    from fonte.stores import backup as stored

    found = stored.restore(Path(options.file), Path(options.home))
    return _told({"home": options.home}, found, output)


def _in_files(options: argparse.Namespace, hint: str) -> None:
    """Refuses to copy files where the stores are in a database. Raises InputError."""
    if settings_of(options).store.database_url is not None:
        raise InputError("the stores are in PostgreSQL, which has its own means of backup", hint=hint)


def migrate(options: argparse.Namespace, output: Output) -> int:
    """The tables of the database brought to this version, as their owner."""
    url = settings_of(options).store.database_url
    if url is None:
        raise UsageError("no database is set", hint="FONTE_DATABASE_URL=postgresql://OWNER@HOST/DATABASE fonte migrate")
    with needing_postgres():
        from fonte.stores.postgres.migrating import VERSION
        from fonte.stores.postgres.migrating import migrate as applied_to

        applied = applied_to(url, password(os.environ))
    if output.json_mode:
        output.json({"applied": applied, "version": VERSION})
    else:
        for one in applied:
            output.line(f"applied {one}")
        output.line(f"the tables are of version {VERSION}")
    return 0


def export(options: argparse.Namespace, output: Output) -> int:
    """What the asker may read, as a table of a database."""
    with needing_postgres():
        from fonte.stores.postgres.simple_table import fill

        with corpus(options) as opened:
            dimensions, rows = opened.export(principal(options))
            secret = password(os.environ)
            count = fill(options.to, secret, options.table, dimensions, rows, anew=options.replace)
    noted(options, "fonte export", options.table)
    if output.json_mode:
        output.json({"table": options.table, "rows": count, "dimensions": dimensions})
    else:
        output.line(f"{many(count, 'passage')} in table {options.table}, with vectors of {dimensions} numbers")
        output.note("whoever may read the table reads all of it")
    return 0


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

    stores = stores_of(home_of(options), settings_of(options))
    faults = list(faults_of(stores.path) if isinstance(stores, Home) else stores.faults())
    if output.json_mode:
        output.json({"whole": not faults, "faults": faults})
    else:
        for one in faults:
            output.line(one)
        output.line("not whole" if faults else "whole")
    return 1 if faults else 0
