"""Documents: their states, their texts, out of sight."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from fonte import contract
from fonte.access.identity import Action, Identity
from fonte.contract import Json
from fonte.http import schemas_index as out_index
from fonte.http.identity import Reader, Writer
from fonte.http.outward import outward
from fonte.http.replies import note, reply
from fonte.http.served import Served
from fonte.named import absent, only_one
from fonte.text.rows import LONGEST_CELL, MOST_ROWS, Grid, Row
from fonte.types import Document, DocumentState, DocumentStatus

MARK = "x-fonte-mark"
"""Where a page's first mark begins, as a share of its height."""


def routes(served: Served) -> APIRouter:
    """Listing, one document, its text, delete."""
    router = APIRouter(tags=["documents"])
    corpus = served.corpus

    @router.get("/v1/documents", response_model=out_index.Documents)
    def documents(who: Reader, state: DocumentStatus | None = None) -> Response:
        """Documents and their states: all for administrators, else those that the caller may read."""
        found = visible(served, who)
        listed = [one for one in found if state is None or one.status is state]
        return reply({"documents": [outward(contract.document_state(one), who) for one in listed]})

    @router.get("/v1/documents/{document_id}", response_model=out_index.DocumentTold)
    def document(document_id: str, who: Reader, request: Request) -> Response:
        """One document's state, by its id."""
        note(request, document_id)
        found = one_visible(served, who, document_id)
        note(request, document_id, (found.document_id,))
        return reply(outward(contract.document_state(found), who))

    @router.get("/v1/documents/{document_id}/text", response_model=out_index.TextTold)
    def text(
        document_id: str,
        who: Reader,
        request: Request,
        start: Annotated[int | None, Query(alias="from", ge=0, le=2**31)] = None,
        to: Annotated[int | None, Query(ge=0, le=2**31)] = None,
    ) -> Response:
        """The canonical text, or a range of its characters; also administrators see only what they may read."""
        note(request, document_id)
        shown, state, place = corpus.show(document_id, principal=who.principal, start=start, end=to)
        note(request, document_id, (shown.id,))
        return reply(outward(contract.shown_document(shown, state, place), who))

    @router.get("/v1/documents/{document_id}/table", response_model=out_index.TableTold)
    def table(
        document_id: str,
        who: Reader,
        request: Request,
        start: Annotated[int | None, Query(alias="from", ge=0, le=2**31)] = None,
        to: Annotated[int | None, Query(ge=0, le=2**31)] = None,
        number: Annotated[int | None, Query(alias="table", ge=0, le=100_000)] = None,
        first: Annotated[int | None, Query(ge=0, le=2**31)] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 60,
    ) -> Response:
        """Rows of the table in which a range of the text lies; or of ``table`` (from 0), from its row ``first`` on."""
        note(request, document_id)
        found, shown = corpus.table(
            document_id, principal=who.principal, start=start, end=to, table=number, first=first, many=limit
        )
        note(request, document_id, (shown.id,))
        return reply(_table_told(found, shown))

    @router.get(
        "/v1/documents/{document_id}/pages/{page}.png",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}, "description": "the page"}},
    )
    def picture(
        document_id: str,
        page: Annotated[int, Path(ge=1, le=100_000)],
        who: Reader,
        request: Request,
        chunk: Annotated[str | None, Query(max_length=200)] = None,
        start: Annotated[int | None, Query(alias="from", ge=0, le=2**31)] = None,
        to: Annotated[int | None, Query(ge=0, le=2**31)] = None,
    ) -> Response:
        """A page of a PDF file or a picture, with a passage marked on it: a chunk, or a range of the text."""
        note(request, document_id)
        drawn, shown = corpus.page(document_id, page, principal=who.principal, start=start, end=to, chunk=chunk)
        note(request, document_id, (shown.id,))
        headers = {MARK: f"{drawn.mark:.4f}"} if drawn.mark is not None else {}
        return Response(drawn.png, media_type="image/png", headers=headers)

    @router.delete("/v1/documents/{document_id}", response_model=out_index.Deleted | out_index.Erased)
    def delete(document_id: str, who: Writer, request: Request, erase: bool = False) -> Response:  # noqa: FBT001, FBT002 - a query parameter
        """Take a document out of sight at once, in every generation; with ``erase`` (admin) out of every file."""
        note(request, document_id)
        found = one_visible(served, who, document_id).document_id
        if erase:
            who.require(Action.ADMIN)
            note(request, found)  # its name is to be forgotten as well
            return reply({"erased": corpus.erase(found, tenant=who.principal.tenant)})
        gone = corpus.delete(found, tenant=who.principal.tenant)
        return reply({"deleted": [{"document_id": one.document_id, "document_name": one.name} for one in gone]})

    return router


def visible(served: Served, who: Identity) -> list[DocumentState]:
    """Documents whose state the caller may see."""
    if who.runs_it:
        return served.corpus.documents(tenant=who.principal.tenant, ledgers=True)
    return served.corpus.readable(who.principal)


def one_visible(served: Served, who: Identity, document: str) -> DocumentState:
    """The document of that id, name or URI whose state the caller may see.

    Raises:
        NotFound: absent or forbidden. InvalidQuery: several are called so.
    """
    if not who.runs_it:
        return only_one(document, served.corpus.readable(who.principal, document=document))
    found = [one for one in visible(served, who) if document in (one.document_id, one.name, one.uri)]
    if not found:
        raise absent(document)
    return only_one(document, found)


def _table_told(one: Grid, document: Document) -> Json:
    """A table's rows; ``names`` are those of its column names. A cell has its column, from 0, and its characters."""

    def row(row: Row) -> Json:
        cells = [
            {
                "column": cell.column,
                "from": cell.start,
                "to": cell.end,
                "text": document.text[cell.start : cell.end][:LONGEST_CELL],
            }
            for cell in row.cells
        ]
        return {"number": row.number, "from": row.start, "to": row.end, "cells": cells}

    return {
        "document_id": document.id,
        "document_name": document.name,
        "table": one.table,
        "tables": one.tables,
        "sheet": one.sheet,
        "columns": one.columns,
        "names": [row(found) for found in one.names],
        "first": one.first,
        "total": one.total,
        "rows": [row(found) for found in one.rows],
    }
