"""What is taken out of a tenant's stores so that nothing of it is left: documents, a user, or the whole tenant.

An erasure is written down before it begins and struck out when nothing is left to do. Every step
may be done again, so that one that was killed is completed by the next, whatever it was called for.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from fonte.errors import StoreUnavailable
from fonte.store_protocols import IndexStore, IndexWriter
from fonte.stores import generations
from fonte.stores.catalog import SqlCatalog
from fonte.stores.statements import Database, Row
from fonte.stores.vector_cache import SqlVectorCache
from fonte.types import DocumentState, Generation, GenerationState


class Kept(Protocol):
    """Where an erasure that was begun is written down."""

    def load(self) -> str | None:
        """What was saved, None where nothing was. Raises StoreUnavailable."""

    def save(self, text: str) -> None:
        """Replace it; it is on the disk when this returns. Raises StoreUnavailable."""

    def remove(self) -> None:
        """Forget it. Raises StoreUnavailable."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """The databases that an erasure goes through; the last two are of all tenants."""

    catalog: Database
    vectors: Database
    conversations: Database
    feedback: Database
    jobs: Database
    standing: Database
    audit: Database
    keys: Database

    @property
    def of_tenant(self) -> tuple[Database, ...]:
        """Those that are the tenant's alone."""
        return self.catalog, self.vectors, self.conversations, self.feedback, self.jobs, self.standing


class ErasableIndex(IndexStore, Protocol):
    """An index out of which documents can be taken for good."""

    def rewrite(self, base: Generation, without: Sequence[str]) -> IndexWriter:
        """A writer on a new table with the base's rows but for those of some documents: it shares nothing with it."""

    def erase(self, keep: Sequence[Generation]) -> None:
        """Remove every table that none of ``keep`` names, also those that are read."""


@dataclass(frozen=True, slots=True)
class _Journal:
    """Documents that are being erased, by id, with name and URI; and the generation that is known to be without."""

    documents: dict[str, tuple[str, str]]
    clean: str = ""

    @property
    def words(self) -> list[str]:
        """Ids, names and URIs."""
        return [*self.documents, *(word for one in self.documents.values() for word in one)]


@dataclass(frozen=True, slots=True)
class Eraser:
    """Takes things out of one tenant's files and out of its part of the audit log."""

    tenant: str
    folder: Path
    """Of what is kept in files."""
    catalog: SqlCatalog
    index: ErasableIndex
    cache: SqlVectorCache
    databases: Erasable
    journal: Kept
    further: tuple[Database, ...] = ()
    """What else is written anew after an erasure: the index, where its tables share files with others."""

    # --- documents ---------------------------------------------------------------------------------------------------

    def pending(self) -> bool:
        """Whether an erasure was begun and not completed."""
        return self.journal.load() is not None

    def documents(
        self,
        doomed: Sequence[DocumentState],
        *,
        key_of: Callable[[str], str],
        forget_upload: Callable[[str], object],
    ) -> list[str]:
        """Take documents out, and those of an erasure that was not completed; ids of all.

        Every generation but the active one goes, and that one is written anew without them.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        with self.catalog.writer():
            journal = self._begun(doomed)
            if not journal.documents:
                return []
            ids = list(journal.documents)
            self.catalog.delete(ids)
            for _, uri in journal.documents.values():
                forget_upload(uri)
            self._fetched([uri for _, uri in journal.documents.values()])
            self._rewrite(journal)
            self._said(journal)
            self._rows(journal)
            active = self.catalog.active()
            self.index.erase([active] if active is not None else [])
            self._said(journal)  # again: what was being answered has been noted meanwhile
            self._vectors(active, key_of)
            self._scrub()
            self.journal.remove()
        return ids

    def _begun(self, doomed: Sequence[DocumentState]) -> _Journal:
        known: dict[str, tuple[str, str]] = {}
        told = json.loads(self.journal.load() or "null")
        if told is not None:
            known = {str(key): (str(one[0]), str(one[1])) for key, one in told["documents"].items()}
        new = {one.document_id: (one.name, one.uri) for one in doomed}
        # What was clean without the old ones is not without the new ones.
        clean = str(told["clean"]) if known and not new.keys() - known.keys() else ""
        journal = _Journal({**known, **new}, clean)
        if journal.documents:
            self._keep(journal)
        return journal

    def _keep(self, journal: _Journal) -> None:
        self.journal.save(json.dumps({"tenant": self.tenant, "documents": journal.documents, "clean": journal.clean}))

    def _fetched(self, uris: Sequence[str]) -> None:
        """Copies of what came from elsewhere, and all listings of containers, which are made again."""
        folder = self.folder / "fetched"
        with disk():
            shutil.rmtree(folder / "listings", ignore_errors=True)
            for about in folder.glob("*/*.json"):
                try:
                    kept = str(json.loads(about.read_bytes())["uri"])
                except (ValueError, KeyError, TypeError):
                    kept = ""  # a killed writer's
                if not kept or any(uri == kept or uri.startswith((f"{kept}!/", f"{kept}#")) for uri in uris):
                    shutil.rmtree(about.with_suffix(""), ignore_errors=True)
                    about.unlink(missing_ok=True)

    def _rewrite(self, journal: _Journal) -> None:
        """The active generation in a table of its own, in which these documents never were."""
        self.catalog.abandon_building()
        active = self.catalog.active()
        if active is None or active.id == journal.clean:
            return
        writer = self.index.rewrite(active, list(journal.documents))
        new = Generation(
            id="g" + uuid.uuid4().hex[:16],
            tenant=self.tenant,
            state=GenerationState.BUILDING,
            recipe=active.recipe,
            table=writer.table,
            table_version=0,
            created_at=datetime.now(UTC),
            base=active.id,
        )
        self.catalog.add_generation(new)
        self.catalog.remove_documents(new.id, list(journal.documents))
        version, chunks = writer.seal()
        self.catalog.update_generation(
            new.id, GenerationState.CANDIDATE, table_version=version, chunks=chunks, verdict="documents were erased"
        )
        # What a rollback holds is still to be answered: the generation is the same one, less what was erased.
        self.catalog.publish(new.id, expected=active.id, hold=self.catalog.held())
        self._keep(_Journal(journal.documents, new.id))

    def _said(self, journal: _Journal) -> None:
        """Questions about them and their names, out of the audit log."""
        with self.databases.catalog.read() as connection:
            rows = connection.execute("SELECT id, documents, body, trace FROM answers")
            resting = [row for row in rows if _rests(row, journal.documents)]
        questions = {str(json.loads(row["body"]).get("question", "")) for row in resting}
        if self.databases.audit.made():
            with self.databases.audit.write(forget=True) as connection:
                for column, words in (("shown", list(journal.documents)), ("subject", journal.words)):
                    connection.executemany(
                        f"UPDATE audit SET subject = '' WHERE tenant = ? AND {_SAYS.format(column)}",  # noqa: S608 - constants
                        [(self.tenant, word) for word in words],
                    )
                connection.executemany(
                    "UPDATE audit SET subject = '' WHERE tenant = ? AND subject = ?",
                    [(self.tenant, one) for one in questions],
                )

    def _rows(self, journal: _Journal) -> None:
        """Rows of the catalog, with all answers that rest on them, and what hangs on those answers."""
        ids = [(one,) for one in journal.documents]
        with self.databases.catalog.write(forget=True) as connection:
            connection.execute("UPDATE generations SET state = 'rejected' WHERE state <> 'active'")
            generations.forget(connection, 0)
            for table in ("rights", "narrowings", "restores"):
                connection.executemany(f"DELETE FROM {table} WHERE document_id = ?", ids)  # noqa: S608 - constants
            rows = connection.execute("SELECT id, documents, body, trace FROM answers").fetchall()
            resting = [(row["id"],) for row in rows if _rests(row, journal.documents)]
            connection.executemany("DELETE FROM answers WHERE id = ?", resting)
            alone = {_local(uri) for _, uri in journal.documents.values()}
            connection.executemany("DELETE FROM sources WHERE spec = ?", [(one,) for one in alone])
        self.catalog.forget_texts()
        self._dangling()
        words = [json.dumps(one, ensure_ascii=False)[1:-1] for one in journal.words]
        if self.databases.jobs.made():
            with self.databases.jobs.write(forget=True) as connection:
                connection.executemany(_JOBS_SAY, [(one,) for one in words])
        if self.databases.standing.made():
            with self.databases.standing.write(forget=True) as connection:
                for statement in _OF_WORDS:
                    connection.executemany(statement, [(one,) for one in {*words, *journal.words}])

    def _dangling(self) -> None:
        """What was said of answers, or in conversations, whose answer is no more."""
        with self.databases.catalog.read() as connection:
            answers = frozenset(row[0] for row in connection.execute("SELECT id FROM answers"))
        for database, table in ((self.databases.conversations, "turns"), (self.databases.feedback, "feedback")):
            if database.made():
                with database.write(forget=True) as connection:
                    rows = connection.execute(f"SELECT DISTINCT answer_id FROM {table}").fetchall()  # noqa: S608 - constants
                    gone = [(row[0],) for row in rows if row[0] not in answers]
                    connection.executemany(f"DELETE FROM {table} WHERE answer_id = ?", gone)  # noqa: S608 - constants
                    if table == "turns":
                        connection.execute("DELETE FROM conversations WHERE id NOT IN (SELECT conversation FROM turns)")
        _labels(self.folder / "labels.jsonl", answers)

    def _vectors(self, active: Generation | None, key_of: Callable[[str], str]) -> None:
        """Vectors of texts that the active generation does not hold."""
        used = {key_of(text) for text in self.index.open(active).texts()} if active is not None else set()
        if self.databases.vectors.made():
            self.cache.prune({active.recipe.space.key: used} if active is not None else {})

    def _scrub(self) -> None:
        """Out of pages that are free and out of logs too."""
        for database in (*self.databases.of_tenant, self.databases.audit, *self.further):
            database.scrub()

    # --- a user, a tenant --------------------------------------------------------------------------------------------

    def user(self, user: str, *, disown: Callable[[str], object]) -> None:
        """Take out what a user asked, was answered and said, their keys, and their name in the audit log.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        databases = self.databases
        with self.catalog.writer():
            disown(user)
            for database, statements in (
                (databases.catalog, _ANSWERS_OF),
                (databases.conversations, _CONVERSATIONS_OF),
                (databases.feedback, _FEEDBACK_OF),
                (databases.jobs, _JOBS_OF),
            ):
                if database.made():
                    with database.write(forget=True) as connection:
                        for statement in statements:
                            connection.execute(statement, (user,))
            if databases.catalog.made():
                self._dangling()
            for database, statements in ((databases.audit, _AUDIT_OF), (databases.keys, _KEYS_OF)):
                if database.made():
                    with database.write(forget=True) as connection:
                        for statement in statements:
                            connection.execute(statement, (self.tenant, user))
            self._scrub()
            databases.keys.scrub()

    def _disown_tenant(self) -> None:
        """The tenant's part of what is of all tenants."""
        for database, table in ((self.databases.audit, "audit"), (self.databases.keys, "keys")):
            if database.made():
                with database.write(forget=True) as connection:
                    connection.execute(f"DELETE FROM {table} WHERE tenant = ?", (self.tenant,))  # noqa: S608 - constants
                database.scrub()

    def close(self) -> None:
        """Let go of the databases."""
        for database in (*self.databases.of_tenant, self.databases.audit, self.databases.keys):
            database.close()


_SAYS = "replace({0}, ?, '') <> {0}"
"""Whether a text holds a word, letter for letter: LIKE would take capitals for small ones in one of the databases."""
_JOBS_SAY = "DELETE FROM jobs WHERE {}".format(  # noqa: S608 - constants
    _SAYS.format("(wanted || coalesce(report, '') || coalesce(error, ''))")
)
_OF_WORDS = tuple(
    statement + _SAYS.format(columns)
    for statement, columns in (
        ("DELETE FROM tries WHERE ", "(document_id || error)"),
        ("DELETE FROM passes WHERE ", "(source || coalesce(report, '') || coalesce(error, ''))"),
        ("DELETE FROM sources WHERE ", "source"),
        ("UPDATE sources SET error = NULL WHERE ", "error"),
    )
)
"""What standing jobs tell of documents that are erased."""
_ANSWERS_OF = ("DELETE FROM answers WHERE asker = ?",)
_CONVERSATIONS_OF = (
    "DELETE FROM turns WHERE conversation IN (SELECT id FROM conversations WHERE asker = ?)",
    "DELETE FROM conversations WHERE asker = ?",
)
_FEEDBACK_OF = ('DELETE FROM feedback WHERE "user" = ?',)
_JOBS_OF = (
    "DELETE FROM jobs WHERE \"user\" = ? AND state IN ('done', 'failed')",
    'UPDATE jobs SET "user" = NULL, identity = \'\' WHERE "user" = ?',
)
_AUDIT_OF = (
    "UPDATE audit SET \"user\" = NULL, subject = '', identity = '' WHERE tenant = ? AND \"user\" = ?",
    # Entries of administrators that name whom they made a key for.
    f"UPDATE audit SET subject = '' WHERE tenant = ? AND action = 'POST /v1/keys' AND {_SAYS.format('subject')}",  # noqa: S608 - constants
)
_KEYS_OF = ('DELETE FROM keys WHERE tenant = ? AND "user" = ?',)


def _rests(answer: Row, documents: Iterable[str]) -> bool:
    """Whether a stored answer was kept with one of the documents, or names one."""
    told = "\n".join((answer["documents"], answer["body"], answer["trace"] or ""))
    return any(one in told for one in documents)


def _local(uri: str) -> str:
    """How a source was named that is this one document: its path, or its address."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri


def _labels(path: Path, answers: frozenset[str]) -> None:
    """Verdicts of labellers on answers that are no more."""
    if not path.exists():
        return
    with disk():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = list(_kept_lines(lines, answers))
        if len(kept) < len(lines):
            beside = path.with_suffix(".new")
            beside.write_text("".join(kept), encoding="utf-8")
            beside.chmod(0o600)
            beside.replace(path)


def _kept_lines(lines: Iterable[str], answers: frozenset[str]) -> Iterator[str]:
    gone: set[str] = set()
    for line in lines:
        told = json.loads(line)
        source = told.get("source", {})
        if "answer_id" in source and source["answer_id"] not in answers:
            gone.add(str(told.get("drawn")))
        if str(told.get("drawn") or told.get("judged")) not in gone:
            yield line


@contextmanager
def disk() -> Iterator[None]:
    """Errors of the disk as StoreUnavailable."""
    try:
        yield
    except OSError as error:
        message = f"the erasure is not complete: {error.strerror or type(error).__name__}"
        raise StoreUnavailable(message, hint="free some space, then run it again") from error
