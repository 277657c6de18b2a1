"""Live rights in the catalog: what holds for every generation at once.

``clock`` orders events: a narrowing or a delete that is newer than a generation's beginning wins over what that
generation holds, whenever it is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fonte.stores.rows import get_acl, put_acl
from fonte.stores.statements import Connection
from fonte.types import Acl

NARROWED = (
    "INSERT INTO narrowings (document_id, clock, acl) VALUES (?, ?, ?)"
    " ON CONFLICT (document_id, clock) DO UPDATE SET acl = excluded.acl"
)
"""Remembers a narrowing."""
_TICK = "INSERT INTO clock (one, now) VALUES (1, 2) ON CONFLICT (one) DO UPDATE SET now = clock.now + 1 RETURNING now"


def meet(one: Acl, other: Acl) -> Acl:
    """Rights that both give."""
    return Acl(one.roles & other.roles)


def now(connection: Connection) -> int:
    """The clock; it moves whenever rights or generations change."""
    row = connection.execute("SELECT now FROM clock").fetchone()
    return int(row[0]) if row else 1


def tick(connection: Connection) -> int:
    """Move the clock; its new value."""
    return int(connection.execute(_TICK).fetchone()[0])


def live(connection: Connection, document_id: str) -> Acl:
    """Live rights; nobody for an unknown or deleted document."""
    row = connection.execute(
        "SELECT acl FROM rights WHERE document_id = ? AND deleted IS NULL", (document_id,)
    ).fetchone()
    return get_acl(row[0]) if row else Acl()


def all_live(connection: Connection) -> dict[str, Acl]:
    """Live rights by document id, deleted documents left out."""
    rows = connection.execute("SELECT document_id, acl FROM rights WHERE deleted IS NULL")
    return {document: get_acl(acl) for document, acl in rows}


def deleted(connection: Connection) -> frozenset[str]:
    """Documents that carry a tombstone."""
    return frozenset(row[0] for row in connection.execute("SELECT document_id FROM rights WHERE deleted IS NOT NULL"))


def narrow(connection: Connection, acls: Mapping[str, Acl]) -> None:
    """Intersect live rights with those given by document id, and remember it for generations that are being built."""
    moment = tick(connection)
    for document, acl in acls.items():
        connection.execute(NARROWED, (document, moment, put_acl(acl)))
        row = connection.execute("SELECT acl FROM rights WHERE document_id = ?", (document,)).fetchone()
        if row:
            kept = put_acl(meet(get_acl(row[0]), acl))
            connection.execute("UPDATE rights SET acl = ? WHERE document_id = ?", (kept, document))


def delete(connection: Connection, document_ids: Sequence[str]) -> None:
    """Tombstones, now. A restore that was asked for before is void."""
    moment = tick(connection)
    nobody = put_acl(Acl())
    connection.executemany(
        "INSERT INTO rights (document_id, acl, deleted) VALUES (?, ?, ?)"
        " ON CONFLICT (document_id) DO UPDATE SET deleted = excluded.deleted",
        [(document, nobody, moment) for document in document_ids],
    )
    connection.executemany("DELETE FROM restores WHERE document_id = ?", [(document,) for document in document_ids])


def restore(connection: Connection, document_ids: Sequence[str]) -> None:
    """Lift tombstones when the generation that is being built (else the next one) is published."""
    tick(connection)
    building = connection.execute(
        "SELECT seq FROM generations WHERE state = 'building' ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    seq = building[0] if building else None
    connection.executemany(
        "INSERT INTO restores (document_id, generation)"
        " SELECT ?, CAST(? AS BIGINT)"
        " WHERE EXISTS (SELECT 1 FROM rights WHERE document_id = ? AND deleted IS NOT NULL)",
        [(document, seq, document) for document in dict.fromkeys(document_ids)],
    )


def differing(connection: Connection, seq: int) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """Documents of a generation whose live rights hold less than their indexed ones: (id, indexed, live roles).

    A document without live rights is new in a generation that was never published: nothing was taken from it.
    """
    rows = connection.execute(
        "SELECT d.document_id, e.acl, CASE WHEN r.deleted IS NULL THEN r.acl ELSE '[]' END"
        " FROM generation_documents d JOIN entries e ON e.key = d.entry JOIN rights r ON r.document_id = d.document_id"
        " WHERE d.generation = ? AND (r.deleted IS NOT NULL OR r.acl <> e.acl) ORDER BY d.document_id",
        (seq,),
    )
    found = [(document, get_acl(indexed).roles, get_acl(kept).roles) for document, indexed, kept in rows]
    return [one for one in found if not one[1] <= one[2]]
