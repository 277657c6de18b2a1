"""Catalogs of both kinds for the suites that every catalog passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fonte.stores.catalog import SqlCatalog
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.locks import TenantLock, numbered
from fonte.stores.postgres.pool import Pool
from fonte.stores.sqlite_stores import SqliteCatalog

KINDS = ["sqlite", "postgres"]
OpenCatalog = Callable[[str], SqlCatalog]


def postgres_catalog(pool: Pool, tenant: str) -> SqlCatalog:
    lock = TenantLock(pool, numbered("writer", tenant))
    return SqlCatalog(PostgresDatabase(pool, tenant, area="catalog", lock=lock), tenant, lock)


def opening(kind: str, request: pytest.FixtureRequest) -> Iterator[OpenCatalog]:
    """Opens catalogs by tenant: in one folder, or in one database."""
    made: list[SqlCatalog | Pool] = []
    if kind == "postgres":
        pool = Pool(request.getfixturevalue("postgres_url"))
        made.append(pool)
    else:
        folder: Path = request.getfixturevalue("tmp_path")

    def open_(tenant: str = "default") -> SqlCatalog:
        if kind == "postgres":
            return postgres_catalog(pool, tenant)
        made.append(SqliteCatalog(folder / "tenant" / "catalog.sqlite", tenant))
        return made[-1]  # type: ignore[return-value]  # just put there

    yield open_
    for one in made:
        one.close()
