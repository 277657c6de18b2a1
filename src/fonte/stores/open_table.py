"""A table at one version, with what is kept of it in memory."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import Lock, Thread, main_thread
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fonte.errors import CorruptIndex, SchemaMismatch, StoreError
from fonte.stores.freed import give_back
from fonte.stores.frequencies import Frequencies
from fonte.stores.lance_errors import lance_call
from fonte.stores.lance_rows import CODES, TEXTS
from fonte.stores.postings import Collector, Postings
from fonte.stores.resident import COLUMNS, EXACT_ROWS, Resident
from fonte.stores.texts import Texts
from fonte.types import Space, WordSearch

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

RESIDENT_BYTES = 2**30
"""What the postings, texts and codes of a table may take in memory."""
_LOADED = 8192
"""Rows read at once of what is kept in memory."""
_LOADED_CODES = 256
"""The same of token codes: a row has some thousand bytes of them."""
_SHARE_WITH_TEXTS = 2
_SHARE_WITH_CODES = 4
"""Texts, and token codes, which are larger, are kept where all takes this part of the room, one in so many."""
_MOMENT = 0.02
"""Seconds."""
_LARGE = 100_000
"""Rows from which on loading leaves much memory behind."""
_log = logging.getLogger("fonte.stores")


class OpenTable:
    """Shared by the readers of one process."""

    def __init__(
        self, table: Table, space: Space, exact_rows: int = EXACT_ROWS, resident_bytes: int = RESIDENT_BYTES
    ) -> None:
        self.table = table
        self._exact_rows = exact_rows
        self._resident_bytes = resident_bytes
        self.dimensions = space.dimensions
        self.code_width = space.code_width
        self._lock = Lock()
        self._starting = Lock()
        self._resident: Resident | None = None
        self._frequencies: Frequencies | None = None
        self._postings: Postings | None = None
        self._kept: dict[str, Texts] = {}
        self._making: Thread | None = None

    @cached_property
    def rows(self) -> int:
        """Number of chunks."""
        with lance_call("counting chunks"):
            return int(self.table.count_rows())

    @property
    def approximate(self) -> bool:
        """Whether there are too many chunks to compare a vector with all of them."""
        return self.rows > self._exact_rows

    @property
    def resident(self) -> Resident:
        """Vectors and facts in memory, loaded once.

        Raises:
            SchemaMismatch: the table was written before some of them were kept.
        """
        with self._lock:
            if self._resident is None:
                with lance_call("loading vectors"):
                    lacking = sorted(set(COLUMNS) - set(self.table.schema.names))
                if lacking:
                    message = f"the index was built before {', '.join(lacking)} of passages were kept"
                    raise SchemaMismatch(message, hint="run fonte sync again: it builds the index anew")
                rows = self.rows
                with lance_call("loading vectors"):
                    batches = _scanned(self.table, COLUMNS)
                    self._resident = Resident(batches, rows, self.dimensions, self._exact_rows)
                if rows > _LARGE:
                    give_back()
            return self._resident

    @property
    def frequencies(self) -> Frequencies | Postings:
        """Document frequencies, counted once; by the postings where they are kept or being made."""
        while self._postings is None and self._making is not None and self._making.is_alive():
            self._making.join(_MOMENT)
        if self._postings is not None:
            return self._postings
        with self._lock:
            if self._frequencies is None:
                with lance_call("counting terms"):
                    self._frequencies = Frequencies(batch["terms"] for batch in _scanned(self.table, ["terms"]))
            return self._frequencies

    @property
    def postings(self) -> Postings | None:
        """What answers words from memory; None where the table does."""
        return self._postings

    def kept(self, columns: list[str]) -> Texts | None:
        """``TEXTS`` or ``CODES`` of all rows; None where they are read from the table."""
        return self._kept.get(columns[0])

    @property
    def word_search(self) -> WordSearch:
        """What answers words at this moment."""
        if self._postings is not None:
            return "memory"
        return "loading" if self._making is not None and self._making.is_alive() else "table"

    def get_ready(self) -> None:
        """Make the postings in a thread, once, and load texts and codes beside them, as far as there is room.

        What is not kept the table goes on answering.
        """
        with self._starting:
            if self._making is None and self._resident_bytes and self.rows:
                self._making = Thread(target=_make_ready, args=(weakref.ref(self),), name="fonte-getting-ready")
                self._making.start()

    def scanned(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Columns of all rows, part by part, in the order of ``resident``. Holds nothing of this object.

        Raises:
            CorruptIndex: the rows do not come in that order.
        """
        return _in_order(self.table, columns, self.resident.row_ids)

    def keep(self, postings: Postings) -> None:
        """Answer words by these from now on."""
        with self._lock:
            self._postings, self._frequencies = postings, None
        if self.rows > _LARGE:
            give_back()

    def keep_columns(self, columns: list[str], rows: Texts) -> None:
        """Read these columns here from now on."""
        self._kept[columns[0]] = rows

    def affords(self, size: int) -> bool:
        """Whether so many bytes may be kept."""
        return size <= self._resident_bytes


def _scanned(table: Table, columns: list[str]) -> Iterator[pa.RecordBatch]:
    search = table.search().select(columns).with_row_id(True)  # noqa: FBT003 - its own way
    yield from search.limit(None).to_batches(_LOADED_CODES if columns == CODES else _LOADED)


def _in_order(table: Table, columns: list[str], row_ids: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    end = 0
    for batch in _scanned(table, columns):
        start, end = end, end + batch.num_rows
        if not np.array_equal(batch["_rowid"].to_numpy(zero_copy_only=False), row_ids[start:end]):
            break
        yield batch.select(columns)
    if end != len(row_ids):
        raise CorruptIndex("the rows of the index do not come in one order")


def _make_ready(wanted: weakref.ref[OpenTable]) -> None:
    """Ends early where nobody needs the table any more, or the process ends: it is held only for moments."""
    try:
        collector = Collector()
        if not _read(wanted, ["terms"], lambda part: collector.add(part["terms"]), lambda: collector.nbytes):
            return
        postings = collector.done()
        opened = wanted()
        if opened is None or not opened.affords(postings.nbytes):
            return
        opened.keep(postings)
        coded, size = opened.code_width > 0, opened.rows
        del opened
        room = _kept(wanted, TEXTS, size, postings.nbytes, _SHARE_WITH_TEXTS)
        if coded and room is not None:
            _kept(wanted, CODES, size, room, _SHARE_WITH_CODES)
    except StoreError as error:
        _log.warning("the table goes on answering, for it could not be loaded: %s", error.code)


def _kept(wanted: weakref.ref[OpenTable], columns: list[str], size: int, room: int, share: int) -> int | None:
    """Keep columns of ``size`` rows where ``share`` times what is kept then may be kept; the bytes of all.

    None where they may not, which the first rows tell.
    """
    rows = Texts()
    if not _read(wanted, columns, rows.add, lambda: share * (room + rows.nbytes * size // rows.size)):
        return None
    opened = wanted()
    if opened is not None:
        opened.keep_columns(columns, rows)
    return room + rows.nbytes


def _read(
    wanted: weakref.ref[OpenTable],
    columns: list[str],
    take: Callable[[pa.RecordBatch], None],
    size: Callable[[], int],
) -> bool:
    """Hand over all rows part by part; False where they take too much room, or nobody needs them any more."""
    opened = wanted()
    if opened is None:
        return False
    with lance_call("loading words and texts"):
        parts = opened.scanned(columns)
        del opened
        for part in parts:
            take(part)
            opened = wanted()
            if opened is None or not main_thread().is_alive() or not opened.affords(size()):
                return False
            del opened
    return True
