"""Stored answers: written once, served only while the asker may still read all that they cite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from fonte.errors import CorruptIndex, NotFound, StoreUnavailable
from fonte.stores import rights
from fonte.stores.rows import put_json, put_time
from fonte.stores.statements import Connection, Row
from fonte.types import Principal


def save(
    connection: Connection,
    answer_id: str,
    principal: Principal,
    created_at: datetime,
    body: str,
    documents: Sequence[str],
    trace: str | None,
) -> None:
    """Keep an answer.

    Raises:
        CorruptIndex: the id was written before. StoreUnavailable: a document was deleted while it was written.
    """
    if connection.execute("SELECT 1 FROM answers WHERE id = ?", (answer_id,)).fetchone():
        message = f"answer {answer_id} exists and is never written over"
        raise CorruptIndex(message)
    if not all(rights.live(connection, one).roles for one in documents):  # an erasure has passed, and left this
        raise StoreUnavailable("a document that it rests on was deleted meanwhile", hint="ask again")
    connection.execute(
        "INSERT INTO answers (id, asker, roles, created_at, body, documents, trace) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            answer_id,
            principal.user,
            put_json(sorted(principal.unnamed_as)),
            put_time(created_at),
            body,
            put_json(list(dict.fromkeys(documents))),
            trace,
        ),
    )


def get(connection: Connection, answer_id: str, principal: Principal, column: str, *, anybodys: bool = False) -> str:
    """The answer's ``column`` for its asker; with ``anybodys`` for whoever may read what it rests on.

    The asker is the same user, or, where nobody was named, the same key, or, without keys, somebody unnamed with the
    same roles. Every cited document
    must be readable by live rights and stand in the active generation.

    Raises:
        NotFound: absent and forbidden look the same.
    """
    row = connection.execute("SELECT * FROM answers WHERE id = ?", (answer_id,)).fetchone()
    own = row is not None and (anybodys or _is_asker(row, principal))
    if not own or not _all_readable(connection, row, principal):
        message = f"no answer {answer_id}"
        raise NotFound(message, hint="it may have gone with a document that it cites: ask again")
    if row[column] is None:
        message = f"answer {answer_id} has no {column}"
        raise NotFound(message, hint="ask again")
    return str(row[column])


def ids(connection: Connection, principal: Principal) -> list[str]:
    """Ids of the answers that ``get`` gives to this asker, oldest first."""
    rows = connection.execute(
        "SELECT id, asker, roles, documents FROM answers"
        " WHERE (asker = ? OR (asker IS NULL AND CAST(? AS TEXT) IS NULL)) ORDER BY created_at, id",
        (principal.user, principal.user),
    ).fetchall()
    return [row["id"] for row in rows if _is_asker(row, principal) and _all_readable(connection, row, principal)]


def forget(connection: Connection, answer_ids: Sequence[str], principal: Principal) -> None:
    """Delete those of the answers that are the asker's, whether or not they are still served."""
    for answer_id in answer_ids:
        row = connection.execute("SELECT asker, roles FROM answers WHERE id = ?", (answer_id,)).fetchone()
        if row is not None and is_asker(row[0], row[1], principal):
            connection.execute("DELETE FROM answers WHERE id = ?", (answer_id,))


def _is_asker(row: Row, principal: Principal) -> bool:
    return is_asker(row["asker"], row["roles"], principal)


def is_asker(user: str | None, roles: str, principal: Principal) -> bool:
    """Whether it is the same user; where nobody was named, somebody who is ``unnamed_as`` the ``roles`` (JSON) say."""
    if user is not None:
        return user == principal.user
    return principal.user is None and frozenset(json.loads(roles)) == principal.unnamed_as


def _all_readable(connection: Connection, row: Row, principal: Principal) -> bool:
    present = (
        "SELECT 1 FROM generation_documents d JOIN generations g ON g.seq = d.generation"
        " WHERE g.state = 'active' AND d.document_id = ?"
    )
    return all(
        rights.live(connection, document).admits(principal) and connection.execute(present, (document,)).fetchone()
        for document in json.loads(row["documents"])
    )
