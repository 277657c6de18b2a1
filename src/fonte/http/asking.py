"""Search, questions, answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import date
from typing import TypeAlias, TypedDict

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from fonte import contract
from fonte.access.identity import Identity
from fonte.errors import FonteError, InvalidRequest
from fonte.http import schemas_answers as out_answers
from fonte.http.identity import Reader
from fonte.http.outward import outward
from fonte.http.replies import STREAMED, error_told, note, reply, timed
from fonte.http.schemas import AskBody, SearchBody, WhyBody
from fonte.http.served import Served
from fonte.http.streaming import BROKEN_OFF, Stream, event, following
from fonte.text.expected import read_expected
from fonte.told_why import why_told
from fonte.types import Answer, Answered, Citation, Filters

_Item: TypeAlias = Citation | str | Answer


def routes(served: Served) -> APIRouter:
    """Search, ask, why, stored answers."""
    router = APIRouter(tags=["asking"])
    corpus = served.corpus

    @router.post("/v1/search", response_model=out_answers.Found)
    def search(body: SearchBody, who: Reader, request: Request) -> Response:
        """Ranked passages that the caller may read."""
        note(request, said(served, body.query))
        found = corpus.search(
            body.query,
            principal=who.principal,
            k=body.k,
            mode=body.mode,
            rerank=body.rerank,
            max_distance=body.max_distance,
            filters=body.filters.filters(),
            as_of=body.as_of,
        )
        shown = {one.stored.chunk.document_id for one in found.results}
        note(request, said(served, body.query), tuple(sorted(shown)))
        timed(request, found.timings_ms)
        return reply(outward(contract.search_results(found), who))

    @router.post("/v1/ask", response_model=out_answers.AnswerTold, responses=STREAMED)
    async def ask(body: AskBody, who: Reader, request: Request) -> Response:
        """An answer whose every sentence is cited, or an abstention; with ``stream`` as server-sent events."""
        note(request, said(served, body.question))
        if body.generator not in (None, *served.generators):
            raise InvalidRequest(
                f"this server has no generator {body.generator!r}", hint=f"it has {', '.join(served.generators)}"
            )
        if not body.stream:
            found = await run_in_threadpool(lambda: corpus.ask(body.question, principal=who.principal, **_wanted(body)))
            note_answer(request, served, body.question, found)
            return reply(outward(contract.answer(found), who))
        items = Stream(lambda: corpus.stream(body.question, principal=who.principal, **_wanted(body))).items()
        # The first item before anything is sent: an error then still has its status.
        first = await anext(items)
        note(request, said(served, body.question), outcome=BROKEN_OFF)  # until its answer is sent
        return StreamingResponse(_events(request, served, who, body.question, first, items), media_type=EVENTS)

    @router.post("/v1/why", response_model=out_answers.WhyTold)
    def why(body: WhyBody, who: Reader, request: Request) -> Response:
        """The layer that lost what a question should have found. Access is told only to administrators."""
        note(request, said(served, body.question))
        found = corpus.why(
            body.question,
            read_expected(body.expect, body.document),
            principal=who.principal,
            k=body.k,
            mode=body.mode,
            rerank=body.rerank,
            tell_access=who.runs_it,
        )
        return reply(why_told(found))

    @router.get("/v1/answers/{answer_id}", response_model=out_answers.KeptAnswer)
    def answer(answer_id: str, who: Reader, request: Request) -> Response:
        """A stored answer as it was given, while its asker may still read all that it was written from."""
        note(request, answer_id)
        kept = json.loads(corpus.answer(answer_id, principal=who.principal))
        note(request, answer_id, cited(kept))
        changed = list(corpus.changed(answer_id, principal=who.principal))
        return reply(outward(kept | {"source_changed": changed}, who))

    return router


EVENTS = "text/event-stream"


class _Wanted(TypedDict):
    generator: str | None
    k: int | None
    max_distance: float | None
    filters: Filters
    as_of: date | None
    conversation: str | None


def _wanted(body: AskBody) -> _Wanted:
    return {
        "generator": body.generator,
        "k": body.k,
        "max_distance": body.max_distance,
        "filters": body.filters.filters(),
        "as_of": body.as_of,
        "conversation": body.conversation_id,
    }


async def _events(
    request: Request, served: Served, who: Identity, question: str, first: _Item, rest: AsyncIterator[_Item]
) -> AsyncIterator[bytes]:
    """``citation`` and ``delta`` as they come, then ``done`` with the whole answer; ``error`` where it breaks."""
    try:
        async for item in following(first, rest):
            note_item(request, served, question, item)
            yield _event(item, who)
    except FonteError as error:
        request.state.audit_outcome = error.code
        yield event("error", error_told(error, request.url.path, request_id=request.state.request_id))


def _event(item: _Item, who: Identity) -> bytes:
    if isinstance(item, Citation):
        return event("citation", outward(contract.citation(item), who))
    if isinstance(item, str):
        return event("delta", {"text": item})
    return event("done", outward(contract.answer(item), who))


def note_answer(request: Request, served: Served, question: str, answer: Answer) -> None:
    """Tell the audit log what was asked, shown, and what came of it."""
    outcome = "ok" if isinstance(answer, Answered) else f"abstained: {answer.reason.value}"
    if isinstance(answer, Answered):
        shown = {one.document_id for one in answer.citations}
    else:
        shown = {one.stored.chunk.document_id for one in answer.nearest}
    note(request, said(served, question), tuple(sorted(shown)), outcome)
    timed(request, answer.trace.timings_ms, "answered" if isinstance(answer, Answered) else answer.reason.value)


def note_item(request: Request, served: Served, question: str, item: _Item) -> None:
    """The same of an item before it is sent: what was cited stands in the log also where a stream breaks off."""
    if isinstance(item, Citation):
        request.state.audit_shown = tuple(sorted({*request.state.audit_shown, item.document_id}))
    elif not isinstance(item, str):
        note_answer(request, served, question, item)


def said(served: Served, question: str) -> str:
    """The question, where the audit log may hold it."""
    return question if served.audit_questions else ""


def cited(kept: contract.Json) -> tuple[str, ...]:
    """Ids of the documents that a stored answer cites, sorted."""
    cited = kept.get("citations")
    return tuple(sorted({one["document_id"] for one in cited})) if isinstance(cited, list) else ()
