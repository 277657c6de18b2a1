"""What answers are made of, for the description at ``/openapi.json``: the shapes of ``contract.py`` by name.

They describe and do not work: an answer is written once, by ``contract.py``, and not checked again on its way out. The
tests hold the two together. Fields may be added, so that none of these is closed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from fonte.access.jobs import JobKind, JobState
from fonte.access.records import Verdict
from fonte.http.replies import ErrorTold
from fonte.types import AbstentionReason, DocumentStatus, GenerationState

Box: TypeAlias = Annotated[list[float], Field(min_length=4, max_length=4)]
Support: TypeAlias = Literal["supported", "partial", "unsupported", "not_checked"]


class Place(BaseModel):
    """Where something stands in a document's text, half-open, in characters; and on its page, slide or sheet."""

    start: Annotated[int, Field(alias="from")]
    to: int
    page: int | None
    page_label: str | None
    page_end: int | None
    boxes: list[Box] | None
    slide: int | None
    time: list[float] | None
    sheet: str | None
    range: str | None
    anchor: str | None
    lines: list[int] | None


class Duplicate(BaseModel):
    """Another document that says the same words."""

    document_id: str
    source_uri: str


class Scores(BaseModel):
    """What each stage thought of a passage."""

    bm25: float | None
    dense_distance: float | None
    rrf: float | None
    rerank: float | None
    fused: float | None


class Passage(BaseModel):
    """A passage that was found; ``content`` is the exact text of its place."""

    rank: int
    chunk_id: str
    document_id: str
    document_name: str
    source_uri: str
    source_version: str
    title: str
    section: str
    chunk_index: int
    language: str
    content: str
    valid_from: str | None
    valid_to: str | None
    locator: Place
    fragment: str
    label: str
    scores: Scores
    duplicates: list[Duplicate]
    flags: list[str]


class Step(BaseModel):
    """What was made of a question before it was looked for."""

    name: str
    outcome: str
    texts: list[str]
    documents: list[str]


class Found(BaseModel):
    """Passages, best first."""

    query: str
    as_of: str | None
    generation: str
    results: list[Passage]
    timings_ms: dict[str, float]
    trace_id: str
    steps: list[Step]
    reranker: str | None
    notes: list[str]


class Cited(BaseModel):
    """A citation: ``quote`` is the exact text of its place."""

    index: int
    chunk_id: str
    chunk_index: int
    document_id: str
    document_name: str
    source_uri: str
    source_version: str
    quote: str
    quote_sha256: str
    locator: Place
    fragment: str
    label: str
    url: str
    cosine_distance: float | None
    valid_from: str | None
    valid_to: str | None
    duplicates: list[Duplicate]
    flags: list[str]


class PlaceTold(BaseModel):
    """Characters of a cited document."""

    citation: int
    start: Annotated[int, Field(alias="from")]
    to: int


class SentenceTold(BaseModel):
    """A sentence with its markers, what was checked of it, and the sentences of its sources that it goes back to."""

    text: str
    citations: list[int]
    support: Support
    checks: dict[str, str | float]
    places: list[PlaceTold]


class Gate(BaseModel):
    """Whether the evidence was enough."""

    calibrated: bool
    score: float
    threshold: float
    stamp: str
    features: dict[str, float]


class Usage(BaseModel):
    """What a generator used."""

    prompt_tokens: int
    completion_tokens: int
    cost: float


class Abstention(BaseModel):
    """Why there is no answer, and what came nearest."""

    reason: AbstentionReason
    message: str
    nearest: list[Passage]


class ComputedTold(BaseModel):
    """What was computed over a table."""

    operation: str
    expression: str
    sql: str
    parameters: list[str | list[str]]
    columns: dict[str, str]
    table: str
    document_id: str
    range: str
    locator: Place
    rows: int
    value: str


class AnswerTold(BaseModel):
    """An answer, or an abstention with its reason."""

    question: str
    as_of: str | None
    answered: bool
    answer: str
    language: str
    sentences: list[SentenceTold]
    citations: list[Cited]
    abstention: Abstention | None
    missing: list[str]
    computed: ComputedTold | None
    gate: Gate
    generation: str
    generator: str
    usage: Usage
    timings_ms: dict[str, float]
    trace_id: str
    answer_id: str
    conversation_id: str | None
    notes: list[str]
    dropped: list[SentenceTold]
    steps: list[Step]
    reranker: str | None


class KeptAnswer(AnswerTold):
    """A stored answer as it was given; ``source_changed`` are indexes of citations whose source is another by now."""

    source_changed: list[int]


class TurnTold(BaseModel):
    """A question with its answer, null where that is not served any more."""

    question: str
    asked_at: str
    answer_id: str
    answer: AnswerTold | None
    source_changed: list[int]


class ConversationTold(BaseModel):
    """A conversation, oldest first."""

    conversation_id: str
    turns: list[TurnTold]


class ConversationHead(BaseModel):
    """A conversation by its first question."""

    conversation_id: str
    question: str
    turns: int
    begun_at: str
    last_at: str


class ConversationsTold(BaseModel):
    """The caller's, the one that was gone on with last first."""

    conversations: list[ConversationHead]


class ConversationGone(BaseModel):
    """Which, and how many answers went with it."""

    deleted: str
    answers: int


class LayerTold(BaseModel):
    """A layer on a question's way."""

    layer: str
    present: bool | None
    rank: int | None
    score: float | None
    detail: str


class Change(BaseModel):
    """A setting with which it would have been found."""

    change: str
    rank: int | None
    tried: bool


class WhyTold(BaseModel):
    """Where the expected was lost."""

    question: str
    lost_at: str | None
    reason: str
    next: str | None
    layers: list[LayerTold]
    counterfactual: Change | None


class Measure(BaseModel):
    """How much of a document there is at a stage."""

    characters: int
    words: int
    numbers: int
    rows: int
    pages: int


class Loss(BaseModel):
    """What was lost between two stages."""

    code: str
    message: str
    count: int


class Ledger(BaseModel):
    """What of a document came through each stage."""

    balanced: bool
    source: Measure
    parsed: Measure | None
    canonical: Measure
    chunks: Measure
    index: Measure | None
    truncated_chunks: int
    header_tokens: int
    embedded_tokens: int
    losses: list[Loss]


class StampTold(BaseModel):
    """What a document was indexed with."""

    embedding_model: str
    embedding_revision: str
    dimensions: int
    space: str
    pipeline: str
    extractor: str
    chunking: str
    terms: str
    codec: str | None


class DocumentTold(BaseModel):
    """A document's state."""

    document_id: str
    document_name: str
    source_uri: str
    state: DocumentStatus
    reason: str | None
    retryable: bool
    chunks: int
    pages: int | None
    language: str
    roles: list[str]
    source_version: str
    stamp: StampTold | None
    ledger: Ledger | None
    duplicate_of: str | None
    similarity: float | None
    outlier: list[str]


class Documents(BaseModel):
    """Documents and their states."""

    documents: list[DocumentTold]


class TextTold(BaseModel):
    """A range of a document's text."""

    document_id: str
    document_name: str
    source_uri: str
    state: DocumentStatus
    start: Annotated[int, Field(alias="from")]
    to: int
    text: str
    locator: Place
    media_type: str
    pages: int | None
    characters: int
    metadata: dict[str, Any]


class CellTold(BaseModel):
    """A cell of a table: its column, from 0, its characters, and the first of them as text."""

    column: int
    start: Annotated[int, Field(alias="from")]
    to: int
    text: str


class RowTold(BaseModel):
    """A row, by its number in the sheet."""

    number: int
    start: Annotated[int, Field(alias="from")]
    to: int
    cells: list[CellTold]


class TableTold(BaseModel):
    """Rows of a table, ``first`` (from 0) and on, of ``total``; ``names`` are those of its column names."""

    document_id: str
    document_name: str
    table: int
    tables: int
    sheet: str | None
    columns: int
    names: list[RowTold]
    first: int
    total: int
    rows: list[RowTold]


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


class Named(BaseModel):
    """A document by its id and name."""

    document_id: str
    document_name: str


class Deleted(BaseModel):
    """What is out of sight."""

    deleted: list[Named]


class Erased(BaseModel):
    """Ids of what is in no file any more."""

    erased: list[str]


class Stale(Named):
    """A document that was indexed otherwise than documents are now, and in what."""

    differs: list[str]


class Copied(Named):
    """A document that says the same as another."""

    duplicate_of: str
    duplicate_of_name: str
    similarity: float


class Odd(Named):
    """A document unlike the others."""

    reasons: list[str]


class HeldTold(BaseModel):
    """A rollback after which nothing is published by itself."""

    left: str
    since: str


class StatusTold(BaseModel):
    """What is there, and what is stale."""

    tenant: str
    generation: str | None
    documents: dict[str, int]
    chunks: int
    recipe: str | None
    embedding_model: str | None
    token_codec: str | None
    token_code_bytes: int | None
    dense_search: Literal["exact", "approximate"] | None
    candidates: list[str]
    stale: list[Stale] | None
    stale_unknown: str | None
    duplicates: list[Copied]
    outliers: list[Odd]
    held: HeldTold | None


class GenerationTold(BaseModel):
    """A state of the index."""

    id: str
    state: GenerationState
    created_at: str
    documents: int
    chunks: int
    recipe: str
    verdict: str | None
    checks: dict[str, Any] | None
    judgment: dict[str, Any] | None


class Generations(BaseModel):
    """States of the index, oldest first."""

    active: str | None
    generations: list[GenerationTold]


class DiffersTold(BaseModel):
    """One field that is not the same in both."""

    field: str
    a: Any
    b: Any


class DiffDocument(BaseModel):
    """A document that only one of two generations has, or that is not the same in both."""

    document_id: str
    document_name: str
    state: DocumentStatus
    differs: list[DiffersTold]


class DiffDocuments(BaseModel):
    """The first of some documents, and how many there are."""

    total: int
    listed: list[DiffDocument]


class DiffLists(BaseModel):
    """Documents of two generations, each in one list; the same ones are counted."""

    added: DiffDocuments
    removed: DiffDocuments
    modified: DiffDocuments
    other_state: DiffDocuments
    otherwise: DiffDocuments
    unchanged: int


class DiffSide(BaseModel):
    """One of two generations."""

    id: str
    state: GenerationState
    created_at: str
    documents: int
    chunks: int
    recipe: str
    judged: str | None


class DiffMeasure(BaseModel):
    """A kept figure of each."""

    a: float | None
    b: float | None


class GenerationsDiffer(BaseModel):
    """What generation B is beside A."""

    a: DiffSide
    b: DiffSide
    recipe: list[DiffersTold]
    documents: DiffLists
    measures: dict[str, DiffMeasure]
    same_questions: bool | None


class Switched(BaseModel):
    """The active generation, and the one before."""

    generation: str
    previous: str | None


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
