"""Answers in JSON, and what every route says of its errors."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

from fonte.contract import Json


class ErrorTold(BaseModel):
    """What went wrong, and what to do."""

    code: str
    message: str
    hint: str
    retryable: bool


class ErrorBody(BaseModel):
    """An error, the same on every route."""

    error: ErrorTold


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": what}
    for status, what in (
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
}


def reply(value: Json, status: int = 200) -> Response:
    """JSON in UTF-8."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Response(body, status_code=status, media_type="application/json")


def note(request: Request, subject: str = "", shown: tuple[str, ...] = (), outcome: str = "ok") -> None:
    """Tell the audit log what a request was about, and which documents something was shown of."""
    request.state.audit_subject = subject
    request.state.audit_shown = shown
    request.state.audit_outcome = outcome
