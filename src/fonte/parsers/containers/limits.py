"""What a container may cost before it counts as a bomb, and names that may not lead anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, Final

from fonte.errors import FonteError, SourceTooLarge, SourceUnreadable

MAX_MEMBERS: Final = 10_000
"""Files in a container, those in containers inside it among them."""
MAX_MEMBER: Final = 2**28
"""Bytes of one member once unpacked."""
MAX_TOTAL: Final = 2**30
"""Bytes of all members once unpacked, those of containers inside counted as well."""
MAX_RATIO: Final = 300
"""Times that something may grow in unpacking, once it is larger than ``RATIO_FROM``: real text stays under 100."""
RATIO_FROM: Final = 2**25
MAX_DEPTH: Final = 4
"""Containers inside each other."""
_LONGEST_NAME = 1000
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_BOMB_HINT = "This is how an archive bomb looks."
_MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """A member as its container names it: a clean relative path, or why it is not taken."""

    name: str
    error: FonteError | None = None


@dataclass(slots=True)
class Budget:
    """What is left of the limits while a container is listed."""

    members: int = MAX_MEMBERS
    bytes: int = MAX_TOTAL

    def take(self, size: int) -> None:
        """Count a member of ``size`` bytes. Raises SourceTooLarge when that is too much."""
        self.members -= 1
        self.bytes -= size
        if self.members < 0:
            raise SourceTooLarge(f"holds more than {MAX_MEMBERS} files; the others were not read", hint=_SPLIT)
        if self.bytes < 0:
            message = f"unpacks to more than {MAX_TOTAL // _MEGABYTE} MB; the rest was not read"
            raise SourceTooLarge(message, hint=_SPLIT)


_SPLIT = "Unpack it into a folder, or split it."


def check_size(name: str, size: int, packed: int) -> None:
    """Refuse a member by the sizes that its container tells.

    Raises:
        SourceTooLarge: too large, or grown too much.
    """
    if size > MAX_MEMBER:
        raise too_large(name)
    if size > RATIO_FROM and size > MAX_RATIO * max(packed, 1):
        raise SourceTooLarge(f"{name} grows {size // max(packed, 1)} times in unpacking", hint=_BOMB_HINT)


def too_large(name: str) -> SourceTooLarge:
    """The error for a member beyond the limit."""
    return SourceTooLarge(f"{name} is larger than {MAX_MEMBER // _MEGABYTE} MB", hint="Unpack it into a folder.")


def read_whole(stream: BinaryIO, name: str) -> bytes:
    """All bytes of a member.

    Raises:
        SourceTooLarge: more of them than a member may have.
    """
    body = stream.read(MAX_MEMBER + 1)
    if len(body) > MAX_MEMBER:
        raise too_large(name)
    return body


def copy_unpacked(pieces: Iterable[bytes], target: BinaryIO, size: int, name: str) -> None:
    """Write what ``size`` packed bytes unpack to into a file.

    Raises:
        SourceTooLarge: it grows beyond the limits. What unpackers raise of damaged data passes.
    """
    done = 0
    for piece in pieces:
        done += len(piece)
        if done > MAX_TOTAL:
            message = f"{name} unpacks to more than {MAX_TOTAL // _MEGABYTE} MB"
            raise SourceTooLarge(message, hint=_SPLIT)
        if done > RATIO_FROM and done > MAX_RATIO * max(size, 1):
            raise SourceTooLarge(f"{name} grows {done // max(size, 1)} times in unpacking", hint=_BOMB_HINT)
        target.write(piece)


def entry(raw: str) -> Entry | None:
    """A member by the name that its container gives it; None for what a folder would hide as well.

    Names may lead nowhere but below the container: those that would are refused.
    """
    name = raw.replace("\\", "/")
    shown = _CONTROL.sub("?", name)[:_LONGEST_NAME]
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts:
        return Entry(shown, SourceUnreadable(f"{shown} leads out of its archive", hint="Such a member is not read."))
    if not parts or len(name) > _LONGEST_NAME or _CONTROL.search(name):
        return Entry(shown, SourceUnreadable(f"{shown!r} is no name of a file"))
    if any(part.startswith(".") or part == "__MACOSX" for part in parts):
        return None
    return Entry("/".join(parts))


def link(name: str) -> SourceUnreadable:
    """The error for a member that is a link or a device."""
    return SourceUnreadable(f"{name} is a link or a device, which is not followed")
