"""Runs one fonte command when told to, with everything heavy loaded before: a kill then lands inside the work.

``python -m faults.sync_worker ARGUMENT…`` prints ``ready``, waits for a line, runs the command, and ends with its
status.
"""

from __future__ import annotations

import sys

import lancedb  # noqa: F401 - loaded before the clock starts

from fonte.cli import main
from fonte.models import registry


def work(arguments: list[str]) -> int:
    """Load, say so, wait, run."""
    embedder = registry.make_embedder("package:all-MiniLM-L6-v2", threads=1)
    embedder.embed_passages(["warm"])
    registry.make_embedder = lambda *_, **__: embedder  # type: ignore[assignment]  # the one that is loaded
    print("ready", flush=True)
    sys.stdin.readline()
    return main(arguments)


if __name__ == "__main__":
    sys.exit(work(sys.argv[1:]))
