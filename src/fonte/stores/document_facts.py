"""What every row of a table says of its document, once for each document rather than once for each row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fonte.types import Language, Query

if TYPE_CHECKING:
    import pyarrow as pa

Mask: TypeAlias = npt.NDArray[np.bool_]
FACTS = (
    "document_id",
    "document_name",
    "source_uri",
    "source_version",
    "title",
    "media_type",
    "language",
    "roles",
    "valid_from",
    "valid_to",
)
"""Columns that most rows of a document share."""
_KEPT_MASKS = 8
"""A question is asked in each language and by each leg, and the next often comes from the same asker."""


class DocumentFacts:
    """The facts of all rows: a code for each row into the distinct combinations of them. Filled once, batch by batch.

    Filters look at combinations, of which there are about as many as documents, and only then at rows.
    """

    def __init__(self, size: int) -> None:
        """Room for ``size`` rows."""
        self._codes: npt.NDArray[np.int32] = np.zeros(size, np.int32)
        self._places: dict[tuple[Any, ...], int] = {}
        self._known: dict[str, str] = {}
        self._masks: OrderedDict[tuple[Any, ...], Mask] = OrderedDict()
        self._lock = Lock()

    def fill(self, start: int, batch: pa.RecordBatch) -> None:
        """Take ``FACTS`` of the rows from ``start`` on."""
        if not batch.num_rows:
            return
        firsts = np.flatnonzero(_changes(batch))
        columns = [_values(batch[name].take(firsts), self._known) for name in FACTS]
        codes = [self._places.setdefault(one, len(self._places)) for one in zip(*columns, strict=True)]
        lengths = np.diff(firsts, append=batch.num_rows)
        self._codes[start : start + batch.num_rows] = np.repeat(np.array(codes, np.int32), lengths)

    @cached_property
    def _combinations(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(self._places)

    @cached_property
    def _columns(self) -> Mapping[str, tuple[tuple[Any, ...], npt.NDArray[np.int32]]]:
        """Of each fact its distinct values, and for each combination which of them it has."""
        found = {}
        for name, values in zip(FACTS, zip(*self._combinations, strict=True), strict=True):
            places: dict[Any, int] = {}
            codes = np.array([places.setdefault(value, len(places)) for value in values], np.int32)
            found[name] = tuple(places), codes
        return found

    def of(self, row: int) -> dict[str, Any]:
        """The facts of a row by column."""
        return dict(zip(FACTS, self._combinations[int(self._codes[row])], strict=True))

    def document(self, row: int) -> str:
        """Id of the document that a row belongs to."""
        return str(self._combinations[int(self._codes[row])][0])

    def readable(self, query: Query, revoked: Sequence[str]) -> Mask:
        """Rows that the asker may read and the filters admit, minus revoked documents. Not to be changed."""
        wanted = query.filters
        documents, gone = frozenset(wanted.documents), frozenset(revoked)
        languages, kinds = frozenset(wanted.languages), frozenset(wanted.media_types)
        key = (query.principal.held_roles, documents, languages, kinds, query.as_of, gone)
        with self._lock:
            known = self._masks.get(key)
            if known is not None:
                self._masks.move_to_end(key)
                return known
        mask = self._admitted(query, gone)[self._codes] if self._places else np.zeros(len(self._codes), np.bool_)
        mask.setflags(write=False)
        with self._lock:
            self._masks[key] = mask
            if len(self._masks) > _KEPT_MASKS:
                self._masks.popitem(last=False)
        return mask

    def _admitted(self, query: Query, gone: frozenset[str]) -> Mask:
        """The same of combinations."""
        held = query.principal.held_roles
        mask = self._that("roles", lambda roles: not held.isdisjoint(roles))
        wanted = query.filters
        if wanted.documents:
            named = [self._among(one, wanted.documents) for one in ("document_id", "document_name", "source_uri")]
            mask &= named[0] | named[1] | named[2]
        if wanted.languages:
            mask &= self._among("language", wanted.languages)
        if wanted.media_types:
            mask &= self._among("media_type", wanted.media_types)
        if query.as_of is not None:
            day = query.as_of.isoformat()
            mask &= self._that("valid_from", lambda first: first <= day)
            mask &= self._that("valid_to", lambda last: not last or last >= day)
        if gone:
            mask &= ~self._among("document_id", gone)
        return mask

    def _among(self, name: str, values: Sequence[str] | frozenset[str]) -> Mask:
        return self._that(name, frozenset(values).__contains__)

    def _that(self, name: str, admits: Callable[[Any], bool]) -> Mask:
        values, codes = self._columns[name]
        admitted = np.fromiter((admits(value) for value in values), np.bool_, len(values))
        return np.asarray(admitted[codes], dtype=np.bool_)

    def languages(self) -> Mapping[Language, npt.NDArray[np.int64]]:
        """The rows of each language, ascending; languages in the order of their first row."""
        if not self._places:
            return {}
        values, codes = self._columns["language"]
        of_rows = codes[self._codes]
        return {language: np.flatnonzero(of_rows == code) for code, language in enumerate(values)}


def _values(column: pa.Array, known: dict[str, str]) -> list[Any]:
    """The values of a column, equal strings kept once; lists become tuples."""
    import pyarrow as pa

    if pa.types.is_list(column.type):
        return [tuple(known.setdefault(one, one) for one in value) for value in column.to_pylist()]
    encoded = column.dictionary_encode()
    values = [known.setdefault(one, one) for one in encoded.dictionary.to_pylist()]
    return [values[code] for code in encoded.indices.to_pylist()]


def _changes(batch: pa.RecordBatch) -> Mask:
    """Whether a row differs from the one before in any fact; the first does."""
    import pyarrow.compute as pc

    changed = np.ones(batch.num_rows, np.bool_)
    changed[1:] = False
    for name in FACTS:
        columns = [batch[name]]
        if name == "roles":
            columns = [pc.list_value_length(batch[name]), pc.binary_join(batch[name], "\0")]
        for column in columns:
            codes = column.dictionary_encode().indices.to_numpy(zero_copy_only=False)
            changed[1:] |= codes[1:] != codes[:-1]
    return changed
