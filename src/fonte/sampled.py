"""Documents drawn to be judged by a person: what was read of them, beside their pages or their source."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from fonte.errors import FonteError
from fonte.evaluation.html.sample_page import Judged, Shown, View
from fonte.parts import Parts, TenantStore
from fonte.protocols import Pictures
from fonte.text.ledger import BENIGN
from fonte.text.locate import label, locate, merge_boxes, section_at
from fonte.types import BlockKind, Document, DocumentState, DocumentStatus, Place, Source, Span, document_id
from fonte.unread import body_of, sources_of

PAGES: Final = 2
"""Pages drawn of each document."""
CHARACTERS: Final = 6_000
"""Of the text, and of the source, that are shown of a document without pages."""
_DRAWN_PAGES: Final = ("application/pdf", "image/")


def draw(states: Sequence[DocumentState], count: int, seed: int) -> list[DocumentState]:
    """``count`` documents, in turn from each format and state, those of one in a random order; the same by one seed."""
    dice = random.Random(seed)  # noqa: S311 - a sample, no secret
    kinds: defaultdict[tuple[str, str], list[DocumentState]] = defaultdict(list)
    for state in sorted(states, key=lambda one: one.document_id):
        if state.status is not DocumentStatus.DELETED:
            kinds[format_of(state), state.status.value].append(state)
    for alike in kinds.values():
        dice.shuffle(alike)
    order = sorted(kinds)
    dice.shuffle(order)
    drawn: list[DocumentState] = []
    while len(drawn) < count and any(kinds.values()):
        drawn += [kinds[kind].pop() for kind in order if kinds[kind]]
    return drawn[:count]


def format_of(state: DocumentState) -> str:
    """What read the document (``pdf``, ``docx`` …), else how its name ends."""
    if state.stamp is not None:
        return state.stamp.extractor.split("/")[0]
    return PurePosixPath(state.name).suffix.lower().lstrip(".")


@dataclass(frozen=True, slots=True)
class Sampler:
    """Shows documents of one tenant's generation beside their sources, read again as they were remembered."""

    parts: Parts
    store: TenantStore
    tenant: str
    generation: str
    seed: int

    def show(self, drawn: Sequence[DocumentState]) -> Iterator[Judged]:
        """Each document with its pages or its source, in the order given."""
        wanted = {state.document_id for state in drawn}
        named = (
            (document_id(self.tenant, one.uri), one) for one in sources_of(self.parts, self.store.catalog, self.tenant)
        )
        found = {identity: source for identity, source in named if identity in wanted}
        with self.parts.make_pictures() as pictures:
            for state in drawn:
                document = self.store.catalog.document(self.generation, state.document_id)
                source = found.get(state.document_id)
                fault = _fault(state, source)
                views = self._views(state, document, source if not fault else None, pictures)
                lost, remarks = _told(state)
                yield Judged(state, document, tuple(views), lost, remarks, fault)

    def _views(
        self, state: DocumentState, document: Document | None, source: Source | None, pictures: Pictures
    ) -> Iterator[View]:
        media_type = document.media_type if document is not None and document.media_type else _guessed(state)
        if media_type.startswith(_DRAWN_PAGES):
            total = (document.pages if document is not None else None) or state.pages or 1
            dice = random.Random(f"{self.seed} {state.document_id}")  # noqa: S311 - a sample, no secret
            for page in sorted(dice.sample(range(1, total + 1), min(PAGES, total))):
                picture, note = None, "" if source else "its source was not looked at"
                if source is not None:
                    try:
                        picture = pictures.picture(source, media_type, page)
                    except FonteError as error:
                        note = error.message
                blocks = _on_page(document, page) if document is not None else ()
                yield View(f"Page {page} of {total}", tuple(blocks), picture, note=note)
            return
        blocks = _first(document) if document is not None else ()
        raw = _raw(source) if source is not None else None
        note = (
            "" if raw is not None or source is None else "this format has no pages to draw: open the file beside this"
        )
        whole = document is None or len(document.text) <= CHARACTERS
        yield View("All of it" if whole else "The beginning", tuple(blocks), raw=raw, note=note)


def _told(state: DocumentState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what is missing or doubtful, what was left out on purpose or remarked)."""
    losses = state.ledger.losses if state.ledger else ()
    lost = [loss.message for loss in losses if loss.code not in BENIGN] or ([state.reason] if state.reason else [])
    return tuple(lost), tuple(loss.message for loss in losses if loss.code in BENIGN)


def _fault(state: DocumentState, source: Source | None) -> str:
    if source is None:
        return "its source was not found where it was synced from"
    if state.version and source.content_hash != state.version:
        return "its source has changed since it was synced"
    return ""


def _guessed(state: DocumentState) -> str:
    return "application/pdf" if format_of(state) == "pdf" else ""


def _raw(source: Source) -> str | None:
    """The beginning of a source that is text; None for others."""
    body = body_of(source)[: 4 * CHARACTERS]
    if not body or b"\0" in body:
        return None
    return body.decode("utf-8", "replace")[:CHARACTERS]


def _first(document: Document) -> Iterator[Shown]:
    for span in document.spans:
        if span.start >= CHARACTERS:
            return
        if document.text[span.start : span.end].strip():
            yield _shown(document, span, ())


def _on_page(document: Document, page: int) -> Iterator[Shown]:
    """Blocks that have a place on the page, with their boxes there."""
    places = document.places
    for span in document.spans:
        low = bisect_right(places, span.start, key=lambda place: place.end)
        high = bisect_left(places, span.end, lo=low, key=lambda place: place.start)
        here = [place for place in places[low:high] if place.page == page]
        if here:
            yield _shown(document, span, here)


def _shown(document: Document, span: Span, here: Sequence[Place]) -> Shown:
    section = section_at(document, span.start)
    level = len(section.path) if section and span.kind is BlockKind.HEADING else 0
    place = label(document, locate(document, span.start, span.end), ())[len(document.name) + 2 :]
    return Shown(
        kind=span.kind,
        text=document.text[span.start : span.end],
        start=span.start,
        end=span.end,
        place=place,
        level=level,
        table=span.table,
        header=span.header,
        boxes=merge_boxes([one.box for one in here if one.box is not None]),
    )
