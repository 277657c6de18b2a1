"""The files of docs-formats as fonte reads them, each by a parser child as in a sync, with what it took."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import DATA

from fonte.errors import FonteError
from fonte.parsers.pool import ParserPool
from fonte.text.canonical import canonicalise
from fonte.types import Acl, Document, Parsed, Source, sha256_hex

FOLDER = DATA / "docs-formats"
_ACL = Acl(frozenset({"public"}))


@dataclass(frozen=True, slots=True)
class Read:
    """One file: its documents (of an archive those of its members), or why there are none."""

    file: str
    entry: dict[str, Any]
    documents: tuple[Document, ...]
    error: str
    seconds: float

    @property
    def format(self) -> str:
        """The file's ending, which is what people call a format."""
        return Path(self.file).suffix.lstrip(".").lower()

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(document.text for document in self.documents)


def manifest() -> list[dict[str, Any]]:
    """The files with what is known of them."""
    return [json.loads(line) for line in (FOLDER / "manifest.jsonl").read_text("utf-8").splitlines()]


def stored(path: Path, name: str) -> Source:
    """A file as a source."""
    return Source(path.as_uri(), name, sha256_hex(path.read_bytes()), _ACL, path=str(path))


def read_all(entries: Sequence[dict[str, Any]]) -> Iterator[Read]:
    """Every file, one after the other, so that each one's seconds are its own."""
    with ParserPool() as pool:
        pool.start()
        pool.parse(Source("memory:", "warm.txt", sha256_hex(b"warm"), _ACL, body=b"warm"))
        for entry in entries:
            source = stored(FOLDER / entry["file"], entry["file"])
            began = time.perf_counter()
            documents, error = _documents(pool, source)
            yield Read(entry["file"], entry, documents, error, time.perf_counter() - began)


def _documents(pool: ParserPool, source: Source) -> tuple[tuple[Document, ...], str]:
    try:
        if not source.name.endswith(".zip"):
            return (_document(pool.parse(source), source),), ""
        found = []
        for member in pool.contents(source).members:
            name = "!/".join((source.name, *member.inside))
            inner = Source(f"{source.uri}!/{name}", name, member.content_hash, _ACL, source.path, inside=member.inside)
            found.append(_document(pool.parse(inner), inner))
        return tuple(found), ""
    except FonteError as error:
        return (), f"{error.code}: {error.message}"


def _document(parsed: Parsed, source: Source) -> Document:
    return canonicalise(parsed, source, tenant="bench")
