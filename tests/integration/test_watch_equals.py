"""A watch over a folder that is edited at random equals a fresh sync at the end; an unchanged pass embeds nothing.

A few hundred files for some seconds here; 10,000 files for ten minutes by ``make soak``, which prints its figures.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import pytest
from waiting import wait_until

from fonte.access.standing import PassState, Rules
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, SourceUnreadable
from fonte.parts import SourceOptions
from fonte.standing import Looked, Standing
from fonte.tending import ears
from fonte.types import Parsed, Source, Vector
from fonte.watching import Pace, Watch
from quick_corpus import InlinePool, WordEmbedder, quick_parts

WORDS = "pump valve filter pressure hall team week care rotor seal oil gauge bolt motor ferie permesso turno".split()
FOLDERS = 40


class Remembering(WordEmbedder):
    """Makes each word's vector once."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Vector] = {}

    def _word(self, word: str) -> Vector:
        if word not in self._known:
            self._known[word] = super()._word(word)
        return self._known[word]


class Careful(InlinePool):
    """Tells of a file that is gone by the time it is parsed, as the real pool does."""

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        for source in sources:
            try:
                yield from super().parse_many([source])
            except OSError as error:
                yield source, SourceUnreadable(f"{source.name} cannot be read: {error.strerror}")


@contextmanager
def _pool(workers: int) -> Iterator[Careful]:
    del workers
    yield Careful()


def _corpus(home: Path, embedder: WordEmbedder) -> OpenCorpus:
    return OpenCorpus(replace(quick_parts(home, embedder=embedder), make_pool=_pool))


@dataclass
class Editor:
    """Edits a folder at random, by seed."""

    folder: Path
    draw: random.Random
    number: int = 0
    done: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        said = " ".join(self.draw.choice(WORDS) for _ in range(40))
        return f"# Note {self.number}\n\n{said}.\n\n## Care\n\nFilter F-{self.number} of {self.draw.choice(WORDS)}.\n"

    def new(self) -> None:
        self.number += 1
        path = self.folder / f"d{self.draw.randrange(FOLDERS):02}" / f"n{self.number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(), encoding="utf-8")

    def edit(self) -> None:
        """One random edit."""
        kinds: list[tuple[Callable[[Path], None], int]] = [
            (self._rewrite, 40), (self._same_size, 10), (lambda _: self.new(), 15), (self._delete, 12),
            (self._rename, 10), (self._sidecar, 8), (self._front_matter, 3), (self._folder, 1), (self._touch, 3),
        ]  # fmt: skip
        files = self._files()
        kind = self.draw.choices([one for one, _ in kinds], [weight for _, weight in kinds])[0]
        kind(self.draw.choice(files))
        name = getattr(kind, "__name__", "new")
        self.done[name] = self.done.get(name, 0) + 1

    def _files(self) -> list[Path]:
        folders = [one for one in self.folder.iterdir() if any(one.glob("*.md"))]
        return sorted(self.draw.choice(sorted(folders)).glob("*.md"))

    def _rewrite(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")

    def _same_size(self, path: Path) -> None:
        """Other bytes of the same length, in place."""
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("e", "\0").replace("a", "e").replace("\0", "a"), encoding="utf-8")

    def _delete(self, path: Path) -> None:
        path.unlink()

    def _rename(self, path: Path) -> None:
        self.number += 1
        target = self.folder / f"d{self.draw.randrange(FOLDERS):02}" / f"r{self.number:06}.md"
        target.parent.mkdir(exist_ok=True)
        path.rename(target)

    def _sidecar(self, path: Path) -> None:
        beside = path.with_name(f"{path.name}.fonte.yaml")
        if beside.exists():
            beside.unlink()
        else:
            beside.write_text(f"roles: [{self.draw.choice(['staff', 'hr'])}]\n", encoding="utf-8")

    def _front_matter(self, path: Path) -> None:
        path.write_text(f"---\nroles: staff\nvalid_to: 2030-01-31\n---\n\n{self.text()}", encoding="utf-8")

    def _folder(self, path: Path) -> None:
        self.number += 1
        path.parent.rename(path.parent.with_name(f"m{self.number:06}"))
        path.parent.mkdir()

    def _touch(self, path: Path) -> None:
        path.touch()


def _facts(corpus: OpenCorpus) -> tuple[dict[str, object], dict[str, object]]:
    store = corpus._store_of("default")
    active = store.catalog.active()
    assert active is not None
    documents: dict[str, object] = {}
    for one in corpus.documents():
        text = store.catalog.document(active.id, one.document_id)
        documents[one.uri] = (
            one.document_id, one.name, one.status.value, one.version, one.chunks,
            tuple(sorted(one.acl.roles)), one.said,
            None if text is None else text.text_hash,
        )  # fmt: skip
    rows = list(store.index.open(active).stored_chunks())
    chunks: dict[str, object] = {one.chunk.id: (one.chunk.content, tuple(sorted(one.roles))) for one in rows}
    assert len(rows) == len(chunks) == active.chunks, "a chunk is there twice"
    return documents, chunks


def watch_equals(place: Path, *, files: int, seconds: float, seed: int, pause: float) -> dict[str, object]:
    """Edit a folder under watch for so long, then compare with a fresh sync; what was seen on the way."""
    draw = random.Random(seed)
    folder, home = place / "docs", place / "home"
    editor = Editor(folder, draw)
    for _ in range(files):
        editor.new()
    looks: list[Looked] = []
    embedder, stop = Remembering(), Event()
    with _corpus(home, embedder) as corpus:
        standing = Standing(corpus, Rules())
        watch = Watch(
            [str(folder)],
            lambda source, since: standing.look(
                source, tenant="default", since=since, progress=lambda *_: None, options=SourceOptions()
            ),
            ears(home),
            pace=Pace(settle=0.3),
            narrow=corpus.narrow,
            told=looks.append,
        )
        thread = Thread(target=watch.run, args=(stop,))
        thread.start()
        try:
            wait_until(lambda: bool(looks), 900)
            until, edits = time.monotonic() + seconds, 0
            while time.monotonic() < until:
                editor.edit()
                edits += 1
                time.sleep(draw.expovariate(1 / pause))
            last = datetime.now(UTC)
            editor.new()  # told after all others, so that a pass that sees it sees them
            wait_until(lambda: _seen(looks, last), 900)
        finally:
            stop.set()
            watch.wake()
            thread.join()
        wrong = [one.ended.error for one in looks if one.ended is not None and one.ended.state is not PassState.DONE]
        assert wrong == []
        calls, began, spent = embedder.calls, time.perf_counter(), time.process_time()
        same = corpus.sync(str(folder), standing=True)
        unchanged = time.perf_counter() - began, time.process_time() - spent
        assert (same.changed, same.embedded_texts, embedder.calls) == (False, 0, calls)
        documents, chunks = _facts(corpus)
    with _corpus(place / "fresh", embedder) as corpus:
        corpus.sync(str(folder))
        fresh_documents, fresh_chunks = _facts(corpus)
    differing = {
        uri for uri in documents.keys() | fresh_documents.keys() if documents.get(uri) != fresh_documents.get(uri)
    }
    assert differing == set()
    assert chunks == fresh_chunks
    took = [one.report.seconds for one in looks[1:] if one.report is not None]
    return {
        "files": files, "edits": edits, **editor.done, "passes": len(looks), "documents": len(documents),
        "moved": sum(len(one.report.moved) for one in looks if one.report is not None),
        "first pass": round(looks[0].report.seconds, 1) if looks[0].report else None,
        "pass p50": round(statistics.median(took), 2), "pass longest": round(max(took), 2),
        "unchanged pass": round(unchanged[0], 2), "unchanged pass, processor": round(unchanged[1], 2),
    }  # fmt: skip


def _seen(looks: list[Looked], last: datetime) -> bool:
    """Whether a pass that began after this moment has ended."""
    return any(one.ended is not None and one.ended.started_at > last for one in looks)


def test_a_watch_over_random_edits_equals_a_fresh_sync(tmp_path: Path) -> None:
    seen = watch_equals(tmp_path, files=200, seconds=12, seed=7, pause=0.06)
    assert seen["passes"]


@pytest.mark.soak
def test_a_watch_over_ten_thousand_files_for_ten_minutes_equals_a_fresh_sync(tmp_path: Path) -> None:
    print("\n", watch_equals(tmp_path, files=10_000, seconds=600, seed=11, pause=0.25))
