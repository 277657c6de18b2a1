"""The catalog of one tenant: documents, states, rights, generations, alias and answers, in SQLite or PostgreSQL.

Each method is one transaction. Rights live apart from generations, so what is narrowed or deleted is so at once in
every generation. Reading never writes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from threading import Lock

from fonte.stores import answers, documents, generations, rights, spaces
from fonte.stores.lock import Lock as TenantLock
from fonte.stores.rows import get_generation
from fonte.stores.statements import Connection, Database
from fonte.types import Acl, Document, DocumentState, Generation, GenerationState, Hold, Principal

KEPT_DIFFERENCES = 8
"""Generations whose differences in rights are kept in memory."""
KEPT_CHARACTERS = 8_000_000
"""Characters of canonical texts kept in memory for readers that live long."""

_Differences = tuple[int, list[tuple[str, frozenset[str], frozenset[str]]]]


class SqlCatalog:
    """Catalog over one database. Safe for several threads and processes."""

    def __init__(self, database: Database, tenant: str, lock: TenantLock) -> None:
        """Nothing is written yet."""
        self._tenant = tenant
        self.database = database
        self._lock = lock
        self._differences: dict[str, _Differences] = {}
        self._texts: dict[tuple[str, str], Document] = {}
        self._texts_lock = Lock()

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self.database.read() as connection:
            self._own(connection)
            yield connection

    @contextmanager
    def _write(self, *, forget: bool = False) -> Iterator[Connection]:
        with self.database.write(forget=forget) as connection:
            self._own(connection, write=True)
            yield connection

    def _own(self, connection: Connection, *, write: bool = False) -> None:
        """Make sure that the database is this tenant's, where it might be another's."""

    def writer(self, *, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Hold the tenant's write lock across processes; freed when its holder dies.

        Raises:
            HomeLocked: another process still holds it after ``wait_seconds``.
        """
        return self._lock.hold(wait_seconds)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    # generations

    def active(self) -> Generation | None:
        """The active generation; its documents are not counted, for this is asked with every question."""
        with self._read() as connection:
            row = generations.active_row(connection)
            return get_generation(row, self._tenant) if row else None

    def generations(self) -> list[Generation]:
        """All that are known, oldest first."""
        with self._read() as connection:
            rows = connection.execute(f"{generations.SELECT} ORDER BY g.seq")
            return [get_generation(row, self._tenant) for row in rows]

    def generation(self, generation_id: str) -> Generation:
        """One generation. Raises NotFound."""
        with self._read() as connection:
            return get_generation(generations.row_of(connection, generation_id, counted=True), self._tenant)

    def add_generation(self, generation: Generation) -> None:
        """Record a BUILDING generation; its documents start as a copy of its base's.

        Raises:
            ValueError: another state or tenant. NotFound: an unknown base.
        """
        if generation.tenant != self._tenant:
            message = f"a generation of tenant {generation.tenant} in the catalog of {self._tenant}"
            raise ValueError(message)
        with self._write() as connection:
            generations.add(connection, generation)

    def update_generation(
        self,
        generation_id: str,
        state: GenerationState,
        *,
        table_version: int | None = None,
        chunks: int | None = None,
        verdict: str | None = None,
    ) -> None:
        """Move a generation that is not active through its states.

        Raises:
            NotFound. GenerationConflict: it is active. ValueError: a state that only ``publish`` gives.
        """
        with self._write() as connection:
            generations.update(
                connection, generation_id, state, table_version=table_version, chunks=chunks, verdict=verdict
            )

    def publish(self, generation_id: str, *, expected: str | None, hold: Hold | None = None) -> None:
        """Move the alias in one transaction if ``expected`` (id or None) is still active; set live rights and the hold.

        Raises:
            NotFound. GenerationConflict: another one is active by now, or this one was never finished.
        """
        with self._write() as connection:
            generations.publish(connection, generation_id, expected, hold=hold)

    def held(self) -> Hold | None:
        """The rollback that nobody has answered yet."""
        with self._read() as connection:
            return generations.held(connection)

    def release(self) -> None:
        """Lift the hold, where there is one."""
        if self.held() is not None:
            with self._write() as connection:
                generations.release(connection)

    def as_published(self, generation_id: str, *, expected: str | None) -> SqlCatalog:
        """This catalog with the rights that publishing the generation now would leave, for whoever judges it before.

        Nothing is changed: the alias is moved in a transaction that is taken back.

        Raises:
            As ``publish``.
        """
        with self._write() as connection:
            generations.publish(connection, generation_id, expected)
            acls = rights.all_live(connection)
            differing = rights.differing(connection, generations.row_of(connection, generation_id)["seq"])
            connection.rollback()
        return _AsPublished(self, acls, differing)

    def keep_report(self, generation_id: str, report: str) -> None:
        """Keep what a generation was judged by, as JSON, in place of what was kept before; it goes with its generation.

        Raises:
            NotFound: no such generation.
        """
        with self._write() as connection:
            generations.keep_report(connection, generation_id, report)

    def reports(self) -> Mapping[str, str]:
        """What generations were judged by, by id."""
        with self._read() as connection:
            return generations.reports(connection)

    def keep_checks(self, generation_id: str, found: str) -> None:
        """The same for what the data checks of a generation found."""
        with self._write() as connection:
            generations.keep_report(connection, generation_id, found, of=generations.CHECKED)

    def checks(self) -> Mapping[str, str]:
        """What data checks of generations found, by id."""
        with self._read() as connection:
            return generations.reports(connection, of=generations.CHECKED)

    def unbalanced(self, generation_id: str) -> list[str]:
        """Names of ready documents of a generation whose ledger is absent or does not balance."""
        with self._read() as connection:
            return documents.unbalanced(connection, generations.row_of(connection, generation_id)["seq"])

    def abandon_building(self) -> list[str]:
        """Mark every BUILDING generation as REJECTED (left by a killed process); their ids."""
        with self._write() as connection:
            return generations.abandon_building(connection)

    def forget_generations(self, keep: int, *, but: Collection[str] = ()) -> list[str]:
        """Delete all but the active, candidates, those in building, ``keep`` newest retired ones, and ``but``."""
        with self._write() as connection:
            return generations.forget(connection, keep, but)

    # models

    def remember_model(self, space_id: str, settings: str) -> None:
        """Keep the settings, as JSON, that make the model of a space."""
        with self._write() as connection:
            spaces.remember(connection, space_id, settings)

    def model(self, space_id: str) -> str | None:
        """The settings that make the model of a space, as far as they were remembered."""
        with self._read() as connection:
            return spaces.model(connection, space_id)

    def left(self, space_id: str) -> bool:
        """Whether a generation of another space took the place of one of this space, and none of it came back."""
        with self._read() as connection:
            return spaces.left(connection, space_id)

    # documents of a generation

    def put_document(self, generation_id: str, state: DocumentState, document: Document | None) -> None:
        """Record a document's state, and its canonical text when it has one."""
        self.put_documents(generation_id, [(state, document)])

    def put_documents(self, generation_id: str, items: Iterable[tuple[DocumentState, Document | None]]) -> None:
        """Record many in one transaction. Without a text, that of the same version in the generation is kept.

        Raises:
            NotFound. GenerationConflict: the generation is active. ValueError: a text that is not the state's.
        """
        entries = [documents.prepare(state, document) for state, document in items]
        if entries:
            with self._write() as connection:
                documents.put(connection, generations.open_row(connection, generation_id)["seq"], entries)

    def remove_documents(self, generation_id: str, document_ids: Sequence[str]) -> None:
        """Take documents out of a generation that is not active.

        Raises:
            NotFound. GenerationConflict: it is active.
        """
        with self._write() as connection:
            documents.remove(connection, generations.open_row(connection, generation_id)["seq"], document_ids)

    def states(self, generation_id: str) -> list[DocumentState]:
        """All documents of a generation by name, ledger left out; DELETED, with no chunk, where a tombstone stands."""
        with self._read() as connection:
            return documents.states(connection, generations.row_of(connection, generation_id)["seq"])

    def counted_chunks(self, generation_id: str) -> int:
        """Chunks that the documents of a generation count, those under a tombstone too."""
        with self._read() as connection:
            return documents.counted_chunks(connection, generations.row_of(connection, generation_id)["seq"])

    def state(self, generation_id: str, document_id: str) -> DocumentState | None:
        """One document with its ledger."""
        with self._read() as connection:
            return documents.state(connection, generations.row_of(connection, generation_id)["seq"], document_id)

    def document(self, generation_id: str, document_id: str) -> Document | None:
        """A document's canonical text in a generation; its ``acl`` is the generation's. Rights are not checked.

        Raises:
            NotFound: no such generation. CorruptIndex: a text that is damaged.
        """
        key = (generation_id, document_id)
        with self._texts_lock:
            known = self._texts.get(key)
        with self._read() as connection:
            row = generations.row_of(connection, generation_id)
            if known is not None:
                return known
            found = documents.text(connection, row["seq"], document_id, self._tenant)
        if found is not None and row["sealed"]:
            self._keep(key, found)
        return found

    def _keep(self, key: tuple[str, str], document: Document) -> None:
        """Remember a text of a sealed generation, which never changes, within ``KEPT_CHARACTERS``."""
        with self._texts_lock:
            self._texts[key] = document
            held = sum(len(one.text) for one in self._texts.values())
            while held > KEPT_CHARACTERS and len(self._texts) > 1:
                held -= len(self._texts.pop(next(iter(self._texts))).text)

    def forget_texts(self) -> None:
        """Forget the texts and rights that are kept in memory."""
        with self._texts_lock:
            self._texts.clear()
        self._differences.clear()

    # rights

    def acl(self, document_id: str) -> Acl:
        """The live rights; empty (nobody) for an unknown or deleted document."""
        with self._read() as connection:
            return rights.live(connection, document_id)

    def acls(self) -> Mapping[str, Acl]:
        """The live rights of every document that has some; deleted ones are left out."""
        with self._read() as connection:
            return rights.all_live(connection)

    def narrow(self, document_id: str, acl: Acl) -> None:
        """Intersect the live rights with ``acl`` at once, for every generation and for those in building."""
        self.narrow_all({document_id: acl})

    def narrow_all(self, acls: Mapping[str, Acl]) -> None:
        """The same for many documents by id, in one transaction."""
        with self._write() as connection:
            rights.narrow(connection, acls)

    def delete(self, document_ids: Sequence[str]) -> None:
        """Tombstones: unseen at once in every generation."""
        with self._write() as connection:
            rights.delete(connection, document_ids)

    def restore(self, document_ids: Sequence[str]) -> None:
        """Lift tombstones of documents that a sync found again; takes effect when its candidate is published."""
        with self._write() as connection:
            rights.restore(connection, document_ids)

    def revoked(self, generation_id: str, principal: Principal) -> tuple[str, ...]:
        """Documents of the generation whose indexed roles would admit the principal but whose live rights do not.

        Raises:
            NotFound: no such generation.
        """
        held = principal.held_roles
        return tuple(
            document
            for document, indexed, kept in self._differing(generation_id)
            if held.isdisjoint(kept) and not held.isdisjoint(indexed)
        )

    def _differing(self, generation_id: str) -> list[tuple[str, frozenset[str], frozenset[str]]]:
        """Documents with less live than indexed rights; kept while the clock stands still, so asking again is cheap."""
        known = self._differences.get(generation_id)
        with self._read() as connection:
            clock = rights.now(connection)
            if known is not None and known[0] == clock:
                return known[1]
            row = generations.row_of(connection, generation_id)
            found = rights.differing(connection, row["seq"])
        if row["sealed"]:
            while len(self._differences) >= KEPT_DIFFERENCES:
                self._differences.pop(next(iter(self._differences)), None)
            self._differences[generation_id] = (clock, found)
        return found

    def may_read(self, document_id: str, principal: Principal) -> bool:
        """Whether live rights admit the principal."""
        return principal.tenant == self._tenant and self.acl(document_id).admits(principal)

    def deleted(self) -> frozenset[str]:
        """Every document that carries a tombstone."""
        with self._read() as connection:
            return rights.deleted(connection)

    # sources

    def sources(self) -> Mapping[str, str]:
        """Every source ever synced, as it was named, with its options as JSON."""
        with self._read() as connection:
            return dict(connection.execute("SELECT spec, options FROM sources ORDER BY spec").fetchall())

    def remember_source(self, spec: str, options: str) -> None:
        """Keep how a source is read."""
        with self._write() as connection:
            connection.execute(
                "INSERT INTO sources (spec, options) VALUES (?, ?)"
                " ON CONFLICT (spec) DO UPDATE SET options = excluded.options",
                (spec, options),
            )

    # answers

    def save_answer(
        self,
        answer_id: str,
        principal: Principal,
        created_at: datetime,
        body: str,
        documents: Sequence[str],
        *,
        trace: str | None = None,
    ) -> None:
        """Keep an answer's JSON as it was given, and its trace; an id is written once.

        Raises:
            CorruptIndex: a second write. ValueError: a principal of another tenant.
        """
        if principal.tenant != self._tenant:
            message = f"an answer to tenant {principal.tenant} in the catalog of {self._tenant}"
            raise ValueError(message)
        with self._write() as connection:
            answers.save(connection, answer_id, principal, created_at, body, documents, trace)

    def forget_answers(self, answer_ids: Sequence[str], principal: Principal) -> None:
        """Delete those of the stored answers that are the asker's, and write over their words."""
        if principal.tenant == self._tenant:
            with self._write(forget=True) as connection:
                answers.forget(connection, answer_ids, principal)

    def answer_ids(self, principal: Principal) -> list[str]:
        """Ids of the stored answers that ``answer`` gives to this asker, oldest first."""
        if principal.tenant != self._tenant:
            return []
        with self._read() as connection:
            return answers.ids(connection, principal)

    def answer(self, answer_id: str, principal: Principal) -> str:
        """The stored JSON, for the same asker, while all it was kept with is readable and in the active generation.

        Raises:
            NotFound
        """
        return self._answer(answer_id, principal, "body")

    def judged_answer(self, answer_id: str, principal: Principal) -> str:
        """The stored JSON of whosever answer, while the principal may read all it was kept with; for who judges it.

        Raises:
            NotFound
        """
        with self._read() as connection:
            wanted = answer_id if principal.tenant == self._tenant else ""
            return answers.get(connection, wanted, principal, "body", anybodys=True)

    def answer_documents(self, answer_id: str, principal: Principal) -> list[str]:
        """Ids of the documents that a stored answer was kept with, under the same rules.

        Raises:
            NotFound
        """
        return list(json.loads(self._answer(answer_id, principal, "documents")))

    def trace(self, answer_id: str, principal: Principal) -> str:
        """The trace kept with an answer, under the same rules.

        Raises:
            NotFound
        """
        return self._answer(answer_id, principal, "trace")

    def _answer(self, answer_id: str, principal: Principal, column: str) -> str:
        stranger = principal.tenant != self._tenant
        with self._read() as connection:
            return answers.get(connection, "" if stranger else answer_id, principal, column)


class _AsPublished(SqlCatalog):
    """A catalog whose rights are those given; for everything else the one that it was made from."""

    def __init__(
        self,
        live: SqlCatalog,
        acls: Mapping[str, Acl],
        differing: list[tuple[str, frozenset[str], frozenset[str]]],
    ) -> None:
        vars(self).update(vars(live))
        self._acls = acls
        self._less = differing

    def acl(self, document_id: str) -> Acl:
        return self._acls.get(document_id, Acl())

    def acls(self) -> Mapping[str, Acl]:
        return self._acls

    def _differing(self, generation_id: str) -> list[tuple[str, frozenset[str], frozenset[str]]]:
        del generation_id
        return self._less
