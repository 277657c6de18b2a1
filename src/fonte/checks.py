"""Data checks: whether what stands in a sealed generation is whole, and can be found and asked.

Every row is looked at once for what is cheap: whose it is, the hash of its text, the length of its vector. What costs
more is asked of a few rows, half of them of documents that are new or changed: their terms and codes, whether each leg
finds them by their own words and their own vector, and whether the model of the settings makes the vector that stands
there. How many were asked is told.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fonte.embedding import fitted
from fonte.errors import FonteError
from fonte.inspected import TableFacts, TableRow
from fonte.protocols import Embedder, Terms
from fonte.store_protocols import Catalog, IndexReader, IndexStore
from fonte.types import SEARCHABLE, DocumentState, Filters, Generation, Principal, Query

ENOUGH_TO_JUDGE = 5
"""Below so many documents, a loss of most of them is an ordinary edit."""
ROWS_READ = 64
ROWS_SEARCHED = 8
ROWS_EMBEDDED = 6
_OWN_WORDS = 48
_DEEPEST = 5000
_SAME_VECTOR = 0.98
"""Cosine of two vectors that one model makes of one text. Batches move it by a thousandth, another text by a tenth."""
_ITSELF = 0.999


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a generation should not serve: a stable code, and what is wrong in words."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the checks found, and how much they looked at."""

    faults: tuple[Fault, ...]
    chunks: int = 0
    read: int = 0
    searched: int = 0
    embedded: int = 0

    @property
    def told(self) -> str:
        """How much was looked at, in words."""
        return (
            f"all {self.chunks} chunks, {self.read} of them closely, {self.searched} asked of both legs, "
            f"{self.embedded} of the model"
        )

    def as_json(self) -> dict[str, object]:
        """To be kept."""
        return {
            "faults": [{"code": one.code, "message": one.message} for one in self.faults],
            "chunks": self.chunks,
            "read": self.read,
            "searched": self.searched,
            "embedded": self.embedded,
        }


Inspect: TypeAlias = Callable[[Generation, Generation | None], Inspection]
"""Checks a candidate, beside the active generation where there is one."""


@dataclass(frozen=True, slots=True)
class Inspector:
    """The data checks over one tenant's stores; an ``Inspect``."""

    catalog: Catalog
    index: IndexStore
    terms: Terms
    embedder: Callable[[], Embedder]

    def __call__(self, candidate: Generation, active: Generation | None) -> Inspection:
        """Faults of the catalog, of the table, and of what is asked of it; what cannot be read is a fault too."""
        states = self.catalog.states(candidate.id)
        before = self.catalog.states(active.id) if active else []
        faults = contradictions(candidate, self.catalog.counted_chunks(candidate.id), states, before)
        faults += _unbalanced(self.catalog.unbalanced(candidate.id))
        try:
            reader = self.index.open(candidate)
            facts = reader.facts()
            faults += table_faults(facts, states)
            fresh = _fresh(states, before)
            rows = reader.whole_rows(_drawn(candidate, facts, fresh))
        except FonteError as error:
            return Inspection((*faults, Fault("table", error.message)))
        faults += row_faults(candidate, rows, self.terms)
        readable = [row for row in rows if row.stored.roles and row.terms][:ROWS_SEARCHED]
        try:
            faults += leg_faults(reader, readable, facts, self.terms)
        except FonteError as error:
            faults.append(Fault("legs", f"it cannot be searched: {error.message}"))
        asked, model = self._asked_of_model(candidate, rows[:ROWS_EMBEDDED], fresh)
        return Inspection((*faults, *model), candidate.chunks, len(rows), len(readable), asked)

    def _asked_of_model(
        self, candidate: Generation, rows: Sequence[TableRow], fresh: Collection[str]
    ) -> tuple[int, list[Fault]]:
        """How many rows the model was asked for, and what is wrong with their vectors.

        Where it cannot be asked and no vector is new, as when rights are narrowed while an endpoint is down, that is
        no fault: those that answer now are the same.
        """
        try:
            embedder = self.embedder()
            space, own = candidate.recipe.space, embedder.space
            if space.id != own.id:
                return 0, [Fault("space", f"it was built with {space.model}, the settings name {own.model}")]
            made = embedder.embed_passages([fitted(row.stored.chunk, embedder) for row in rows]) if rows else ()
        except FonteError as error:
            new = any(row.stored.chunk.document_id in fresh for row in rows)
            told = f"its vectors could not be compared with the model's: {error.message}"
            return 0, [Fault("model_unknown", told)] if new else []
        pairs = zip(rows, made, strict=True)
        off = [row.stored.chunk.id for row, vector in pairs if not _cosine(row.stored.vector, vector) >= _SAME_VECTOR]
        what = f"of {len(rows)} chunks have vectors that {space.model} does not make of their text"
        return len(rows), _listed("model", off, what)


def _cosine(one: object, other: object) -> float:
    return float(np.dot(np.asarray(one, np.float64), np.asarray(other, np.float64)))


def contradictions(
    candidate: Generation, told: int, states: Sequence[DocumentState], before: Sequence[DocumentState]
) -> list[Fault]:
    """What the catalog says against itself, and against the active generation.

    Args:
        candidate: with the number of chunks that its sealed table holds.
        told: chunks that its documents count, deleted ones too.
        states: the documents of the candidate.
        before: the documents of the active generation.
    """
    faults = []
    if told != candidate.chunks:
        faults.append(Fault("counts", f"the index holds {candidate.chunks} chunks, its documents count {told}"))
    searchable = [state for state in states if state.status in SEARCHABLE]
    space = candidate.recipe.space
    hollow = [state.name for state in searchable if state.chunks == 0]
    unstamped = [state.name for state in searchable if state.stamp is None]
    other = [
        state.name
        for state in searchable
        if state.stamp is not None and (state.stamp.space, state.stamp.codec) != (space.id, space.codec)
    ]
    faults += _listed("hollow", hollow, "documents are ready without a chunk")
    faults += _listed("stamps", unstamped, "documents carry no stamp")
    faults += _listed("stamps", other, f"documents are stamped with another space than {space.model}'s")
    had = {state.document_id: state.version for state in before if state.status in SEARCHABLE}
    has = {state.document_id: state.version for state in searchable}
    came = {version for identity, version in has.items() if identity not in had}  # the same under another name is there
    lost = [identity for identity, version in had.items() if identity not in has and version not in came]
    if len(had) >= ENOUGH_TO_JUDGE and 2 * len(lost) >= len(had):
        message = f"{len(lost)} of {len(had)} documents have disappeared (is a folder unmounted or a rule too strict?)"
        faults.append(Fault("disappeared", message))
    return faults


def _unbalanced(names: Sequence[str]) -> list[Fault]:
    return _listed("ledger", names, "documents are ready although their ledger does not balance")


def _listed(code: str, names: Collection[str], what: str) -> list[Fault]:
    return [Fault(code, f"{len(names)} {what}, first {next(iter(names))!r}")] if names else []


def table_faults(facts: TableFacts, states: Sequence[DocumentState]) -> list[Fault]:
    """What a whole pass over the table found, against what the catalog says of its documents."""
    known = {state.document_id for state in states}
    orphans = [chunk for document, chunks in facts.chunks.items() if document not in known for chunk in chunks]
    lacking = [
        state.name for state in states if state.chunks and state.chunks != len(facts.chunks.get(state.document_id, ()))
    ]
    faults = _listed("orphans", orphans, "chunks are of documents that are not there")
    faults += _listed("incomplete", lacking, "documents count other chunks than the index holds of them")
    faults += _listed("repeated", facts.repeated, "chunks stand there twice")
    faults += _listed("texts", facts.other_text, "chunks do not have the text that their vector was made from")
    faults += _listed("vectors", facts.not_unit, "chunks have vectors that are not finite and of length 1")
    return faults


def row_faults(candidate: Generation, rows: Sequence[TableRow], terms: Terms) -> list[Fault]:
    """What single rows lack: the terms that this analyser makes of their text, a code for each of their tokens."""
    faults = []
    if candidate.recipe.terms == terms.version:
        off = [
            row
            for row in rows
            if list(row.terms) != terms.document_terms(row.stored.chunk.text, row.stored.chunk.language)
        ]
        faults += _listed(
            "terms", [row.stored.chunk.id for row in off], f"of {len(rows)} chunks have other terms than their text"
        )
    # What has no word may have no token of its own either.
    bare = [row.stored.chunk.id for row in rows if row.terms and row.codes is not None and not len(row.codes)]
    faults += _listed("codes", bare, f"of {len(rows)} chunks have no token codes")
    return faults


def leg_faults(reader: IndexReader, rows: Sequence[TableRow], facts: TableFacts, terms: Terms) -> list[Fault]:
    """Whether BM25 finds each chunk by its own words in its document, and the dense leg by its own vector in all."""
    unheard, unseen = [], []
    for row in rows:
        chunk, who = row.stored.chunk, _reader_of(reader.generation.tenant, row.stored.roles)
        own = sorted(set(terms.document_terms(chunk.text, chunk.language)), key=lambda term: (-len(term), term))
        within = Query("its own words", who, Filters(documents=(chunk.document_id,)))
        depth = min(_DEEPEST, len(facts.chunks[chunk.document_id]))
        found = reader.bm25(own[:_OWN_WORDS], within, revoked=(), k=depth)
        if chunk.id not in {hit.chunk_id for hit in found}:
            unheard.append(chunk.id)
        if not _sees_itself(reader, row, who):
            unseen.append(chunk.id)
    return [
        *_listed("bm25", unheard, f"of {len(rows)} chunks are not found by BM25 with their own words"),
        *_listed("dense", unseen, f"of {len(rows)} chunks are not found by their own vector"),
    ]


def _sees_itself(reader: IndexReader, row: TableRow, who: Principal) -> bool:
    vector = row.stored.vector
    if vector is None or not abs(_cosine(vector, vector) - 1.0) <= 1 - _ITSELF:
        return False
    best = reader.dense(vector, Query("its own vector", who), revoked=(), k=1)
    return bool(best) and best[0].score >= _ITSELF


def _reader_of(tenant: str, roles: Collection[str]) -> Principal:
    """Somebody who may read what these roles may."""
    role = min(roles)
    name = role.removeprefix("user:")
    return Principal(tenant, user=name) if name != role else Principal(tenant, roles=frozenset({role}))


def _fresh(states: Sequence[DocumentState], before: Sequence[DocumentState]) -> set[str]:
    """Documents that are new, or were read or cut anew."""
    known: Mapping[str, DocumentState] = {state.document_id: state for state in before}
    return {
        state.document_id
        for state in states
        if (was := known.get(state.document_id)) is None
        or (was.version, was.stamp, was.chunks) != (state.version, state.stamp, state.chunks)
    }


def _drawn(candidate: Generation, facts: TableFacts, fresh: Collection[str]) -> list[str]:
    """Chunks to be looked at: those of fresh documents and of the others in turns, as far as there are some."""
    draw = np.random.default_rng(zlib.crc32(candidate.id.encode()))
    piles: tuple[list[str], list[str]] = ([], [])
    for document, chunks in sorted(facts.chunks.items()):
        piles[document in fresh].extend(chunks)
    chosen = [[pile[at] for at in draw.permutation(len(pile))[:ROWS_READ]] for pile in piles]
    others, new = chosen
    turns = [chunk for pair in zip(new, others, strict=False) for chunk in pair]
    return [*turns, *new[len(others) :], *others[len(new) :]][:ROWS_READ]
