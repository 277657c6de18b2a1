"""One draft while a model writes it: its sentinel held back, its length bounded, its tokens and price counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fonte.errors import ConfigError, ModelError
from fonte.models.endpoint import Endpoint
from fonte.models.estimate import estimated_tokens
from fonte.types import NO_ANSWER, Draft, Language, Passage, Query

Messages: TypeAlias = Sequence[Mapping[str, str]]
Render: TypeAlias = Callable[[Query, Sequence[Passage], Language], Messages]
"""Question, passages and language to messages, each with ``role`` and ``content``."""

CUT = "the answer was cut at max_tokens"
"""In ``Draft.missing`` of an answer that reached the limit."""
ESTIMATED = "the tokens are estimated, for the endpoint did not count them"
"""In ``Draft.notes``."""

_PER = 1_000_000
_CHARACTERS_PER_TOKEN = 16
"""More than a token ever has on the average of a text: beyond it an endpoint does not keep to max_tokens."""
_MOST_TOKENS = 1_000_000_000
"""More than any request has: what tells more counts nothing."""
_WRAPPING = " \t\r\n`'\"*_"
_DECLINED = re.compile(rf"{NO_ANSWER}(?!\w)")


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0


@dataclass(slots=True)
class Heard:
    """What an endpoint has told so far beside text. Token counts are None until it tells them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cut: bool = False


class Writing:
    """Collects one draft. ``heard`` is filled by whoever reads the endpoint."""

    def __init__(self, messages: Messages, *, max_tokens: int, prices: Prices) -> None:
        self.heard = Heard()
        self._messages = messages
        self._limit = max_tokens * _CHARACTERS_PER_TOKEN
        self._prices = prices
        self._text = ""
        self._shown = 0

    def stream(self, pieces: Iterator[str]) -> Iterator[str | Draft]:
        """The pieces as they may be shown, then the Draft; a declined draft comes without pieces.

        Where the pieces break off after something was shown, the draft tells why instead of raising.

        Raises:
            ModelError: the pieces failed before anything was shown.
        """
        broken = ""
        try:
            for piece in pieces:
                self._text += piece
                if len(self._text) > self._limit:
                    self._text = self._text[: self._limit]
                    self.heard.cut = True
                if not _may_decline(self._text) and len(self._text) > self._shown:
                    yield self._text[self._shown :]
                    self._shown = len(self._text)
                if len(self._text) == self._limit:
                    break
        except ModelError as error:
            if not self._shown:
                raise
            broken = error.message
        draft = self.finished(broken=broken)
        if not draft.declined and self._shown < len(self._text):
            yield self._text[self._shown :]
        yield draft

    def whole(self, text: str) -> Draft:
        """The Draft of a text that came in one piece."""
        self._text = text
        return self.finished()

    def finished(self, *, broken: str = "") -> Draft:
        """The Draft of what was collected."""
        declined = not self._text.strip() or _DECLINED.match(self._text.strip(_WRAPPING)) is not None
        heard = self.heard
        prompt, completion = heard.prompt_tokens, heard.completion_tokens
        estimated = prompt is None or completion is None
        if prompt is None:
            prompt = sum(estimated_tokens(one["content"]) for one in self._messages)
        if completion is None:
            completion = estimated_tokens(self._text)
        return Draft(
            text="" if declined else self._text,
            declined=declined,
            missing=(CUT,) if heard.cut and not declined else (),
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=(prompt * self._prices.prompt + completion * self._prices.completion) / _PER,
            broken=broken,
            notes=(ESTIMATED,) if estimated else (),
            cut=heard.cut,
        )


class ChatEndpoint:
    """What generators over an HTTP endpoint share: the model asked, how its prompt is made, its limit and prices."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        render: Render,
        *,
        max_tokens: int = 1024,
        prices: Prices = Prices(),
    ) -> None:
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
        self._prices = prices

    def _writing(self, messages: Messages) -> Writing:
        return Writing(messages, max_tokens=self._max_tokens, prices=self._prices)


def counted(value: object) -> int | None:
    """A number of tokens as an endpoint tells it; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _may_decline(text: str) -> bool:
    """Whether the text so far is, or may still become, the sentinel."""
    start = text.lstrip(_WRAPPING)
    return NO_ANSWER.startswith(start) or _DECLINED.match(start) is not None
