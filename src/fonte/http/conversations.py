"""Conversations: those of the caller, one of them, and one no more."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fonte import contract
from fonte.http import schemas_answers as out_answers
from fonte.http.asking import cited
from fonte.http.identity import Reader
from fonte.http.outward import outward
from fonte.http.replies import note, reply
from fonte.http.served import Served


def routes(served: Served) -> APIRouter:
    """List, read, delete."""
    router = APIRouter(tags=["asking"])
    corpus = served.corpus

    @router.get("/v1/conversations", response_model=out_answers.ConversationsTold)
    def conversations(
        who: Reader,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """The caller's conversations, the one that was gone on with last first."""
        found = corpus.conversations(principal=who.principal, limit=limit, offset=offset)
        return reply({"conversations": [contract.conversation_head(one) for one in found]})

    @router.get("/v1/conversations/{conversation_id}", response_model=out_answers.ConversationTold)
    def conversation(conversation_id: str, who: Reader, request: Request) -> Response:
        """What was asked in a conversation, with its answers as they were given."""
        note(request, conversation_id)
        found = contract.conversation(corpus.conversation(conversation_id, principal=who.principal))
        kept = [turn["answer"] for turn in found["turns"] if turn["answer"]]  # type: ignore[attr-defined]  # JSON of ours
        note(request, conversation_id, tuple(sorted({one for told in kept for one in cited(told)})))
        return reply(outward(found, who))

    @router.delete("/v1/conversations/{conversation_id}", response_model=out_answers.ConversationGone)
    def delete(conversation_id: str, who: Reader, request: Request) -> Response:
        """Take a conversation of the caller away, with its answers and what they said of them."""
        note(request, conversation_id)
        answers = corpus.forget_conversation(conversation_id, principal=who.principal)
        served.feedback(who.principal.tenant).forget(answers)
        return reply({"deleted": conversation_id, "answers": len(answers)})

    return router
