"""What files hold, remembered by their bytes: a container that did not change is not opened to be listed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fonte.parsers.codec import BadReply, decode_contents, encode_contents
from fonte.protocols import Unpacker
from fonte.types import Contents, Source, sha256_hex

LISTING_VERSION = "2"
"""Raised whenever the same file would be listed otherwise: other kinds, limits, names or front matter."""


@dataclass(slots=True)
class RememberingUnpacker:
    """An unpacker that asks another one only for what it has not seen. Listings lie in ``folder``, one file each."""

    inner: Unpacker
    folder: Path
    used: set[str] = field(default_factory=set)

    def may_hold(self, head: bytes, name: str) -> bool:
        """As the other one says."""
        return self.inner.may_hold(head, name)

    def contents(self, source: Source) -> Contents:
        """What a file holds. A listing that ended early, or failed, is not remembered.

        Raises:
            As the other one.
        """
        # The name counts too: it tells mails from texts, and names what a packed file holds.
        name = os.path.basename(source.path or source.name)  # noqa: PTH119 - bytes that need not be text
        shown = os.fsencode(name).hex()
        key = sha256_hex(f"{LISTING_VERSION}\0{source.content_hash}\0{shown}\0{source.name}")
        self.used.add(key)
        path = self.folder / key
        try:
            return decode_contents(path.read_bytes())
        except (OSError, BadReply):
            contents = self.inner.contents(source)
        if contents.error is None:
            self._keep(path, encode_contents(contents))
        return contents

    def _keep(self, path: Path, listing: bytes) -> None:
        """Remember a listing; where that cannot be done, the next sync lists anew."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside = path.with_suffix(".new")
            beside.write_bytes(listing)
            beside.replace(path)
        except OSError:
            return

    def forget_others(self) -> None:
        """Forget what was not asked for, where the home lets us."""
        try:
            for path in self.folder.iterdir() if self.folder.is_dir() else ():
                if path.name not in self.used:
                    path.unlink(missing_ok=True)
        except OSError:
            return


@contextmanager
def remembering(unpacking: AbstractContextManager[Unpacker], folder: Path) -> Iterator[RememberingUnpacker]:
    """An unpacker that remembers; what a whole scan did not ask for is forgotten at its end."""
    with unpacking as inner:
        unpacker = RememberingUnpacker(inner, folder)
        yield unpacker
        unpacker.forget_others()
