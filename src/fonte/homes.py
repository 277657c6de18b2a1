"""Settings to stores: a home's files, or PostgreSQL with a folder for what stays in files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fonte.config import Settings
from fonte.errors import ConfigError
from fonte.stores.home import Home, slug

if TYPE_CHECKING:
    from fonte.stores.postgres.home import PostgresHome

    AnyHome: TypeAlias = Home | PostgresHome

_PASSWORD = "FONTE_DATABASE_PASSWORD"  # noqa: S105 - the name of a variable
_EVERY = 10**6
"""Words of askers that are read at once."""


def stores_of(home: Path, settings: Settings) -> AnyHome:
    """The stores of all tenants, by the settings. Nothing is connected to or made yet.

    Raises:
        ConfigError: a wrong URL, or the extra is missing. StoreUnavailable, SchemaMismatch: the folder is no home.
    """
    wanted = settings.retrieval
    url = settings.store.database_url
    if url is None:
        return Home(home, exact_chunks=wanted.exact_chunks, resident_bytes=wanted.resident_mb * 2**20)
    with needing_postgres():
        from fonte.stores.postgres.home import PostgresHome, pool_of

        pool = pool_of(url, password(os.environ), settings.store.connections)
        chosen = "exact_chunks" in wanted.model_fields_set
        return PostgresHome(home, pool, exact_chunks=wanted.exact_chunks if chosen else None)


def password(environ: Mapping[str, str]) -> str | None:
    """The database's password where its URL has none: ``FONTE_DATABASE_PASSWORD``, or the file of ``…_FILE``.

    Raises:
        ConfigError: a file that cannot be read.
    """
    if value := environ.get(_PASSWORD):
        return value
    path = environ.get(f"{_PASSWORD}_FILE")
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{_PASSWORD}_FILE: {path} cannot be read", hint="name a readable file") from error


@contextmanager
def needing_postgres() -> Iterator[None]:
    """Tells that the extra is missing where an import of the driver fails inside the block. Raises ConfigError."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"[store] database_url needs {error.name}"
        raise ConfigError(message, hint="pip install 'fonte[postgres]'") from error


def labels_of(home: Path, tenant: str) -> Path:
    """Where people's verdicts on a tenant's stored answers are kept."""
    return home / "tenants" / slug(tenant) / "labels.jsonl"


def feedback_of(home: Path, settings: Settings, tenant: str) -> dict[str, str]:
    """What askers said of their answers, by answer; the last word where several did. Raises StoreUnavailable."""
    kept = stores_of(home, settings).feedback(tenant)
    try:
        return {one.answer_id: one.verdict.value for one in reversed(kept.said(_EVERY))}
    finally:
        kept.close()


def forget_feedback(home: Path, settings: Settings, tenant: str, answers: Sequence[str]) -> None:
    """Take away what was said of these answers. Raises StoreUnavailable."""
    kept = stores_of(home, settings).feedback(tenant)
    try:
        kept.forget(answers)
    finally:
        kept.close()
