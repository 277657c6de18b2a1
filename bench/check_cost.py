"""What the data checks of a candidate cost, without the model: a table of random words and vectors, real terms.

    .venv/bin/python bench/check_cost.py --chunks 100000

Every part is timed twice, each time on a store that is opened anew. What the model adds is six texts.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
from common import cpu_seconds, peak_mb

from fonte.checks import ROWS_READ, ROWS_SEARCHED, leg_faults, row_faults
from fonte.stores.lance_index import LanceIndex
from fonte.text.terms import Analyser
from fonte.types import Chunk, ChunkingRecipe, Generation, GenerationState, Recipe, Space, StoredChunk

DIMENSIONS = 384
WORDS = 80
OF_A_DOCUMENT = 10
BATCH = 2000
_Result = TypeVar("_Result")


def built(folder: Path, count: int, terms: Analyser) -> Generation:
    """A sealed table of ``count`` chunks of words that are as rare as words are."""
    recipe = Recipe("bench", "bench", ChunkingRecipe(), terms.version, Space("bench", "bench", "1", DIMENSIONS, 512))
    draw, vectors = random.Random(1), np.random.default_rng(1)  # noqa: S311 - made-up words
    words = [f"w{int(draw.paretovariate(0.7)) % 40_000}x" for _ in range(60_000)]
    writer = LanceIndex(folder).begin(recipe, None)
    for start in range(0, count, BATCH):
        stored = [_chunk(number, " ".join(draw.choices(words, k=WORDS))) for number in range(start, start + BATCH)]
        rows = vectors.standard_normal((BATCH, DIMENSIONS)).astype(np.float32)
        made = [terms.document_terms(one.chunk.text, one.chunk.language) for one in stored]
        writer.add(stored, made, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    version, chunks = writer.seal()
    state = GenerationState.CANDIDATE
    return Generation("g1", "default", state, recipe, writer.table, version, datetime.now(UTC), chunks=chunks)


def _chunk(number: int, content: str) -> StoredChunk:
    document = f"d{number // OF_A_DOCUMENT}"
    chunk = Chunk(
        f"c{number:024d}",
        document,
        number % OF_A_DOCUMENT,
        0,
        len(content),
        content,
        "T > A",
        language="en",
        tokens=100,
    )
    return StoredChunk(chunk, document, f"file:///{document}", "v1", "T", frozenset({"public"}), "text/plain")


def checked(index: LanceIndex, generation: Generation, terms: Analyser) -> dict[str, object]:
    """Seconds, and seconds of the processor, of each part; and how many faults there were."""
    found: dict[str, object] = {}

    def timed(part: str, work: Callable[[], _Result]) -> _Result:
        began, spent = time.perf_counter(), cpu_seconds()
        result = work()
        found[part] = {"seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - spent}
        return result

    reader = index.open(generation)
    facts = timed("whole pass", reader.facts)
    chosen = [chunk for chunks in facts.chunks.values() for chunk in chunks][: ROWS_READ * 97 : 97]
    rows = timed("rows", lambda: reader.whole_rows(chosen))
    faults = timed("terms and codes", lambda: row_faults(generation, rows, terms))
    timed("loading for search", reader.languages)
    faults += timed("legs", lambda: leg_faults(reader, rows[:ROWS_SEARCHED], facts, terms))
    return found | {"faults": len(faults), "peak_mb": peak_mb()}


def main() -> None:
    """Build, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    options = parser.parse_args()
    terms = Analyser()
    with tempfile.TemporaryDirectory() as name:
        generation = built(Path(name) / "lance", options.chunks, terms)
        runs = [checked(LanceIndex(Path(name) / "lance"), generation, terms) for _ in range(2)]
    print(json.dumps({"chunks": options.chunks, "runs": runs}, indent=2))


if __name__ == "__main__":
    main()
