"""Waiting for what another thread or process does, and the notes that watches look at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(done: Callable[[], bool], seconds: float = 120.0) -> None:
    """Return once it is so; a test fails where it never is."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def numbered_notes(folder: Path, many: int) -> Path:
    """The folder, made, with so many notes, each about a pump of its own."""
    folder.mkdir()
    for number in range(many):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nPump {number} is in hall {number}.\n")
    return folder
