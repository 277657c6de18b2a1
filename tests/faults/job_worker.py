"""A server's jobs without the server: takes up what was left in a home, and works slowly until it is killed.

``python -m faults.job_worker HOME`` prints ``ready`` and works.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fonte.stores.home import Home
from fonte.types import Vectors
from fonte.working import Worker
from quick_corpus import WordEmbedder, quick_corpus


class Slow(WordEmbedder):
    """Takes a while, so that a kill lands inside."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        time.sleep(0.15)
        return super().embed_passages(texts)


def work(home: Path) -> None:
    """Until killed."""
    corpus = quick_corpus(home, embedder=Slow())
    worker = Worker(corpus, Home(home).jobs)
    print("ready", flush=True)
    worker.resume(Home(home).with_jobs())
    time.sleep(600)


if __name__ == "__main__":
    work(Path(sys.argv[1]))
