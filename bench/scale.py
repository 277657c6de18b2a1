"""The embedded store at a size: building, updating, publishing, going back, deleting; searches by mode; what is found.

    .venv/bin/python bench/scale.py --chunks 100000
    .venv/bin/python bench/scale.py --chunks 1000000 --through writer --encoder none

Documents of twenty chunks, made of real words, readable by one of four roles; vectors come out of the words
(`scale_texts.py`), so that no model has to run. `--through sync` writes files and runs the whole pipeline; `--through
writer` hands the same chunks to the store's writer and the catalog, without parsing, cutting and the vector cache.
`--encoder none` keeps no token codes. Building, searching as a server does and as a single command does (words by the
table), and comparing with exact search are processes of their own: each one's peak of memory is its own, the encoder's
weights and tokenizer included.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import Figures, cpu_seconds, machine, peak_mb, spread, vocabularies
from scale_store import WriterBuilder
from scale_texts import CHUNKS, ROLES, Made, World, make_encoder

from fonte import Principal, SourceOptions
from fonte.answer import with_languages
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.parts import Parts
from fonte.store_protocols import IndexReader
from fonte.stores.lance_index import LanceIndex
from fonte.types import Query
from fonte.wiring import make_parts

ALL = Principal(roles=frozenset(ROLES))
STAFF = Principal(roles=frozenset({"staff"}))
BOARD = Principal(roles=frozenset({"board"}))
"""Reads the public documents and those of the board; the filters below take the public ones away."""
CHANGED = 0.01
RECALL_AT = 25
WORDS_AT = 50
PARTS = ("build", "by_table", "search", "recall")
_PARTS = {"text index": "_indices", "rows": "data", "vector cache": "vectors.sqlite", "catalog": "catalog.sqlite"}


def opened(home: Path, *, codes: bool, resident_mb: int = 1024) -> tuple[Parts, World]:
    """The parts of a corpus under ``home`` whose vectors come out of words."""
    wanted = {"embedding.token_codes": codes, "retrieval.resident_mb": resident_mb}
    settings = load_settings(home.parent / "fonte.toml", home, {}, wanted)
    parts = make_parts(home, settings)
    encoder = make_encoder(parts.make_embedder(), vocabularies()[0])
    assert encoder.world is not None
    return replace(parts, make_embedder=lambda: encoder), encoder.world


def timed(figures: Figures, name: str, work: Callable[[], object]) -> None:
    """Wall and processor seconds of something."""
    began, spent = time.perf_counter(), cpu_seconds()
    work()
    figures[f"{name}_seconds"] = round(time.perf_counter() - began, 2)
    figures[f"{name}_processor_seconds"] = round(cpu_seconds() - spent, 2)


def disk(home: Path) -> Figures:
    """Megabytes on the disk, files that are linked twice counted once, whole and by what they hold."""
    sizes: dict[int, tuple[str, int]] = {}
    for path in home.rglob("*"):
        if path.is_file():
            found = path.stat()
            kind = next((name for name, part in _PARTS.items() if part in path.parts or path.name == part), "other")
            sizes[found.st_ino] = kind, found.st_size
    figures: Figures = {"disk_mb": round(sum(size for _, size in sizes.values()) / 2**20, 1)}
    for kind in [*_PARTS, "other"]:
        total = sum(size for name, size in sizes.values() if name == kind)
        figures[f"disk_mb_{kind.replace(' ', '_')}"] = round(total / 2**20, 1)
    return figures


class SyncBuilder:
    """Documents as files, brought in by syncs."""

    def __init__(self, corpus: OpenCorpus, folder: Path) -> None:
        self._corpus = corpus
        self._folder = folder

    def put(self, documents: Iterable[Made]) -> None:
        """Write files."""
        for one in documents:
            path = self._folder / one.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8")

    def build(self, *, publish: bool = True) -> int:
        """Sync; how many chunks there are."""
        report = self._corpus.sync(str(self._folder), options=SourceOptions(), publish=publish)
        if report.failures:
            raise SystemExit(f"{len(report.failures)} documents failed: {report.failures[0]}")
        return report.chunks_total


def build(chunks: int, home: Path, *, codes: bool, through: str) -> Figures:
    """Every step of an index's life, once."""
    rules = "".join(f'[[sources]]\nmatch = "{role}/**"\nroles = ["{role}"]\n' for role in ROLES)
    home.parent.joinpath("fonte.toml").write_text(rules)
    parts, world = opened(home, codes=codes)
    figures: Figures = {}
    with OpenCorpus(parts) as corpus:
        builder: SyncBuilder | WriterBuilder
        documents = chunks // CHUNKS
        if through == "sync":
            builder = SyncBuilder(corpus, home.parent / "files")
            timed(figures, "writing_files", lambda: builder.put(world.documents(documents)))
            timed(figures, "build", lambda: figures.update(chunks=builder.build()))
        else:
            by_columns = builder = WriterBuilder(parts, world, home / "tenants" / "default")
            timed(figures, "build", lambda: figures.update(chunks=by_columns.build_by_columns(documents)))
        figures["documents"] = documents
        figures |= disk(home)
        if through == "sync":
            timed(figures, "sync_unchanged", builder.build)
        some = [one for one in world.documents(documents, seed=1) if one.number % round(1 / CHANGED) == 0]
        builder.put(
            [replace(one, chunks=tuple(text[::-1] for text in one.chunks[:1]) + one.chunks[1:]) for one in some]
        )
        timed(figures, "update_of_1_percent", lambda: builder.build(publish=False))
        candidate = parts.stores.tenant("default").catalog.generations()[-1].id
        # Vectors that no model made, and ledgers that nobody wrote, are found: what the checks cost is in the time.
        timed(figures, "publish", lambda: corpus.publish(candidate, override="vectors without a model"))
        after = disk(home)
        figures |= {f"{name}_after_update": after[name] for name in ("disk_mb", "disk_mb_rows", "disk_mb_text_index")}
        timed(figures, "rollback", corpus.rollback)
        timed(figures, "publish_again", lambda: corpus.publish(candidate, override="vectors without a model"))
        timed(figures, "delete_one", lambda: corpus.delete(corpus.documents()[-1].document_id))
    return figures | {"peak_mb": peak_mb()}


def searched(corpus: OpenCorpus, questions: Sequence[str], name: str, **how: object) -> Figures:
    """p50 and p95 beyond embedding, of the whole and of the stages."""
    whole: list[float] = []
    stages: dict[str, list[float]] = {}
    spent: list[float] = []
    found = 0
    for question in questions:
        began, used = time.perf_counter(), cpu_seconds()
        result = corpus.search(question, **how)  # type: ignore[arg-type]  # what search takes
        took = 1000 * (time.perf_counter() - began)
        spent.append(1000 * (cpu_seconds() - used))
        whole.append(took - result.timings_ms.get("embed", 0.0))
        found += len(result.results)
        for stage, milliseconds in result.timings_ms.items():
            stages.setdefault(stage, []).append(milliseconds)
    figures = spread(f"{name}_ms", whole) | spread(f"{name}_processor_ms", spent)
    for stage in ("bm25", "dense", "fuse", "rerank"):
        figures |= spread(f"{name}_{stage}_ms", stages[stage]) if stage in stages else {}
    return figures | {f"{name}_results": found}


def questions_of(world: World, number: int, seed: int) -> list[str]:
    """A few words each, out of texts of the first documents."""
    chance = random.Random(seed)  # noqa: S311 - made-up questions
    texts = [chance.choice(one.chunks) for one in world.documents(number)]
    return [world.question(chance, text) for text in texts]


def ready(figures: Figures, reader: IndexReader) -> None:
    """Wait until words are answered from memory, or for good by the table."""
    began = time.perf_counter()
    reader.get_ready()
    while reader.word_search == "loading":
        time.sleep(0.05)
    figures["ready_seconds"] = round(time.perf_counter() - began, 2)
    figures["word_search"] = reader.word_search


def by_table(home: Path, *, codes: bool, number: int) -> Figures:
    """The same searches where words are answered by the table."""
    parts, world = opened(home, codes=codes, resident_mb=0)
    questions = questions_of(world, number, 5)
    figures: Figures = {"questions": number}
    with OpenCorpus(parts) as corpus:
        corpus.warm()
        timed(figures, "first_search", lambda: corpus.search(questions[0], principal=ALL, rerank=False))
        searched(corpus, questions[:10], "warm", principal=ALL, rerank=False)
        for mode in ("bm25", "hybrid"):
            figures |= searched(corpus, questions, mode, principal=ALL, mode=mode, rerank=False)
    return figures | {"peak_mb": peak_mb()}


def search(home: Path, *, codes: bool, number: int) -> Figures:
    """Searches by mode and asker in a process that begins cold, as a server does."""
    parts, world = opened(home, codes=codes)
    questions = questions_of(world, number, 5)
    figures: Figures = {"questions": number}
    with OpenCorpus(parts) as corpus:
        corpus.warm()
        figures["mb_before_first_search"] = peak_mb()
        timed(figures, "first_search", lambda: corpus.search(questions[0], principal=ALL, rerank=False))
        asker = corpus.asker(ALL)
        assert asker is not None
        ready(figures, asker.reader)
        figures["mb_when_ready"] = peak_mb()
        if codes:
            timed(figures, "first_reranked_search", lambda: corpus.search(questions[0], principal=ALL, rerank=True))
        searched(corpus, questions[:10], "warm", principal=ALL, rerank=False)
        for mode in ("bm25", "dense", "hybrid"):
            figures |= searched(corpus, questions, mode, principal=ALL, mode=mode, rerank=False)
        figures |= searched(corpus, questions, "hybrid_public_only", principal=Principal(), rerank=False)
        figures |= searched(corpus, questions, "hybrid_staff", principal=STAFF, rerank=False)
        figures |= searched(corpus, questions, "hybrid_board", principal=BOARD, rerank=False)
        if codes:
            figures |= searched(corpus, questions, "reranked", principal=ALL, rerank=True)
            figures |= searched(corpus, questions, "reranked_staff", principal=STAFF, rerank=True)
    return figures | {"peak_mb": peak_mb()}


def recall(home: Path, *, codes: bool, number: int) -> Figures:
    """Of the exact nearest 25 that an asker may read, the share that the store's dense search finds."""
    parts, world = opened(home, codes=codes)
    questions = questions_of(world, number, 6)
    asked = world.vectors(questions)
    store = parts.stores.tenant("default")
    active = store.catalog.active()
    assert active is not None
    reader = store.index.open(active)
    every = LanceIndex(home / "tenants" / "default" / "lance", exact_rows=active.chunks).open(active)
    figures: Figures = {"questions": number}
    for who, principal in (("all", ALL), ("board", BOARD)):
        query = Query("x", principal)
        found = [[hit.chunk_id for hit in reader.dense(one, query, revoked=(), k=RECALL_AT)] for one in asked]
        exact = [[hit.chunk_id for hit in every.dense(one, query, revoked=(), k=RECALL_AT)] for one in asked]
        shares = [len(set(one) & set(other)) / max(len(other), 1) for one, other in zip(found, exact, strict=True)]
        figures[f"recall_at_{RECALL_AT}_{who}"] = round(float(np.mean(shares)), 4)
        figures[f"worst_recall_at_{RECALL_AT}_{who}"] = round(min(shares), 4)
    ready(figures, reader)
    return figures | same_words(reader, every, parts, questions)


def same_words(reader: IndexReader, table: IndexReader, parts: Parts, questions: Sequence[str]) -> Figures:
    """How BM25 from memory and by the table differ: in what they find, in order outside ties, in scores."""
    others, apart, took = 0, 0.0, (list[float](), list[float]())
    for who in (ALL, BOARD):
        for text in questions:
            query = with_languages(Query(text, who))
            terms, hits = parts.terms.query_terms(text, query.languages), []
            for one, spent in zip((reader, table), took, strict=True):
                began = time.perf_counter()
                hits.append(one.bm25(terms, query, revoked=(), k=WORDS_AT))
                spent.append(1000 * (time.perf_counter() - began))
            mine, theirs = ([(hit.chunk_id, hit.score) for hit in found] for found in hits)
            known = dict(theirs)
            least = min(known.values(), default=0.0)
            apart = max([apart, *(abs(score / known[name] - 1) for name, score in mine if name in known)])
            order = [round(known.get(name, least), 4) for name, _ in mine]
            others += order != sorted(order, reverse=True) or len(mine) != len(theirs)
            others += any(name not in known and score > least * (1 + 1e-5) for name, score in mine)
    figures: Figures = {"words_questions": 2 * len(questions), "words_that_differ": others}
    figures["words_greatest_relative_difference"] = float(f"{apart:.1e}")
    return figures | spread("words_from_memory_ms", took[0]) | spread("words_by_table_ms", took[1])


def part(name: str, wanted: argparse.Namespace, home: Path) -> Figures:
    """Figures of one part, from a process of its own."""
    print(f"{name} …", file=sys.stderr)
    command = [sys.executable, __file__, "--part", name, "--home", str(home), "--chunks", str(wanted.chunks)]
    command += ["--through", wanted.through, "--encoder", wanted.encoder, "--questions", str(wanted.questions)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - this script
    if done.returncode:
        raise SystemExit(f"{name} ended with {done.returncode}")
    figures: Figures = json.loads(done.stdout)
    return figures


def main() -> int:
    """Print the figures as JSON, and keep them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000)
    options.add_argument("--through", choices=("sync", "writer"), default="sync")
    options.add_argument("--encoder", choices=("codes", "none"), default="codes", help="none: no token codes")
    options.add_argument("--questions", type=int, default=200)
    options.add_argument("--home", type=Path, help="keep the home here, and build it only where it is not there yet")
    options.add_argument(
        "--part", choices=("build", "search", "by_table", "recall"), help="this part alone, in this process"
    )
    options.add_argument("--out", type=Path, help="a file for the figures")
    wanted = options.parse_args()
    codes = wanted.encoder == "codes"
    if wanted.part == "build":
        print(json.dumps(build(wanted.chunks, wanted.home, codes=codes, through=wanted.through)))
    elif wanted.part == "search":
        print(json.dumps(search(wanted.home, codes=codes, number=wanted.questions)))
    elif wanted.part == "by_table":
        print(json.dumps(by_table(wanted.home, codes=codes, number=wanted.questions)))
    elif wanted.part == "recall":
        print(json.dumps(recall(wanted.home, codes=codes, number=wanted.questions)))
    if wanted.part:
        return 0
    before = machine()
    with tempfile.TemporaryDirectory(prefix="fonte-scale-") as folder:
        home = (wanted.home or Path(folder) / "home").absolute()
        home.parent.mkdir(parents=True, exist_ok=True)
        told = {name: part(name, wanted, home) for name in PARTS if name != "build" or not home.exists()}
    ran = " ".join(["bench/scale.py", *sys.argv[1:]])
    kept = {"command": ran, "before": before, "after": machine(), **told}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    print(text)
    if wanted.out:
        wanted.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
