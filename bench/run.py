"""Speed on this machine: a sync and its overhead, searches, cold starts, memory, and what limits each.

    make bench                                                   prints a table, writes bench/results/local.json
    .venv/bin/python bench/run.py --records 1500 --out bench/results/long.json

Every part runs in a process of its own, so that peaks of memory are its own; each can be run alone (see its --help).
Seconds of two machines, or of two loads, cannot be compared; ratios and processor time can, to some extent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from common import DATA, Figures, machine, spread

HERE = Path(__file__).resolve().parent
FONTE = (sys.executable, "-m", "fonte")
LIMITS = {
    "sync": "the encoder's matrix products; `overhead_percent_*` is all that is not inside it",
    "search": "the encoder for one question; then BM25 and reading the candidates' text out of Lance",
    "cold": "imports (LanceDB and pyarrow above all) and loading the model; the search itself is the small part",
    "memory": "the model (its graph and the tokenizer's trie), libraries, then 4 bytes a dimension for each chunk",
}


def part(script: str, *arguments: str) -> Figures:
    """Figures of one part, from a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own scripts
        [sys.executable, str(HERE / script), *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{script} ended with {done.returncode}")
    figures: Figures = json.loads(done.stdout)
    return figures


def command(name: str, arguments: Sequence[str], times: int) -> Figures:
    """Wall, processor time and memory of whole runs of the command line."""
    wall, spent, peak = [], [], 0
    for _ in range(times):
        began = time.perf_counter()
        child = subprocess.Popen(  # noqa: S603 - our own command
            [*FONTE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"fonte {arguments[0]} ended with {child.returncode}")
        wall.append(time.perf_counter() - began)
        spent.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, round(usage.ru_maxrss / 1024))
    figures: Figures = {f"{name}_peak_mb": peak}
    figures |= spread(f"{name}_seconds", wall)
    figures |= spread(f"{name}_processor_seconds", spent)
    return figures


def everything(records: int, chunks: int, times: int) -> dict[str, Figures]:
    """All parts."""
    told: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="fonte-bench-") as folder:
        home = Path(folder) / "home"
        print(f"search: {chunks} chunks …", file=sys.stderr)
        told["search"] = part("search_cost.py", "--chunks", str(chunks), "--home", str(home))
        print("cold starts …", file=sys.stderr)
        told["cold"] = command("help", ["--help"], times)
        told["cold"] |= command("search", ["search", "vita nuova della popolazione", "--home", str(home)], times)
        told["cold"] |= command("ask", ["ask", "Quando fu fondata la città?", "--home", str(home)], times)
        told["steps_of_a_cold_search"] = part("cold_start.py", "--home", str(home))
    print(f"sync: {records} records with the real encoder, then the same texts in a bare loop …", file=sys.stderr)
    told["sync"] = part("sync_cost.py", "--records", str(records))
    return told


def main() -> int:
    """Run the bench, print its figures, keep them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--records", type=int, default=240, help="records of the sync with the real encoder")
    options.add_argument("--chunks", type=int, default=10_000, help="chunks to search among")
    options.add_argument("--times", type=int, default=5, help="runs of each command")
    options.add_argument("--out", type=Path, default=HERE / "results" / "local.json", help="a file for the figures")
    wanted = options.parse_args()
    if not DATA.is_dir():
        print("../shared/data is not here: texts are made up of the sample handbook's words", file=sys.stderr)
    before = machine()
    told = everything(wanted.records, wanted.chunks, wanted.times)
    after = machine()
    for name, figures in told.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key:58} {value}")
    print("limits")
    for name, text in LIMITS.items():
        print(f"  {name:10} {text}")
    print(f"load before {before['load_1_5_15_minutes']}, after {after['load_1_5_15_minutes']}, {after['cores']} cores")
    wanted.out.parent.mkdir(parents=True, exist_ok=True)
    ran = " ".join(["bench/run.py", *sys.argv[1:]])
    kept = {"command": ran, "before": before, "after": after, **told, "limits": LIMITS}
    wanted.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
