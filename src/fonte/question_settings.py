"""Settings of a question's way: what is made of it, how wide it is looked for, what orders and supports it."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, field_validator, model_validator

from fonte.source_settings import Positive, Seconds, Section, plain_url


def _table(value: object) -> object:
    """``NAME = OTHER, ANOTHER; NAME = OTHER`` of a variable; in a file one other name alone, or a list of them."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(";") if part.strip()]
        value = {name.strip(): others.split(",") for name, _, others in pairs}
    if not isinstance(value, dict):
        return value
    return {name: _names(others) for name, others in value.items()}


def _names(others: object) -> object:
    listed = [others] if isinstance(others, str) else others
    return tuple(one.strip() if isinstance(one, str) else one for one in listed) if isinstance(listed, list) else others


_Name: TypeAlias = Annotated[str, Field(min_length=1)]
Aliases: TypeAlias = Annotated[dict[_Name, Annotated[tuple[_Name, ...], Field(min_length=1)]], BeforeValidator(_table)]
"""Names for the same things, by one of them."""


class QuestionSettings(Section):
    """Which steps a question goes through before it is looked for; each is told in the trace."""

    history: Literal["off", "rules", "model"] = "rules"
    aliases: Aliases = {}  # noqa: RUF012 - pydantic copies it, and the section is frozen
    variants: bool = False
    filters: Literal["off", "first", "only"] = "off"
    parts: bool = True


class RetrievalSettings(Section):
    """Widths of retrieval; each leg fetches ``candidates``, or ``k`` where that is more.

    ``rerank`` acts where the model's token vectors are in the index, and not in mode ``bm25``; ``per_document`` 0 means
    no cap; ``max_distance`` is a cosine distance, above 0 to 2; ``near_copies`` are passages of two documents with the
    same readers, the same numbers and nearly the same words. Of a tenant with more than ``exact_chunks`` chunks the
    dense leg compares the question with those alone that signs of vectors tell to be near. ``resident_mb`` is what the
    postings and texts of a generation may take in the memory of a server, which then answers words without the table;
    0 is never.
    """

    k: Positive = 8
    candidates: Positive = 50
    mode: Literal["hybrid", "bm25", "dense"] = "hybrid"
    fusion: Literal["rrf", "minmax", "theoretical", "deviations"] = "rrf"
    dense_weight: Annotated[float, Field(gt=0, lt=1)] = 0.5
    rerank: bool = True
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = None
    per_document: Annotated[int, Field(ge=0)] = 4
    near_copies: Literal["shown", "once"] = "shown"
    exact_chunks: Annotated[int, Field(ge=0)] = 200_000
    resident_mb: Annotated[int, Field(ge=0)] = 1024


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


class SupportSettings(Section):
    """What becomes of an unsupported sentence.

    ``flag`` shows it as such, ``drop`` leaves it out, and with ``abstain`` the whole answer is withheld. ``entailment``
    is a model for natural language inference: ``path:DIR`` or ``hf:NAME@REVISION`` in ONNX, or ``http:MODEL``, of
    which ``base_url`` and ``timeout_seconds`` (of one sentence) are.
    """

    policy: Literal["flag", "drop", "abstain"] = "flag"
    entailment: str | None = None
    base_url: str | None = None
    threads: Positive | None = None
    timeout_seconds: Seconds = 10.0

    @field_validator("entailment")
    @classmethod
    def _scheme(cls, value: str | None) -> str | None:
        scheme, _, name = (value or "").partition(":")
        if value is not None and (scheme not in {"path", "hf", "http"} or not name):
            raise ValueError('should be "path:DIR", "hf:NAME@REVISION" or "http:MODEL"')
        return value

    _url = field_validator("base_url")(plain_url)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.base_url is not None) != (self.entailment or "").startswith("http:"):
            raise ValueError('entailment = "http:MODEL" needs base_url, and nothing else has one')
        return self
