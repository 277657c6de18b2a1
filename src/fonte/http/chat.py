"""Questions in the form of OpenAI's chat completions, for clients that speak nothing else.

What was said before comes with every request: it is the caller's data, with which a question that leaves something out
is read, and never evidence.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from fonte import contract
from fonte.access.identity import Identity
from fonte.contract import Json
from fonte.errors import FonteError, InvalidQuery, NotFound
from fonte.http import schemas_out as out
from fonte.http.asking import EVENTS, note_answer, note_item, said
from fonte.http.chat_schemas import ChatBody, Message
from fonte.http.identity import Reader
from fonte.http.outward import outward, place_link
from fonte.http.replies import OPENAI_ERRORS, STREAMED, error_told, note, reply
from fonte.http.schemas import MOST_CHARACTERS
from fonte.http.served import Served
from fonte.http.streaming import BROKEN_OFF, Stream, following
from fonte.text.language import detect
from fonte.text.markers import MARKER, cleaned
from fonte.text.sentences import sentences
from fonte.types import Abstained, Answer, Answered, Citation, Said

MODEL = "fonte"


def routes(served: Served) -> APIRouter:
    """Chat and the names of its models."""
    router = APIRouter(tags=["chat"], responses=OPENAI_ERRORS)

    @router.get("/v1/models", response_model=out.Models)
    def models(who: Reader) -> Response:
        """``fonte``, and one for each generator that the settings allow."""
        del who
        names = [MODEL, *(f"{MODEL}:{name}" for name in served.generators)]
        told = [{"id": name, "object": "model", "created": 0, "owned_by": "fonte"} for name in names]
        return reply({"object": "list", "data": told})

    @router.post("/v1/chat/completions", response_model=out.Completion, responses=STREAMED)
    async def complete(body: ChatBody, who: Reader, request: Request) -> Response:
        """An answer as a message with its citations as annotations; ``fonte`` holds the whole answer.

        The last message of a user is the question, the messages before it are the conversation.
        """
        asked = _Asked.of(body, served, who, str(request.base_url))
        note(request, said(served, asked.question))
        if not body.stream:
            found = await run_in_threadpool(
                lambda: served.corpus.ask(
                    asked.question, principal=who.principal, generator=asked.generator, conversation=asked.before
                )
            )
            note_answer(request, served, asked.question, found)
            return reply(asked.completion(found))
        items = Stream(
            lambda: served.corpus.stream(
                asked.question, principal=who.principal, generator=asked.generator, conversation=asked.before
            )
        ).items()
        first = await anext(items)
        note(request, said(served, asked.question), outcome=BROKEN_OFF)  # until its answer is sent
        with_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        return StreamingResponse(
            _chunks(request, served, asked, first, items, with_usage=with_usage), media_type=EVENTS
        )

    return router


@dataclass
class _Asked:
    """A question out of a chat, and its answer back into the form of one, as far as it is known."""

    question: str
    before: tuple[Said, ...]
    generator: str | None
    model: str
    notes: tuple[str, ...]
    who: Identity
    root: str
    created: int
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")

    @classmethod
    def of(cls, body: ChatBody, served: Served, who: Identity, root: str) -> _Asked:
        """Raises NotFound: no such model. InvalidQuery: no question."""
        name, _, generator = body.model.partition(":")
        if name != MODEL or (":" in body.model and generator not in served.generators):
            raise NotFound(f"there is no model {body.model!r}", hint="GET /v1/models tells which there are")
        at = max((at for at, one in enumerate(body.messages) if one.role == "user"), default=-1)
        question = body.messages[at].text if at >= 0 else ""
        if not question.strip():
            raise InvalidQuery("no message of a user asks anything", hint="the last one is the question")
        if len(question) > MOST_CHARACTERS:
            raise InvalidQuery(f"the question has more than {MOST_CHARACTERS} characters", hint="ask in fewer words")
        unused = body.not_used()
        before = body.messages[:at]
        notes = [f"not used: {', '.join(unused)}"] if unused else []
        if any(len(one.text) > MOST_CHARACTERS for one in before):
            notes.append(f"messages of before are read up to {MOST_CHARACTERS} characters")
        return cls(
            question,
            _said_before(before),
            generator or None,
            body.model,
            tuple(notes),
            who,
            root,
            int(served.now().timestamp()),
        )

    def completion(self, answer: Answer) -> Json:
        """The whole answer."""
        text = answer.text if isinstance(answer, Answered) else answer.message
        cited = {one.index: one for one in answer.citations} if isinstance(answer, Answered) else {}
        message = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "annotations": self.annotations(text, 0, cited),
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._head("chat.completion") | {
            "choices": [choice],
            "usage": _usage(answer),
            "fonte": self.told(answer),
        }

    def chunk(self, delta: Json, finish: str | None = None) -> Json:
        """A piece of it."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return self._head("chat.completion.chunk") | {"choices": [choice]}

    def usage_chunk(self, answer: Answer) -> Json:
        """The last piece, where it was asked for."""
        return self._head("chat.completion.chunk") | {"choices": [], "usage": _usage(answer)}

    def told(self, answer: Answer) -> Json:
        """The whole answer, as ``/v1/ask`` gives it, with what of the request was not used."""
        told = outward(contract.answer(answer), self.who)
        return told | {"notes": [*answer.trace.notes, *self.notes]}

    def annotations(self, text: str, at: int, cited: dict[int, Citation]) -> list[Json]:
        """The markers in a text that begins at ``at`` of the message, with what they stand for."""
        found: list[Json] = []
        for marker in MARKER.finditer(text):
            one = cited.get(int(marker[1]))
            if one is None:
                continue
            link = {
                "start_index": at + marker.start(1) - 1,
                "end_index": at + marker.end(),
                "title": one.label or one.document_name,
                "url": self.root.rstrip("/") + place_link(contract.citation(one)),
            }
            found.append({"type": "url_citation", "url_citation": link})
        return found

    def _head(self, kind: str) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _said_before(messages: list[Message]) -> tuple[Said, ...]:
    """Questions of before, oldest first, each with the sentences of what was answered."""
    found: list[Said] = []
    for one in messages:
        text = one.text[:MOST_CHARACTERS]
        if one.role == "user" and text.strip():
            found.append(Said(text.strip()))
        elif one.role == "assistant" and found and not found[-1].sentences:
            plain = [cleaned(text[start:end], _unheard) for start, end in sentences(text, detect(text))]
            found[-1] = Said(found[-1].text, tuple((sentence, ()) for sentence in plain if sentence))
    return tuple(found)


def _unheard(_removed: str) -> None:
    """What is taken out of what was said before is told to nobody: none of it is shown."""


async def _chunks(
    request: Request,
    served: Served,
    asked: _Asked,
    first: Citation | str | Answer,
    rest: AsyncIterator[Citation | str | Answer],
    *,
    with_usage: bool,
) -> AsyncIterator[bytes]:
    """The role, the text with the annotations of its markers, the end with the whole answer, usage, ``[DONE]``."""
    cited: dict[int, Citation] = {}
    length = 0
    last: Citation | str | Answer = first
    try:
        yield _data(asked.chunk({"role": "assistant", "content": ""}))
        async for last in following(first, rest):
            note_item(request, served, asked.question, last)
            if isinstance(last, Citation):
                cited[last.index] = last
            elif isinstance(last, str):
                found = asked.annotations(last, length, cited)
                yield _data(asked.chunk({"content": last} | ({"annotations": found} if found else {})))
                length += len(last)
    except FonteError as error:
        request.state.audit_outcome = error.code
        yield _data(error_told(error, request.url.path, request_id=request.state.request_id))
        return
    if isinstance(last, Abstained):
        # Also where it withdraws after some text was sent: the reader must see that it does.
        yield _data(asked.chunk({"content": f"\n\n{last.message}" if length else last.message}))
    if isinstance(last, Answered | Abstained):
        yield _data(asked.chunk({}, "stop") | {"fonte": asked.told(last)})
        if with_usage:
            yield _data(asked.usage_chunk(last))
    yield b"data: [DONE]\n\n"


def _data(told: Json) -> bytes:
    return f"data: {json.dumps(told, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def _usage(answer: Answer) -> Json:
    total = answer.prompt_tokens + answer.completion_tokens
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": total,
    }
