"""The chunk index of one tenant in PostgreSQL: generations share rows, and nothing is copied that did not change."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from fonte.errors import CorruptIndex, SpaceMismatch
from fonte.stores.postgres.database import PostgresDatabase
from fonte.stores.postgres.index_open import OpenIndex
from fonte.stores.postgres.index_reader import PostgresReader
from fonte.stores.postgres.index_table import Table, table_called
from fonte.stores.postgres.index_upkeep import drop
from fonte.stores.postgres.index_writer import PostgresWriter, reserve
from fonte.stores.postgres.locks import TenantLock
from fonte.stores.postgres.pins import Pin, Pins
from fonte.stores.postgres.pool import Pool
from fonte.types import Generation, GenerationState, Recipe

EXACT_ROWS = 50_000
"""Up to so many chunks a question's vector is compared with all that the filters admit."""
ERASE_SECONDS = 5.0
"""How long an erasure waits for readers."""
KEPT_OPEN = 2
"""Tables of which a process keeps where their chunks lie."""
_TABLES = ("documents", "removed", "chunks", "vectors", "postings")


class PostgresIndex:
    """IndexStore of one tenant. Safe for several threads; writers are kept apart by the catalog's lock."""

    def __init__(
        self, pool: Pool, tenant: str, *, lock: TenantLock | None = None, exact_rows: int = EXACT_ROWS
    ) -> None:
        """Nothing is written before the first ``begin``. Above ``exact_rows`` chunks the dense leg is approximate."""
        self._pool = pool
        self._database = PostgresDatabase(pool, tenant, area="index", lock=lock)
        self._pins = Pins(pool, tenant)
        self._exact_rows = exact_rows
        self._lock = Lock()
        self._open: OrderedDict[str, OpenIndex] = OrderedDict()

    def begin(self, recipe: Recipe, base: Generation | None) -> PostgresWriter:
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
        under: Table | None = None
        if base is not None and (base.recipe.terms, base.recipe.chunking) == (recipe.terms, recipe.chunking):
            under = _checked(self._opened(base), base).table
        name = f"chunks-{recipe.id}-{uuid.uuid4().hex[:12]}"
        with self._database.write() as connection:
            number = reserve(connection, tables=1).tables
            lineage = (*under.lineage, number) if under is not None else (number,)
            graphed = under is not None and under.graphed
            table = Table(number, name, lineage[0], lineage, recipe.space.dimensions, graphed, None, {})
            connection.execute(
                "INSERT INTO index_tables (number, name, family, lineage, dimensions, graphed)"
                " VALUES (?, ?, ?, CAST(? AS integer[]), ?, ?)",
                (number, name, table.family, list(lineage), table.dimensions, graphed),
            )
        pin = Pin()
        self._pins.hold(name, pin)
        return PostgresWriter(self._database, table, recipe.space, self._exact_rows, pin)

    def rewrite(self, base: Generation, without: Sequence[str]) -> PostgresWriter:
        """A writer on the base's rows but for those of some documents, which go where the base's table goes.

        Raises:
            CorruptIndex: the base's table is not what its generation says.
        """
        writer = self.begin(base.recipe, base)
        writer.remove_documents(without)
        return writer

    def erase(self, keep: Sequence[Generation]) -> None:
        """Remove every table that none of ``keep`` names, also those that are read, and what they held.

        Readers in other processes are given some seconds to end; they ask the catalog which generation is active with
        every question, so that only one that is under way can meet a table that is gone. What is removed lies in the
        database's files until they are vacuumed, which is done here, and written over, which the database does.
        """
        until = time.monotonic() + ERASE_SECONDS
        while self._drop(keep) and time.monotonic() < until:
            time.sleep(0.2)
        with self._database.write() as connection:
            drop(connection, {one.table for one in keep}, lambda _: True, bare=True)
        connection = self._pool.dedicated()
        try:
            for table in _TABLES:
                connection.script(f"VACUUM index_{table}")
        finally:
            connection.close()

    def open(self, generation: Generation) -> PostgresReader:
        """A reader pinned to the generation.

        Raises:
            CorruptIndex: its table is gone or holds another number of chunks. StoreUnavailable: it is being removed.
        """
        opened = self._opened(generation)
        if generation.state is not GenerationState.BUILDING:
            _checked(opened, generation)
        return PostgresReader(opened, generation)

    def _opened(self, generation: Generation) -> OpenIndex:
        with self._lock:
            known = self._open.get(generation.table)
            if known is not None:
                self._open.move_to_end(generation.table)
                return known
        pin = Pin()
        self._pins.hold(generation.table, pin)
        with self._database.read() as connection:
            table = table_called(connection, generation.table)
        opened = OpenIndex(self._database, table, generation.recipe.space, self._exact_rows, pin)
        with self._lock:
            kept = self._open.setdefault(generation.table, opened)
            while len(self._open) > KEPT_OPEN:
                self._open.popitem(last=False)
        return kept

    def in_use(self, generations: Sequence[Generation]) -> list[Generation]:
        """Those whose table somebody reads at this moment, in any process."""
        names = {one.table for one in generations}
        with self._lock:  # what is only kept open here is not read
            for name in names & self._open.keys():
                del self._open[name]
        self._pins.release()
        with self._database.write() as connection:
            sql = "SELECT pg_try_advisory_xact_lock(?)"
            free = {one: connection.execute(sql, (self._pins.number(one),)).fetchone()[0] for one in sorted(names)}
        return [one for one in generations if not free[one.table]]

    def drop(self, keep: Sequence[Generation]) -> None:
        """Remove every table that none of ``keep`` names and that nobody reads at this moment in any process.

        A table that is still read goes at the next call after its readers.
        """
        self._drop(keep)

    def _drop(self, keep: Sequence[Generation]) -> list[str]:
        """The same; names of the tables that stay, for somebody reads them."""
        names = {one.table for one in keep}
        with self._lock:
            for name in self._open.keys() - names:
                del self._open[name]
        self._pins.release()
        with self._database.write() as connection:

            def free(name: str) -> bool:
                number = self._pins.number(name)
                return bool(connection.execute("SELECT pg_try_advisory_xact_lock(?)", (number,)).fetchone()[0])

            return drop(connection, names, free)

    def close(self) -> None:
        """Let go of the pins."""
        self._open.clear()
        self._pins.close()


def _checked(opened: OpenIndex, generation: Generation) -> OpenIndex:
    """What was opened, where it is what the catalog says. Raises CorruptIndex."""
    if opened.rows != generation.chunks:
        message = f"generation {generation.id} should hold {generation.chunks} chunks, its table holds {opened.rows}"
        raise CorruptIndex(message, hint="run fonte sync again")
    return opened
