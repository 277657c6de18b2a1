"""Load on a real ``fonte serve``: throughput and latency at 1 to 128 clients, what is refused, memory, a sync beside.

    .venv/bin/python bench/serve_load.py --chunks 10000 --seconds 20
    .venv/bin/python bench/serve_load.py --chunks 10000 --seconds 5 --minutes 10     # and whether memory stays flat

The server is a process of its own with its own model; clients share this process, keep their connections and, when
they are refused, wait as ``Retry-After`` says. An answer counts as right when its documents are those that the same
question got from the idle server. Loopback, one machine for both sides: figures are of the pair.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import psutil
from common import Figures, InstantEncoder, spread, write_records

from fonte import SourceOptions
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.wiring import make_parts

CLIENTS = (1, 8, 32, 128)
FONTE = (sys.executable, "-m", "fonte")
ROUTES = {"search": ("/v1/search", "query"), "ask": ("/v1/ask", "question")}


@dataclass
class Seen:
    """What came of the requests of one round."""

    milliseconds: list[float] = field(default_factory=list)
    refused_milliseconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0


def documents_of(told: dict[str, list[dict[str, str]]]) -> list[str]:
    """Documents that an answer or a ranking names, in order."""
    found = told["results"] if "results" in told else told["citations"]
    return [one["document_id"] for one in found]


async def client(
    base: str, route: str, key: str, work: Iterator[str], expected: dict[str, list[str]], until: float
) -> Seen:
    """One client after another question until the time is over."""
    path, name = ROUTES[route]
    seen = Seen()
    async with httpx.AsyncClient(base_url=base, timeout=60, headers={"authorization": f"Bearer {key}"}) as link:
        while time.monotonic() < until:
            question = next(work)
            began = time.perf_counter()
            answer = await link.post(path, json={name: question})
            taken = 1000 * (time.perf_counter() - began)
            seen.statuses[answer.status_code] += 1
            if answer.status_code == httpx.codes.OK:
                seen.milliseconds.append(taken)
                seen.wrong += documents_of(answer.json()) != expected[question]
            else:
                seen.refused_milliseconds.append(taken)
                await asyncio.sleep(float(answer.headers.get("retry-after", 1)))
    return seen


async def round_of(
    base: str, route: str, key: str, clients: int, seconds: float, expected: dict[str, list[str]]
) -> Seen:
    """So many clients at once."""
    work = itertools.cycle(expected)
    until = time.monotonic() + seconds
    parts = await asyncio.gather(*(client(base, route, key, work, expected, until) for _ in range(clients)))
    whole = Seen()
    for one in parts:
        whole.milliseconds += one.milliseconds
        whole.refused_milliseconds += one.refused_milliseconds
        whole.statuses += one.statuses
        whole.wrong += one.wrong
    return whole


def figures_of(name: str, seen: Seen, seconds: float) -> Figures:
    """Throughput, spreads, statuses."""
    found: Figures = {f"{name}_per_second": round(len(seen.milliseconds) / seconds, 1)}
    found |= spread(f"{name}_ms", seen.milliseconds)
    ordered = sorted(seen.milliseconds)
    found[f"{name}_ms_p99"] = round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 1)
    found |= {f"{name}_status_{status}": count for status, count in sorted(seen.statuses.items())}
    if seen.refused_milliseconds:
        found |= spread(f"{name}_refused_ms", seen.refused_milliseconds)
    found[f"{name}_wrong"] = seen.wrong
    return found


def build(home: Path, chunks: int) -> tuple[list[str], Path]:
    """A home with so many chunks, whose passages cost no model; questions about them."""
    parts = make_parts(home, load_settings(None, home, {}))
    encoder = InstantEncoder(parts.make_embedder())
    path = home.with_suffix(".jsonl")
    questions, _ = write_records(path, chunks)
    with OpenCorpus(replace(parts, make_embedder=lambda: encoder)) as corpus:
        corpus.sync(str(path), options=SourceOptions(records=True))
    return questions, path


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, str, psutil.Process]]:
    """A server: its address, a key, its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = subprocess.run([*FONTE, "keys", "create", "--home", str(home), "--json"], capture_output=True, check=True)  # noqa: S603 - our own command
    key = json.loads(made.stdout)["key"]
    settings = {**os.environ, "FONTE_SERVE_REQUESTS_PER_MINUTE": "1000000"}
    child = subprocess.Popen([*FONTE, "serve", "--home", str(home), "--port", str(port)], env=settings)  # noqa: S603 - our own command
    base = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                httpx.get(f"{base}/readyz")
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield base, key, psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait(60)


def expected_of(base: str, key: str, route: str, questions: Sequence[str]) -> dict[str, list[str]]:
    """What the idle server says to each question."""
    path, name = ROUTES[route]
    with httpx.Client(base_url=base, timeout=60, headers={"authorization": f"Bearer {key}"}) as link:
        return {one: documents_of(link.post(path, json={name: one}).raise_for_status().json()) for one in questions}


def measure(home: Path, chunks: int, seconds: float, minutes: float) -> Figures:
    """Every figure."""
    questions, path = build(home, chunks)
    figures: Figures = {"chunks": chunks, "seconds_each": seconds}
    with serving(home) as (base, key, process):
        figures["idle_mb"] = round(process.memory_info().rss / 2**20)
        for route in ROUTES:
            expected = expected_of(base, key, route, questions)
            for clients in CLIENTS:
                seen = asyncio.run(round_of(base, route, key, clients, seconds, expected))
                figures |= figures_of(f"{route}_{clients}", seen, seconds)
                figures[f"{route}_{clients}_mb"] = round(process.memory_info().rss / 2**20)
        expected = expected_of(base, key, "search", questions)
        figures |= beside_sync(base, key, home, path, expected, seconds)
        if minutes:
            figures |= flat(base, key, process, expected_of(base, key, "ask", questions), minutes)
    return figures


def beside_sync(base: str, key: str, home: Path, path: Path, expected: dict[str, list[str]], seconds: float) -> Figures:
    """Readers while another process syncs sixty new records, with the real model, and publishes them."""
    lines = path.read_text("utf-8").splitlines()[:60]
    more = [json.dumps({**json.loads(line), "_id": f"more{at}"}) for at, line in enumerate(lines)]
    path.write_text(path.read_text("utf-8") + "".join(line + "\n" for line in more), "utf-8")
    syncing = subprocess.Popen(  # noqa: S603 - our own command
        [*FONTE, "sync", str(path), "--records", "--home", str(home), "--quiet", "--json"], stdout=subprocess.PIPE
    )
    began = time.monotonic()
    whole = Seen()
    while syncing.poll() is None:
        seen = asyncio.run(round_of(base, "search", key, 4, min(2.0, seconds), expected))
        whole.milliseconds += seen.milliseconds
        whole.statuses += seen.statuses
    taken = time.monotonic() - began
    found = figures_of("search_4_beside_sync", whole, taken)
    # New records may rightly come among the results once they are published, so rightness is not counted here.
    del found["search_4_beside_sync_wrong"]
    return found | {"sync_exit": syncing.returncode, "sync_seconds": round(taken, 1)}


def flat(base: str, key: str, process: psutil.Process, expected: dict[str, list[str]], minutes: float) -> Figures:
    """Memory at every minute while 32 clients ask."""
    found: Figures = {}
    for minute in range(1, int(minutes) + 1):
        seen = asyncio.run(round_of(base, "ask", key, 32, 60.0, expected))
        found[f"minute_{minute}_mb"] = round(process.memory_info().rss / 2**20)
        found[f"minute_{minute}_answered"] = len(seen.milliseconds)
        found[f"minute_{minute}_errors"] = sum(seen.statuses[status] for status in (500, 502, 504))
    return found


def main() -> int:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000)
    options.add_argument("--seconds", type=float, default=20.0, help="of each round")
    options.add_argument("--minutes", type=float, default=0.0, help="how long memory is watched")
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="fonte-bench-") as folder:
        print(json.dumps(measure(Path(folder) / "home", wanted.chunks, wanted.seconds, wanted.minutes), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
