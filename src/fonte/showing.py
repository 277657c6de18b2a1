"""A document's text and its pages, for those who may read it."""

from __future__ import annotations

from collections.abc import Iterator

from fonte.access.uploads import UPLOADS
from fonte.conversing import Conversing
from fonte.drawn import DrawnPage, PageDrawer, local_path, marked, steps
from fonte.errors import InvalidQuery, NotFound
from fonte.exported import exported
from fonte.inspected import Exported
from fonte.named import absent, called, only_one, place_in
from fonte.parts import Parts
from fonte.text.locate import boxes_on
from fonte.text.rows import Grid, grid
from fonte.types import Document, DocumentState, Locator, Principal


class Showing(Conversing):
    """A corpus whose documents can be looked at."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._drawer = PageDrawer(parts.make_pictures)

    def close(self) -> None:
        """End the process that draws pages, and close the files of every tenant that was opened."""
        self._drawer.close()
        super().close()

    def show(
        self,
        document: str,
        *,
        principal: Principal,
        start: int | None = None,
        end: int | None = None,
        page: int | None = None,
    ) -> tuple[Document, DocumentState, Locator]:
        """A document's canonical text and a place in it: the range, the page, or the whole.

        Raises:
            NotFound: absent or forbidden. InvalidQuery: a range or a page outside the document, or a name that several
                documents have.
        """
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        if active is None:
            raise absent(document)
        named = called(document, store.catalog.states(active.id))
        readable = [state for state in named if store.catalog.may_read(state.document_id, principal)]
        only = only_one(document, readable)
        state = store.catalog.state(active.id, only.document_id) or only
        found = store.catalog.document(active.id, state.document_id)
        if found is None:
            message = f"{state.name} has no text: {state.reason or state.status.value}"
            raise NotFound(message, hint="mend or convert it and run fonte sync; fonte retry reads it again as it is")
        return found, state, place_in(found, start, end, page)

    def table(
        self,
        document: str,
        *,
        principal: Principal,
        start: int | None = None,
        end: int | None = None,
        table: int | None = None,
        first: int | None = None,
        many: int = 60,
    ) -> tuple[Grid, Document]:
        """Rows of a table around a range of the canonical text, or from a row of a table on; and whose they are.

        Raises:
            As ``show``. InvalidQuery: no such table.
        """
        found, _, place = self.show(document, principal=principal, start=start, end=end)
        made = grid(found, place.start, place.end, table=table, first=first, many=many)
        if made is None:
            raise InvalidQuery(f"{found.name} has no such table", hint="read its text instead")
        return made, found

    def passage(self, chunk: str, *, principal: Principal) -> tuple[Document, DocumentState, Locator]:
        """The document of a chunk of the active generation, and the chunk's place in it.

        Raises:
            NotFound: absent or forbidden.
        """
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        found = store.index.open(active).chunks([chunk], principal, revoked=()).get(chunk) if active else None
        if found is None:
            raise absent(chunk)
        place = found.chunk
        try:
            return self.show(place.document_id, principal=principal, start=place.start, end=place.end)
        except NotFound:
            raise absent(chunk) from None

    def document(self, document: str, *, principal: Principal) -> Document:
        """A document's canonical text with its sections and offset table, by id, name or source URI.

        Raises:
            As ``show``.
        """
        return self.show(document, principal=principal)[0]

    def page(
        self,
        document: str,
        page: int,
        *,
        principal: Principal,
        start: int | None = None,
        end: int | None = None,
        chunk: str | None = None,
    ) -> tuple[DrawnPage, Document]:
        """A page (from 1) with a range of the canonical text, or a chunk, marked; and whose page it is.

        Raises:
            As ``show``. SourceChanged, SourceUnreadable: the bytes that were indexed are not to be had. ParseError.
        """
        found, state, place = self.show(document, principal=principal, start=start, end=end)
        marks = (place.start, place.end) if start is not None or end is not None else None
        if chunk is not None:
            marks = self._chunk_of(found.id, chunk, principal)
        boxes = boxes_on(found, page, *marks) if marks is not None else ()
        file, inside = steps(state.uri)
        uploaded = state.uri.startswith(UPLOADS)
        path = self._parts.uploads(principal.tenant).path(file) if uploaded else local_path(file)
        picture = self._drawer.page(found, state, page, path, inside)
        return marked(picture, boxes, boxes_on(found, page, 0, len(found.text))), found

    def export(self, principal: Principal) -> tuple[int, Iterator[Exported]]:
        """How many numbers a vector has, and every passage of the active generation that the principal may read.

        Raises:
            NotFound: nothing is indexed. StoreError.
        """
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        if active is None:
            raise NotFound("there is no index to export", hint="run fonte sync first")
        return active.recipe.space.dimensions, exported(store, active, principal)

    def _chunk_of(self, document_id: str, chunk: str, principal: Principal) -> tuple[int, int]:
        store = self._store_of(principal.tenant)
        active = store.catalog.active()
        read = store.index.open(active).chunks([chunk], principal, revoked=()) if active is not None else {}
        found = read.get(chunk)
        if found is None or found.chunk.document_id != document_id:
            raise NotFound(f"there is no passage {chunk!r} in this document", hint="search tells passages by their ids")
        return found.chunk.start, found.chunk.end
