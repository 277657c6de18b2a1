-- Catalog of one tenant. Times are ISO 8601 in UTC; "clock" values are the order of events in this catalog.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE clock (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    now INTEGER NOT NULL
);
INSERT INTO clock (one, now) VALUES (1, 1);

CREATE TABLE generations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('building', 'candidate', 'active', 'retired', 'rejected')),
    sealed INTEGER NOT NULL DEFAULT 0,
    recipe TEXT NOT NULL,
    table_name TEXT NOT NULL,
    table_version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    began INTEGER NOT NULL,
    published INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL,
    verdict TEXT,
    base TEXT
);
CREATE UNIQUE INDEX one_active ON generations (state) WHERE state = 'active';

CREATE TABLE texts (
    key INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL,
    version TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    digest TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (document_id, version, text_hash, digest)
);

CREATE TABLE entries (
    key INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL,
    name TEXT NOT NULL,
    uri TEXT NOT NULL,
    status TEXT NOT NULL,
    version TEXT NOT NULL,
    acl TEXT NOT NULL,
    reason TEXT,
    retryable INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    pages INTEGER,
    language TEXT NOT NULL,
    stamp TEXT,
    ledger TEXT,
    source_root TEXT NOT NULL,
    text_key INTEGER REFERENCES texts (key)
);
CREATE INDEX entries_by_text ON entries (text_key);

CREATE TABLE generation_documents (
    generation INTEGER NOT NULL REFERENCES generations (seq) ON DELETE CASCADE,
    document_id TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries (key),
    PRIMARY KEY (generation, document_id)
) WITHOUT ROWID;
CREATE INDEX generation_documents_by_entry ON generation_documents (entry);

-- Rights, live for every generation.
CREATE TABLE rights (
    document_id TEXT PRIMARY KEY,
    acl TEXT NOT NULL,
    deleted INTEGER
) WITHOUT ROWID;

CREATE TABLE narrowings (
    document_id TEXT NOT NULL,
    clock INTEGER NOT NULL,
    acl TEXT NOT NULL,
    PRIMARY KEY (document_id, clock)
) WITHOUT ROWID;

-- Tombstones to lift when a generation is published; generation is NULL until the next one is begun.
CREATE TABLE restores (
    document_id TEXT NOT NULL,
    generation INTEGER REFERENCES generations (seq) ON DELETE CASCADE
);
CREATE INDEX restores_by_document ON restores (document_id);
CREATE INDEX restores_by_generation ON restores (generation);

CREATE TABLE answers (
    id TEXT PRIMARY KEY,
    asker TEXT,
    roles TEXT NOT NULL,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    documents TEXT NOT NULL,
    trace TEXT
) WITHOUT ROWID;

-- Sources ever synced, as they were named, with how they are read.
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    options TEXT NOT NULL
) WITHOUT ROWID;
