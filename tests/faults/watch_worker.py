"""A watch in a process of its own, with a model out of words.

``python -m faults.watch_worker stuck HOME FOLDER`` watches with a parser that never ends its third document and says
``parsing`` when it is there. ``python -m faults.watch_worker cli ARGUMENT…`` is the command line.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event

from fonte import wiring
from fonte.access.standing import Rules
from fonte.cli import main
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError
from fonte.parts import SourceOptions
from fonte.standing import Looked, Standing
from fonte.tending import ears
from fonte.types import Parsed, Source
from fonte.watching import Pace, Watch
from quick_corpus import InlinePool, WordEmbedder, quick_parts

LEASE_SECONDS = 6.0


class Stuck(InlinePool):
    """Hangs in the third document."""

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        for number, parsed in enumerate(super().parse_many(sources)):
            if number == 2:
                print("parsing", flush=True)
                time.sleep(600)
            yield parsed


def stuck(home: Path, folder: str) -> None:
    """Until killed."""

    @contextmanager
    def pool(workers: int) -> Iterator[Stuck]:
        del workers
        yield Stuck()

    standing = Standing(
        OpenCorpus(replace(quick_parts(home), make_pool=pool)), Rules(lease_seconds=LEASE_SECONDS), "dead"
    )

    def look(source: str, since: datetime) -> Looked:
        return standing.look(
            source, tenant="default", since=since, progress=lambda *_: None, options=SourceOptions()
        )  # fmt: skip

    Watch([folder], look, ears(home), pace=Pace(settle=0.1)).run(Event())


if __name__ == "__main__":
    if sys.argv[1] == "stuck":
        stuck(Path(sys.argv[2]), sys.argv[3])
    # A launcher may ignore Ctrl-C for what it starts in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wiring.registry.make_embedder = lambda *_, **__: WordEmbedder()  # type: ignore[assignment]  # no weights are loaded
    sys.exit(main(sys.argv[2:]))
