"""Foreign errors of LanceDB and Arrow, wrapped where they enter."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from fonte.errors import CorruptIndex, StoreError, StoreUnavailable

_FULL = ("no space left", "os error 28", "disk quota", "os error 122")
_DENIED = ("permission denied", "read-only file system", "os error 13", "os error 30")
_GONE = ("not found", "no such file", "os error 2)", "corrupt", "checksum", "invalid magic", "unexpected end of file")


def store_error(error: Exception, what: str) -> StoreError:
    """The store error that ``error`` stands for; ``what`` says what was being done."""
    text = str(error)
    low = text.lower()
    number = error.errno if isinstance(error, OSError) else None
    first = text.splitlines()[0][:300] if text else type(error).__name__
    if number in {errno.ENOSPC, errno.EDQUOT} or any(mark in low for mark in _FULL):
        return StoreUnavailable(f"disk full while {what}", hint="free some space and try again")
    if number in {errno.EACCES, errno.EPERM, errno.EROFS} or any(mark in low for mark in _DENIED):
        return StoreUnavailable(f"not allowed while {what}: {first}", hint="check who owns the home and its mode")
    if any(mark in low for mark in _GONE):
        return CorruptIndex(f"the index is damaged or gone ({what}): {first}", hint="run fonte sync again")
    return StoreUnavailable(f"the index failed while {what}: {first}", hint="try again; check the disk")


@contextmanager
def lance_call(what: str) -> Iterator[None]:
    """Turn what LanceDB, Arrow and the file system raise inside the block into a ``StoreError``.

    Raises:
        StoreUnavailable: disk full, denied, or a failure that may pass. CorruptIndex: files that are gone or damaged.
    """
    import pyarrow as pa

    try:
        yield
    except (OSError, RuntimeError, ValueError, TypeError, pa.ArrowException) as error:
        raise store_error(error, what) from error
