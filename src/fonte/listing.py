"""What whoever runs a corpus is told of its documents beside their states.

Roles of now, ledgers up to the index, copies of each other, and what is odd about them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from fonte.store_protocols import Catalog, IndexReader
from fonte.text.ledger import with_index
from fonte.text.likeness import Copy, copies_among
from fonte.text.oddities import ODD
from fonte.types import SEARCHABLE, UNKNOWN_LANGUAGE, Acl, Chunk, DocumentState

FEWEST_SIBLINGS: Final = 10
"""Documents of a source from which on one can be unlike the others."""
FAR: Final = 20
"""How many times longer or shorter than the middle one a document is when that is told."""
FAR_DEVIATIONS: Final = 4.0
"""And how many median deviations (of the logarithms of their lengths): a source of all lengths has no odd ones."""
MOST_CHUNKS: Final = 1000
RARE_LANGUAGE: Final = 0.05
"""Share of a source's documents up to which a language is unexpected there."""


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


def with_full_ledgers(catalog: Catalog, reader: IndexReader, states: Sequence[DocumentState]) -> list[DocumentState]:
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


def copies_of(states: Sequence[DocumentState]) -> dict[str, Copy]:
    """By document id, those that say the same as another document which the very same roles may read.

    The other one is the first of its kind by name. ``states`` are of one tenant, with the roles of now. Documents that
    were indexed before copies were looked for are not compared until they are read again.
    """
    ordered = sorted(states, key=lambda state: (state.name, state.uri))
    told = ((one.document_id, one.acl.roles, one.likeness) for one in ordered if one.likeness and one.chunks)
    return {copy.key: copy for copy in copies_among(told)}


def outliers(states: Sequence[DocumentState]) -> dict[str, tuple[str, ...]]:
    """By document id, what is odd about documents (with their ledgers): in themselves, or beside their siblings."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    sources: defaultdict[str, list[DocumentState]] = defaultdict(list)
    for state in states:
        if state.status in SEARCHABLE:
            sources[state.source_root].append(state)
        losses = state.ledger.losses if state.ledger else ()
        reasons[state.document_id] += [loss.message for loss in losses if loss.code in ODD]
        if state.chunks > MOST_CHUNKS:
            reasons[state.document_id].append(f"it makes {state.chunks} chunks")
    for siblings in sources.values():
        if len(siblings) >= FEWEST_SIBLINGS:
            _lengths(siblings, reasons)
            _languages(siblings, reasons)
    return {state.document_id: tuple(found) for state in states if (found := reasons[state.document_id])}


def _lengths(siblings: Sequence[DocumentState], reasons: Mapping[str, list[str]]) -> None:
    words = {one.document_id: one.ledger.canonical.words for one in siblings if one.ledger}
    logs = {name: math.log(count + 1) for name, count in words.items()}
    if not logs:
        return
    middle = median(logs.values())
    deviation = median(abs(value - middle) for value in logs.values())
    for name, value in logs.items():
        if abs(value - middle) > max(math.log(FAR), FAR_DEVIATIONS * deviation):
            usual = round(median(words.values()))
            reasons[name].append(
                f"{words[name]} words, where half of the {len(words)} of its source have {usual} or more"
            )


def _languages(siblings: Sequence[DocumentState], reasons: Mapping[str, list[str]]) -> None:
    known = [one for one in siblings if one.language != UNKNOWN_LANGUAGE]
    counts = Counter(one.language for one in known)
    for one in known:
        if counts[one.language] <= RARE_LANGUAGE * len(known):
            usual = counts.most_common(1)[0][0]
            reasons[one.document_id].append(f"language {one.language}, where its source is mostly {usual}")
