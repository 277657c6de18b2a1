"""Taking a tenant out of the files of a home, and the file that says what is being taken out."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from fonte.stores.erasing import Eraser, disk

JOURNAL = "erasing.json"
_GONE = ".erased-"


class HomeEraser(Eraser):
    """Over the files of a home."""

    def everything(self) -> None:
        """Take the tenant out: its folder, its keys, its entries in the audit log.

        Raises:
            HomeLocked, StoreUnavailable: run it again.
        """
        if self.folder.exists():
            with self.catalog.writer(), disk():
                self.folder.rename(self.folder.with_name(f"{_GONE}{uuid.uuid4().hex}"))
        with disk():
            for gone in self.folder.parent.glob(f"{_GONE}*"):
                shutil.rmtree(gone)
        self._disown_tenant()


class JournalFile:
    """An erasure that was begun, in a file beside the catalog."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> str | None:
        """What was saved, None where nothing was. Raises StoreUnavailable."""
        with disk():
            return self._path.read_text(encoding="utf-8") if self._path.exists() else None

    def save(self, text: str) -> None:
        """Replace it; it is on the disk when this returns. Raises StoreUnavailable."""
        beside = self._path.with_name(f"{self._path.name}.new")
        with disk():
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            beside.replace(self._path)

    def remove(self) -> None:
        """Forget it. Raises StoreUnavailable."""
        with disk():
            self._path.unlink()
