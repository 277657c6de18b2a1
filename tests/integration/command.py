"""Runs fonte's command line in this process and gives back what a program would see."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fonte.cli import main


@dataclass(frozen=True)
class Ran:
    """One command's outcome."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def fonte(home: Path, *arguments: str, json_mode: bool = True) -> Ran:
    """One command over a home."""
    stdout, stderr = sys.stdout, sys.stderr
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    sys.stdout, sys.stderr = out, err
    try:
        status = main([*arguments, "--home", str(home), *(["--json"] if json_mode else [])])
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    out.flush()
    return Ran(status, out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]  # buffer is our BytesIO


def shown_of(home: Path, citation: Mapping[str, Any]) -> dict[str, Any]:
    """What ``fonte show`` gives for the place that a citation names."""
    place = citation["locator"]
    shown: dict[str, Any] = fonte(
        home, "show", citation["document_id"], "--from", str(place["from"]), "--to", str(place["to"])
    ).json
    return shown
