"""Passages, answers, conversations and why, as `schemas_out.py` describes what goes out."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from fonte.types import AbstentionReason

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
