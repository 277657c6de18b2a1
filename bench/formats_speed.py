"""Speed of parsing: a thousand mixed files through the bounded pool, and where the time of each format goes.

    .venv/bin/python bench/formats_speed.py

Writes bench/results/formats-speed.json, which bench/formats.py puts into docs/formats.md. The files are those of
../shared/data (docs-formats, parsing); without them there is nothing to measure. Times of stages are of the processor.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil
from common import DATA, ROOT, machine, peak_mb
from formats_read import FOLDER, stored

from fonte.errors import FonteError
from fonte.parsers.pool import ParserPool
from fonte.parsers.registry import parser_for
from fonte.parsers.sniff import sniff
from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.ledger import balance
from fonte.types import ChunkingRecipe, Parsed, Recipe, Source

OUT = ROOT / "bench" / "results" / "formats-speed.json"
STAGES = ("kind", "parse", "text", "chunks", "ledger")
WINDOW = 512
LARGEST = 2_000_000
_Made = TypeVar("_Made")


def files(count: int) -> list[Path]:
    """Mixed files, the same again in turn until there are enough; scans left out (their time is the OCR engine's)."""
    folders = (FOLDER, DATA / "parsing" / "nasty", DATA / "parsing" / "nasty_other")
    found = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "ocr" not in path.parts and "scan" not in path.name and path.stat().st_size < LARGEST
    ]
    found = [path for path in found if path.name not in ("deep_div.html", "nested_mime.eml", "manifest.jsonl")]
    return [found[at % len(found)] for at in range(count)]


@contextmanager
def watched() -> Iterator[dict[int, float]]:
    """The most memory of each child process, in MiB, looked at every few milliseconds."""
    seen: dict[int, float] = {}
    done = threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not done.wait(0.03):
            for child in me.children():
                try:
                    seen[child.pid] = max(seen.get(child.pid, 0.0), child.memory_info().rss / 2**20)
                except psutil.NoSuchProcess:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


def through_the_pool(count: int, workers: int) -> dict[str, Any]:
    """Files a second, memory of parent and children, and what became of the files."""
    paths = files(count)
    states: Counter[str] = Counter()
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with watched() as seen, ParserPool(workers) as pool:
        for at, (_, outcome) in enumerate(pool.parse_many(stored(path, path.name) for path in paths), 1):
            states["read" if isinstance(outcome, Parsed) else outcome.code] += 1
            if at % 100 == 0:
                print(f"{at}/{count} {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "files": count,
        "different": len(set(paths)),
        "workers": workers,
        "megabytes": round(sum(path.stat().st_size for path in paths) / 1e6),
        "seconds": round(seconds, 1),
        "files_per_second": round(count / seconds, 1),
        "files_per_processor_second": round(count / spent, 1),
        "parent_mb": peak_mb(),
        "child_mb": round(max(seen.values())),
        "children": len(seen),
        "states": dict(states.most_common()),
    }


def stages() -> dict[str, Any]:
    """Processor time of each stage by format, in this process, after everything was loaded once."""
    from fonte.models.registry import make_embedder

    encoder = make_embedder()
    chunking = ChunkingRecipe()
    recipe = Recipe("1", "canonical-1", chunking, "terms-1", encoder.space)
    chunker = make_chunker(recipe, encoder.tokenizer)
    spent: dict[str, dict[str, float]] = defaultdict(dict)
    units: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    paths = [path for path in files(2000) if FOLDER in path.parents and not path.name.endswith(".gold.md")]
    for path in dict.fromkeys(paths):
        kind = path.suffix.lstrip(".").lower()
        source = stored(path, path.name)
        source = Source(source.uri, source.name, source.content_hash, source.acl, body=path.read_bytes())
        try:
            _staged(source, chunker.chunk, {})
            pages = _staged(source, chunker.chunk, spent[kind])
        except FonteError:
            continue
        counted[kind] += 1
        units[kind] += pages if kind == "pdf" else 1
    told = {}
    for kind, one in sorted(spent.items()):
        whole = sum(one.values())
        if counted[kind] and whole:
            told[kind] = {
                "files": counted[kind],
                "unit": "pages" if kind == "pdf" else "files",
                "per_second": round(units[kind] / whole, 1),
                "shares": {stage: round(one.get(stage, 0.0) / whole, 3) for stage in STAGES},
            }
    return {"names": STAGES, "formats": told}


def _staged(source: Source, chunk: Callable[..., Any], spent: dict[str, float]) -> int:
    """Enter the processor seconds of each stage; pages of the document."""
    media_type = _timed("kind", spent, lambda: sniff(source.body or b"", source.name))
    if not source.body:
        return 0
    typed = Source(source.uri, source.name, source.content_hash, source.acl, body=source.body, media_type=media_type)
    parsed = _timed("parse", spent, lambda: parser_for(media_type).parse(typed))
    document = _timed("text", spent, lambda: canonicalise(parsed, typed, tenant="bench"))
    chunks = _timed("chunks", spent, lambda: chunk(document))
    _timed("ledger", spent, lambda: balance(parsed, document, chunks, window=WINDOW))
    return document.pages or 1


def _timed(stage: str, spent: dict[str, float], work: Callable[[], _Made]) -> _Made:
    began = time.process_time()
    made = work()
    spent[stage] = spent.get(stage, 0.0) + time.process_time() - began
    return made


def main() -> int:
    """Measure, and keep the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=1000, help="files through the pool")
    options.add_argument("--workers", type=int, default=1, help="children at the same time")
    wanted = options.parse_args()
    if not FOLDER.is_dir():
        print("../shared/data is not here: nothing is measured")
        return 0
    before = machine()
    pool = through_the_pool(wanted.files, wanted.workers)
    told = {
        "command": " ".join(["bench/formats_speed.py", *sys.argv[1:]]),
        "before": before,
        "note": f"Load {before['load_1_5_15_minutes']}, {before['cores']} cores, {before['when']}: ratios travel, "
        "seconds do not. Scans and two files that take seconds on purpose are left out.",
        "pool": pool,
        "stages": stages(),
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
