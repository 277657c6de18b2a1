"""Searches in a warm process: every stage at 10,000 chunks, with the encoder and without; and the second syncs.

    .venv/bin/python bench/search_cost.py --chunks 10000

The index, the catalog and the text index are real and so is the encoder of questions; passages get vectors and token
codes that cost nothing. A stage's figure is that stage alone; BM25 runs beside the encoder, so stages do not add up to
the total. What reranking adds is measured in pairs: every question with it and without, one right after the other, the
order alternating, its vectors ready; beside it what two searches without it differ by, which is the noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from common import Figures, InstantEncoder, cpu_seconds, peak_mb, spread, write_records

from fonte import Principal, SourceOptions
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.types import SyncReport
from fonte.wiring import make_parts

ASKER = Principal()


def syncs(corpus: OpenCorpus, path: Path) -> Figures:
    """First sync, one that changes nothing, one with a document more: without the encoder."""
    options = SourceOptions(records=True)
    figures: Figures = {}

    def timed(name: str) -> SyncReport:
        began, spent = time.perf_counter(), cpu_seconds()
        report = corpus.sync(str(path), options=options)
        figures[f"{name}_seconds"] = round(time.perf_counter() - began, 2)
        figures[f"{name}_processor_seconds"] = round(cpu_seconds() - spent, 2)
        return report

    figures["chunks"] = timed("sync_without_encoder").chunks_total
    again = timed("sync_unchanged")
    if again.embedded_texts or again.chunks_added or again.chunks_removed:
        raise SystemExit("the second sync did not leave everything as it was")
    with path.open("a", encoding="utf-8") as file:
        new = {"_id": "new", "title": "New", "text": "One more document with words of its own."}
        file.write(json.dumps(new) + "\n")
    timed("sync_one_new")
    return figures


def searches(corpus: OpenCorpus, questions: Sequence[str], name: str, *, rerank: bool = True) -> Figures:
    """p50 and p95 of the whole call, of the same by processor time, and of each stage."""
    whole: list[float] = []
    spent: list[float] = []
    stages: dict[str, list[float]] = {}
    for question in questions:
        began, used = time.perf_counter(), cpu_seconds()
        found = corpus.search(question, principal=ASKER, rerank=rerank)
        whole.append(1000 * (time.perf_counter() - began))
        spent.append(1000 * (cpu_seconds() - used))
        for stage, milliseconds in found.timings_ms.items():
            stages.setdefault(stage, []).append(milliseconds)
        if not found.results:
            raise SystemExit(f"nothing found for {question!r}")
    figures = spread(f"{name}_ms", whole) | spread(f"{name}_processor_ms", spent)
    for stage, values in sorted(stages.items()):
        figures |= spread(f"{name}_{stage}_ms", values)
    rest = [one - two for one, two in zip(whole, stages["total"], strict=True)]
    return figures | spread(f"{name}_catalog_and_locators_ms", rest)


def reranking(corpus: OpenCorpus, questions: Sequence[str]) -> Figures:
    """What reranking adds to a search, by the clock and by processor time, and the ratio of the two medians."""

    def took(question: str, *, rerank: bool) -> tuple[float, float]:
        began, used = time.perf_counter(), cpu_seconds()
        corpus.search(question, principal=ASKER, rerank=rerank)
        return 1000 * (time.perf_counter() - began), 1000 * (cpu_seconds() - used)

    added: list[tuple[float, float]] = []
    noise: list[float] = []
    plain: list[float] = []
    for number, question in enumerate(questions):
        first = number % 2 == 0
        one, other = took(question, rerank=first), took(question, rerank=not first)
        reranked, bare = (one, other) if first else (other, one)
        added.append((reranked[0] - bare[0], reranked[1] - bare[1]))
        plain.append(bare[0])
        noise.append(abs(took(question, rerank=False)[0] - bare[0]))
    figures = spread("reranking_adds_ms", [clock for clock, _ in added])
    figures |= spread("reranking_adds_processor_ms", [processor for _, processor in added])
    figures |= spread("same_search_twice_differs_by_ms", noise)
    ratio = statistics.median(bare + clock for bare, (clock, _) in zip(plain, added, strict=True))
    return figures | {"reranked_to_not_reranked": round(ratio / statistics.median(plain), 3)}


def measure(chunks: int, home: Path) -> Figures:
    """Every figure; the home stays for who wants to look at it."""
    parts = make_parts(home, load_settings(None, home, {}))
    encoder = InstantEncoder(parts.make_embedder())
    path = home.with_suffix(".jsonl")
    questions, origin = write_records(path, chunks)
    with OpenCorpus(replace(parts, make_embedder=lambda: encoder)) as corpus:
        figures: Figures = {"input": f"{chunks} made-up records, {origin}"}
        figures |= syncs(corpus, path)
        figures["peak_mb_of_syncs"] = peak_mb()
        began = time.perf_counter()
        corpus.search(questions[0], principal=ASKER)
        figures["first_search_ms"] = round(1000 * (time.perf_counter() - began), 1)
        figures |= searches(corpus, questions, "search")
        figures |= searches(corpus, questions, "search_not_reranked", rerank=False)
        encoder.instant_questions = True
        figures |= searches(corpus, questions, "search_without_encoder")
        figures |= searches(corpus, questions, "search_without_encoder_not_reranked", rerank=False)
        figures |= reranking(corpus, questions)
    figures["home_mb"] = round(sum(item.stat().st_size for item in home.rglob("*") if item.is_file()) / 2**20, 1)
    figures["questions"] = len(questions)
    return figures


def main() -> int:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000, help="documents of one chunk each")
    options.add_argument("--home", type=Path, help="where to keep the index (default: nowhere)")
    wanted = options.parse_args()
    if wanted.home is not None:
        print(json.dumps(measure(wanted.chunks, wanted.home)))
        return 0
    with tempfile.TemporaryDirectory(prefix="fonte-bench-") as folder:
        print(json.dumps(measure(wanted.chunks, Path(folder) / "home")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
