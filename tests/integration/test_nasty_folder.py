"""Damaged, hostile and enormous files in one folder with good ones: no hang, no crash, every file ends in a state.

The large test takes the shared data where it lies beside the project, and prints what it took.
"""

from __future__ import annotations

import json
import resource
import shutil
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest
from property.quick_corpus import WordEmbedder

from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError
from fonte.parsers.pool import ParserPool
from fonte.types import DocumentState, DocumentStatus, Parsed, Principal, Source
from fonte.wiring import make_parts

GOOD = {
    "good/pump.md": "# Pumps\n\nThe quokka pump in hall 9 runs at 41 bar.\n",
    "good/valve.txt": "The axolotl valve closes in 3 seconds.\n",
    "good/list.csv": "part,price\nnarwhal gasket,17 euro\n",
    "good/page.html": "<html><body><h1>Doors</h1><p>The pangolin door is green.</p></body></html>",
}
ASKED = {"quokka": "pump.md", "axolotl": "valve.txt", "narwhal": "list.csv", "pangolin": "page.html"}
WHO = Principal()
MEBIBYTE = 2**20
SLOW_SECONDS = 20
LARGE_MEBIBYTES = 1430


@dataclass
class Cost:
    """Wall clock seconds of each file, and the most memory of the parser while it was read, in MiB."""

    files: dict[str, tuple[float, float]] = field(default_factory=dict)


class MeasuringPool:
    """The real pool, one file at a time, with a look at the children's memory every few milliseconds."""

    def __init__(self, pool: ParserPool, cost: Cost) -> None:
        self._pool, self._cost = pool, cost

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        for source in sources:
            began = time.monotonic()
            with _peak() as peak:
                try:
                    outcome: Parsed | FonteError = self._pool.parse(source)
                except FonteError as error:
                    outcome = error
            self._cost.files[source.name] = (time.monotonic() - began, peak[0])
            yield source, outcome


@contextmanager
def _peak() -> Iterator[list[float]]:
    most = [0.0]
    done = threading.Event()

    def look() -> None:
        me = psutil.Process()
        while not done.wait(0.02):
            for child in me.children():
                try:
                    most[0] = max(most[0], child.memory_info().rss / MEBIBYTE)
                except psutil.NoSuchProcess:
                    continue

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def open_corpus(home: Path, cost: Cost, seconds: float) -> OpenCorpus:
    @contextmanager
    def pool(workers: int) -> Iterator[MeasuringPool]:
        with ParserPool(workers, timeout_seconds=seconds) as real:
            yield MeasuringPool(real, cost)

    parts = make_parts(home, load_settings(None, home, {}))
    model = WordEmbedder()
    return OpenCorpus(replace(parts, make_embedder=lambda: model, make_pool=pool))


def sync_and_check(folder: Path, home: Path, seconds: float) -> tuple[list[DocumentState], Cost]:
    """Sync: every file has a state, every state but READY a reason, what is good answers, and again is the same."""
    cost = Cost()
    with open_corpus(home, cost, seconds) as corpus:
        report = corpus.sync(str(folder))
        assert report.published
        states = corpus.documents()
        files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
        holders = {state.uri.split("!/")[0] for state in states}  # a member's file is the one that holds it
        assert len(holders) == len(files)
        assert len(states) == sum(report.documents[one] for one in ("added", "failed"))
        for state in states:
            assert state.status is not DocumentStatus.PENDING
            assert (state.status in (DocumentStatus.READY, DocumentStatus.PARTIAL)) == (state.chunks > 0), state
            assert state.status is DocumentStatus.READY or state.reason, state
            assert len((state.reason or "").splitlines()) <= 1, state
            assert str(folder) not in (state.reason or ""), "a reason names no path of this machine"
        assert len(report.failures) == sum(state.status is not DocumentStatus.READY for state in states)
        for word, name in ASKED.items():
            best = corpus.search(word, principal=WHO, mode="bm25", k=1).results
            assert [one.stored.document_name for one in best] == [f"good/{name}"]
        for state in states:
            if state.chunks:
                document, _, place = corpus.show(state.document_id, principal=WHO)
                assert place.end == len(document.text) > 0
        again = corpus.sync(str(folder))
        whole = len(states) - report.documents["failed"]
        assert (again.chunks_added, again.embedded_texts, again.documents["unchanged"]) == (0, 0, whole)
        assert again.documents["failed"] == report.documents["failed"], "what failed is said again, and not tried again"
    return states, cost


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def nasty_files(folder: Path) -> dict[str, tuple[str, ...]]:
    """Small hostile files of our own making, with the states that each may end in."""
    folder.mkdir(parents=True)
    made: dict[str, tuple[bytes, tuple[str, ...]]] = {
        "nothing.md": (b"", ("empty",)),
        "spaces.txt": (b" \n\t \n" * 50, ("empty",)),
        "zeros.txt": (b"\0" * 5000, ("failed", "empty")),
        "noise.pdf": (b"%PDF-1.7\n" + bytes(range(256)) * 20, ("failed",)),
        "cut.pdf": (b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n", ("failed",)),
        "no-zip.docx": (b"PK\x03\x04 and nothing more", ("failed",)),
        "noise.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, ("failed",)),
        "picture.png": (b"\x89PNG\r\n\x1a\n" + b"\0" * 64, ("failed",)),
        "bad.json": (b'{"a": [1, 2', ("failed",)),
        "deep.json": (b"[" * 100_000 + b"]" * 100_000, ("failed", "empty", "partial")),
        "deep.html": (b"<div>" * 20_000 + b"mole" + b"</div>" * 20_000, ("ready", "partial", "failed")),
        "latin.txt": (("Perché la città è più là. " * 20).encode("latin-1"), ("ready", "partial")),
        "long-line.txt": (b"word " * 60_000, ("ready", "partial")),
        "script.html": (b"<script>alert('hello')</script>", ("empty", "failed")),
        "\u202eexe.txt": (b"The name of this file runs backwards.", ("ready",)),
        "two\nlines.txt": (b"The name of this file has two lines.", ("ready",)),
        "-rf": (b"The name of this file looks like an option.", ("ready", "failed")),
    }  # fmt: skip
    for name, (body, _) in made.items():
        (folder / name).write_bytes(body)
    with zipfile.ZipFile(folder / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        bomb.writestr("word/document.xml", b"<w>" + b" " * (300 * MEBIBYTE))
    expected = {name: states for name, (_, states) in made.items()} | {"bomb.docx": ("failed",)}
    return {f"nasty/{name}": states for name, states in expected.items()}


def test_small_nasty_files_among_good_ones(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    put(folder, GOOD)
    expected = nasty_files(folder / "nasty")
    states, cost = sync_and_check(folder, tmp_path / "home", seconds=30)
    found = {state.name: state.status.value for state in states}
    for name, allowed in expected.items():
        assert found[name] in allowed, (name, found[name])
    assert all(found[name] == "ready" for name in GOOD)
    assert max(seconds for seconds, _ in cost.files.values()) < SLOW_SECONDS


@pytest.mark.soak
def test_all_nasty_files_and_formats_in_one_folder(tmp_path: Path, project_root: Path) -> None:
    shared = project_root.parent / "shared" / "data"
    parts = [shared / "parsing" / "nasty", shared / "parsing" / "nasty_other", shared / "docs-formats"]
    if not all(part.is_dir() for part in parts):
        pytest.skip("the shared data is not here")
    folder = tmp_path / "folder"
    for part in parts:
        shutil.copytree(part, folder / part.name, symlinks=True)
    put(folder, GOOD)
    began = time.monotonic()
    states, cost = sync_and_check(folder, tmp_path / "home", seconds=60)
    report = {
        "files": len(states),
        "states": Counter(state.status.value for state in states),
        "chunks": sum(state.chunks for state in states),
        "seconds": round(time.monotonic() - began, 1),
        "parent MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "largest child MiB": round(max(size for _, size in cost.files.values())),
        "slow or large": {
            name: (round(seconds, 1), round(size))
            for name, (seconds, size) in cost.files.items()
            if seconds > SLOW_SECONDS or size > LARGE_MEBIBYTES
        },
        "slowest": sorted(((round(s, 1), round(m), n) for n, (s, m) in cost.files.items()), reverse=True)[:8],
        "largest": sorted(((round(m), round(s, 1), n) for n, (s, m) in cost.files.items()), reverse=True)[:5],
        "reasons": Counter(f"{state.status.value}: {(state.reason or '')[:60]}" for state in states if state.reason),
    }
    print(json.dumps(report, indent=1))
