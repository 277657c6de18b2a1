"""Pins: a table that somebody reads is not removed under the reader, whichever process it is in.

A pin is a file beside the table. Readers hold it shared by ``flock``, the remover must get it alone; the kernel lets
go of it when a process dies, so nothing goes stale. A reader writes nothing.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fonte.errors import StoreUnavailable


def hold(path: Path, owner: object) -> None:
    """Hold the pin shared for as long as ``owner`` lives. A table that came without a pin (a copy) needs none.

    Raises:
        StoreUnavailable: the table is being removed at this moment.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        message = "the generation is just being removed"
        raise StoreUnavailable(message, hint="ask again; the active generation is another one by now") from error
    weakref.finalize(owner, os.close, descriptor)


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """True inside the block when nobody holds the pin, and nobody can take it until the block ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
