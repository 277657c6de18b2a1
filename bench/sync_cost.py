"""A whole `fonte sync` with the real model, taken apart: how much is the model, how much is everything else.

    .venv/bin/python bench/sync_cost.py --records 240

Runs the command itself, in this process, with `encode_passages` wrapped by a clock. Then embeds the very same texts in
the same batches in a bare loop, without their token codes, so that a change of the machine's load between the two can
be seen. Processor time is given beside wall time: on a shared machine only that, and ratios, say something.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import psutil
from common import Figures, cpu_seconds, peak_mb, real_records

STARTED = psutil.Process().create_time()


class Clock:
    """Wall and processor time inside `encode_passages`, and what went in."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0
        self.first: float | None = None
        self.last = 0.0
        self.batches: list[list[str]] = []

    def wrap(self, work: Callable[..., object]) -> Callable[..., object]:
        """The method, timed."""

        def timed(encoder: object, texts: Sequence[str]) -> object:
            began, spent = time.perf_counter(), time.process_time()
            self.first = self.first if self.first is not None else began
            made = work(encoder, texts)
            self.last = time.perf_counter()
            self.wall += self.last - began
            self.cpu += time.process_time() - spent
            self.batches.append(list(texts))
            return made

        return timed


def measure(records: int, *, bare: bool) -> Figures:
    """Sync once; every figure."""
    from fonte.cli import main as fonte
    from fonte.models.onnx_embedder import OnnxEmbedder
    from fonte.models.registry import make_embedder

    clock = Clock()
    plain = OnnxEmbedder.embed_passages
    # The method is clocked where every encoder finds it; the clock takes the encoder as its first argument.
    OnnxEmbedder.encode_passages = clock.wrap(OnnxEmbedder.encode_passages)  # type: ignore[assignment,method-assign]  # timed where it stands
    with tempfile.TemporaryDirectory(prefix="fonte-bench-") as folder:
        path = Path(folder) / "corpus.jsonl"
        prepared, spent = time.perf_counter(), cpu_seconds()
        origin = real_records(path, records)
        prepared, spent = time.perf_counter() - prepared, cpu_seconds() - spent
        with redirect_stdout(sys.stderr):
            status = fonte(["sync", str(path), "--records", "--home", str(Path(folder) / "home"), "--quiet"])
        whole = time.time() - STARTED - prepared
        cpu = cpu_seconds() - spent
        peak = peak_mb()
    if status != 0 or clock.first is None:
        raise SystemExit(f"the sync ended with {status}")
    texts = sum(map(len, clock.batches))
    steady = clock.last - clock.first
    figures: Figures = {
        "input": origin,
        "texts_embedded": texts,
        "whole_process_seconds": round(whole, 2),
        "model_seconds": round(clock.wall, 2),
        "overhead_percent_whole_process": round(100 * (whole - clock.wall) / clock.wall, 1),
        "overhead_percent_first_to_last_embedding": round(100 * (steady - clock.wall) / clock.wall, 1),
        "processor_seconds": round(cpu, 2),
        "processor_seconds_in_model": round(clock.cpu, 2),
        "overhead_percent_processor": round(100 * (cpu - clock.cpu) / clock.cpu, 1),
        "passages_per_model_second": round(texts / clock.wall, 2),
        "peak_mb": peak,
    }
    if bare:
        encoder = make_embedder()
        plain(encoder, clock.batches[0][:4])  # type: ignore[arg-type]
        began, used = time.perf_counter(), time.process_time()
        for batch in clock.batches:
            plain(encoder, batch)  # type: ignore[arg-type]
        figures["bare_loop_seconds"] = round(time.perf_counter() - began, 2)
        figures["bare_loop_processor_seconds"] = round(time.process_time() - used, 2)
    return figures


def main() -> int:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--records", type=int, default=240)
    options.add_argument("--no-bare", action="store_true", help="leave out the bare loop")
    wanted = options.parse_args()
    print(json.dumps(measure(wanted.records, bare=not wanted.no_bare)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
