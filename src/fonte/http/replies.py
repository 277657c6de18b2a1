"""Answers in JSON, and what every route says of its errors."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

from fonte import contract
from fonte.contract import Json
from fonte.errors import FonteError
from fonte.http.outward import MESSAGES, outward_error


class ErrorTold(BaseModel):
    """What went wrong, and what to do."""

    code: str
    message: str
    hint: str
    retryable: bool


class ErrorBody(BaseModel):
    """An error, the same on every route."""

    error: ErrorTold


class OpenAIErrorTold(ErrorTold):
    """The same with the fields that clients of OpenAI's API read."""

    type: str
    param: str | None


class OpenAIErrorBody(BaseModel):
    """An error of the routes in OpenAI's form."""

    error: OpenAIErrorTold


def _errors(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": model, "description": what} for status, what in _STATUSES}


_STATUSES: Final = (
    (400, "wrong input"),
    (401, "no key, or none that is good"),
    (403, "the key does not allow this"),
    (404, "absent, or not to be read by the asker"),
    (409, "something else changed first"),
    (413, "too large"),
    (415, "a kind that is not read"),
    (422, "not of the form that is taken"),
    (429, "too many requests of one caller"),
    (502, "a model answered nonsense"),
    (503, "not now"),
)
STREAMED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/event-stream": {}}, "description": "whole, or as events"}
}
ERRORS: Final = _errors(ErrorBody)
OPENAI_ERRORS: Final = _errors(OpenAIErrorBody)


def reply(value: Json, status: int = 200) -> Response:
    """JSON in UTF-8."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Response(body, status_code=status, media_type="application/json")


OPENAI_PATHS: Final = frozenset({"/v1/chat/completions", "/v1/models"})
"""Where errors are read by clients of OpenAI's API."""
_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_FAULT_OF_OURS = 500
_log = logging.getLogger("fonte.http")


def error_told(error: FonteError, path: str, param: str | None = None, *, request_id: str = "") -> Json:
    """An error as the address's clients read it; in OpenAI's form with our fields as well.

    What is not told to them for it may name files of the machine stands in the log.
    """
    inner = contract.error(error)["error"]
    told = outward_error(inner if isinstance(inner, dict) else {})
    if error.code in MESSAGES:
        _log.error("%s: %s; %s", error.code, error.message, error.hint, extra={"request_id": request_id})
    if path not in OPENAI_PATHS:
        return {"error": told}
    other = "invalid_request_error" if error.http_status < _FAULT_OF_OURS else "server_error"
    kind = _TYPES.get(error.http_status, other)
    return {"error": {**told, "type": kind, "param": param}}


def timed(request: Request, timings_ms: Mapping[str, float], answer: str = "") -> None:
    """Tell the counters how long stages took, and of answers what came of them."""
    request.state.timings_ms = timings_ms
    request.state.answer = answer


def note(request: Request, subject: str = "", shown: tuple[str, ...] = (), outcome: str = "ok") -> None:
    """Tell the audit log what a request was about, and which documents something was shown of."""
    request.state.audit_subject = subject
    request.state.audit_shown = shown
    request.state.audit_outcome = outcome
