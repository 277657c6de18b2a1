"""Requests as they come in: every field is named here, and one that is not is refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fonte.access.identity import Action
from fonte.access.records import Verdict
from fonte.errors import InvalidRequest
from fonte.types import Filters

MOST_CHARACTERS = 8_000
"""Of a question."""


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
Names: TypeAlias = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=100), BeforeValidator(_several)
]
K: TypeAlias = Annotated[int, Field(ge=1, le=100)]


class Body(BaseModel):
    """A body in JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FiltersBody(Body):
    """Only these documents (id, name or URI), languages (``it``) or media types; one or a list."""

    document: Names = []
    language: Names = []
    type: Names = []

    def filters(self) -> Filters:
        """The same for the corpus."""
        return Filters(documents=tuple(self.document), languages=tuple(self.language), media_types=tuple(self.type))


class SearchBody(Body):
    """A search."""

    query: Text
    k: K | None = None
    mode: Literal["hybrid", "bm25", "dense"] | None = None
    rerank: bool | None = None
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = None
    filters: FiltersBody = FiltersBody()
    as_of: date | None = None


class AskBody(Body):
    """A question."""

    question: Text
    conversation_id: Annotated[str, Field(pattern="^(new|v[0-9a-f]{20})$")] | None = None
    generator: Literal["extractive", "openai", "anthropic", "gguf"] | None = None
    stream: bool = False
    k: K | None = None
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = None
    filters: FiltersBody = FiltersBody()
    as_of: date | None = None


class WhyBody(Body):
    """What a question should have found: words, or a place as ``NAME#page=3``."""

    question: Text
    expect: Text
    document: Annotated[str, Field(max_length=1000)] = ""
    k: K | None = None
    mode: Literal["hybrid", "bm25", "dense"] | None = None
    rerank: bool | None = None


class SessionBody(Body):
    """A key to sign in with."""

    key: Annotated[str, Field(min_length=1, max_length=200)]


class KeyBody(Body):
    """A key for somebody of the caller's own tenant."""

    user: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    roles: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] = []
    actions: Annotated[list[Action], Field(min_length=1, max_length=3)] = [Action.READ]
    days: Annotated[int, Field(ge=1, le=3650)] | None = None


class PublishBody(Body):
    """Why a candidate is published against its checks."""

    override: Annotated[str, Field(min_length=3, max_length=500)] | None = None


class SyncBody(Body):
    """Which sources to sync again: all, or those of these names."""

    sources: Names = []
    publish: bool = True


class FeedbackBody(Body):
    """What an asker says of an answer."""

    answer_id: Annotated[str, Field(min_length=1, max_length=100)]
    verdict: Verdict
    comment: Annotated[str, Field(max_length=4000)] = ""


class UploadFields(Body):
    """What is said of files that are handed over."""

    allow: Annotated[str, Field(max_length=4000)] = ""
    title: Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = None
    language: Annotated[str, Field(pattern="^[a-z]{2}$")] | None = None

    @classmethod
    def of(cls, said: Mapping[str, str]) -> Self:
        """The fields of a form. Raises InvalidRequest."""
        try:
            return cls.model_validate(dict(said))
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidRequest(f"{first['loc'][0]}: {first['msg']}"[:200], hint="see /openapi.json") from error

    def roles(self) -> list[str]:
        """The roles of ``allow``."""
        return [part.strip() for part in self.allow.split(",") if part.strip()]
