"""Syncs a folder into PostgreSQL with quick parts, and is killed at a statement.

``python -m faults.postgres_worker HOME FOLDER NUMBER``: the process kills itself before its NUMBER-th statement.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fonte.corpus import OpenCorpus
from fonte.stores.postgres.connection import Connection
from quick_corpus import quick_corpus


def at_statement(number: int, then: Callable[[], None]) -> Callable[[], int]:
    """Do something before the ``number``-th statement of this process; how many there were so far."""
    count = 0
    for name in ("execute", "script", "copy_in"):
        inner = getattr(Connection, name)

        def counted(self: Connection, *arguments: Any, _inner: Any = inner) -> Any:
            nonlocal count
            count += 1
            if count == number:
                then()
            return _inner(self, *arguments)

        setattr(Connection, name, counted)
    return lambda: count


def corpus_of(home: Path, url: str) -> OpenCorpus:
    return quick_corpus(home, environ={"FONTE_DATABASE_URL": url})


if __name__ == "__main__":
    at_statement(int(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL))
    with corpus_of(Path(sys.argv[1]), os.environ["FONTE_DATABASE_URL"]) as opened:
        opened.sync(sys.argv[2])
