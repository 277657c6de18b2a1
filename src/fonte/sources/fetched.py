"""Bytes that came from elsewhere, kept in a tenant's folder with what their server said of that version.

So an unchanged page or object is not fetched again, a parser's child can open it as a file, and what cannot be reached
for a while stays as it was.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fonte.errors import StoreUnavailable
from fonte.text.frontmatter import HEAD_BYTES
from fonte.types import sha256_hex

_OTHER = re.compile(r"[^\w.-]", re.ASCII)
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """One version of something: where its bytes lie, their hash, and what was said of it."""

    path: str
    content_hash: str
    said: Mapping[str, str] = field(default_factory=dict)

    def head(self) -> bytes:
        """The first ``HEAD_BYTES``."""
        with open(self.path, "rb") as file:
            return file.read(HEAD_BYTES)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched for one source, by address. The folder is made by the first ``put``."""

    folder: Path

    def get(self, uri: str) -> Kept | None:
        """What is kept under an address; None for nothing, and for what is not whole any more."""
        body, said = self._paths(uri)
        try:
            told = json.loads(said.read_bytes())
            kept = Kept(str(body), str(told["hash"]), {str(key): str(value) for key, value in told["said"].items()})
            return kept if sha256_hex(body.read_bytes()) == kept.content_hash else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def addresses(self) -> list[str]:
        """Every address under which something is kept, in their order."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                found.append(str(json.loads(path.read_bytes())["uri"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # a killed writer's: nothing is kept there
        return sorted(found)

    def put(self, uri: str, body: bytes, said: Mapping[str, str]) -> Kept:
        """Keep bytes under an address, in the place of those before.

        Raises:
            StoreUnavailable: they cannot be written.
        """
        path, about = self._paths(uri)
        kept = Kept(str(path), sha256_hex(body), dict(said))
        told = {"uri": uri, "hash": kept.content_hash, "said": kept.said}
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            about.unlink(missing_ok=True)  # a killed writer leaves bytes of which nothing is said, which nobody reads
            _replace(path, body)
            _replace(about, json.dumps(told).encode())
        except OSError as error:
            message = f"{self.folder} cannot be written: {error.strerror or error}"
            raise StoreUnavailable(message, hint="check the home and its free space") from error
        return kept

    def keep_only(self, uris: Iterable[str]) -> None:
        """Remove what is kept under other addresses."""
        wanted = {path.name for uri in uris for path in (self._paths(uri)[0].parent, self._paths(uri)[1])}
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                if path.name not in wanted:
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def _paths(self, uri: str) -> tuple[Path, Path]:
        """(where the bytes lie, under the name that they have there, for its ending counts; what was said of them)."""
        digest = sha256_hex(uri)
        name = _OTHER.sub("_", uri.split("?", 1)[0].rsplit("/", 1)[-1])[-_LONGEST_NAME:].lstrip(".")
        return self.folder / digest / (name or "body"), self.folder / f"{digest}.json"


def fetched_for(folder: Path, root: str) -> Fetched:
    """What is kept for the source with this root, below a tenant's folder."""
    return Fetched(folder / sha256_hex(root)[:20])


def _replace(path: Path, body: bytes) -> None:
    beside = path.with_suffix(path.suffix + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(body)
    beside.replace(path)
