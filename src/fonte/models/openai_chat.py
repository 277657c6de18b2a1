"""Any OpenAI-compatible ``/chat/completions`` endpoint as a ``Generator``. What it writes is not trusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from fonte.errors import BadModelOutput, ConfigError
from fonte.models.endpoint import Endpoint
from fonte.types import NO_ANSWER, Draft, Language, Passage, Query

Render: TypeAlias = Callable[[Query, Sequence[Passage], Language], Sequence[Mapping[str, str]]]
"""Question, passages and language to messages, each with ``role`` and ``content``."""

CUT = "the answer was cut at max_tokens"
"""In ``Draft.missing`` of an answer that reached the limit."""

_WRAPPING = " \t\r\n`'\"*_"
_DECLINED = re.compile(rf"{NO_ANSWER}(?!\w)")
_PATH = "/chat/completions"


class OpenAIChat:
    """Implements ``fonte.protocols.Generator``. Safe for several threads."""

    def __init__(self, model: str, endpoint: Endpoint, render: Render, *, max_tokens: int = 1024) -> None:
        """Nothing is sent yet. ``render`` gives the messages of a prompt.

        Raises:
            ConfigError: no model's name, or max_tokens below 1.
        """
        if not model:
            raise ConfigError("a generator needs a model", hint="set [generation] model")
        if max_tokens < 1:
            raise ConfigError("[generation] max_tokens must be at least 1")
        self._model = model
        self._endpoint = endpoint
        self._render = render
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """Name shown in answers."""
        return f"openai:{self._model}"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """The model's text, with its tokens counted. Declined (and then without text) by the sentinel or silence.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput
        """
        answer = self._endpoint.post(_PATH, self._body(query, passages, language))
        choice = self._choice(answer)
        message = choice.get("message") if choice else None
        if choice is None or not isinstance(message, dict):
            raise BadModelOutput(f"{self._endpoint.where} gave no message")
        text = self._text(message)
        return _finished(text, _usage(answer), cut=choice.get("finish_reason") == "length")

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """Pieces of text as they come, then the Draft of them all. A declined draft comes without pieces.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: at any piece.
        """
        body = self._body(query, passages, language) | {"stream": True, "stream_options": {"include_usage": True}}
        text, shown, cut = "", 0, False
        usage = (0, 0)
        for event in self._endpoint.stream(_PATH, body):
            usage = _usage(event) if event.get("usage") else usage
            choice = self._choice(event)
            if choice is None:  # the event that only tells the usage
                continue
            cut = cut or choice.get("finish_reason") == "length"
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                raise BadModelOutput(f"{self._endpoint.where} gave a piece without text")
            text += self._text(delta)
            if not _may_decline(text) and len(text) > shown:
                yield text[shown:]
                shown = len(text)
        draft = _finished(text, usage, cut=cut)
        if not draft.declined and shown < len(text):
            yield text[shown:]
        yield draft

    def _body(self, query: Query, passages: Sequence[Passage], language: Language) -> dict[str, object]:
        messages = [dict(message) for message in self._render(query, passages, language)]
        return {"model": self._model, "messages": messages, "temperature": 0, "max_tokens": self._max_tokens}

    def _choice(self, answer: Mapping[str, object]) -> Mapping[str, object] | None:
        """The first choice; None when there is an empty list of them."""
        choices = answer.get("choices")
        if not isinstance(choices, list) or (choices and not isinstance(choices[0], dict)):
            raise BadModelOutput(f"{self._endpoint.where} gave no choices")
        return choices[0] if choices else None

    def _text(self, message: Mapping[str, object]) -> str:
        content = message.get("content")
        if content is None:
            return ""
        if not isinstance(content, str):
            raise BadModelOutput(f"{self._endpoint.where} gave content that is not text")
        return content


def _usage(answer: Mapping[str, object]) -> tuple[int, int]:
    """Prompt and completion tokens; 0 where the endpoint does not tell."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    prompt, completion = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return tuple(value if type(value) is int and value >= 0 else 0 for value in (prompt, completion))  # type: ignore[return-value]  # two in, two out


def _finished(text: str, usage: tuple[int, int], *, cut: bool) -> Draft:
    declined = not text.strip() or _DECLINED.match(text.strip(_WRAPPING)) is not None
    return Draft(
        text="" if declined else text,
        declined=declined,
        missing=(CUT,) if cut and not declined else (),
        prompt_tokens=usage[0],
        completion_tokens=usage[1],
    )


def _may_decline(text: str) -> bool:
    """Whether the text so far is, or may still become, the sentinel."""
    start = text.lstrip(_WRAPPING)
    return NO_ANSWER.startswith(start) or _DECLINED.match(start) is not None
