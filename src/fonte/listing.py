"""What whoever runs a corpus is told of its documents beside their states: rights of now, ledgers up to the index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fonte.protocols import Catalog, IndexReader
from fonte.text.ledger import with_index
from fonte.types import Acl, Chunk, DocumentState


def with_live_roles(catalog: Catalog, states: Sequence[DocumentState]) -> list[DocumentState]:
    """The same with the roles that may read them now, in whatever generation; what was never searchable as it is."""
    live, gone = catalog.acls(), catalog.deleted()
    return [
        replace(state, acl=Acl(state.acl.roles & live.get(state.document_id, Acl()).roles))
        if state.document_id in live or state.document_id in gone
        else state
        for state in states
    ]


def with_ledgers(catalog: Catalog, generation: str, states: Sequence[DocumentState]) -> list[DocumentState]:
    """The same with their ledgers, which ``Catalog.states`` leaves out."""
    full = (catalog.state(generation, state.document_id) for state in states)
    return [replace(state, ledger=one.ledger) if one else state for state, one in zip(states, full, strict=True)]


def with_books(catalog: Catalog, reader: IndexReader, states: Sequence[DocumentState]) -> list[DocumentState]:
    """Documents with their ledgers to the same with one stage more: what the index holds of them, read out of it.

    Documents without a text have no such stage.
    """
    stored: defaultdict[str, list[Chunk]] = defaultdict(list)
    wanted = {state.document_id for state in states if state.chunks}
    for one in reader.stored_chunks():
        if one.chunk.document_id in wanted:
            stored[one.chunk.document_id].append(one.chunk)
    generation = reader.generation.id
    return [_with_index(catalog, generation, state, stored[state.document_id]) for state in states]


def _with_index(catalog: Catalog, generation: str, state: DocumentState, stored: Sequence[Chunk]) -> DocumentState:
    document = catalog.document(generation, state.document_id) if state.chunks else None
    if state.ledger is None or document is None:
        return state
    return replace(state, ledger=with_index(state.ledger, document, stored))
