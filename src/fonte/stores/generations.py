"""Generations in the catalog: their life, the alias, and publishing by compare-and-swap.

Functions over an open transaction; the catalog says which.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime

from fonte.errors import GenerationConflict, NotFound
from fonte.stores import meta, rights, spaces
from fonte.stores.rows import get_acl, put_acl, put_recipe, put_time
from fonte.stores.statements import ALL, Connection, Row
from fonte.types import DocumentStatus, Generation, GenerationState, Hold

SELECT = """
SELECT g.*, (SELECT count(*) FROM generation_documents d WHERE d.generation = g.seq) AS documents
FROM generations g
"""


JUDGED = "report of "
"""What a generation was judged by stands in ``meta`` under this and its id."""
CHECKED = "checks of "
"""What its data checks found."""
_HELD = "held"
"""Since when, and by leaving which generation, standing jobs do not publish: in ``meta``."""


def keep_report(connection: Connection, generation_id: str, report: str, *, of: str = JUDGED) -> None:
    """Keep what a generation was judged by, or what its checks found. Raises NotFound."""
    row_of(connection, generation_id)
    meta.put(connection, of + generation_id, report)


def reports(connection: Connection, *, of: str = JUDGED) -> dict[str, str]:
    """What generations were judged by, or what their checks found, by id."""
    rows = connection.execute("SELECT key, value FROM meta WHERE key >= ? AND key < ?", (of, f"{of}\uffff"))
    return {key.removeprefix(of): value for key, value in rows}


def row_of(connection: Connection, generation_id: str, *, counted: bool = False) -> Row:
    """A generation's row; ``counted`` with the number of its documents, which takes longer the more there are.

    Raises:
        NotFound
    """
    select = SELECT if counted else "SELECT g.* FROM generations g"
    row: Row | None = connection.execute(f"{select} WHERE g.id = ?", (generation_id,)).fetchone()
    if row is None:
        message = f"no generation {generation_id}"
        raise NotFound(message, hint="`fonte generations` lists them")
    return row


def active_row(connection: Connection) -> Row | None:
    """The active generation's row, its documents not counted."""
    row: Row | None = connection.execute(
        "SELECT g.*, 0 AS documents FROM generations g WHERE g.state = 'active'"
    ).fetchone()
    return row


def open_row(connection: Connection, generation_id: str) -> Row:
    """The row of a generation that may still be changed.

    Raises:
        NotFound. GenerationConflict: it is active.
    """
    row = row_of(connection, generation_id)
    if row["state"] == GenerationState.ACTIVE:
        message = f"generation {generation_id} is active and does not change"
        raise GenerationConflict(message, hint="build a new one")
    return row


def add(connection: Connection, generation: Generation) -> None:
    """Record a BUILDING generation; its documents start as its base's.

    Raises:
        ValueError: another state. NotFound: an unknown base.
    """
    if generation.state is not GenerationState.BUILDING:
        message = f"a generation begins as building, not {generation.state}"
        raise ValueError(message)
    base = row_of(connection, generation.base)["seq"] if generation.base is not None else None
    seq = connection.execute(
        "INSERT INTO generations (id, state, recipe, table_name, table_version, created_at, began, chunks, verdict,"
        " base) VALUES (?, 'building', ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
        (
            generation.id,
            put_recipe(generation.recipe),
            generation.table,
            generation.table_version,
            put_time(generation.created_at),
            rights.tick(connection),
            generation.chunks,
            generation.verdict,
            generation.base,
        ),
    ).fetchone()[0]
    if base is not None:
        connection.execute(
            "INSERT INTO generation_documents (generation, document_id, entry)"
            " SELECT CAST(? AS BIGINT), document_id, entry FROM generation_documents WHERE generation = ?",
            (seq, base),
        )
    connection.execute("UPDATE restores SET generation = ? WHERE generation IS NULL", (seq,))


def update(
    connection: Connection,
    generation_id: str,
    state: GenerationState,
    *,
    table_version: int | None,
    chunks: int | None,
    verdict: str | None,
) -> None:
    """Move a generation that is not active.

    Raises:
        NotFound. GenerationConflict: it is active. ValueError: to ACTIVE or RETIRED, which only ``publish`` does; a
        retired one may stay so (to be given another verdict).
    """
    row = open_row(connection, generation_id)
    if state in {GenerationState.ACTIVE, GenerationState.RETIRED} and row["state"] != state:
        message = f"only publishing makes a generation {state}"
        raise ValueError(message)
    connection.execute(
        "UPDATE generations SET state = ?, table_version = coalesce(?, table_version), chunks = coalesce(?, chunks),"
        " verdict = coalesce(?, verdict), sealed = ? WHERE seq = ?",
        (
            str(state),
            table_version,
            chunks,
            verdict,
            int(row["sealed"] or state is GenerationState.CANDIDATE),
            row["seq"],
        ),
    )


def publish(connection: Connection, generation_id: str, expected: str | None, *, hold: Hold | None = None) -> None:
    """Move the alias if ``expected`` is still active, and set live rights; afterwards ``hold`` holds, or none.

    A document's live rights become its rights in the generation, cut down by every narrowing since the generation
    began; what it carried over unchanged from the generation that it was built on gains nothing, so that neither an
    unrelated sync nor its candidate, however late, undoes a narrowing of before. Where that takes roles away it is a
    narrowing itself, so that no rollback gives them back. Tombstones stay, but for those that the generation's own sync
    lifted and that are older than it.

    Raises:
        NotFound. GenerationConflict: another one is active by now, or the generation was never finished.
    """
    row = row_of(connection, generation_id)
    active = active_row(connection)
    if (active["id"] if active else None) != expected:
        now = active["id"] if active else "none"
        message = f"the active generation is {now}, not {expected or 'none'}"
        raise GenerationConflict(message, hint="another sync published meanwhile: sync again")
    if not row["sealed"]:
        message = f"generation {generation_id} was never finished"
        raise GenerationConflict(message, hint="sync again")
    moment = rights.tick(connection)
    if active:
        spaces.moved(connection, active["recipe"], row["recipe"])
    connection.execute("UPDATE generations SET state = 'retired' WHERE state = 'active'")
    connection.execute("UPDATE generations SET state = 'active', published = ? WHERE seq = ?", (moment, row["seq"]))
    carried = _carried(connection, row["seq"], row["base"])
    if active:
        carried -= _failed(connection, active["seq"])
    _apply_rights(connection, row["seq"], row["began"], moment, carried)
    release(connection)
    if hold is not None:
        told = json.dumps({"left": hold.left, "since": put_time(hold.since)})
        meta.put(connection, _HELD, told)


def held(connection: Connection) -> Hold | None:
    """The rollback that nobody has answered yet."""
    kept = meta.get(connection, _HELD)
    if kept is None:
        return None
    told = json.loads(kept)
    return Hold(told["left"], datetime.fromisoformat(told["since"]))


def release(connection: Connection) -> None:
    """Lift the hold, where there is one."""
    connection.execute("DELETE FROM meta WHERE key = ?", (_HELD,))


def _carried(connection: Connection, seq: int, base: str | None) -> set[str]:
    """Documents whose entry a generation shares with its base; all, where that is forgotten by now."""
    if base is None:
        return set()
    known = connection.execute("SELECT seq FROM generations WHERE id = ?", (base,)).fetchone()
    # Two lists, not a join: of a generation that was just made a database knows no numbers to plan one by.
    select = "SELECT document_id, entry FROM generation_documents WHERE generation = ?"
    own = {tuple(row) for row in connection.execute(select, (seq,))}
    shared = own & {tuple(row) for row in connection.execute(select, (known[0],))} if known else own
    return {document for document, _ in shared}


def _failed(connection: Connection, seq: int) -> set[str]:
    """Documents that could not be read, and so say nothing about rights."""
    rows = connection.execute(
        "SELECT d.document_id FROM generation_documents d JOIN entries e ON e.key = d.entry"
        " WHERE d.generation = ? AND e.status = ?",
        (seq, DocumentStatus.FAILED),
    )
    return {row[0] for row in rows}


def _apply_rights(connection: Connection, seq: int, began: int, moment: int, carried: set[str]) -> None:
    cuts: dict[str, list[str]] = {}
    for document, acl in connection.execute("SELECT document_id, acl FROM narrowings WHERE clock > ?", (began,)):
        cuts.setdefault(document, []).append(acl)
    lifted = {row[0] for row in connection.execute("SELECT document_id FROM restores WHERE generation = ?", (seq,))}
    live = {row[0]: (row[1], row[2]) for row in connection.execute("SELECT document_id, acl, deleted FROM rights")}
    changed: list[tuple[str, str, int | None]] = []
    narrowed: list[tuple[str, int, str]] = []
    for document, indexed, status in connection.execute(
        "SELECT d.document_id, e.acl, e.status FROM generation_documents d JOIN entries e ON e.key = d.entry"
        " WHERE d.generation = ?",
        (seq,),
    ):
        acl = get_acl(indexed)
        for cut in cuts.get(document, ()):
            acl = rights.meet(acl, get_acl(cut))
        before, deleted = live.get(document, (None, None))
        if document in carried and before is not None:
            acl = rights.meet(acl, get_acl(before))
        if deleted is not None and deleted <= began and document in lifted:
            deleted = None
        after = put_acl(acl)
        if (before, live.get(document, (None, None))[1]) != (after, deleted):
            changed.append((document, after, deleted))
        # A document that could not be read says nothing about rights: going back to its last good state gives it back.
        decided = status != DocumentStatus.FAILED
        if decided and before is not None and not get_acl(before).roles <= acl.roles:
            narrowed.append((document, moment, after))
    connection.executemany(
        "INSERT INTO rights (document_id, acl, deleted) VALUES (?, ?, ?)"
        " ON CONFLICT (document_id) DO UPDATE SET acl = excluded.acl, deleted = excluded.deleted",
        changed,
    )
    connection.executemany(rights.NARROWED, narrowed)


def abandon_building(connection: Connection) -> list[str]:
    """Mark every BUILDING generation as REJECTED; their ids, oldest first."""
    ids = [row[0] for row in connection.execute("SELECT id FROM generations WHERE state = 'building' ORDER BY seq")]
    connection.execute(
        "UPDATE generations SET state = 'rejected', verdict = coalesce(verdict, 'never finished')"
        " WHERE state = 'building'"
    )
    return ids


def forget(connection: Connection, keep: int, but: Collection[str] = ()) -> list[str]:
    """Delete rejected generations and all but the ``keep`` retired ones that were published last, with their texts.

    Those of ``but`` stay.
    """
    found = connection.execute(
        "SELECT seq, id FROM generations WHERE state = 'rejected' OR seq IN ("
        "SELECT seq FROM generations WHERE state = 'retired' ORDER BY published DESC, seq DESC LIMIT ? OFFSET ?)"
        " ORDER BY seq",
        (ALL, max(keep, 0)),
    ).fetchall()
    doomed = [row for row in found if row[1] not in but]
    if not doomed:
        return []
    connection.executemany("DELETE FROM generations WHERE seq = ?", [(row[0],) for row in doomed])
    connection.executemany(
        "DELETE FROM meta WHERE key = ?", [(of + row[1],) for row in doomed for of in (JUDGED, CHECKED)]
    )
    sweep(connection)
    connection.execute("DELETE FROM narrowings WHERE clock <= coalesce((SELECT min(began) FROM generations), 0)")
    return [row[1] for row in doomed]


def sweep(connection: Connection) -> None:
    """Delete entries that no generation names, and texts that no entry names."""
    connection.execute(
        "DELETE FROM entries WHERE NOT EXISTS (SELECT 1 FROM generation_documents d WHERE d.entry = entries.key)"
    )
    connection.execute("DELETE FROM texts WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.text_key = texts.key)")
