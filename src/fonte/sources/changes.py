"""That something changed below a folder of this machine, as the kernel tells it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING

from fonte.sources.folder import local_place
from fonte.sources.opening import LIST_ENDING
from fonte.text.frontmatter import SIDECAR_ENDING

if TYPE_CHECKING:
    from watchfiles import Change

_MOUNTS = "/proc/self/mountinfo"
_ESCAPED = re.compile(r"\\([0-7]{3})")
"""How blanks and the like stand there."""
_ELSEWHERE = frozenset(
    "9p afs ceph cifs coda davfs drvfs fuse glusterfs lustre ncpfs nfs nfs4 prl_fs smb2 smb3 smbfs vboxsf "
    "virtiofs".split()
)
"""Kinds of file systems that others write to without this kernel's knowing."""
_TICK_MS = 1000
"""How often is looked whether the folder is still the same one."""
_log = logging.getLogger("fonte.changes")


@dataclass(frozen=True, slots=True)
class Place:
    """What of the file system a source is: a folder with all below it, or one file in a folder."""

    folder: str
    file: str | None = None


def place_of(spec: str) -> Place | None:
    """Where a source lies on this machine; None where it does not, or the kernel would not tell of all changes."""
    if ("://" in spec and not spec.lower().startswith("file://")) or spec.endswith(LIST_ENDING):
        return None
    path = os.path.realpath(local_place(spec))
    place = Place(os.path.dirname(path), path) if os.path.isfile(path) else Place(path)
    return None if kind_of(place.folder).split(".")[0] in _ELSEWHERE else place


def kind_of(folder: str) -> str:
    """The kind of file system that a folder lies on; empty where that is not known."""
    best, kind = "", ""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as mounts:
            for line in mounts:
                before, _, after = line.partition(" - ")
                point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), before.split(" ")[4])
                below = folder == point or folder.startswith(point.rstrip("/") + "/")
                if below and len(point) >= len(best):
                    best, kind = point, after.split(" ")[0]
    except (OSError, IndexError):
        return ""
    return kind


@contextmanager
def listening(place: Place, ignored: Sequence[str], changed: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call ``changed``, from a thread of its own, soon after each change while the block runs.

    It is also called when the folder vanishes and when one is there again. Hidden files and what lies below
    ``ignored`` folders do not count. What is given says whether changes are told at all: the kernel has limits.
    """
    events = _Events(place, tuple(os.path.realpath(one) for one in ignored), changed)
    thread = Thread(target=events.run, name="changes", daemon=True)
    thread.start()
    events.begun.wait()
    try:
        yield lambda: events.works
    finally:
        events.over.set()
        thread.join()


class _Events:
    def __init__(self, place: Place, ignored: Sequence[str], changed: Callable[[], None]) -> None:
        self._place = place
        self._ignored = tuple(f"{one.rstrip('/')}/" for one in ignored)
        self._changed = changed
        self.works = True
        self.over = Event()
        self.begun = Event()

    def run(self) -> None:
        """Until ``over``: watch the folder that is there, and wait for one where there is none."""
        before = None
        while not self.over.is_set():
            there = _identity(self._place.folder)
            if there != before and self.begun.is_set():
                self._changed()
            before = there
            if there is None:
                self.begun.set()
                self.over.wait(_TICK_MS / 1000)
                continue
            try:
                self._watch(there)
            except FileNotFoundError:  # gone meanwhile
                continue
            except (OSError, RuntimeError) as error:  # too many watches or files open: which of the two, its own way
                _log.warning("changes are not told by the system (%s): the source is looked at in turns", error)
                self.works = False
                self.begun.set()
                self._changed()
                return

    def _watch(self, there: tuple[int, int]) -> None:
        from watchfiles import watch

        noticed = watch(
            self._place.folder,
            watch_filter=self._counts,
            debounce=200,
            step=50,
            stop_event=self.over,
            rust_timeout=_TICK_MS if self.begun.is_set() else 1,
            yield_on_timeout=True,
            recursive=self._place.file is None,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        for some in noticed:
            self.begun.set()
            if some:
                self._changed()
            if _identity(self._place.folder) != there:
                return

    def _counts(self, _change: Change, path: str) -> bool:
        if self._place.file is not None:
            return path in (self._place.file, self._place.file + SIDECAR_ENDING)
        if path.startswith(self._ignored) or f"{path}/" in self._ignored:
            return False
        below = path[len(self._place.folder) :]
        return not any(part.startswith(".") for part in below.split("/"))


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
