"""Damaged and hostile files, each alone in a fresh sync with a good file beside it: what becomes of it, at what cost.

    .venv/bin/python bench/nasty.py --page docs/parsing-outcomes.md FOLDER…

Vectors are made up (the encoder is not what is measured). Seconds and memory are those of the parser's processes with
the OCR programs that they start: processor time, which another load on the machine hardly changes. A file passes with
searchable text or a reason, within 20 s and 1.5·10⁹ bytes, when the good file is read as well.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from common import InstantEncoder, machine

from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.protocols import Embedder
from fonte.types import DocumentState, DocumentStatus
from fonte.wiring import make_parts

SECONDS, MEBIBYTES = 20.0, 1430
_GOOD = ("good.txt", "The quokka pump runs at 41 bar.\n")
_LOOK_SECONDS = 0.02
_LONGEST_REASON = 170
_HEAD = """# What becomes of damaged and hostile files

Written by `bench/nasty.py` (do not edit). Each file was synced alone into a fresh home, a good file beside it; the
files lie outside the project. A file passes with searchable text or a reason that says what is wrong, within 20 s of
processor time and 1,430 MiB (1.5·10⁹ bytes) of memory (parsers with the OCR programs that they start, their own start
included), and when the good file beside it was read.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    name: str
    state: DocumentState | None
    survived: bool
    seconds: float
    mebibytes: int

    @property
    def passes(self) -> bool:
        """Whether it ended in text or a reason, within the limits."""
        said = self.state is not None and (self.state.chunks > 0 or bool(self.state.reason))
        return said and self.survived and self.seconds <= SECONDS and self.mebibytes <= MEBIBYTES


@dataclass(slots=True)
class _Cost:
    """Processor seconds and most memory (MiB) of the parsers, as far as they were seen."""

    seconds: float = 0.0
    mebibytes: int = 0


@contextmanager
def _watched() -> Iterator[_Cost]:
    """What the processes below this one cost: parsers, and the OCR programs that they start."""
    cost = _Cost()
    done = threading.Event()

    def look() -> None:
        me = psutil.Process()
        ours = me.cmdline()  # a child that has not become a program of its own yet has our memory
        used: dict[int, float] = {}
        while not done.wait(_LOOK_SECONDS):
            for child in me.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if child.cmdline() == ours:
                        continue
                    times = child.cpu_times()
                    used[child.pid] = times.user + times.system
                    cost.mebibytes = max(cost.mebibytes, child.memory_info().rss >> 20)
            cost.seconds = sum(used.values())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield cost
    finally:
        done.set()
        watcher.join()


def outcome(file: Path, encoder: Embedder) -> Outcome:
    """Sync the file and a good one into a fresh home."""
    with tempfile.TemporaryDirectory(prefix="fonte-nasty-") as where:
        folder, home = Path(where) / "folder", Path(where) / "home"
        folder.mkdir()
        shutil.copy(file, folder / file.name)
        (folder / _GOOD[0]).write_text(_GOOD[1], encoding="utf-8")
        parts = replace(make_parts(home, load_settings(None, home, {})), make_embedder=lambda: encoder)
        with OpenCorpus(parts) as corpus, _watched() as cost:
            corpus.sync(str(folder))
            states = {state.name: state for state in corpus.documents(ledgers=True)}
    good = states.get(_GOOD[0])
    mine = [state for name, state in states.items() if name != _GOOD[0]]
    # A container that cannot be opened and its members are states of their own: the worst is told.
    worst = min(mine, key=lambda state: state.chunks) if mine else None
    survived = good is not None and good.status is DocumentStatus.READY
    return Outcome(file.name, worst, survived, round(cost.seconds, 1), cost.mebibytes)


def _row(one: Outcome) -> str:
    state = one.state
    reason = " ".join(((state.reason if state else None) or "").replace("|", "/").split())
    reason = reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"
    status = state.status.value if state else "missing"
    words = state.ledger.canonical.words if state and state.ledger else 0
    mark = "yes" if one.passes else "**no**"
    return f"| `{one.name}` | {status} | {words or ''} | {reason} | {one.seconds} | {one.mebibytes} | {mark} |"


def page(folders: Sequence[tuple[str, Sequence[Outcome]]]) -> str:
    """Markdown: a table for each folder."""
    told = machine()
    everything = [one for _, outcomes in folders for one in outcomes]
    slowest = max(everything, key=lambda one: one.seconds)
    largest = max(everything, key=lambda one: one.mebibytes)
    passed = sum(one.passes for one in everything)
    costs = (
        f"Of {len(everything)} files {passed} pass. The slowest took {slowest.seconds} s (`{slowest.name}`), the "
        f"largest {largest.mebibytes} MiB (`{largest.name}`). Measured {told['when']} on {told['cores']} cores that "
        f"were shared (load {told['load_1_5_15_minutes']})."
    )
    lines = [_HEAD, costs]
    for name, outcomes in folders:
        states = Counter(one.state.status.value if one.state else "missing" for one in outcomes)
        counted = ", ".join(f"{count} {state}" for state, count in states.most_common())
        lines += [f"\n## `{name}`\n", f"{len(outcomes)} files: {counted}.\n"]
        lines += [
            "| file | state | words | reason | seconds | MiB | passes |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        lines += map(_row, outcomes)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print a line for each file; 1 when one does not pass."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, help="write the tables there")
    parser.add_argument("--only", help="files whose name holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        made = make_parts(Path(home), load_settings(None, Path(home), {})).make_embedder()
    encoder = InstantEncoder(made, instant_questions=True)
    folders = []
    for folder in options.folders:
        outcomes = []
        for file in sorted(folder.iterdir()):
            if options.only and options.only not in file.name:
                continue
            outcomes.append(outcome(file, encoder))
            print(_row(outcomes[-1]), file=sys.stderr, flush=True)
        folders.append((folder.name, outcomes))
    if options.page:
        options.page.write_text(page(folders), encoding="utf-8")
    return 0 if all(one.passes for _, outcomes in folders for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
