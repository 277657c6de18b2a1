"""Sources that hold what the index does not: text that a parser left out, that failed, or that came since the sync.

Sources are read again as they were remembered. Bytes are looked at as they stand; where that shows something, or where
a document was not read whole, its parser is asked once more, in its child process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from fonte.errors import FonteError
from fonte.named import called
from fonte.parts import Parts
from fonte.store_protocols import Catalog
from fonte.sync import is_elsewhere, remembered
from fonte.text.expected import Expected, holds, raw_texts
from fonte.types import NOT_WHOLE, DocumentState, DocumentStatus, Parsed, Principal, Source, document_id

Loss: TypeAlias = Literal["parse", "canonical"]
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Unread:
    """Which of the two layers lost the text, and how, and what to do."""

    lost_at: Loss
    detail: str
    advice: str


@dataclass(frozen=True, slots=True)
class _Held:
    """A source in question with the document that it became, if it is in the index."""

    source: Source
    state: DocumentState | None
    in_bytes: bool

    @property
    def changed(self) -> bool:
        """Whether the source has other bytes than those that were synced."""
        return self.state is not None and self.state.version != self.source.content_hash


@dataclass(frozen=True, slots=True)
class SourceSearch:
    """Looks into the remembered sources of one tenant, only into those that the principal may read.

    With ``principal`` None, for whoever runs the corpus, into all.
    """

    parts: Parts
    catalog: Catalog
    tenant: str
    principal: Principal | None

    def find(self, expected: Expected, states: Sequence[DocumentState]) -> Unread:
        """Where words that no canonical text holds were lost; ``states`` are the documents that may be looked into."""
        named = called(expected.document, states) if expected.document else list(states)
        told = _unread_document(expected, named)
        if told is not None and not expected.words:
            return told
        if expected.words:
            held = list(self._held(expected, named))
            found = [one for one in held if one.in_bytes]
            for one in sorted(found, key=lambda one: one.source.name):
                return self._lost(one, expected.words)
            again = [one for one in held if one.changed or (one.state is not None and one.state.status in NOT_WHOLE)]
            for one, parsed in self._parsed(again):
                if isinstance(parsed, Parsed) and _holds(parsed, expected.words):
                    return self._read_now(one)
        return told or self._nowhere(expected, named)

    def _held(self, expected: Expected, states: Sequence[DocumentState]) -> Iterator[_Held]:
        by_id = {state.document_id: state for state in states}
        known = {state.document_id for state in self.catalog.states(self._generation())}
        for source in sources_of(self.parts, self.catalog, self.tenant):
            identity = document_id(self.tenant, source.uri)
            state = by_id.get(identity)
            if state is None and identity in known:
                continue
            if self.principal is not None and not source.acl.admits(self.principal):
                continue
            if expected.document and state is None and expected.document not in (identity, source.name, source.uri):
                continue
            yield _Held(source, state, any(holds(text, expected.words) for text in raw_texts(body_of(source))))

    def _generation(self) -> str:
        active = self.catalog.active()
        return active.id if active is not None else ""

    def _parsed(self, held: Sequence[_Held]) -> Iterator[tuple[_Held, Parsed | FonteError]]:
        if not held:
            return
        with self.parts.make_pool(1) as pool:
            outcomes = pool.parse_many([one.source for one in held])
            for one, (_, outcome) in zip(held, outcomes, strict=True):
                yield one, outcome

    def _lost(self, held: _Held, words: str) -> Unread:
        """How words that stand in a source's bytes were lost."""
        name, state = held.source.name, held.state
        if state is None:
            return Unread("parse", f"{name} holds it and is not in the index", "run fonte sync")
        if held.changed:
            return Unread("parse", f"{name} holds it now, and has changed since it was synced", "run fonte sync")
        if state.status is DocumentStatus.FAILED:
            return Unread("parse", f"{name} holds it and failed: {state.reason}", _again(state))
        outcome = next((parsed for _, parsed in self._parsed([held])), None)
        if isinstance(outcome, Parsed) and _holds(outcome, words):
            detail = f"the parser reads it in {name}, and its canonical text in the index does not hold it"
            return Unread("canonical", detail, f"run fonte retry {name}")
        why = f" ({state.status.value}: {state.reason})" if state.reason else ""
        losses = "; ".join(one.message for one in state.ledger.losses) if state.ledger else ""
        detail = f"it stands in the bytes of {name} and the parser did not read it{why}"
        return Unread("parse", f"{detail}; lost: {losses}" if losses else detail, f"put it into the text of {name}")

    def _read_now(self, held: _Held) -> Unread:
        name = held.source.name
        if held.state is None or held.changed:
            return Unread("parse", f"{name} holds it now, and has changed since it was synced", "run fonte sync")
        detail = f"the parser reads it in {name} now, and did not when it was synced ({held.state.status.value})"
        return Unread("parse", detail, f"run fonte retry {name}")

    def _nowhere(self, expected: Expected, states: Sequence[DocumentState]) -> Unread:
        partly = sorted(state.name for state in states if state.status in NOT_WHOLE)
        more = f"; not read whole: {', '.join(partly[:5])}" if partly else ""
        if expected.document and not states:
            return Unread("canonical", f"there is no document {expected.document!r} that you may read", _LOOK)
        where = f"of {expected.document} " if expected.document else ""
        what = "no text {}that you may read holds it" if expected.words else "no text {}has that place"
        return Unread("canonical", what.format(where) + more, _LOOK)


_LOOK = "look for other words, or sync the document that says it"


def _unread_document(expected: Expected, named: Sequence[DocumentState]) -> Unread | None:
    """A document that was named and could not be read whole."""
    bad = [state for state in named if expected.document and state.status in NOT_WHOLE]
    if not bad:
        return None
    state = bad[0]
    return Unread("parse", f"{state.name} is {state.status.value}: {state.reason}", _again(state))


def _again(state: DocumentState) -> str:
    if state.status is DocumentStatus.NEEDS_OCR:
        return f"give {state.name} a text layer, then run fonte retry {state.name}"
    return (
        f"run fonte retry {state.name}" if state.retryable else f"repair or convert {state.name}, then run fonte sync"
    )


def _holds(parsed: Parsed, words: str) -> bool:
    return holds("\n".join(block.text for block in parsed.blocks), words)


def sources_of(parts: Parts, catalog: Catalog, tenant: str) -> Iterator[Source]:
    """Every remembered source on this machine that can be read now; the others are left out without a word."""
    for spec, options in catalog.sources().items():
        if is_elsewhere(spec):  # neither a question nor a look is to send us to other machines
            continue
        try:
            for item in parts.open_source(spec, remembered(options), tenant).scan():
                if isinstance(item, Source) and item.tenant in (None, tenant):
                    yield item
        except FonteError:
            continue


def body_of(source: Source) -> bytes:
    """The first ``MOST_BYTES`` bytes of a source; nothing of one that cannot be read or lies inside another file."""
    if source.body is not None:
        return source.body
    if source.path is None or source.inside:  # a member's bytes are not the file's: its parser says what is in it
        return b""
    try:
        with Path(source.path).open("rb") as opened:
            return opened.read(MOST_BYTES)
    except OSError:
        return b""


def with_losses(catalog: Catalog, generation: str, states: Sequence[DocumentState]) -> list[DocumentState]:
    """The same with the ledgers of those that were not read whole, so that their losses can be told."""
    full: Mapping[str, DocumentState | None] = {
        state.document_id: catalog.state(generation, state.document_id) for state in states if state.status in NOT_WHOLE
    }
    return [replace(state, ledger=one.ledger) if (one := full.get(state.document_id)) else state for state in states]
