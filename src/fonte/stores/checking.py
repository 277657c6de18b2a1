"""Whether a home is whole: what is in its files against what they say of each other."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Protocol

from fonte.errors import FonteError
from fonte.store_protocols import IndexStore
from fonte.stores.catalog import SqlCatalog
from fonte.stores.erasing import Eraser
from fonte.stores.home import Home, TenantStore
from fonte.stores.lance_index import SUFFIX
from fonte.types import Generation, GenerationState

_UNBUILT = {GenerationState.BUILDING, GenerationState.REJECTED}


def check(home: Path) -> Iterator[str]:
    """What is wrong, in words; nothing for a home that is whole.

    Raises:
        HomeLocked: a sync runs, so that what is being built looks like what was left.
    """
    for path in (*sorted(home.glob("*.sqlite")), *sorted(home.glob("tenants/*/*.sqlite"))):
        yield from _database(path)
    stores = Home(home)
    for folder in sorted(path.parent for path in home.glob("tenants/*/catalog.sqlite")):
        name = _owner(folder / "catalog.sqlite")
        if name is None:
            yield f"{folder.name}: its catalog says no tenant"
            continue
        if stores.folder(name) != folder:
            yield f"{folder.name}: holds the files of tenant {name!r}"
            continue
        with closing(stores.tenant(name)) as store, store.catalog.writer():
            yield from (f"tenant {name}: {fault}" for fault in _tenant(folder, store))


class Checked(Protocol):
    """What of a tenant's stores is looked into."""

    @property
    def catalog(self) -> SqlCatalog:
        """Documents, generations."""

    @property
    def index(self) -> IndexStore:
        """Their chunks."""

    @property
    def eraser(self) -> Eraser:
        """Knows of erasures that were not completed."""


def faults_of(folder: Path, store: Checked) -> Iterator[str]:
    """What is wrong with a tenant, whatever its stores are; ``folder`` holds its uploads."""
    if store.eraser.pending():
        yield "an erasure was not completed: run fonte erase again"
    for generation in store.catalog.generations():
        if generation.state not in _UNBUILT:
            try:
                yield from (f"generation {generation.id}: {one}" for one in _generation(store, generation))
            except FonteError as error:
                yield f"generation {generation.id}: {error.message}"
    for about in sorted(folder.glob("uploads/u*/about.json")):
        yield from _upload(about)


def _tenant(folder: Path, store: TenantStore) -> Iterator[str]:
    yield from faults_of(folder, store)
    tables = {one.table for one in store.catalog.generations()}
    for path in sorted((folder / "lance").glob("*")):
        if path.suffix in (SUFFIX, ".trash") and path.stem not in tables:
            yield f"{path.name} belongs to no generation: the next sync removes it"


def _generation(store: Checked, generation: Generation) -> Iterator[str]:
    reader = store.index.open(generation)
    counted = store.catalog.counted_chunks(generation.id)
    if counted != generation.chunks:
        yield f"{generation.chunks} chunks, its documents count {counted}"
    states = {one.document_id: one for one in store.catalog.states(generation.id)}
    facts = reader.facts()
    yield from (f"chunk {one} is there twice" for one in facts.repeated)
    yield from (f"chunk {one} does not have the text that its vector was made from" for one in facts.other_text)
    yield from (f"the vector of chunk {one} is not finite and of length 1" for one in facts.not_unit)
    for identity, state in states.items():
        held = len(facts.chunks.get(identity, ()))
        if state.chunks and state.chunks != held:
            yield f"document {identity} counts {state.chunks} chunks, the index holds {held}"
    texts: dict[str, str | None] = {}
    for one in reader.stored_chunks():
        chunk = one.chunk
        if chunk.document_id not in states:
            yield f"chunk {chunk.id} is of document {chunk.document_id}, which is not there"
            continue
        if chunk.document_id not in texts:
            document = store.catalog.document(generation.id, chunk.document_id)
            texts = {chunk.document_id: document.text if document is not None else None}
        text = texts[chunk.document_id]
        if text is None or text[chunk.start : chunk.end] != chunk.content:
            yield f"chunk {chunk.id} is not what its document says at {chunk.start}..{chunk.end}"


def _upload(about: Path) -> Iterator[str]:
    try:
        digest = str(json.loads(about.read_bytes())["sha256"])
        with (about.parent / digest).open("rb") as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == digest
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        yield f"upload {about.parent.name} is damaged: upload it again"


def _database(path: Path) -> Iterator[str]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10.0)) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
            strays = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.Error as error:
        found, strays = [str(error)], []
    where = f"{path.parent.name}/{path.name}"
    yield from (f"{where}: {one}" for one in found if one != "ok")
    if strays:
        yield f"{where}: {len(strays)} rows name what is not there"


def _owner(path: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'tenant'").fetchone()
    except sqlite3.Error:
        return None
    return str(row[0]) if row else None
