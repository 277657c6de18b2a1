"""fonte itself: synced, searched and read like the others."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import InstantEncoder
from scale_texts import WordEncoder
from work import Document, Found, Piece, Read, Vectors

from fonte import Answered, Principal, SourceOptions
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.protocols import Embedder
from fonte.text.locate import locate
from fonte.types import Codes, DocumentStatus
from fonte.types import Vectors as Rows
from fonte.wiring import make_parts

READY_SECONDS = 120


@dataclass
class _Given(WordEncoder):
    """Vectors that were made beforehand; codes that mean nothing, as many as there are tokens."""

    vectors: Vectors | None = None

    def embed_passages(self, texts: Sequence[str]) -> Rows:
        assert self.vectors is not None
        return self.vectors.passages(texts)

    def _vector(self, text: str) -> Any:
        assert self.vectors is not None
        return self.vectors.query(text)


@dataclass
class _Timed(InstantEncoder):
    """The real encoder, and the seconds that it takes for passages."""

    seconds: float = field(default=0.0)

    def embed_passages(self, texts: Sequence[str]) -> Rows:
        began = time.perf_counter()
        try:
            return self.real.embed_passages(texts)
        finally:
            self.seconds += time.perf_counter() - began

    def encode_passages(self, texts: Sequence[str]) -> tuple[Rows, list[Codes]]:
        began = time.perf_counter()
        try:
            return self.real.encode_passages(texts)  # type: ignore[attr-defined]  # the default model has codes
        finally:
            self.seconds += time.perf_counter() - began


class Fonte:
    """A corpus in a folder, whose documents are files by role, or records where they come without rights."""

    packages = ("fonte", "lancedb", "onnxruntime", "numpy", "pypdfium2", "lxml")

    def __init__(self, vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> None:
        self._folder = folder / "files"
        self._folder.mkdir()
        self._rerank = False if variant == "fused" else None
        settings: dict[str, object] = {}
        if task["kind"] == "speed":
            settings = {"chunking.size": 160, "chunking.header": False, "retrieval.per_document": 0}
        self.options = "shipped settings, reranking " + ("off" if self._rerank is False else "on")
        self.options += "".join(f", {name} = {value}" for name, value in settings.items())
        rules = "".join(f'[[sources]]\nmatch = "{role}/**"\nroles = ["{role}"]\n' for role in task.get("roles", ()))
        (folder / "fonte.toml").write_text(rules)
        self._roles = frozenset(task.get("roles", ()))
        home = folder / "home"
        parts = make_parts(home, load_settings(folder / "fonte.toml", home, {}, settings))
        real = parts.make_embedder()
        self._encoder: Embedder = (
            _Timed(real) if task["kind"] in ("ranking", "refusal") else _Given(real, vectors=vectors)
        )
        self._corpus = OpenCorpus(replace(parts, make_embedder=lambda: self._encoder))
        self._parts = parts
        self._records = task["kind"] in ("ranking", "refusal")

    @property
    def model_seconds(self) -> float:
        """Seconds that the encoder took for passages."""
        return self._encoder.seconds if isinstance(self._encoder, _Timed) else 0.0

    def add(self, documents: Sequence[Document]) -> None:
        """Sync."""
        if self._records:
            lines = [json.dumps({"_id": one.id, "text": one.text}, ensure_ascii=False) for one in documents]
            (self._folder / "all.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        else:
            for one in documents:
                self._write(one)
        self._sync()

    def _write(self, one: Document) -> None:
        path = self._folder / one.role / f"{one.id}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(one.chunks or (one.text,)) + "\n", encoding="utf-8")

    def _sync(self) -> None:
        report = self._corpus.sync(str(self._folder), options=SourceOptions(records=self._records))
        if report.failures or not report.published:
            raise SystemExit(f"not synced: {report.failures[:1]} {report.held_back}")
        self.chunks = report.chunks_total

    def settle(self) -> None:
        """A process that stays: wait until words are answered from memory."""
        self._corpus.warm()
        self.search("ready", 1)
        until = time.monotonic() + READY_SECONDS
        while str(self._corpus.status().word_search) == "loading" and time.monotonic() < until:
            time.sleep(0.05)

    def replace(self, document: Document) -> None:
        """Its file anew, and a sync of everything."""
        self._write(document)
        self._sync()

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """As whoever holds every role, or one."""
        who = Principal(roles=self._roles if role is None else frozenset({role}))
        found = self._corpus.search(question, principal=who, k=k, rerank=self._rerank)
        return [
            Found(
                one.stored.document_name.rsplit("/", 1)[-1].removesuffix(".txt") if not self._records else _record(one),
                one.content,
                next(iter(one.stored.roles)),
                one.locator.start,
                one.locator.end,
            )
            for one in found.results
        ]

    def ask(self, question: str) -> bool:
        """Whether it was answered."""
        return isinstance(self._corpus.ask(question, principal=Principal()), Answered)

    def read(self, path: Path) -> Read:
        """A sync of a folder with that file; the chunks of its index."""
        target = self._folder / path.name
        target.write_bytes(path.read_bytes())
        try:
            self._corpus.sync(str(self._folder))
            [state] = [one for one in self._corpus.documents() if one.name == path.name] or [None]
            if state is None or state.status not in (DocumentStatus.READY, DocumentStatus.PARTIAL):
                status = "missing" if state is None else state.status.value
                return Read(state=status, reason=(state.reason or "") if state else "no document")
            document = self._corpus.document(state.document_id, principal=Principal())
            store = self._parts.stores.tenant("default")
            active = store.catalog.active()
            assert active is not None
            chunks = [
                one.chunk for one in store.index.open(active).stored_chunks() if one.chunk.document_id == document.id
            ]
            read = Read([document.text], state=state.status.value, reason=state.reason or "")
            for chunk in chunks:
                place = locate(document, chunk.start, chunk.end)
                last = place.page_end or place.page
                pages = tuple(range(place.page, last + 1)) if place.page is not None and last is not None else ()
                read.pieces.append(Piece(chunk.content, 0, chunk.start, chunk.end, pages, place.lines))
            return read
        finally:
            target.unlink()

    def close(self) -> None:
        """Leave nothing open."""
        self._corpus.__exit__(None, None, None)


def _record(one: Any) -> str:
    return str(one.stored.document_name).rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> Fonte:
    """The peer."""
    return Fonte(vectors, folder, task, variant)
