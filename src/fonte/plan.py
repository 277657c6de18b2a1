"""What a sync has to do, from comparing sources with the active generation.

Nothing is parsed or written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from fonte.errors import (
    ConfigError,
    CorruptIndex,
    FonteError,
    InputError,
    ParseError,
    SchemaMismatch,
    SourceUnreadable,
    StoreUnavailable,
)
from fonte.protocols import Scanned, SourceReader
from fonte.store_protocols import Catalog, IndexStore
from fonte.types import (
    Acl,
    DocumentState,
    DocumentStatus,
    Generation,
    GenerationState,
    Principal,
    Query,
    Source,
    Stamp,
    document_id,
    sha256_hex,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync has to do, from comparing the sources with the active generation."""

    parse: tuple[Source, ...]
    known: dict[str, DocumentState]
    """States of the base generation by document id; empty when the recipe changed."""
    unchanged: tuple[DocumentState, ...]
    reroled: tuple[tuple[DocumentState, Acl], ...]
    moved: tuple[tuple[DocumentState, str, int], ...]
    """Records that only stand in another line of their file now: what is said of them with it, and the line."""
    removed: tuple[DocumentState, ...]
    unreadable: tuple[tuple[str, str, FonteError], ...]
    roots: dict[str, str]
    """Root of each source URI."""
    existed: frozenset[str]
    """Ids of the documents of the active generation, built again or not."""
    on_top: bool
    """Whether the new generation begins as a copy of the active one, else with nothing."""
    carried: tuple[DocumentState, ...] = ()
    """Documents of other sources that must be built again because the recipe changed."""
    notes: tuple[str, ...] = ()
    """What the sources found worth saying."""
    restored: tuple[str, ...] = ()
    """Ids of deleted documents that a source holds again."""
    narrowed: Mapping[str, Acl] = field(default_factory=dict)
    """Rights by document id that do not give all that the live rights give: they hold as soon as they are known."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """Documents that were to be parsed again and were not found or reached, by id, with the reason."""
    had: Mapping[str, int] = field(default_factory=dict)
    """How many documents the active generation has of each source, by its root."""
    renamed: tuple[tuple[DocumentState, Source], ...] = ()
    """Of those removed and those to parse: same bytes, gone under one name and there under another."""

    @property
    def nothing_to_do(self) -> bool:
        """Whether the active generation already is what the sources say."""
        return not (self.parse or self.reroled or self.moved or self.removed or self.unreadable or self.carried)

    def key(self, active: str) -> str:
        """What stands for all that is to be done on top of this generation."""
        parts: list[object] = [active, self.on_top, [one.document_id for one in self.carried]]
        parts += sorted((one.uri, one.content_hash, sorted(one.acl.roles), said_of(one)) for one in self.parse)
        parts += sorted((one.document_id, sorted(acl.roles)) for one, acl in self.reroled)
        parts += sorted((one.document_id, said, line) for one, said, line in self.moved)
        parts += sorted(one.document_id for one in self.removed)
        parts += sorted((uri, error.message) for uri, _, error in self.unreadable)
        return sha256_hex(repr(parts))

    def vanished(self, enough: int) -> str | None:
        """The root of a source of which all is gone, or, of ``enough`` documents and more, most; None for none.

        What only goes by another name now is not gone.
        """
        renamed = {state.document_id for state, _ in self.renamed}
        gone = Counter(one.source_root for one in self.removed if one.document_id not in renamed)
        for root, lost in gone.items():
            had = self.had.get(root, 0)
            if lost >= had or (had >= enough and 2 * lost > had):
                return root
        return None


@dataclass(slots=True)
class Tally:
    """Counters of a running sync: what really happened."""

    added: int = 0
    modified: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    embedded: int = 0


def plan_sync(
    readers: Sequence[SourceReader],
    *,
    tenant: str,
    catalog: Catalog,
    active: Generation | None,
    same_recipe: bool,
    extractors: Callable[[], Mapping[str, str]] = dict,
    retry: frozenset[str] | None = None,
    lost: Mapping[str, str] | None = None,
) -> Plan:
    """Compare sources with the active generation by content hash, rights, and what else is said of them.

    Args:
        readers: each compared as a whole: a document below its root that is not found any more is removed, unless
            the folder or file that held it could not be read.
        tenant: whose documents these are.
        catalog: for the states of the active generation.
        active: the generation to compare with.
        same_recipe: whether what is already indexed may be kept: built by the recipe in force, and readable.
        extractors: the parsers in force, with versions, by the part before the first ``/``; asked only when needed.
        retry: look at these documents (by id) and at no others, and parse them although they did not change. A root
            that is missing is then recorded against its documents, and the rest goes on.
        lost: documents of ``retry`` that no reader can give, with the reason.

    Raises:
        SourceUnreadable: a root is missing or may not be read, and this is no retry.
    """
    comparison = _Comparison(
        tenant=tenant,
        before={state.document_id: state for state in catalog.states(active.id)} if active else {},
        deleted=catalog.deleted(),
        live=catalog.acls(),
        pending=any(one.state in _NOT_YET_SEEN for one in catalog.generations()),
        same_recipe=same_recipe,
        # Asked with every document, and its answer runs programs.
        extractors=cache(extractors),
        retry=retry,
        lost=dict(lost or {}),
    )
    for reader in readers:
        comparison.scan(reader)
    return comparison.plan(readers)


@dataclass(slots=True)
class _Comparison:
    """A comparison under way."""

    tenant: str
    before: dict[str, DocumentState]
    deleted: frozenset[str]
    live: Mapping[str, Acl]
    pending: bool
    """Whether there are candidates, finished or in building, that may hold documents without live rights."""
    same_recipe: bool
    extractors: Callable[[], Mapping[str, str]]
    retry: frozenset[str] | None
    lost: dict[str, str]
    parse: list[Source] = field(default_factory=list)
    unchanged: list[DocumentState] = field(default_factory=list)
    reroled: list[tuple[DocumentState, Acl]] = field(default_factory=list)
    moved: list[tuple[DocumentState, str, int]] = field(default_factory=list)
    rights: list[tuple[DocumentState, Acl]] = field(default_factory=list)
    """Documents that other roles may read from now on."""
    unreadable: list[tuple[str, str, FonteError]] = field(default_factory=list)
    narrowed: dict[str, Acl] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """URI that could not be read → (root, reason)."""
    others: int = 0
    """Sources that were said to be another tenant's."""

    def scan(self, reader: SourceReader) -> None:
        """Take in all that a source shows."""
        try:
            for item in reader.scan():
                self._take(item, reader.root)
        except (SourceUnreadable, ConfigError) as error:
            if self.retry is None:
                raise
            self.failed[reader.root.rstrip("/")] = (reader.root, error.message)

    def _take(self, item: Scanned, root: str) -> None:
        uri = item.uri if isinstance(item, Source) else item[0]
        if isinstance(item, Source) and item.tenant not in (None, self.tenant):
            self._not_ours(document_id(self.tenant, uri))
            return
        if not isinstance(item, Source) and not _was_looked_at(item[2]):
            self.failed[uri] = (root, str(item[2]))
        identity = document_id(self.tenant, uri)
        if identity in self.seen or (self.retry is not None and identity not in self.retry):
            return
        self.seen.add(identity)
        self.roots[uri] = root
        if isinstance(item, Source):
            self._found(identity, item)
        else:
            self._not_read(identity, *item)

    def _not_ours(self, identity: str) -> None:
        """A source of another tenant: what this one holds of it goes, and nobody reads it from now on."""
        self.others += 1
        if identity in self.live:
            self.narrowed[identity] = Acl()

    def _found(self, identity: str, item: Source) -> None:
        state = self.before.get(identity)
        self._ruled(identity, state, item.acl)
        if state is None or self.retry is not None or identity in self.deleted or self._changed(state, item):
            self.parse.append(item)
        else:
            if state.said != said_of(item) and item.line is not None and state.stamp is not None:
                self.moved.append((state, said_of(item), item.line))
            self._same_text(state, item.acl)

    def _ruled(self, identity: str, state: DocumentState | None, acl: Acl) -> None:
        """Take in who may read a document from now on."""
        # One without live rights may stand in a candidate that gave it more and that is published later.
        if not self.live.get(identity, Acl()).roles <= acl.roles or (self.pending and identity not in self.live):
            self.narrowed[identity] = acl
        if state is not None and state.acl != acl:
            self.rights.append((state, acl))

    def _same_text(self, state: DocumentState, acl: Acl) -> None:
        # Live rights may be narrower than indexed ones: a candidate that narrowed them was never published.
        if state.acl != acl or self.live.get(state.document_id, Acl()) != acl:
            self.reroled.append((state, acl))
        else:
            self.unchanged.append(state)

    def _changed(self, state: DocumentState, item: Source) -> bool:
        if not self.same_recipe or state.version != item.content_hash:
            return True
        if state.stamp is None:
            return False
        return state.said.split("@")[0] != said_of(item).split("@")[0] or state.stamp.extractor != extractor_now(
            state.stamp, self.extractors()
        )

    def _not_read(self, identity: str, uri: str, name: str, error: Exception) -> None:
        known, reason = self.before.get(identity), error if isinstance(error, FonteError) else ParseError(str(error))
        if (
            self.same_recipe
            and known is not None
            and known.status is DocumentStatus.FAILED
            and known.reason == reason.message
        ):
            self.unchanged.append(known)
        else:
            self.unreadable.append((uri, name, reason))

    def _tenant_notes(self) -> list[str]:
        return [f"{self.others} sources belong to other tenants and were left out"] if self.others else []

    def _rights_notes(self) -> list[str]:
        """Who may read more, and who less, than before this sync: nobody should widen rights without being told."""
        wider = [one for one in self.rights if not one[1].roles <= one[0].acl.roles]
        other = [one for one in self.rights if one[1].roles < one[0].acl.roles]
        return [
            f"{'1 document is' if len(some) == 1 else f'{len(some)} documents are'} readable by {what}, "
            f"first {some[0][0].name}: {_names(some[0][0].acl)} before, {_names(some[0][1])} now"
            for what, some in (("other roles than before", wider), ("fewer roles than before", other))
            if some
        ]

    def plan(self, readers: Sequence[SourceReader]) -> Plan:
        """What to do, once every source was taken in."""
        removed, kept = self._not_seen({reader.root: reader for reader in readers})
        carried: tuple[DocumentState, ...] = ()
        anything = self.retry is None or self.parse or removed or self.unreadable
        if not self.same_recipe and anything:
            carried = tuple(self._as_readable_now(state) for state in kept)
        return Plan(
            parse=tuple(self.parse),
            known=self.before if self.same_recipe else {},
            unchanged=tuple(self.unchanged),
            reroled=tuple(self.reroled),
            moved=tuple(self.moved),
            removed=tuple(removed),
            unreadable=tuple(self.unreadable),
            roots=self.roots,
            existed=frozenset(self.before),
            on_top=self.same_recipe,
            carried=carried,
            notes=(*(note for reader in readers for note in reader.notes), *self._tenant_notes(), *self._rights_notes())
            if self.retry is None
            else (),
            restored=tuple(sorted(self.seen & self.deleted)),
            narrowed=self.narrowed,
            lost=self.lost,
            had=Counter(one.source_root for one in self.before.values()),
            renamed=_renamed(removed, self.parse, self.before),
        )

    def _not_seen(self, scanned: Mapping[str, SourceReader]) -> tuple[list[DocumentState], list[DocumentState]]:
        """What went from the sources; and what stays as it is, for it was not looked at or could not be."""
        removed, kept = [], []
        for identity, state in self.before.items():
            if identity in self.seen:
                continue
            asked_for = self.retry is None or identity in self.retry
            above = self._above(state.uri) or self.failed.get(state.source_root.rstrip("/"))
            if asked_for and (identity in self.lost or above is not None):
                root, reason = above or (state.source_root, "")
                self.roots[state.uri] = root
                if self.retry is not None:
                    self.lost.setdefault(identity, reason)
                reader = scanned.get(root) if self.retry is None and identity not in self.deleted else None
                acl = reader.acl_of(state.uri, state.name) if reader is not None else None
                # What it said of itself, which may have been less, cannot be looked at either.
                self._stays(state, acl.narrowed(state.acl) if acl is not None else None)
                kept.append(state)
            elif asked_for and any(_belongs(state, root) for root in scanned):
                removed.append(state)
            else:
                kept.append(state)
        return removed, kept

    def _stays(self, state: DocumentState, acl: Acl | None) -> None:
        """A document that could not be looked at: its text is kept, under the roles that the rules of now give it."""
        if acl is not None:
            self._ruled(state.document_id, state, acl)
        if self.same_recipe and acl is not None:
            self._same_text(state, acl)
        elif self.same_recipe:
            self.unchanged.append(state)

    def _above(self, uri: str) -> tuple[str, str] | None:
        """The folder or file that could not be read and that held this document."""
        at = len(uri)
        while self.failed and at > 0:
            at = max(uri.rfind("/", 0, at), uri.rfind("#", 0, at))
            above = uri[: max(at, 0)]
            for outer in (above, above.removesuffix("!")):  # a member's container ends before the sign
                if outer and outer in self.failed:
                    return self.failed[outer]
        return None

    def _as_readable_now(self, state: DocumentState) -> DocumentState:
        """With the rights that hold by now, which may be narrower than those that were indexed."""
        if state.document_id in self.deleted:
            return state
        if state.document_id in self.narrowed:
            return replace(state, acl=self.narrowed[state.document_id])
        return replace(state, acl=Acl(state.acl.roles & self.live.get(state.document_id, Acl()).roles))


_NOT_YET_SEEN = (GenerationState.CANDIDATE, GenerationState.BUILDING)


def _renamed(
    removed: Sequence[DocumentState], parse: Sequence[Source], before: Mapping[str, DocumentState]
) -> tuple[tuple[DocumentState, Source], ...]:
    """What went, with what came with the same bytes; several of the same bytes in the order of their names."""
    known, new = {state.uri for state in before.values()}, dict[str, list[Source]]()
    for one in parse:
        if one.uri not in known:
            new.setdefault(one.content_hash, []).append(one)
    pairs = []
    for state in removed:
        came = new.get(state.version)
        if came:
            pairs.append((state, came.pop(0)))
    return tuple(pairs)


def fault_of(index: IndexStore, active: Generation) -> str | None:
    """Why an index cannot be read (damaged, or of an older fonte), so that a sync builds it anew; else None."""
    try:
        reader = index.open(active)
        reader.languages()
        reader.bm25(["a"], Query("a", Principal(active.tenant)), revoked=(), k=1)
    except (CorruptIndex, SchemaMismatch, StoreUnavailable) as error:
        return error.message
    return None


def _was_looked_at(error: Exception) -> bool:
    """Whether all was listed that may be taken of what this error is about: what was not, is not there any more.

    So it is with limits; a file that cannot be opened or unpacked may still hold what it held.
    """
    return isinstance(error, InputError) and not isinstance(error, SourceUnreadable)


def _belongs(state: DocumentState, root: str) -> bool:
    """Whether a document is one that a source with this root would have shown."""
    return root in (state.source_root, state.uri) or state.uri.startswith(
        (root.rstrip("/") + "/", root + "#", root + "!/")
    )


def said_of(source: Source) -> str:
    """What is said of a source beside its bytes and rights (language, title …), as a hash; empty when nothing is.

    ``@`` and a record's line follow: a record that moved within its file is the same document.
    """
    where = "" if source.line is None else f"@{source.line}"
    if source.language is None and not source.metadata:
        return where
    return sha256_hex(repr((source.language, sorted(source.metadata.items()))))[:16] + where


def extractor_now(stamp: Stamp, extractors: Mapping[str, str]) -> str:
    """What would read a document now that was read by the stamp's extractor."""
    return extractors.get(stamp.extractor.split("/")[0], stamp.extractor)


def _names(acl: Acl) -> str:
    return ", ".join(sorted(acl.roles)) or "nobody"
