"""The calibration of a tenant's gate: one small file beside the catalog, replaced whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fonte.errors import StoreUnavailable


class CalibrationFile:
    """Text in one file. What it means is its reader's affair; no code is ever loaded from it."""

    def __init__(self, path: Path, prepare: Callable[[], None]) -> None:
        """Nothing is created before the first ``save``; ``prepare`` then makes the folder."""
        self._path = path
        self._prepare = prepare

    def load(self) -> str | None:
        """What was saved last; None where nothing was.

        Raises:
            StoreUnavailable: the file is there and cannot be read.
        """
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unavailable(self._path, error) from error

    def save(self, text: str) -> None:
        """Replace what was saved: a reader sees the old text or the new one, whole, whenever the process dies.

        Raises:
            StoreUnavailable: it cannot be written; then the old text stands.
        """
        self._prepare()
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            with draft.open("w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            draft.replace(self._path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise _unavailable(self._path, error) from error


def _unavailable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"{path.name} cannot be read or written: {error.strerror}", hint="check the home's owner, mode and free space"
    )
