"""Settings of sources: what holds for them by glob."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Section(BaseModel):
    """A table of ``fonte.toml``: keys that it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SourceRule(Section):
    """What holds for sources whose name matches one of the globs. ``roles = []`` means nobody may read them."""

    match: tuple[str, ...]
    roles: tuple[str, ...] | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] | None = None
    title: str | None = None
    tenant: Annotated[str, Field(min_length=1)] | None = None
    valid_from: date | None = None
    valid_to: date | None = None

    @field_validator("match", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not self.match or any(not item.strip() for item in (*self.match, *(self.roles or ()))):
            raise ValueError("match should name at least one glob, and no glob or role may be empty")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to should not be before valid_from")
        return self
