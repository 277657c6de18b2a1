"""The chunk index of one tenant in LanceDB: one table (a folder) for each generation.

A new generation starts as hard links to its base's files, which are written once and never changed; what it adds and
deletes lies in its own folder. So no writer ever touches a folder that is read, a killed writer leaves only a folder
that the catalog does not name, and removing a generation is removing its folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from fonte.errors import CorruptIndex, SpaceMismatch
from fonte.stores import pins
from fonte.stores.lance_errors import lance_call
from fonte.stores.lance_reader import LanceReader, check_count
from fonte.stores.lance_rows import schema
from fonte.stores.lance_start import lancedb
from fonte.stores.lance_writer import LanceWriter
from fonte.stores.open_table import RESIDENT_BYTES, OpenTable
from fonte.stores.resident import EXACT_ROWS
from fonte.stores.sql_filter import any_of
from fonte.types import Generation, GenerationState, Recipe

if TYPE_CHECKING:
    from lancedb.db import DBConnection

SUFFIX = ".lance"
ERASE_SECONDS = 5.0
"""How long an erasure waits for readers."""
_BATCH_ROWS = 1024
KEPT_OPEN = 2
"""Tables that a process keeps in memory, where they are small."""
KEPT_ROWS = 500_000
"""Rows of all tables that are kept, the one used last not counted."""
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP}


class LanceIndex:
    """IndexStore in one folder. Safe for several threads; writers are kept apart by the catalog's lock."""

    def __init__(
        self,
        folder: Path,
        *,
        prepare: Callable[[], None] | None = None,
        exact_rows: int = EXACT_ROWS,
        resident_bytes: int = RESIDENT_BYTES,
    ) -> None:
        """Nothing is created before the first ``begin``; ``prepare`` then makes the folder above.

        Of tables with more than ``exact_rows`` chunks the dense leg is approximate. Postings of a table that a process
        keeps take at most ``resident_bytes``.
        """
        self._folder = folder
        self._resident_bytes = resident_bytes
        self._exact_rows = exact_rows
        self._prepare = prepare or (lambda: folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True))
        self._lock = Lock()
        self._database: DBConnection | None = None
        self._open: OrderedDict[tuple[str, int], OpenTable] = OrderedDict()

    def _connection(self) -> DBConnection:
        library = lancedb()
        with self._lock, lance_call("opening the index"):
            if self._database is None:
                self._database = library.connect(self._folder)
            return self._database

    def begin(self, recipe: Recipe, base: Generation | None) -> LanceWriter:
        """A writer on top of ``base`` when it has the same space, terms and chunking, else on an empty table.

        Raises:
            SpaceMismatch: base and recipe differ in space (build from nothing instead). CorruptIndex: the base's
                table is not what its generation says.
        """
        if base is not None and base.recipe.space != recipe.space:
            message = (
                f"the index holds vectors of {base.recipe.space.model}, not of {recipe.space.model}"
                if base.recipe.space.id != recipe.space.id
                else f"the index holds other token vectors of {recipe.space.model}"
            )
            raise SpaceMismatch(message, hint="run fonte sync: it builds the index anew")
        name = f"chunks-{recipe.id}-{uuid.uuid4().hex[:12]}"
        self._prepare()
        with lance_call("making a table"):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._pin(name).touch(mode=0o600)
        database = self._connection()
        if base is None or (base.recipe.terms, base.recipe.chunking) != (recipe.terms, recipe.chunking):
            with lance_call("making a table"):
                table = database.create_table(name, schema=schema(recipe.space.dimensions))
        else:
            check_count(self._opened(base), base)
            self._copy(base, name)
            with lance_call("opening a copy of the base"):
                table = database.open_table(name)
                if table.version != base.table_version:
                    message = f"table {base.table} is not at version {base.table_version}"
                    raise CorruptIndex(message, hint="run fonte sync again")
                if table.schema.names != schema(recipe.space.dimensions).names:
                    message = f"table {base.table} has the columns of another version of fonte"
                    raise CorruptIndex(message, hint="sync into a new home")
                for index in table.list_indices():  # they are built anew
                    table.drop_index(index.name)
                shutil.rmtree(self._path(name) / "_indices", ignore_errors=True)
        return LanceWriter(table, self._path(name), recipe.space)

    def rewrite(self, base: Generation, without: Sequence[str]) -> LanceWriter:
        """A writer on a new table with the base's rows but for those of some documents: no file is shared with it.

        Raises:
            CorruptIndex: the base's table is not what its generation says.
        """
        opened = self._opened(base)
        check_count(opened, base)
        name = f"chunks-{base.recipe.id}-{uuid.uuid4().hex[:12]}"
        columns = schema(base.recipe.space.dimensions)
        with lance_call("writing the index anew"):
            self._pin(name).touch(mode=0o600)
            rows = opened.table.search().where(f"NOT ({any_of('document_id', list(without))})").limit(None)
            table = self._connection().create_table(name, data=rows.to_batches(_BATCH_ROWS), schema=columns)
        return LanceWriter(table, self._path(name), base.recipe.space)

    def erase(self, keep: Sequence[Generation]) -> None:
        """Remove every table that none of ``keep`` names, also those that are read.

        Readers in other processes are given some seconds to end; they ask the catalog which generation is active with
        every question, so that only one that is under way can meet a table that is gone.
        """
        until = time.monotonic() + ERASE_SECONDS
        self.drop(keep)
        kept = {generation.table for generation in keep}
        while (left := self._tables(kept)) and time.monotonic() < until:
            time.sleep(0.2)
            self.drop(keep)
        with lance_call("removing old generations"):
            for path in left:
                trash = path.with_suffix(".trash")
                path.rename(trash)
                shutil.rmtree(trash)
                self._pin(path.stem).unlink(missing_ok=True)

    def _tables(self, kept: AbstractSet[str]) -> list[Path]:
        return [path for path in self._folder.glob(f"*{SUFFIX}") if path.stem not in kept]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _pin(self, name: str) -> Path:
        return self._folder / f"{name}.pin"

    def _copy(self, base: Generation, name: str) -> None:
        """Link the base's files into a new folder (copy where links are impossible).

        Version files are copied: they are small, and the hint beside them is written over in place.
        """
        source, target = self._path(base.table), self._path(name)
        with lance_call("linking the base of the index"):
            for place, _, names in os.walk(source):
                inside = Path(place).relative_to(source)
                (target / inside).mkdir(mode=0o700, parents=True, exist_ok=True)
                for one in names:
                    if inside.parts[:1] == ("_versions",):
                        shutil.copy2(Path(place) / one, target / inside / one)
                    else:
                        _link(Path(place) / one, target / inside / one)

    def open(self, generation: Generation) -> LanceReader:
        """A reader pinned to the generation.

        Raises:
            CorruptIndex: its table is gone or holds another number of chunks. StoreUnavailable: it is being removed.
        """
        opened = self._opened(generation)
        if generation.state is not GenerationState.BUILDING:
            check_count(opened, generation)
        return LanceReader(opened, generation)

    def _opened(self, generation: Generation) -> OpenTable:
        key = (generation.table, generation.table_version)
        with self._lock:
            known = self._open.get(key)
            if known is not None:
                self._open.move_to_end(key)
                return known
        if not self._path(generation.table).is_dir():
            message = f"the table of generation {generation.id} is gone"
            raise CorruptIndex(message, hint="run fonte sync again")
        database = self._connection()
        with lance_call("opening a generation"):
            table = database.open_table(generation.table)
            table.checkout(generation.table_version)
        opened = OpenTable(table, generation.recipe.space, self._exact_rows, self._resident_bytes)
        with lance_call("pinning a generation"):
            pins.hold(self._pin(generation.table), opened)
        with self._lock:
            kept = self._open.setdefault(key, opened)
            while len(self._open) > KEPT_OPEN or (len(self._open) > 1 and self._older_rows() > KEPT_ROWS):
                self._open.popitem(last=False)
        return kept

    def in_use(self, generations: Sequence[Generation]) -> list[Generation]:
        """Those whose table somebody reads at this moment, in any process."""
        tables = {generation.table for generation in generations}
        with self._lock:  # what is only kept open here is not read
            for key in [key for key in self._open if key[0] in tables]:
                del self._open[key]
        found = []
        with lance_call("looking who reads"):
            for generation in generations:
                if self._path(generation.table).is_dir():
                    with pins.alone(self._pin(generation.table)) as unread:
                        found += [] if unread else [generation]
        return found

    def _older_rows(self) -> int:
        return sum(one.rows for one in list(self._open.values())[:-1])

    def drop(self, keep: Sequence[Generation]) -> None:
        """Remove every table that none of ``keep`` names and that nobody reads at this moment in any process.

        A table that is still read goes at the next call after its readers.
        """
        kept = {generation.table for generation in keep}
        with self._lock:
            for key in [key for key in self._open if key[0] not in kept]:
                del self._open[key]
        if not self._folder.is_dir():
            return
        with lance_call("removing old generations"):
            for path in sorted(self._folder.iterdir()):
                if path.suffix == ".trash":
                    shutil.rmtree(path)
                elif path.suffix == SUFFIX and path.stem not in kept:
                    self._remove(path)
                elif path.suffix == ".pin" and path.stem not in kept and not self._path(path.stem).exists():
                    path.unlink(missing_ok=True)

    def _remove(self, path: Path) -> None:
        with pins.alone(self._pin(path.stem)) as unread:
            if unread:
                trash = path.with_suffix(".trash")
                path.rename(trash)
                shutil.rmtree(trash)
                self._pin(path.stem).unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(source, target)
