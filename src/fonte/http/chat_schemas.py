"""Chat requests in OpenAI's form: what is used is named; what would change the answer and cannot be done is refused."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class _Given(BaseModel):
    """Fields that are not named are taken and not used; the answer tells which."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Part(_Given):
    """A part of a message's content."""

    type: Literal["text"]
    text: str


def _content(value: object) -> object:
    if isinstance(value, list):
        kinds = {str(one.get("type")) for one in value if isinstance(one, dict)} - {"text"}
        if kinds:
            raise ValueError(f"only text is read here, not {', '.join(sorted(kinds))[:80]}")
    return value


class Message(_Given):
    """A message. Those of users are questions, those of assistants what was answered; all others are not used."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str | list[Part] | None, BeforeValidator(_content)] = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


def _one(value: object) -> object:
    if value not in (None, 1):
        raise ValueError("one answer is made of a question; n can only be 1")
    return value


def _no_tool(value: object) -> object:
    if value not in (None, "none", "auto"):
        raise ValueError("tools are not called here; tool_choice can only be none or auto")
    return value


class AsText(_Given):
    """The only form of an answer."""

    type: Literal["text"]


def _as_text(value: object) -> object:
    if isinstance(value, dict) and value.get("type") != "text":
        raise ValueError("an answer is text with citations; response_format can only be text")
    return value


def _no_audio(value: object) -> object:
    if isinstance(value, list) and any(one != "text" for one in value):
        raise ValueError("an answer is text; modalities can only be text")
    return value


class StreamOptions(_Given):
    """What a stream ends with."""

    include_usage: bool | None = None


class ChatBody(_Given):
    """A chat. The last message of a user is the question."""

    model: Annotated[str, Field(min_length=1, max_length=100)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=1000)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[Literal[1] | None, BeforeValidator(_one)] = None
    tool_choice: Annotated[Literal["none", "auto"] | None, BeforeValidator(_no_tool)] = None
    response_format: Annotated[AsText | None, BeforeValidator(_as_text)] = None
    modalities: Annotated[list[Literal["text"]] | None, BeforeValidator(_no_audio)] = None

    def not_used(self) -> tuple[str, ...]:
        """What of the request has no part in the answer, in words."""
        roles = {one.role for one in self.messages} & _UNUSED_ROLES
        found = [f"messages of {', '.join(sorted(roles))}"] if roles else []
        given = [name for name, value in (self.model_extra or {}).items() if value not in _NOTHING]
        found += sorted(name[:40] for name in given if name not in _WITHOUT_EFFECT)
        return tuple(found[:MOST_TOLD])


MOST_TOLD: Final = 20
_UNUSED_ROLES: Final = frozenset({"system", "developer", "tool", "function"})
_NOTHING: tuple[object, ...] = (None, [], {}, False)
_WITHOUT_EFFECT: Final = frozenset({"user", "metadata", "store", "safety_identifier", "service_tier"})
"""They say nothing of what an answer should be."""
