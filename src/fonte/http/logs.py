"""Lines of the log, as JSON or plain. Of an exception its kind and place: its message may hold somebody's text."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Final, Literal

FIELDS: Final = ("request_id", "method", "route", "status", "milliseconds")
"""What is told of a request beside the message."""


class Lines(logging.Formatter):
    """A line for each record."""

    def __init__(self, form: Literal["plain", "json"]) -> None:
        super().__init__()
        self._json = form == "json"

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line."""
        told: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().strip(),
        }
        told |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            told["exception"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            told["where"] = [f"{one.filename.rpartition('/')[2]}:{one.lineno} {one.name}" for one in frames]
        if self._json:
            return json.dumps(told, ensure_ascii=False)
        head = " ".join(str(told.pop(name)) for name in ("at", "level", "message"))
        return f"{head} " + " ".join(f"{name}={value}" for name, value in told.items())


def log_to_stderr(form: Literal["plain", "json"]) -> None:
    """Our own records and warnings of what we use, on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(form))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fonte").setLevel(logging.INFO)
