"""Anthropic's Messages API as a ``Generator``. What it writes is not trusted.

Temperature is left to the endpoint: newer models refuse a request that sets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fonte.errors import BadModelOutput
from fonte.models.writing import ChatEndpoint, Heard, Messages, counted
from fonte.types import Draft, Language, Passage, Query

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
"""Sent as ``anthropic-version``: the form of the API that is spoken here."""
_PATH = "/v1/messages"


class AnthropicMessages(ChatEndpoint):
    """Implements ``fonte.protocols.Generator``. Safe for several threads."""

    @property
    def name(self) -> str:
        """Name shown in answers."""
        return f"anthropic:{self._model}"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """The model's text, with its tokens counted. Declined (and then without text) by the sentinel or silence.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput
        """
        messages = self._render(query, passages, language)
        writing = self._writing(messages)
        answer = self._endpoint.post(_PATH, self._body(messages))
        return writing.whole(self._message(answer, writing.heard))

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """Pieces of text as they come, then the Draft of them all. A declined draft comes without pieces.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: before the first piece; later the Draft tells of it.
        """
        messages = self._render(query, passages, language)
        writing = self._writing(messages)
        events = self._endpoint.stream(
            _PATH, self._body(messages) | {"stream": True}, ends=lambda event: event.get("type") == "message_stop"
        )
        yield from writing.stream(self._piece(event, writing.heard) for event in events)

    def _body(self, messages: Messages) -> dict[str, object]:
        """The system's words stand beside the messages here, not among them."""
        system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
        told = [dict(one) for one in messages if one["role"] != "system"]
        return {"model": self._model, "max_tokens": self._max_tokens, "system": system, "messages": told}

    def _piece(self, event: Mapping[str, object], heard: Heard) -> str:
        """The text of one event of a stream; what else it tells goes to ``heard``."""
        kind = event.get("type")
        if kind == "message":  # an endpoint that does not stream answers whole
            return self._message(event, heard)
        if kind == "message_start":
            message = event.get("message")
            self._told(message if isinstance(message, dict) else {}, heard)
        elif kind == "message_delta":
            delta = event.get("delta")
            self._told({**event, **(delta if isinstance(delta, dict) else {})}, heard)
        elif kind == "content_block_delta":
            delta = event.get("delta")
            if not isinstance(delta, dict):
                raise BadModelOutput(f"{self._endpoint.where} gave a piece without text")
            return self._text(delta) if delta.get("type") == "text_delta" else ""
        elif not isinstance(kind, str):
            raise BadModelOutput(f"{self._endpoint.where} gave an event without a type")
        return ""  # ping, the ends of blocks, and events that later versions may add

    def _message(self, answer: Mapping[str, object], heard: Heard) -> str:
        """The text of a whole answer."""
        blocks = answer.get("content")
        if not isinstance(blocks, list) or not all(isinstance(one, dict) for one in blocks):
            raise BadModelOutput(f"{self._endpoint.where} gave no message")
        self._told(answer, heard)
        return "".join(self._text(one) for one in blocks if one.get("type") == "text")

    def _text(self, block: Mapping[str, object]) -> str:
        text = block.get("text")
        if not isinstance(text, str):
            raise BadModelOutput(f"{self._endpoint.where} gave content that is not text")
        return text

    def _told(self, answer: Mapping[str, object], heard: Heard) -> None:
        usage = answer.get("usage")
        if isinstance(usage, dict):
            read = [counted(usage.get(name)) for name in _INPUT]
            if read[0] is not None:
                heard.prompt_tokens = sum(one or 0 for one in read)
            heard.completion_tokens = counted(usage.get("output_tokens"))
        heard.cut = heard.cut or answer.get("stop_reason") == "max_tokens"


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What is read of a prompt, told apart by where it was read from."""
