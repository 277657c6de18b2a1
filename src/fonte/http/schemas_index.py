"""Documents, the state of an index and its generations, as `schemas_out.py` describes what goes out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from fonte.access.standing import Breaker, PassState
from fonte.http.schemas_answers import Place
from fonte.types import DocumentStatus, GenerationState


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


class FaultTold(BaseModel):
    """Why a pass did not go well."""

    code: str
    message: str
    hint: str
    retryable: bool | None = None


class TendedTold(BaseModel):
    """A source that is looked after without a person."""

    source: str
    breaker: Breaker
    failures: int
    error: FaultTold | None
    next_try: str | None
    looked_at: str | None
    worker: str | None


class PassTold(BaseModel):
    """One look at such a source; ``report`` holds counts."""

    source: str
    state: PassState
    started_at: str
    ended_at: str | None
    changed: bool
    report: dict[str, Any] | None
    error: FaultTold | None
    worker: str


class StandingTold(BaseModel):
    """Sources that are looked after, their newest passes, and how many documents are tried no more."""

    sources: list[TendedTold]
    passes: list[PassTold]
    given_up: int


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
    word_search: Literal["memory", "loading", "table"] | None
    candidates: list[str]
    stale: list[Stale] | None
    stale_unknown: str | None
    duplicates: list[Copied]
    outliers: list[Odd]
    held: HeldTold | None
    standing: StandingTold


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
    held: HeldTold | None
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
