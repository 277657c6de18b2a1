"""What a cold `fonte search` is made of: processor and wall time of each step, in this one process.

    .venv/bin/python bench/cold_start.py --home .fonte-demo

Steps run one after the other here; the command itself opens the index while it loads the model.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from common import Figures, cpu_seconds, peak_mb


def measure(home: Path, question: str) -> Figures:
    """Every step's wall and processor time in milliseconds; ``common`` has brought numpy already."""
    figures: Figures = {"interpreter_and_bench_processor_ms": round(1000 * cpu_seconds())}

    def step(name: str, work: Callable[[], object]) -> object:
        began, spent = time.perf_counter(), cpu_seconds()
        made = work()
        figures[f"{name}_ms"] = round(1000 * (time.perf_counter() - began))
        figures[f"{name}_processor_ms"] = round(1000 * (cpu_seconds() - spent))
        return made

    step("import_fonte", lambda: __import__("fonte.wiring"))
    from fonte.config import load_settings
    from fonte.corpus import OpenCorpus
    from fonte.stores.lance_start import lancedb
    from fonte.types import Principal
    from fonte.wiring import make_parts

    step("import_lancedb", lancedb)
    step("import_onnxruntime", lambda: __import__("onnxruntime"))
    parts = make_parts(home, load_settings(None, home, {}))
    step("load_model", lambda: parts.embedder)
    with OpenCorpus(parts) as corpus:
        step("open_and_first_search", lambda: corpus.search(question, principal=Principal()))
        step("second_search", lambda: corpus.search(question, principal=Principal()))
    figures["peak_mb"] = peak_mb()
    return figures


def main() -> int:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--question", default="Quanti giorni di ferie ho all'anno?")
    wanted = options.parse_args()
    print(json.dumps(measure(wanted.home, wanted.question)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
