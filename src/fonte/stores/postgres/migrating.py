"""The tables' versions: numbered files of SQL that ``psql -f`` applies as they are, each one transaction."""

from __future__ import annotations

from importlib.resources import files

from fonte.errors import SchemaMismatch
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.connection import Connection

_FOLDER = files("fonte.stores.postgres").joinpath("migrations")


def migrations() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every migration, in order."""
    names = sorted(one.name for one in _FOLDER.iterdir() if one.name.endswith(".sql"))
    return [(int(name[:4]), name, _FOLDER.joinpath(name).read_text(encoding="utf-8")) for name in names]


VERSION = migrations()[-1][0]
"""Of the tables that this version of fonte works with."""


def version_of(connection: Connection) -> int:
    """Version of the tables in a database, 0 where there are none.

    Raises:
        StoreUnavailable, ConfigError
    """
    there = connection.execute("SELECT to_regclass('fonte.versions') IS NOT NULL").fetchone()
    if not there[0]:
        return 0
    return int(connection.execute("SELECT coalesce(max(version), 0) FROM fonte.versions").fetchone()[0])


def migrate(url: str, password: str | None = None) -> list[str]:
    """Apply the migrations that a database lacks, as whoever the URL logs in, who owns the tables; their names.

    Each is one transaction: where it is broken off the version before it stands.

    Raises:
        StoreUnavailable, ConfigError. SchemaMismatch: the tables are newer than this fonte.
    """
    applied = []
    connection = Connection(Address.of(url, password), role=None)
    try:
        found = version_of(connection)
        if found > VERSION:
            message = f"the database holds tables of version {found}, this fonte works with {VERSION}"
            raise SchemaMismatch(message, hint="use the fonte that made them")
        for number, name, sql in migrations():
            if number > found:
                connection.script(sql)
                applied.append(name)
    finally:
        connection.close()
    return applied
