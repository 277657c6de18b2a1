"""The tenant's write lock across processes."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from fonte.errors import HomeLocked, StoreUnavailable

PAUSE_SECONDS = 0.05


class Lock(Protocol):
    """A tenant's write lock. The thread that holds it may take it again."""

    def hold(self, wait_seconds: float) -> AbstractContextManager[None]:
        """Hold the lock inside the block. Raises HomeLocked: somebody else holds it. StoreUnavailable."""


class _Held(threading.local):
    depth: int = 0


class WriteLock:
    """``flock`` on a file: the kernel lets go of it when its holder dies, so a lock is never stale.

    The thread that holds it may take it again.
    """

    def __init__(self, path: Path, prepare: Callable[[], None]) -> None:
        """Nothing is created yet; ``prepare`` makes the folder."""
        self._path = path
        self._prepare = prepare
        self._held = _Held()

    @contextmanager
    def hold(self, wait_seconds: float) -> Iterator[None]:
        """Hold the lock inside the block.

        Raises:
            HomeLocked: another process or thread holds it after ``wait_seconds``. StoreUnavailable: the lock file
                cannot be made.
        """
        if self._held.depth:
            self._held.depth += 1
            try:
                yield
            finally:
                self._held.depth -= 1
            return
        self._prepare()
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            message = f"the lock file cannot be opened: {error.strerror}"
            raise StoreUnavailable(message, hint="check the home's owner and mode") from error
        try:
            self._take(descriptor, wait_seconds)
            self._held.depth = 1
            try:
                yield
            finally:
                self._held.depth = 0
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int, wait_seconds: float) -> None:
        until = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
                    who = f"process {holder}" if holder else "another process"
                    message = f"{who} is writing to this home"
                    raise HomeLocked(message, hint="wait until it has ended, or stop it") from error
                time.sleep(PAUSE_SECONDS)
            else:
                try:
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                except OSError:  # the name of the holder is a courtesy; a full disk must not stop a delete
                    pass
                return
