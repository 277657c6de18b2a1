"""Stored answers and conversations: kept as they were given, read again only while their asker may.

What was said before comes from the stored answers themselves. One that is not served any more (a document that it
needs was deleted, or may not be read) takes what it said out of the conversation; its question stays, which is the
asker's.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fonte import contract
from fonte.answer import now
from fonte.errors import NotFound, StoreUnavailable
from fonte.named import documents_of
from fonte.overseen import Overseen
from fonte.processing import HISTORY
from fonte.store_protocols import Catalog
from fonte.types import Answer, Conversation, ConversationHead, KeptTurn, Principal, Said, Turn

_log = logging.getLogger("fonte.conversing")
NEW = "new"
"""What begins a conversation, in the place of its id."""
REMEMBERED = 3
"""Turns that a question is read with."""


class Conversing(Overseen):
    """A corpus that remembers what it answered, and in which conversation."""

    def answer(self, answer_id: str, *, principal: Principal) -> str:
        """A stored answer's JSON, byte for byte, while the asker may still read all that it was written from.

        Raises:
            NotFound
        """
        return self._store_of(principal.tenant).catalog.answer(answer_id, principal)

    def answers(self, *, principal: Principal) -> list[str]:
        """Every stored answer that ``answer`` gives to this asker, oldest first."""
        catalog = self._store_of(principal.tenant).catalog
        return [catalog.answer(answer_id, principal) for answer_id in catalog.answer_ids(principal)]

    def judged_answers(self, answer_ids: Iterable[str], *, principal: Principal) -> list[str]:
        """Of these stored answers, whosever they are, those whose documents the principal may all read now.

        For people who judge answers that their askers handed over by saying what they think of them.
        """
        catalog, found = self._store_of(principal.tenant).catalog, []
        for answer_id in answer_ids:
            with suppress(NotFound):
                found.append(catalog.judged_answer(answer_id, principal))
        return found

    def changed(self, answer_id: str, *, principal: Principal) -> tuple[int, ...]:
        """Indexes of a stored answer's citations whose source has another version by now.

        Raises:
            NotFound: as ``answer``.
        """
        catalog = self._store_of(principal.tenant).catalog
        return _changed(json.loads(catalog.answer(answer_id, principal)), catalog)

    def conversation(self, conversation_id: str, *, principal: Principal) -> Conversation:
        """What was asked in a conversation, with the answers as they were given.

        Raises:
            NotFound: absent, or somebody else's.
        """
        store = self._store_of(principal.tenant)
        kept = store.conversations.turns(conversation_id, principal)
        return Conversation(conversation_id, tuple(_turn(one, store.catalog, principal) for one in kept))

    def conversations(self, *, principal: Principal, limit: int = 100, offset: int = 0) -> list[ConversationHead]:
        """The asker's conversations, the one that was gone on with last first."""
        return self._store_of(principal.tenant).conversations.heads(principal, limit, offset)

    def forget_conversation(self, conversation_id: str, *, principal: Principal) -> list[str]:
        """Take a conversation of the asker's away, with its stored answers; the ids of these.

        Raises:
            NotFound: absent, or somebody else's.
        """
        store = self._store_of(principal.tenant)
        answers = [turn.answer_id for turn in store.conversations.turns(conversation_id, principal)]
        store.catalog.forget_answers(answers, principal)  # first: what is left when this fails can be deleted again
        store.conversations.remove(conversation_id, principal)
        return answers

    def _said(self, conversation: str | Sequence[Said] | None, principal: Principal) -> tuple[str, tuple[Said, ...]]:
        """The conversation's id (a new one for ``new``, empty where it is not ours), and what was said in it lately.

        Raises:
            NotFound: absent, or somebody else's.
        """
        if conversation is None:
            return "", ()
        if conversation == NEW:
            return "v" + uuid.uuid4().hex[:20], ()
        if not isinstance(conversation, str):
            return "", tuple(conversation)[-REMEMBERED:]
        store = self._store_of(principal.tenant)
        kept = store.conversations.turns(conversation, principal)[-REMEMBERED:]
        return conversation, tuple(_said(one, store.catalog, principal) for one in kept)

    def _kept(self, answer: Answer, principal: Principal, conversation: str) -> Answer:
        """The answer, stored; where the store cannot be written (read-only, full) with a note that it was not kept."""
        answer = replace(answer, trace=replace(answer.trace, conversation=conversation))
        store = self._store_of(principal.tenant)
        moment = now()
        body = json.dumps(contract.answer(answer), ensure_ascii=False)
        try:
            store.catalog.save_answer(answer.answer_id, principal, moment, body, sorted(documents_of(answer)))
            if conversation:
                store.conversations.add(conversation, principal, KeptTurn(answer.question, answer.answer_id, moment))
        except StoreUnavailable as error:
            _log.warning("an answer was not kept: %s", error.message)  # it may name the home, and notes go out
            note = f"this answer was not kept: {error.hint}"
            trace = replace(answer.trace, conversation="", notes=(*answer.trace.notes, note))
            return replace(answer, answer_id="", trace=trace)
        return answer


def _turn(kept: KeptTurn, catalog: Catalog, principal: Principal) -> Turn:
    try:
        body = catalog.answer(kept.answer_id, principal)
    except NotFound:
        return Turn(kept.question, kept.answer_id, kept.asked_at)
    return Turn(kept.question, kept.answer_id, kept.asked_at, body, _changed(json.loads(body), catalog))


def _changed(told: Mapping[str, Any], catalog: Catalog) -> tuple[int, ...]:
    active = catalog.active()
    found = []
    for one in told["citations"]:
        state = catalog.state(active.id, one["document_id"]) if active else None
        if state is None or state.version != one["source_version"]:
            found.append(int(one["index"]))
    return tuple(found)


def _said(turn: KeptTurn, catalog: Catalog, principal: Principal) -> Said:
    """What a turn leaves to the questions after it: its sentences with all documents that its answer needs."""
    try:
        told = json.loads(catalog.answer(turn.answer_id, principal))
        needed = tuple(catalog.answer_documents(turn.answer_id, principal))
    except NotFound:
        return Said(turn.question)
    sentences = tuple((one["text"], needed) for one in told["sentences"])
    read = next((step for step in told.get("steps", ()) if step["name"] == HISTORY and step["texts"]), None)
    if read is None:
        return Said(turn.question, sentences)
    return Said(read["texts"][0], sentences, tuple(read["documents"]))
