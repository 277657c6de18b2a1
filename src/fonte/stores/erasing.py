"""What is taken out of a tenant's files so that nothing of it is left: documents, a user, or the whole tenant.

An erasure is written down in ``erasing.json`` before it begins and struck out when nothing is left to do. Every step
may be done again, so that one that was killed is completed by the next, whatever it was called for.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from fonte.errors import StoreUnavailable
from fonte.stores import generations
from fonte.stores.catalog import SqlCatalog
from fonte.stores.lance_index import LanceIndex
from fonte.stores.sqlite import scrub, sqlite_call
from fonte.stores.vector_cache import SqlVectorCache
from fonte.types import DocumentState, Generation, GenerationState

JOURNAL = "erasing.json"
DATABASES = (
    "catalog.sqlite",
    "vectors.sqlite",
    "conversations.sqlite",
    "feedback.sqlite",
    "jobs.sqlite",
    "standing.sqlite",
)
_GONE = ".erased-"


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

    home: Path
    folder: Path
    tenant: str
    catalog: SqlCatalog
    index: LanceIndex
    cache: SqlVectorCache

    # --- documents ---------------------------------------------------------------------------------------------------

    def pending(self) -> bool:
        """Whether an erasure was begun and not completed."""
        return (self.folder / JOURNAL).exists()

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
            (self.folder / JOURNAL).unlink()
        return ids

    def _begun(self, doomed: Sequence[DocumentState]) -> _Journal:
        path = self.folder / JOURNAL
        try:
            told = json.loads(path.read_bytes())
            known = {str(key): (str(one[0]), str(one[1])) for key, one in told["documents"].items()}
        except FileNotFoundError:
            known = {}
        new = {one.document_id: (one.name, one.uri) for one in doomed}
        # What was clean without the old ones is not without the new ones.
        clean = str(told["clean"]) if known and not new.keys() - known.keys() else ""
        journal = _Journal({**known, **new}, clean)
        if journal.documents:
            self._keep(journal)
        return journal

    def _keep(self, journal: _Journal) -> None:
        beside = self.folder / f"{JOURNAL}.new"
        with _disk():
            told = {"tenant": self.tenant, "documents": journal.documents, "clean": journal.clean}
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(told, file)
                file.flush()
                os.fsync(descriptor)
            beside.replace(self.folder / JOURNAL)

    def _fetched(self, uris: Sequence[str]) -> None:
        """Copies of what came from elsewhere, and all listings of containers, which are made again."""
        folder = self.folder / "fetched"
        with _disk():
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
        with _writing(self.folder / "catalog.sqlite") as connection:
            questions = [one[0] for one in connection.execute(_QUESTIONS, (json.dumps(list(journal.documents)),))]
        with _writing(self.home / "audit.sqlite") as connection:
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").fetchone():
                connection.execute(
                    "UPDATE audit SET subject = '' WHERE tenant = :tenant AND ("
                    "EXISTS (SELECT 1 FROM json_each(:ids) i WHERE instr(audit.shown, i.value))"
                    " OR EXISTS (SELECT 1 FROM json_each(:words) w WHERE instr(audit.subject, w.value))"
                    " OR subject IN (SELECT value FROM json_each(:questions)))",
                    {
                        "tenant": self.tenant,
                        "ids": json.dumps(list(journal.documents)),
                        "words": json.dumps(journal.words),
                        "questions": json.dumps(questions),
                    },
                )

    def _rows(self, journal: _Journal) -> None:
        """Rows of the catalog, with all answers that rest on them, and what hangs on those answers."""
        ids = json.dumps(list(journal.documents))
        alone = {_local(uri) for _, uri in journal.documents.values()}
        with _writing(self.folder / "catalog.sqlite") as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("UPDATE generations SET state = 'rejected' WHERE state <> 'active'")
            generations.forget(connection, 0)
            for table in ("rights", "narrowings", "restores"):
                connection.execute(
                    f"DELETE FROM {table} WHERE document_id IN (SELECT value FROM json_each(?))",  # noqa: S608 - constants
                    (ids,),
                )
            connection.execute(f"DELETE FROM answers WHERE {_RESTS}", (ids,))  # noqa: S608 - a constant
            connection.executemany("DELETE FROM sources WHERE spec = ?", [(one,) for one in alone])
        self.catalog.forget_texts()
        self._dangling()
        words = [json.dumps(one, ensure_ascii=False)[1:-1] for one in journal.words]
        if (self.folder / "jobs.sqlite").exists():
            with _writing(self.folder / "jobs.sqlite") as connection:
                connection.execute(
                    "DELETE FROM jobs WHERE EXISTS (SELECT 1 FROM json_each(?) w"
                    " WHERE instr(wanted || coalesce(report, '') || coalesce(error, ''), w.value))",
                    (json.dumps(words),),
                )
        if (self.folder / "standing.sqlite").exists():
            with _writing(self.folder / "standing.sqlite") as connection:
                for statement in _OF_WORDS:
                    connection.execute(statement, (json.dumps([*words, *journal.words]),))

    def _dangling(self) -> None:
        """What was said of answers, or in conversations, whose answer is no more."""
        with _writing(self.folder / "catalog.sqlite") as connection:
            answers = json.dumps([row[0] for row in connection.execute("SELECT id FROM answers")])
        other = "answer_id NOT IN (SELECT value FROM json_each(?))"
        if (self.folder / "conversations.sqlite").exists():
            with _writing(self.folder / "conversations.sqlite") as connection:
                connection.execute(f"DELETE FROM turns WHERE {other}", (answers,))  # noqa: S608 - a constant
                connection.execute("DELETE FROM conversations WHERE id NOT IN (SELECT conversation FROM turns)")
        if (self.folder / "feedback.sqlite").exists():
            with _writing(self.folder / "feedback.sqlite") as connection:
                connection.execute(f"DELETE FROM feedback WHERE {other}", (answers,))  # noqa: S608 - a constant
        _labels(self.folder / "labels.jsonl", frozenset(json.loads(answers)))

    def _vectors(self, active: Generation | None, key_of: Callable[[str], str]) -> None:
        """Vectors of texts that the active generation does not hold."""
        used = {key_of(text) for text in self.index.open(active).texts()} if active is not None else set()
        if (self.folder / "vectors.sqlite").exists():
            self.cache.prune({active.recipe.space.key: used} if active is not None else {})

    def _scrub(self) -> None:
        """Out of pages that are free and out of logs too."""
        for path in (*(self.folder / name for name in DATABASES), self.home / "audit.sqlite"):
            if path.exists():
                scrub(path)

    # --- a user, a tenant --------------------------------------------------------------------------------------------

    def user(self, user: str, *, disown: Callable[[str], object]) -> None:
        """Take out what a user asked, was answered and said, their keys, and their name in the audit log.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        with self.catalog.writer():
            disown(user)
            for name, statements in _OF_USER.items():
                path = self.folder / name
                if path.exists():
                    with _writing(path) as connection:
                        for statement in statements:
                            connection.execute(statement, {"user": user})
            if (self.folder / "catalog.sqlite").exists():
                self._dangling()
            for path, statement in (
                (self.home / "audit.sqlite", "UPDATE audit SET user = NULL, subject = '', identity = ''"),
                (self.home / "system.sqlite", "DELETE FROM keys"),
            ):
                if path.exists():
                    with _writing(path) as connection:
                        connection.execute(f"{statement} WHERE tenant = ? AND user = ?", (self.tenant, user))
            if (self.home / "audit.sqlite").exists():
                with _writing(self.home / "audit.sqlite") as connection:
                    connection.execute(_KEYS_FOR, (self.tenant, user))
            self._scrub()
            if (self.home / "system.sqlite").exists():
                scrub(self.home / "system.sqlite")

    def everything(self) -> None:
        """Take the tenant out: its folder, its keys, its entries in the audit log.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        if self.folder.exists():
            with self.catalog.writer(), _disk():
                self.folder.rename(self.folder.with_name(f"{_GONE}{uuid.uuid4().hex}"))
        with _disk():
            for gone in self.folder.parent.glob(f"{_GONE}*"):
                shutil.rmtree(gone)
        for name, table in (("audit.sqlite", "audit"), ("system.sqlite", "keys")):
            path = self.home / name
            if path.exists():
                with _writing(path) as connection:
                    connection.execute(f"DELETE FROM {table} WHERE tenant = ?", (self.tenant,))  # noqa: S608 - constants
                scrub(path)


_RESTS = (
    "EXISTS (SELECT 1 FROM json_each(?) i WHERE instr(answers.documents, i.value) OR instr(answers.body, i.value)"
    " OR instr(coalesce(answers.trace, ''), i.value))"
)
_SAYS = "EXISTS (SELECT 1 FROM json_each(?) w WHERE instr({}, w.value))"
_OF_WORDS = tuple(
    statement.format(_SAYS.format(columns))
    for statement, columns in (
        ("DELETE FROM tries WHERE {}", "document_id || error"),
        ("DELETE FROM passes WHERE {}", "source || coalesce(report, '') || coalesce(error, '')"),
        ("DELETE FROM sources WHERE {}", "source"),
        ("UPDATE sources SET error = NULL WHERE {}", "error"),
    )
)
"""What standing jobs tell of documents that are erased."""
_QUESTIONS = f"SELECT json_extract(body, '$.question') FROM answers WHERE {_RESTS}"  # noqa: S608 - constants
_KEYS_FOR = "UPDATE audit SET subject = '' WHERE tenant = ? AND action = 'POST /v1/keys' AND instr(subject, ?)"
"""Entries of administrators that name whom they made a key for."""
_OF_USER = {
    "catalog.sqlite": ("DELETE FROM answers WHERE asker = :user",),
    "conversations.sqlite": (
        "DELETE FROM turns WHERE conversation IN (SELECT id FROM conversations WHERE asker = :user)",
        "DELETE FROM conversations WHERE asker = :user",
    ),
    "feedback.sqlite": ("DELETE FROM feedback WHERE user = :user",),
    "jobs.sqlite": (
        "DELETE FROM jobs WHERE user = :user AND state IN ('done', 'failed')",
        "UPDATE jobs SET user = NULL, identity = '' WHERE user = :user",
    ),
}


def _local(uri: str) -> str:
    """How a source was named that is this one document: its path, or its address."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri


def _labels(path: Path, answers: frozenset[str]) -> None:
    """Verdicts of labellers on answers that are no more."""
    if not path.exists():
        return
    with _disk():
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
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that leaves nothing of what it deletes in the file's own pages."""
    with sqlite_call(path):
        connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
        finally:
            connection.close()


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"the erasure is not complete: {error.strerror or type(error).__name__}"
        raise StoreUnavailable(message, hint="free some space, then run it again") from error
