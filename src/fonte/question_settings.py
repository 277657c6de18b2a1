"""Settings of a question's way: what is made of it, how wide it is looked for, and what orders what was found."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from fonte.source_settings import Positive, Seconds, Section, plain_url


class QuestionSettings(Section):
    """Which steps a question goes through before it is looked for; each is told in the trace."""

    history: bool = True
    parts: bool = False


class RetrievalSettings(Section):
    """Widths of retrieval; each leg fetches ``candidates``, or ``k`` where that is more.

    ``rerank`` acts where the model's token vectors are in the index, and not in mode ``bm25``; ``per_document`` 0 means
    no cap; ``max_distance`` is a cosine distance, above 0 to 2; ``near_copies`` are passages of two documents with the
    same readers, the same numbers and nearly the same words.
    """

    k: Positive = 8
    candidates: Positive = 50
    mode: Literal["hybrid", "bm25", "dense"] = "hybrid"
    rerank: bool = True
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = None
    per_document: Annotated[int, Field(ge=0)] = 4
    near_copies: Literal["shown", "once"] = "shown"


class RerankerSettings(Section):
    """What orders the first ``depth`` passages anew where ``[retrieval] rerank`` says so.

    ``late`` is late interaction over the index's token codes; the others read each passage. ``base_url``, ``form`` and
    ``window`` (tokens, question included) are of ``http:MODEL`` alone. ``required``: its failure is the question's.
    """

    source: str = "late"
    base_url: str | None = None
    form: Literal["cohere", "jina", "tei"] | None = None
    window: Annotated[int, Field(ge=32)] | None = None
    threads: Positive | None = None
    timeout_seconds: Seconds = 30.0
    depth: Positive = 25
    required: bool = False

    @field_validator("source")
    @classmethod
    def _scheme(cls, value: str) -> str:
        scheme, _, name = value.partition(":")
        if value != "late" and (scheme not in {"path", "hf", "st", "http"} or not name):
            raise ValueError(
                'should be "late", "path:DIR", "hf:NAME@REVISION", "st:NAME@REVISION", "st:DIR" or "http:MODEL"'
            )
        return value

    _url = field_validator("base_url")(plain_url)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        served = self.source.startswith("http:")
        if served and (self.base_url is None or self.form is None):
            raise ValueError('source = "http:MODEL" needs base_url and form ("cohere", "jina" or "tei")')
        if not served and (self.base_url is not None or self.form is not None or self.window is not None):
            raise ValueError("base_url, form and window are of an http: reranker")
        return self
