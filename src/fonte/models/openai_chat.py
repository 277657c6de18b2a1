"""Any OpenAI-compatible ``/chat/completions`` endpoint as a ``Generator``. What it writes is not trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fonte.errors import BadModelOutput
from fonte.models.writing import ChatEndpoint, Heard, Messages, counted
from fonte.types import Draft, Language, Passage, Query

_PATH = "/chat/completions"


class OpenAIChat(ChatEndpoint):
    """Implements ``fonte.protocols.Generator``. Safe for several threads."""

    @property
    def name(self) -> str:
        """Name shown in answers."""
        return f"openai:{self._model}"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """The model's text, with its tokens counted. Declined (and then without text) by the sentinel or silence.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput
        """
        messages = self._render(query, passages, language)
        writing = self._writing(messages)
        answer = self._endpoint.post(_PATH, self._body(messages))
        choice = self._choice(answer)
        if choice is None or not isinstance(choice.get("message"), dict):
            raise BadModelOutput(f"{self._endpoint.where} gave no message")
        return writing.whole(self._piece(answer, writing.heard))

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """Pieces of text as they come, then the Draft of them all. A declined draft comes without pieces.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: before the first piece; later the Draft tells of it.
        """
        messages = self._render(query, passages, language)
        writing = self._writing(messages)
        body = self._body(messages) | {"stream": True, "stream_options": {"include_usage": True}}
        yield from writing.stream(self._pieces(body, writing.heard))

    def _pieces(self, body: Mapping[str, object], heard: Heard) -> Iterator[str]:
        answered = False
        for event in self._endpoint.stream(_PATH, body):
            answered = answered or self._choice(event) is not None
            yield self._piece(event, heard)
        if not answered:
            raise BadModelOutput(f"{self._endpoint.where} gave no message")

    def _body(self, messages: Messages) -> dict[str, object]:
        sent = [dict(message) for message in messages]
        return {"model": self._model, "messages": sent, "temperature": 0, "max_tokens": self._max_tokens}

    def _piece(self, event: Mapping[str, object], heard: Heard) -> str:
        """The text of an event or of a whole answer; what else it tells goes to ``heard``."""
        usage = event.get("usage")
        if isinstance(usage, dict):
            heard.prompt_tokens = counted(usage.get("prompt_tokens"))
            heard.completion_tokens = counted(usage.get("completion_tokens"))
        choice = self._choice(event)
        if choice is None:  # the event that only tells the usage
            return ""
        heard.cut = heard.cut or choice.get("finish_reason") == "length"
        # An endpoint that does not stream answers whole, with a message.
        said = choice.get("delta", choice.get("message"))
        if not isinstance(said, dict):
            raise BadModelOutput(f"{self._endpoint.where} gave a piece without text")
        content = said.get("content")
        if content is not None and not isinstance(content, str):
            raise BadModelOutput(f"{self._endpoint.where} gave content that is not text")
        return content or ""

    def _choice(self, answer: Mapping[str, object]) -> Mapping[str, object] | None:
        """The first choice; None when there is an empty list of them."""
        choices = answer.get("choices")
        if not isinstance(choices, list) or (choices and not isinstance(choices[0], dict)):
            raise BadModelOutput(f"{self._endpoint.where} gave no choices")
        return choices[0] if choices else None
