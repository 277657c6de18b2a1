"""Speed on this machine: a sync and its overhead, searches, and what limits each.

    make bench                                    prints a table
    .venv/bin/python bench/run.py --chunks 10000 --out bench/results/local.json

Documents are made up (seeded words with Zipf's frequencies), one chunk each. A sync is timed with a stand-in for the
encoder that answers at once, so that what remains is fonte's own work; the encoder is timed alone on the same texts.
Two figures of two machines can only be compared by their ratios.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fonte import Principal, SourceOptions
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.protocols import Embedder, Tokenizer
from fonte.types import Space, Vector, Vectors, sha256_hex
from fonte.wiring import make_parts

Figures: TypeAlias = dict[str, float | int | str]
ASKER = Principal()
WORDS = 12_000
LENGTH = 62
"""Words of a document: about 400 characters."""


@dataclass
class InstantEncoder:
    """The real encoder's tokens and space, with vectors that cost nothing: of what the text is, but of no meaning."""

    real: Embedder

    @property
    def space(self) -> Space:
        """The real one's."""
        return self.real.space

    @property
    def tokenizer(self) -> Tokenizer:
        """The real one's."""
        return self.real.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """A unit row for each text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """A unit vector seeded by the text."""
        seed = int(sha256_hex(text)[:8], 16)
        vector = np.random.default_rng(seed).standard_normal(self.space.dimensions).astype(np.float32)
        return vector / np.linalg.norm(vector)


def vocabulary() -> tuple[list[str], list[float]]:
    """Made-up words and their cumulative frequencies."""
    chance = random.Random(7)  # noqa: S311 - made-up text
    syllables = [a + b for a in "bcdfglmnprstv" for b in ("a", "e", "i", "o", "an", "er", "in", "or")]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(WORDS)]
    weights = np.cumsum(1 / np.arange(1, WORDS + 1))
    return words, weights.tolist()


def write_corpus(path: Path, documents: int) -> list[str]:
    """Records to be synced; some of their words as questions."""
    words, weights = vocabulary()
    chance = random.Random(11)  # noqa: S311 - made-up text
    questions = []
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            text = " ".join(chance.choices(words, cum_weights=weights, k=LENGTH)).capitalize() + "."
            file.write(json.dumps({"_id": f"r{number}", "title": f"Record {number}", "text": text}) + "\n")
            if number % max(1, documents // 200) == 0:
                questions.append(" ".join(text.rstrip(".").split()[10:16]))
    return questions


def timed(work: Callable[[], object]) -> float:
    """Seconds that ``work`` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def spread(name: str, values: Sequence[float]) -> Figures:
    """p50 and p95."""
    ordered = sorted(values)
    return {
        f"{name}_p50": round(statistics.median(ordered), 3),
        f"{name}_p95": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
    }


def encoder_figures(encoder: Embedder, texts: int) -> Figures:
    """Passages a second, and milliseconds of a question, of the encoder alone."""
    words, weights = vocabulary()
    chance = random.Random(13)  # noqa: S311 - made-up text
    sample = [" ".join(chance.choices(words, cum_weights=weights, k=LENGTH)) for _ in range(texts)]
    encoder.embed_passages(sample[:4])
    seconds = timed(lambda: encoder.embed_passages(sample))
    asked = []
    for text in sample[:40]:
        began = time.perf_counter()
        encoder.embed_query(text[:60])
        asked.append(1000 * (time.perf_counter() - began))
    return {"encoder_passages_per_second": round(texts / seconds, 2)} | spread("encoder_query_ms", asked)


def corpus_figures(corpus: OpenCorpus, path: Path, questions: Sequence[str]) -> Figures:
    """Syncs and searches over made-up records, without the encoder's own time."""
    options = SourceOptions(records=True)
    figures: Figures = {}
    began = time.perf_counter()
    first = corpus.sync(str(path), options=options)
    figures["chunks"] = first.chunks_total
    figures["sync_without_encoder_seconds"] = round(time.perf_counter() - began, 2)
    again = corpus.sync(str(path), options=options)
    if again.embedded_texts or again.chunks_added or again.chunks_removed:
        raise SystemExit("the second sync did not leave everything as it was")
    figures["sync_unchanged_seconds"] = round(again.seconds, 2)
    with path.open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"_id": "new", "title": "New", "text": "One more document with words of its own."}) + "\n"
        )
    figures["sync_one_new_seconds"] = round(corpus.sync(str(path), options=options).seconds, 2)
    figures["first_search_ms"] = round(1000 * timed(lambda: corpus.search(questions[0], principal=ASKER)), 1)
    stages: dict[str, list[float]] = {}
    whole: list[float] = []
    for question in questions:
        began = time.perf_counter()
        found = corpus.search(question, principal=ASKER)
        whole.append(1000 * (time.perf_counter() - began))
        for stage, milliseconds in found.timings_ms.items():
            stages.setdefault(stage, []).append(milliseconds)
    figures |= spread("search_without_encoder_ms", whole)
    for stage, values in sorted(stages.items()):
        if stage not in {"embed", "total"}:
            figures |= spread(f"search_{stage}_ms", values)
    return figures


def main() -> int:
    """Run the bench and print its figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000, help="documents of one chunk each")
    options.add_argument("--texts", type=int, default=96, help="passages to time the encoder on")
    options.add_argument("--out", type=Path, help="a file for the figures as JSON")
    wanted = options.parse_args()
    figures: Figures = {"machine": platform.machine(), "python": platform.python_version()}
    with tempfile.TemporaryDirectory(prefix="fonte-bench-") as folder:
        home = Path(folder) / "home"
        parts = make_parts(home, load_settings(None, home, {}))
        began = time.perf_counter()
        encoder = parts.make_embedder()
        figures["encoder_ready_seconds"] = round(time.perf_counter() - began, 2)
        figures |= encoder_figures(encoder, wanted.texts)
        path = Path(folder) / "corpus.jsonl"
        questions = write_corpus(path, wanted.chunks)
        corpus = OpenCorpus(replace(parts, make_embedder=lambda: InstantEncoder(encoder)))
        figures |= corpus_figures(corpus, path, questions)
        figures["home_mb"] = round(sum(item.stat().st_size for item in home.rglob("*") if item.is_file()) / 2**20, 1)
    model_seconds = int(figures["chunks"]) / float(figures["encoder_passages_per_second"])
    figures["sync_encoder_seconds"] = round(model_seconds, 1)
    figures["sync_overhead_percent"] = round(100 * float(figures["sync_without_encoder_seconds"]) / model_seconds, 1)
    figures["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    for name, value in figures.items():
        print(f"{name:34} {value}")
    if wanted.out:
        wanted.out.parent.mkdir(parents=True, exist_ok=True)
        wanted.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
