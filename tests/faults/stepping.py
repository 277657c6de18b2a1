"""Every step that an operation takes on a home's disk, told before it is taken: a test may then refuse it, look on
from beside, or end the process.

Three seams that are there anyway: Python's audit events for files, the authorizer of every SQLite connection for
commits, and the stores that ``Parts`` is given for the index, whose files a native library writes.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fonte.parts import Parts

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
_MOVES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate", "shutil.rmtree"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_WRITER_STEPS = ("add", "remove_documents", "set_roles", "seal")
_INDEX_STEPS = ("begin", "rewrite", "drop", "erase")


class Steps:
    """Counts the steps of one thread below a folder and calls ``at_step`` with number and name before each."""

    def __init__(self, home: Path, at_step: Callable[[int, str], None]) -> None:
        self.home, self.at_step = str(home), at_step
        self.names: list[str] = []
        self.thread = threading.get_ident()
        self._inside = False

    def step(self, name: str) -> None:
        """One more; what a step's own doing does is none."""
        if self._inside or threading.get_ident() != self.thread:
            return
        self.names.append(name)
        self._inside = True
        try:
            self.at_step(len(self.names), name)
        finally:
            self._inside = False


_current: Steps | None = None
_installed = False


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    steps = _current
    if steps is None:
        return
    if event == "open":
        path, _, flags = arguments
        # SQLite's own files are its own affair; this is about ours.
        if isinstance(flags, int) and flags & _WRITES and str(path).startswith(steps.home):
            steps.step(f"open {Path(str(path)).suffix}")
    elif event in _MOVES and str(arguments[0]).startswith(steps.home):
        if event == "os.mkdir" and Path(str(arguments[0])).exists():
            return  # made sure of, not made
        steps.step(f"{event} {Path(str(arguments[0])).suffix}")


def _authorize(action: int, what: str | None, *_: object) -> int:
    steps = _current
    commit = action == sqlite3.SQLITE_TRANSACTION and what == "COMMIT"
    if steps is not None and (commit or (action == sqlite3.SQLITE_PRAGMA and what == "wal_checkpoint")):
        try:
            steps.step(f"sqlite {what}")
        except OSError:
            return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _connecting(*args: Any, **kwargs: Any) -> sqlite3.Connection:
    connection = _connect(*args, **kwargs)
    connection.set_authorizer(_authorize)
    return connection


_connect = sqlite3.connect


@contextmanager
def stepping(home: Path, at_step: Callable[[int, str], None]) -> Iterator[Steps]:
    """Steps of this thread, for connections and stores that are opened inside the block."""
    global _current, _installed  # noqa: PLW0603 - an audit hook is the process's own and cannot be taken out
    if not _installed:
        sys.addaudithook(_audit)
        _installed = True
    _current = steps = Steps(home, at_step)
    sqlite3.connect = _connecting
    try:
        yield steps
    finally:
        sqlite3.connect = _connect
        _current = None


class _Stepped:
    """A part whose methods are steps, before and after."""

    def __init__(self, inner: Any, names: tuple[str, ...]) -> None:
        self._inner, self._names = inner, names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._names:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            _told(f"before {name}")
            made = found(*args, **kwargs)
            _told(f"after {name}")
            return _Stepped(made, _WRITER_STEPS) if name in ("begin", "rewrite") else made

        return call


def _told(name: str) -> None:
    if _current is not None:
        try:
            _current.step(name)
        except OSError as error:  # the index wraps what its library raises
            from fonte.stores.lance_errors import lance_call

            with lance_call("a step"):
                raise error from None


def stepped(parts: Parts) -> Parts:
    """The parts with an index whose operations are steps, for the eraser too."""

    class Stores:
        def tenant(self, name: str) -> Any:
            store: Any = parts.stores.tenant(name)
            index: Any = _Stepped(store.index, _INDEX_STEPS)
            return replace(store, index=index, eraser=replace(store.eraser, index=index))

    return replace(parts, stores=Stores())
