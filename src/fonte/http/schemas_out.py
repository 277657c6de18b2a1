"""What answers are made of, for the description at ``/openapi.json``: the shapes of ``contract.py`` by name.

They describe and do not work: an answer is written once, by ``contract.py``, and not checked again on its way out. The
tests hold the two together. Fields may be added, so that none of these is closed.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from fonte.access.jobs import JobKind, JobState
from fonte.access.records import Verdict
from fonte.http.replies import ErrorTold
from fonte.http.schemas_answers import AnswerTold


class KeyTold(BaseModel):
    """A key; its text is known only where it was just made."""

    id: str
    tenant: str
    user: str | None
    roles: list[str]
    actions: list[str]
    created_at: str
    expires: str | None
    good: bool


class KeysTold(BaseModel):
    """The keys of a tenant."""

    keys: list[KeyTold]


class NewKey(KeyTold):
    """A key that was just made: its text is told this once."""

    key: str


class Revoked(BaseModel):
    """The id of a key that was ended."""

    revoked: str


class SessionTold(BaseModel):
    """Who the caller is; ``keys``: whether any key exists, ``provider``: whether one can sign in elsewhere."""

    signed_in: bool
    keys: bool
    provider: bool = False
    local: bool = False
    tenant: str | None = None
    user: str | None = None
    roles: list[str] = []
    actions: list[str] = []


class Entry(BaseModel):
    """What was done."""

    number: int
    at: str
    tenant: str
    identity: str
    user: str | None
    action: str
    subject: str
    outcome: str
    shown: list[str]
    request_id: str


class Entries(BaseModel):
    """What was done, newest first."""

    entries: list[Entry]


class Health(BaseModel):
    """``ok``."""

    status: str


class Ready(BaseModel):
    """``ready`` or ``not ready``; each check is ``ok`` or ``failed``."""

    status: str
    checks: dict[str, str]


class ModelTold(BaseModel):
    """A name that chats are asked by."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Models(BaseModel):
    """Those names."""

    object: Literal["list"]
    data: list[ModelTold]


class UrlCitation(BaseModel):
    """A marker's range in the content, and the place that it stands for."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """A citation in OpenAI's form."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class ChatMessage(BaseModel):
    """The answer as a message."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class Choice(BaseModel):
    """The only one."""

    index: int
    message: ChatMessage
    finish_reason: Literal["stop"]
    logprobs: None


class ChatUsage(BaseModel):
    """Tokens of a generator."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    """An answer in OpenAI's form; ``fonte`` is the whole."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    fonte: AnswerTold


class Progress(BaseModel):
    """How far a job is."""

    what: str
    done: int
    total: int | None


class JobTold(BaseModel):
    """Work beside requests."""

    id: str
    kind: JobKind
    state: JobState
    progress: Progress
    report: dict[str, Any] | None
    error: ErrorTold | None
    user: str | None
    tries: int
    created_at: str
    started_at: str | None
    ended_at: str | None


class Jobs(BaseModel):
    """Jobs, newest first."""

    jobs: list[JobTold]


class Begun(BaseModel):
    """A job that was just queued."""

    job: JobTold


class Taken(BaseModel):
    """A document that was handed over."""

    name: str
    document_id: str


class Uploaded(Begun):
    """What was handed over, and the job that reads it."""

    documents: list[Taken]


class Said(BaseModel):
    """An asker's word on an answer."""

    answer_id: str
    user: str | None
    verdict: Verdict
    comment: str
    at: str


class Feedbacks(BaseModel):
    """What askers said, newest first."""

    feedback: list[Said]
