"""Documents of a generation in the catalog: their states, and their canonical texts kept once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fonte.errors import CorruptIndex
from fonte.stores.codec import decode, encode
from fonte.stores.rows import get_acl, get_state, put_acl, put_ledger, put_stamp
from fonte.stores.statements import Connection
from fonte.types import Document, DocumentState, DocumentStatus, sha256_hex

_COLUMNS = (
    "document_id, name, uri, status, version, acl, reason, retryable, chunks, pages, language, stamp, ledger, "
    "source_root"
)
_INSERT = f"INSERT INTO entries ({_COLUMNS}, text_key) VALUES ({', '.join('?' * 15)}) RETURNING key"  # noqa: S608 - constants
# A tombstone stands unless this generation's own sync lifted it after it was set.
_GONE = (
    "(r.deleted IS NOT NULL AND NOT (r.deleted <= g.began AND EXISTS ("
    "SELECT 1 FROM restores x WHERE x.document_id = e.document_id AND x.generation = g.seq)))"
)
_FROM = (
    " FROM generation_documents d JOIN entries e ON e.key = d.entry JOIN generations g ON g.seq = d.generation"
    " LEFT JOIN rights r ON r.document_id = d.document_id"
)
_BALANCED = '%"balanced":true%'
"""A ledger as it is kept that balances: inside a word of a ledger the quotes would be escaped."""
_WITHOUT_TEXT = {DocumentStatus.FAILED, DocumentStatus.PENDING, DocumentStatus.DELETED}


@dataclass(frozen=True, slots=True)
class Entry:
    """A state that is ready to be written, and its text as bytes."""

    state: DocumentState
    text_hash: str = ""
    digest: str = ""
    body: bytes | None = None


def prepare(state: DocumentState, document: Document | None) -> Entry:
    """Encode outside of any transaction.

    Raises:
        ValueError: a document that is not the state's.
    """
    if document is None:
        return Entry(state)
    if document.id != state.document_id:
        message = f"the text of {document.id} under the state of {state.document_id}"
        raise ValueError(message)
    body = encode(document)
    return Entry(state, document.text_hash, sha256_hex(body), body)


def put(connection: Connection, seq: int, entries: Iterable[Entry]) -> None:
    """Write states into a generation. A state without a text keeps the text and ledger of its unchanged version."""
    for entry in entries:
        state = entry.state
        text_key, ledger = _text(connection, entry), put_ledger(state.ledger)
        if entry.body is None and state.status not in _WITHOUT_TEXT:
            text_key, ledger = _kept(connection, seq, state, ledger)
        values = (
            state.document_id,
            state.name,
            state.uri,
            str(state.status),
            state.version,
            put_acl(state.acl),
            state.reason,
            int(state.retryable),
            state.chunks,
            state.pages,
            state.language,
            put_stamp(state),
            ledger,
            state.source_root,
            text_key,
        )
        key = connection.execute(_INSERT, values).fetchone()[0]
        connection.execute(
            "INSERT INTO generation_documents (generation, document_id, entry) VALUES (?, ?, ?)"
            " ON CONFLICT (generation, document_id) DO UPDATE SET entry = excluded.entry",
            (seq, state.document_id, key),
        )


def _text(connection: Connection, entry: Entry) -> int | None:
    if entry.body is None:
        return None
    name = (entry.state.document_id, entry.state.version, entry.text_hash, entry.digest)
    found = connection.execute(
        "SELECT key FROM texts WHERE document_id = ? AND version = ? AND text_hash = ? AND digest = ?", name
    ).fetchone()
    if found:
        return int(found[0])
    made = connection.execute(
        "INSERT INTO texts (document_id, version, text_hash, digest, body) VALUES (?, ?, ?, ?, ?) RETURNING key",
        (*name, entry.body),
    )
    return int(made.fetchone()[0])


def _kept(connection: Connection, seq: int, state: DocumentState, ledger: str | None) -> tuple[int | None, str | None]:
    row = connection.execute(
        "SELECT e.text_key, e.ledger FROM generation_documents d JOIN entries e ON e.key = d.entry"
        " WHERE d.generation = ? AND d.document_id = ? AND e.version = ?",
        (seq, state.document_id, state.version),
    ).fetchone()
    return (row[0], ledger or row[1]) if row else (None, ledger)


def remove(connection: Connection, seq: int, document_ids: Iterable[str]) -> None:
    """Take documents out of a generation."""
    connection.executemany(
        "DELETE FROM generation_documents WHERE generation = ? AND document_id = ?",
        [(seq, document) for document in document_ids],
    )


def states(connection: Connection, seq: int) -> list[DocumentState]:
    """All states by name, then id, ledgers left out."""
    columns = ", ".join(f"e.{one}" for one in _COLUMNS.split(", ")).replace("e.ledger", "NULL AS ledger")
    rows = connection.execute(
        f"SELECT {columns}, {_GONE} AS gone {_FROM} WHERE d.generation = ? ORDER BY e.name, e.document_id", (seq,)
    )
    return [get_state(row) for row in rows]


def counted_chunks(connection: Connection, seq: int) -> int:
    """Chunks that a generation's documents count, tombstones aside."""
    row = connection.execute(
        "SELECT coalesce(sum(e.chunks), 0) FROM generation_documents d JOIN entries e ON e.key = d.entry"
        " WHERE d.generation = ?",
        (seq,),
    ).fetchone()
    return int(row[0])


def unbalanced(connection: Connection, seq: int) -> list[str]:
    """Names of ready documents whose ledger is absent or does not balance."""
    rows = connection.execute(
        f"SELECT e.name {_FROM} WHERE d.generation = ? AND e.status = 'ready'"
        " AND coalesce(e.ledger, '') NOT LIKE ? ORDER BY e.name",
        (seq, _BALANCED),
    )
    return [str(row[0]) for row in rows]


def state(connection: Connection, seq: int, document_id: str) -> DocumentState | None:
    """One state with its ledger."""
    row = connection.execute(
        f"SELECT e.*, {_GONE} AS gone {_FROM} WHERE d.generation = ? AND d.document_id = ?", (seq, document_id)
    ).fetchone()
    return get_state(row) if row else None


def text(connection: Connection, seq: int, document_id: str, tenant: str) -> Document | None:
    """A document's canonical text.

    Raises:
        CorruptIndex: the text is damaged, or another document's.
    """
    row = connection.execute(
        "SELECT t.body, t.digest, e.acl FROM generation_documents d JOIN entries e ON e.key = d.entry"
        " JOIN texts t ON t.key = e.text_key WHERE d.generation = ? AND d.document_id = ?",
        (seq, document_id),
    ).fetchone()
    if row is None:
        return None
    if sha256_hex(row["body"]) != row["digest"]:
        message = f"the stored text of document {document_id} is damaged"
        raise CorruptIndex(message, hint="restore a backup, or sync the document again")
    document = decode(row["body"], get_acl(row["acl"]))
    if document.id != document_id or document.tenant != tenant:
        message = f"the stored text of document {document_id} is another document's"
        raise CorruptIndex(message)
    return document
