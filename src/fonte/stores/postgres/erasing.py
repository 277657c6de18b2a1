"""Taking a tenant out of the database."""

from __future__ import annotations

import shutil

from fonte.stores.erasing import Eraser, disk
from fonte.stores.postgres.database import AREAS

_ORDER = ("generation_documents", "restores", "entries", "texts", "generations", "turns", "conversations")
"""What refers to others goes before them."""


class PostgresEraser(Eraser):
    """Over the rows of a tenant, and its folder of uploads and fetched copies."""

    def everything(self) -> None:
        """Take the tenant out: index, rows, files, keys, its entries in the audit log.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        databases = self.databases
        with self.catalog.writer():
            self.index.erase([])
            for area, database in (
                ("catalog", databases.catalog),
                ("vectors", databases.vectors),
                ("conversations", databases.conversations),
                ("feedback", databases.feedback),
                ("jobs", databases.jobs),
                ("standing", databases.standing),
            ):
                tables = sorted(AREAS[area], key=lambda one: _ORDER.index(one) if one in _ORDER else len(_ORDER))
                with database.write() as connection:
                    for table in tables:
                        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants; the policy says whose rows
            self.catalog.forget_texts()
            if self.folder.exists():
                with disk():
                    shutil.rmtree(self.folder)
        for database in (*databases.of_tenant, *self.further):
            database.scrub()
        self._disown_tenant()
        with databases.keys.write() as connection:
            connection.execute("DELETE FROM tenants WHERE name = ?", (self.tenant,))
