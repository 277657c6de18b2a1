"""One file to one source: its hash, its name, its URI."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from fonte.errors import SourceTooLarge, SourceUnreadable
from fonte.text.frontmatter import HEAD_BYTES

DEFAULT_MAX_BYTES = 512 * 1024 * 1024
_PIECE_BYTES = 1 << 20


def file_uri(path: str | Path, *, folder: bool = False) -> str:
    """``file://`` URI of an absolute path, its bytes percent-encoded; with a slash at the end for a folder."""
    encoded = quote(os.fsencode(os.path.abspath(path)), safe="/~")
    return f"file://{encoded}{'/' if folder and not encoded.endswith('/') else ''}"


def shown_name(path: str) -> str:
    r"""A relative path as people read it: ``/`` between parts, bytes that are not UTF-8 as ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace").replace(os.sep, "/")


@dataclass(frozen=True, slots=True)
class Looked:
    """A file that was read through: the hash of its bytes, when it was changed, and its first ``HEAD_BYTES``."""

    content_hash: str
    modified_at: datetime | None
    head: bytes


def hash_file(path: str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Looked:
    """A file read once, in pieces.

    Raises:
        SourceUnreadable: gone, forbidden, or not a regular file.
        SourceTooLarge: more than ``max_bytes``.
    """
    digest, size, head = hashlib.sha256(), 0, b""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise SourceUnreadable(f"{shown_name(path)} is not a regular file")
            while piece := file.read(_PIECE_BYTES):
                size += len(piece)
                if size > max_bytes:
                    raise too_large(path, max_bytes)
                digest.update(piece)
                if len(head) < HEAD_BYTES:
                    head += piece[: HEAD_BYTES - len(head)]
    except OSError as error:
        raise unreadable(path, error) from error
    return Looked(digest.hexdigest(), _moment(status.st_mtime), head)


def too_large(what: str, max_bytes: int) -> SourceTooLarge:
    """The error for a source beyond the limit."""
    hint = "raise max_file_mb in [parsing], or leave it out with --exclude"
    return SourceTooLarge(f"{shown_name(what)} is larger than {max_bytes // (1024 * 1024)} MB", hint=hint)


def unreadable(path: str, error: OSError) -> SourceUnreadable:
    """The error for a file or folder that the system does not give us."""
    return SourceUnreadable(
        f"{shown_name(path)} cannot be read: {error.strerror or error}", hint="check that it exists and may be read"
    )


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
