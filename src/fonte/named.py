"""Names to documents: an id, a name or a URI; a range or page to a place; an answer to all that it names."""

from __future__ import annotations

from collections.abc import Sequence

from fonte.errors import InvalidQuery, NotFound
from fonte.text.locate import locate
from fonte.types import Answer, Answered, Document, DocumentState, Locator

_LISTED = "list the documents that you may read; on the command line, name your roles with --roles"


def called(document: str, states: Sequence[DocumentState]) -> list[DocumentState]:
    """The documents of that id, name or URI."""
    return [state for state in states if document in (state.document_id, state.name, state.uri)]


def only_one(document: str, found: Sequence[DocumentState]) -> DocumentState:
    """The one that was found.

    Raises:
        NotFound, InvalidQuery: none, or several.
    """
    if not found:
        raise absent(document)
    if len(found) > 1:
        raise InvalidQuery(
            f"{len(found)} documents are called {document!r}",
            hint="name it by its id: " + ", ".join(state.document_id for state in found),
        )
    return found[0]


def absent(document: str) -> NotFound:
    """The same for what does not exist and for what may not be read."""
    return NotFound(f"there is no document {document!r}", hint=_LISTED)


def place_in(document: Document, start: int | None, end: int | None, page: int | None) -> Locator:
    """A range, a page or the whole of a document as a place.

    Raises:
        InvalidQuery: a range or a page outside the document.
    """
    length = len(document.text)
    if page is not None:
        on_page = [place for place in document.places if place.page == page]
        if not on_page:
            raise InvalidQuery(
                f"{document.name} has no text on page {page}", hint=f"it has {document.pages or 0} pages"
            )
        return locate(document, on_page[0].start, on_page[-1].end)
    first, last = start or 0, length if end is None else end
    if not 0 <= first <= last <= length:
        raise InvalidQuery(
            f"{first}..{last} lies outside {document.name}", hint=f"its text has {length} characters, from 0"
        )
    return locate(document, first, last)


def documents_of(answer: Answer) -> set[str]:
    """Every document that an answer names or may hold text of: all must still be readable when it is read again.

    A generator may have used any passage that it was shown, in a sentence without a citation or in a dropped one.
    """
    if isinstance(answer, Answered):
        copied = [one.duplicates for one in answer.citations]
        named = {one.document_id for one in answer.citations}
    else:
        copied = [one.duplicates for one in answer.nearest]
        named = {one.stored.chunk.document_id for one in answer.nearest}
    named |= {document for copies_of_one in copied for document, _ in copies_of_one}
    taken = {document for step in answer.trace.steps for document in step.documents}
    return named | taken | set(answer.trace.read)
