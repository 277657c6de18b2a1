"""The home on disk.

``FORMAT`` (version), ``system.sqlite`` (keys), ``sessions.sqlite`` and ``audit.sqlite``, made by whoever first needs
them, and
``tenants/<slug>/`` with
``catalog.sqlite``, ``vectors.sqlite``, ``conversations.sqlite``, ``jobs.sqlite``, ``standing.sqlite``,
``feedback.sqlite``,
``calibration.json``, ``labels.jsonl``, ``uploads/``, ``fetched/``, ``writer.lock`` and ``lance/``. Nothing of two
tenants shares a file, but keys and the audit log, which are found by tenant.
"""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from fonte.errors import SchemaMismatch, StoreUnavailable
from fonte.stores.calibration_file import CalibrationFile
from fonte.stores.erasing import Erasable
from fonte.stores.home_erasing import JOURNAL, HomeEraser, JournalFile
from fonte.stores.lance_index import LanceIndex
from fonte.stores.open_table import RESIDENT_BYTES
from fonte.stores.resident import EXACT_ROWS
from fonte.stores.sqlite_stores import (
    SqliteAudit,
    SqliteCatalog,
    SqliteConversations,
    SqliteFeedback,
    SqliteJobs,
    SqliteKeys,
    SqliteSessions,
    SqliteStanding,
    SqliteVectorCache,
)
from fonte.types import sha256_hex

FORMAT = "fonte-home 1\n"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_HASHED = "x-"


def slug(tenant: str) -> str:
    """Folder name of a tenant: its name where that is plain, else a hash of it. No name becomes a path.

    Names that look like a hashed one are hashed too, so two tenants never share a folder.
    """
    if _PLAIN.fullmatch(tenant) and not tenant.startswith(_HASHED):
        return tenant
    return _HASHED + sha256_hex(tenant.encode("utf-8", "surrogatepass"))[:40]


@dataclass(frozen=True, slots=True)
class TenantStore:
    """What one tenant has: catalog, chunk index, vector cache, gate, conversations, standing jobs."""

    catalog: SqliteCatalog
    index: LanceIndex
    cache: SqliteVectorCache
    calibration: CalibrationFile
    conversations: SqliteConversations
    standing: SqliteStanding
    eraser: HomeEraser

    def close(self) -> None:
        """Close the files."""
        self.catalog.close()
        self.cache.close()
        self.conversations.close()
        self.standing.close()
        self.eraser.close()


class Home:
    """A folder that holds everything. Opening one creates nothing; the first write does, with mode 0700."""

    def __init__(self, path: Path, *, exact_chunks: int = EXACT_ROWS, resident_bytes: int = RESIDENT_BYTES) -> None:
        """Open a home. Dense search over a tenant with more than ``exact_chunks`` chunks is approximate.

        Postings of a generation that a process keeps take at most ``resident_bytes``.

        Raises:
            StoreUnavailable: the path is not a folder, or may not be read. SchemaMismatch: a home of another version.
        """
        self.path = path
        self._exact_chunks = exact_chunks
        self._resident_bytes = resident_bytes
        self._check()

    def tenant(self, name: str) -> TenantStore:
        """A tenant's stores. An unknown tenant reads as an empty one; its first write makes it.

        Raises:
            ValueError: an empty name.
        """
        if not name:
            raise ValueError("a tenant needs a name")
        folder = self.folder(name)

        def prepare() -> None:
            self.prepare(name)

        catalog = SqliteCatalog(folder / "catalog.sqlite", name, prepare=prepare)
        index = LanceIndex(
            folder / "lance",
            prepare=prepare,
            exact_rows=self._exact_chunks,
            resident_bytes=self._resident_bytes,
        )
        cache = SqliteVectorCache(folder / "vectors.sqlite", prepare=prepare)
        conversations = SqliteConversations(folder / "conversations.sqlite", prepare=prepare)
        standing = SqliteStanding(folder / "standing.sqlite", prepare=prepare)
        databases = Erasable(
            catalog=catalog.database,
            vectors=cache.database,
            conversations=conversations.database,
            feedback=self.feedback(name).database,
            jobs=self.jobs(name).database,
            standing=standing.database,
            audit=self.audit().database,
            keys=self.keys().database,
        )
        return TenantStore(
            catalog=catalog,
            index=index,
            cache=cache,
            eraser=HomeEraser(name, folder, catalog, index, cache, databases, JournalFile(folder / JOURNAL)),
            calibration=CalibrationFile(folder / "calibration.json", prepare),
            conversations=conversations,
            standing=standing,
        )

    def folder(self, tenant: str) -> Path:
        """A tenant's folder, there or not."""
        return self.path / "tenants" / slug(tenant)

    def prepare(self, tenant: str) -> None:
        """Make the home and a tenant's folder. Raises StoreUnavailable."""
        self._make(self.folder(tenant))

    def jobs(self, tenant: str) -> SqliteJobs:
        """A tenant's jobs; the first one makes the file."""
        return SqliteJobs(self.folder(tenant) / "jobs.sqlite", prepare=lambda: self.prepare(tenant))

    def feedback(self, tenant: str) -> SqliteFeedback:
        """What a tenant's askers said of their answers; the first word makes the file."""
        return SqliteFeedback(self.folder(tenant) / "feedback.sqlite", prepare=lambda: self.prepare(tenant))

    def with_jobs(self) -> list[str]:
        """Names of the tenants that ever had a job."""
        found = (SqliteJobs(path, prepare=lambda: None) for path in sorted(self.path.glob("tenants/*/jobs.sqlite")))
        return [name for one in found if (name := one.tenant()) is not None]

    def unerased(self) -> list[str]:
        """Names of the tenants with an erasure that was begun and not completed."""
        found = sorted(self.path.glob(f"tenants/*/{JOURNAL}"))
        return [str(json.loads(path.read_bytes())["tenant"]) for path in found]

    def keys(self) -> SqliteKeys:
        """Keys of all tenants; the first one makes the file, and the home."""
        return SqliteKeys(self.path / "system.sqlite", prepare=self._make_home)

    def sessions(self) -> SqliteSessions:
        """Sessions of browsers; the first one makes the file."""
        return SqliteSessions(self.path / "sessions.sqlite", prepare=self._make_home)

    def audit(self) -> SqliteAudit:
        """The audit log of all tenants; its first entry makes the file."""
        return SqliteAudit(self.path / "audit.sqlite", prepare=self._make_home)

    def slugs(self) -> list[str]:
        """Folder names of the tenants that exist, sorted."""
        folder = self.path / "tenants"
        try:
            return sorted(one.name for one in folder.iterdir() if (one / "catalog.sqlite").is_file())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unavailable(folder, error) from error

    def count(self) -> int:
        """How many tenants there are."""
        return len(self.slugs())

    def __str__(self) -> str:
        """Where it is."""
        return str(self.path)

    def _check(self) -> None:
        try:
            if not self.path.exists():
                return
            if not self.path.is_dir():
                message = f"the home {self.path} is not a folder"
                raise StoreUnavailable(message, hint="name a folder with --home")
            marker = self.path / "FORMAT"
            found = marker.read_text(encoding="utf-8", errors="replace") if marker.exists() else None
            inside = (self.path / "tenants").exists()
        except OSError as error:
            raise _unavailable(self.path, error) from error
        if found != FORMAT and (found is not None or inside):
            message = f"{self.path} is a home of another version ({(found or 'no FORMAT file').strip()[:40]})"
            raise SchemaMismatch(message, hint="use the fonte that made it, or sync into a new home")

    def _make(self, folder: Path) -> None:
        self._make_home()
        try:
            (self.path / "tenants").mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _unavailable(self.path, error) from error

    def _make_home(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            marker = self.path / "FORMAT"
            if not marker.exists():
                draft = self.path / f".FORMAT.{os.getpid()}"
                draft.write_text(FORMAT, encoding="utf-8")
                draft.replace(marker)
        except OSError as error:
            raise _unavailable(self.path, error) from error


def _unavailable(path: Path, error: OSError) -> StoreUnavailable:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreUnavailable(f"disk full under the home {path}", hint="free some space and try again")
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return StoreUnavailable(f"the home {path} may not be written or read", hint="check its owner and mode")
    if error.errno in {errno.ENOTDIR, errno.EEXIST}:
        return StoreUnavailable(f"the home {path} is not a folder", hint="name a folder with --home")
    return StoreUnavailable(f"the home {path} cannot be used: {error.strerror}", hint="check the disk")
