"""One task done by one peer, in a process of its own and in the peer's environment: `python work.py PEER TASK OUT`.

What is read was made by `inputs.py`, so that nothing of fonte is imported but by its own adapter. A task is a folder
with `task.json` and what it names; OUT becomes one JSON object. Texts whose vectors nobody made yet are written to
`missing.jsonl` beside OUT and get a vector that means nothing: `compare.py` has them made and runs the task again.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import logging
import math
import resource
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from cannot import Cannot

DIMENSIONS = 384
WARM, FILTERED = 5, 40
"""Searches that are not timed; searches of each role whose results are counted."""


@dataclass(frozen=True)
class Document:
    """A document; its chunks where they are given, else the peer cuts it."""

    id: str
    text: str
    role: str = "public"
    chunks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Found:
    """One result: its document, its text, and the characters that it stands at, where the peer tells them."""

    document: str
    text: str
    role: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Piece:
    """A chunk of a file: ``source`` is the text that its offsets are meant for, by place among those of its file."""

    text: str
    source: int = 0
    start: int | None = None
    end: int | None = None
    pages: tuple[int, ...] = ()
    lines: tuple[int, int] | None = None


@dataclass
class Read:
    """What became of a file."""

    sources: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    state: str = "read"
    reason: str = ""


class Peer(Protocol):
    """A system for comparison, with its documented defaults for hybrid search."""

    packages: Sequence[str]
    options: str

    def add(self, documents: Sequence[Document]) -> None:
        """Make them searchable."""

    def settle(self) -> None:
        """Wait for what goes on in the background."""

    def replace(self, document: Document) -> None:
        """Bring in the new version of a document."""

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """The best results; ``role``: only of documents of that role. Cannot: it has no filter."""

    def read(self, path: Path) -> Read:
        """A file by the peer's own loader and its own default cutting."""


class Vectors:
    """Vectors by text that were made beforehand, by what e5 puts before passages and questions."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._rows: dict[bytes, np.ndarray] = {}
        self.missing: dict[str, None] = {}
        for file in files:
            if file.is_file():
                with np.load(file) as kept:
                    self._rows.update(zip(map(bytes, kept["keys"]), kept["rows"], strict=True))

    def prefixed(self, texts: Sequence[str]) -> np.ndarray:
        """A unit row for each text, which begins with `query: ` or `passage: `."""
        return np.stack([self._row(text) for text in texts]) if texts else np.empty((0, DIMENSIONS), np.float32)

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """A unit row for each passage."""
        return self.prefixed([f"passage: {text}" for text in texts])

    def query(self, text: str) -> np.ndarray:
        """The unit row of a question."""
        return self._row(f"query: {text}")

    def _row(self, text: str) -> np.ndarray:
        found = self._rows.get(key(text))
        if found is None:
            self.missing[text] = None
            found = np.random.default_rng(len(text)).standard_normal(DIMENSIONS).astype(np.float32)
            found /= np.linalg.norm(found)
        return found


def key(text: str) -> bytes:
    """What a text's vector is kept by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def peak_mb(who: int = resource.RUSAGE_SELF) -> int:
    """Most memory of this process, MiB, or of the largest of its children that have ended."""
    if who == resource.RUSAGE_SELF:  # ru_maxrss would begin with what the process that started this one held
        status = Path("/proc/self/status").read_text("ascii")
        return round(int(status.split("VmHWM:", 1)[1].split(maxsplit=1)[0]) / 1024)
    return round(resource.getrusage(who).ru_maxrss / 1024)


def documents_of(path: Path, *, given: bool) -> list[Document]:
    """The task's documents, with their chunks or without."""
    made = []
    for line in path.read_text("utf-8").splitlines():
        one = json.loads(line)
        chunks = tuple(one["chunks"]) if given else None
        made.append(Document(one["id"], one["text"], one.get("role", "public"), chunks))
    return made


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """p50 and p95."""
    ordered = sorted(values)
    last = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {f"{name}_p50": round(statistics.median(ordered), 2), f"{name}_p95": round(last, 2)}


def speed(peer: Peer, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Ingest, searches, rights, memory, and the update of one document until it is found."""
    documents = documents_of(folder / "documents.jsonl", given=True)
    questions = task["questions"]
    figures: dict[str, Any] = {"mb_before": peak_mb(), "documents": len(documents)}
    figures["chunks"] = sum(len(one.chunks or ()) for one in documents)
    took: dict[str, float] = {}
    with Timed(took, "ingest"):
        peer.add(documents)
    with Timed(took, "settle"):
        peer.settle()
    with Timed(took, "first_search"):
        peer.search(questions[0], 10)
    for question in questions[:WARM]:
        peer.search(question, 10)
    clock, processor, counted = [], [], 0
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        found = peer.search(question, 10)
        clock.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - used))
        counted += len(found)
    figures |= spread("search_ms", clock) | spread("search_processor_ms", processor)
    figures |= {"results_per_search": round(counted / len(questions), 2), "peak_mb": peak_mb()}
    figures["child_peak_mb"] = peak_mb(resource.RUSAGE_CHILDREN)
    figures["filter"] = filtered(peer, documents, questions[:FILTERED], task["roles"])
    figures |= updated(peer, Document(**{**task["changed"], "chunks": tuple(task["changed"]["chunks"])}), task, took)
    return figures | {f"{name}_seconds": round(seconds, 3) for name, seconds in took.items()}


@dataclass
class Timed:
    """Seconds of a block."""

    into: dict[str, float]
    name: str

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.into[self.name] = time.perf_counter() - self._began


def filtered(
    peer: Peer, documents: Sequence[Document], questions: Sequence[str], roles: Sequence[str]
) -> dict[str, Any] | str:
    """By role: how many results came of those that exist up to ten, and how many that may not be read."""
    told: dict[str, Any] = {}
    for role in roles:
        exist = sum(len(one.chunks or ()) for one in documents if one.role == role)
        wanted, got, foreign = min(10, exist), 0, 0
        try:
            for question in questions:
                results = peer.search(question, 10, role)
                got += sum(one.role == role for one in results)
                foreign += sum(one.role != role for one in results)
        except Cannot as fault:
            return f"no: {fault}"
        told[role] = {
            "chunks": exist,
            "of_those_that_exist": round(got / (wanted * len(questions)), 3) if wanted else None,
            "foreign": foreign,
        }
    return told


def updated(peer: Peer, changed: Document, task: dict[str, Any], took: dict[str, float]) -> dict[str, Any]:
    """Whether the new version is found by its mark and the old one no longer by its own."""
    before = any(task["old_mark"] in one.text for one in peer.search(task["old_mark"], 10))
    try:
        with Timed(took, "update"):
            peer.replace(changed)
            found = any(task["new_mark"] in one.text for one in peer.search(task["new_mark"], 10))
    except Cannot as fault:
        return {"updated": f"no: {fault}"}
    gone = not any(task["old_mark"] in one.text for one in peer.search(task["old_mark"], 10))
    return {"updated": "yes" if found and gone else "no", "old_found_before": before, "new_found": found, "gone": gone}


def ranking(peer: Peer, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """For each question the results in order: documents and characters, no text where it has a place."""
    documents = documents_of(folder / "documents.jsonl", given=task["given"])
    took: dict[str, float] = {}
    with Timed(took, "ingest"):
        peer.add(documents)
    with Timed(took, "settle"):
        peer.settle()
    run = {}
    for one in task["questions"]:
        found = peer.search(one["text"], task["k"])
        run[one["id"]] = [[each.document, each.start, each.end, each.text if task["texts"] else ""] for each in found]
    more = {"model_seconds": round(peer.model_seconds, 3)} if hasattr(peer, "model_seconds") else {}
    return {"run": run, **more} | {f"{name}_seconds": round(seconds, 3) for name, seconds in took.items()}


def offsets(peer: Peer, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Each file by the peer's own loader."""
    told = {}
    for name in task["files"]:
        began = time.perf_counter()
        try:
            read = peer.read(folder / name)
        except Cannot as fault:
            return {"cannot": str(fault)}
        except Exception as fault:  # noqa: BLE001 - a peer's fault is a figure here
            read = Read(state="error", reason=f"{type(fault).__module__}.{type(fault).__name__}: {fault}"[:300])
        told[name] = {**asdict(read), "seconds": round(time.perf_counter() - began, 2)}
    return {"files": told}


def nasty(peer: Peer, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One file, which may well end this process."""
    limit = task["limit_mb"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    spent = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + task["seconds"], spent + task["seconds"] + 5))
    [one] = offsets(peer, task, folder)["files"].values()
    characters = sum(len(piece["text"].strip()) for piece in one["pieces"])
    return {"state": one["state"], "reason": one["reason"], "characters": characters, "peak_mb": peak_mb()}


def refusal(peer: Peer, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """For each question whether it was answered; a peer that only retrieves has no such step."""
    ask = getattr(peer, "ask", None)
    if ask is None:
        return {"answered": None}
    peer.add(documents_of(folder / "documents.jsonl", given=False))
    return {"answered": {one["id"]: ask(one["text"]) for one in task["questions"]}}


TASKS = {"speed": speed, "ranking": ranking, "offsets": offsets, "nasty": nasty, "refusal": refusal}


def versions(names: Sequence[str]) -> dict[str, str]:
    """Of the peer's packages."""
    told = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in names:
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = "not installed"
    return told


def files_of(folder: Path, task: dict[str, Any]) -> Iterator[Path]:
    """The files of vectors that a task names."""
    return (folder / name for name in task.get("vectors", ()))


def main() -> int:
    """Do one task."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("peer")
    options.add_argument("task", type=Path, help="a folder with task.json")
    options.add_argument("out", type=Path)
    wanted = options.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    task = json.loads((wanted.task / "task.json").read_text("utf-8"))
    vectors = Vectors(list(files_of(wanted.task, task)))
    began = time.perf_counter()
    module, _, variant = wanted.peer.partition("-")
    adapter = importlib.import_module(f"peer_{module}")
    with tempfile.TemporaryDirectory(prefix="peers-") as place:
        peer = adapter.make(vectors, Path(place), task, variant)
        imported = time.perf_counter() - began
        told = TASKS[task["kind"]](peer, task, wanted.task)
        told |= {"import_seconds": round(imported, 2), "options": peer.options, "versions": versions(peer.packages)}
        close = getattr(peer, "close", None)
        if close is not None:
            close()
    told["missing"] = len(vectors.missing)
    with wanted.out.with_suffix(".missing.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in vectors.missing)
    text = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    wanted.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
