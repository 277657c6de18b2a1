"""Stores over SQLite files: what stands in each file of a home. Nothing is made before the first write.

``prepare`` makes the folder of a file. The catalog's tables stand in ``schema.sql``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from fonte.errors import CorruptIndex
from fonte.stores.audit import SqlAudit
from fonte.stores.catalog import SqlCatalog
from fonte.stores.conversations import SqlConversations
from fonte.stores.feedback import SqlFeedback
from fonte.stores.jobs import SqlJobs
from fonte.stores.keys import SqlKeys
from fonte.stores.lock import WriteLock
from fonte.stores.sessions import SqlSessions
from fonte.stores.sqlite import SqliteFile
from fonte.stores.standing import SqlStanding
from fonte.stores.statements import Connection
from fonte.stores.vector_cache import SqlVectorCache

Prepare = Callable[[], None]

_CONVERSATIONS = """
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    asker TEXT,
    roles TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE turns (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer_id TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    PRIMARY KEY (conversation, position)
) WITHOUT ROWID;
"""
_FEEDBACK = """
CREATE TABLE feedback (
    answer_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    user TEXT,
    verdict TEXT NOT NULL,
    comment TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (answer_id, identity)
) WITHOUT ROWID;
"""
_JOBS = """
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    identity TEXT NOT NULL,
    user TEXT,
    wanted TEXT NOT NULL,
    created_at TEXT NOT NULL,
    due_at TEXT NOT NULL,
    what TEXT NOT NULL DEFAULT '',
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    started_at TEXT,
    ended_at TEXT,
    report TEXT,
    error TEXT
);
CREATE INDEX jobs_by_state ON jobs (state, number);
"""
_STANDING = """
CREATE TABLE sources (
    source TEXT PRIMARY KEY,
    owner TEXT,
    until TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    next_try TEXT,
    error TEXT,
    looked_at TEXT
) WITHOUT ROWID;
CREATE TABLE passes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'held', 'failed', 'lost')),
    started_at TEXT NOT NULL,
    ended_at TEXT,
    changed INTEGER NOT NULL DEFAULT 0,
    report TEXT,
    error TEXT
);
CREATE TABLE tries (
    document_id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    tries INTEGER NOT NULL,
    next_try TEXT,
    error TEXT NOT NULL
) WITHOUT ROWID;
"""
_VECTORS = """
CREATE TABLE vectors (
    space TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    codes BLOB,
    code_width INTEGER,
    PRIMARY KEY (space, text_hash)
) WITHOUT ROWID;
"""
_VECTORS_FROM_1 = """
ALTER TABLE vectors ADD COLUMN codes BLOB;
ALTER TABLE vectors ADD COLUMN code_width INTEGER;
"""
_KEYS = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    secret_sha256 TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT,
    roles TEXT NOT NULL,
    actions TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT
) WITHOUT ROWID;
"""
_MARK = """
CREATE TABLE mark (
    text TEXT PRIMARY KEY
) WITHOUT ROWID;
INSERT INTO mark (text) VALUES (lower(hex(randomblob(4))));
"""
_SESSIONS = f"""{_MARK}
CREATE TABLE sessions (
    secret_sha256 TEXT PRIMARY KEY,
    ends_at TEXT NOT NULL,
    key_id TEXT,
    identity TEXT
) WITHOUT ROWID;
"""
_AUDIT = """
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    tenant TEXT NOT NULL,
    identity TEXT NOT NULL,
    user TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    outcome TEXT NOT NULL,
    shown TEXT NOT NULL,
    request_id TEXT NOT NULL
);
CREATE INDEX audit_of_tenant ON audit (tenant, number);
CREATE INDEX audit_by_time ON audit (at);
"""


def _file(
    path: Path,
    schema: str,
    prepare: Prepare,
    *,
    version: int = 1,
    durable: bool = True,
    upgrades: Mapping[int, str] | None = None,
) -> SqliteFile:
    return SqliteFile(path, schema, version, durable=durable, prepare=prepare, upgrades=upgrades)


class SqliteCatalog(SqlCatalog):
    """The catalog in one file, which says whose it is."""

    def __init__(self, path: Path, tenant: str, *, prepare: Prepare | None = None) -> None:
        make = prepare or (lambda: path.parent.mkdir(mode=0o700, parents=True, exist_ok=True))
        schema = files("fonte.stores").joinpath("schema.sql").read_text(encoding="utf-8")
        super().__init__(_file(path, schema, make), tenant, WriteLock(path.with_name("writer.lock"), make))

    def _own(self, connection: Connection, *, write: bool = False) -> None:
        if write:
            connection.execute(
                "INSERT INTO meta (key, value) VALUES ('tenant', ?) ON CONFLICT (key) DO NOTHING", (self._tenant,)
            )
        row = connection.execute("SELECT value FROM meta WHERE key = 'tenant'").fetchone()
        if row and row[0] != self._tenant:
            raise CorruptIndex("this catalog belongs to another tenant", hint="restore a backup of the home")


class SqliteVectorCache(SqlVectorCache):
    """Known vectors in one file. It may be deleted; what is damaged in it is computed again."""

    def __init__(self, path: Path, *, prepare: Prepare | None = None) -> None:
        make = prepare or (lambda: path.parent.mkdir(mode=0o700, parents=True, exist_ok=True))
        upgrades = {1: _VECTORS_FROM_1}
        super().__init__(_file(path, _VECTORS, make, version=2, durable=False, upgrades=upgrades))


class SqliteConversations(SqlConversations):
    """Conversations in one file."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        super().__init__(_file(path, _CONVERSATIONS, prepare))


class SqliteFeedback(SqlFeedback):
    """Feedback in one file."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        super().__init__(_file(path, _FEEDBACK, prepare))


class SqliteJobs(SqlJobs):
    """Jobs in one file."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        super().__init__(_file(path, _JOBS, prepare))


class SqliteStanding(SqlStanding):
    """Standing work in one file of its own: a heartbeat never waits for a sync's transactions, nor a sync for it."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        super().__init__(_file(path, _STANDING, prepare))


class SqliteKeys(SqlKeys):
    """Keys in one file of the home."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        super().__init__(_file(path, _KEYS, prepare))


class SqliteSessions(SqlSessions):
    """Sessions in one file of the home. It may be deleted; then people sign in again."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        upgrades = {1: f"DROP TABLE sessions;{_SESSIONS}", 2: _MARK}
        super().__init__(_file(path, _SESSIONS, prepare, version=3, durable=False, upgrades=upgrades))


class SqliteAudit(SqlAudit):
    """The audit log in one file of the home."""

    def __init__(self, path: Path, *, prepare: Prepare) -> None:
        # A commit that a power cut may lose, whole, costs a tenth of one that waits for the disk at every request.
        super().__init__(_file(path, _AUDIT, prepare, durable=False))
