"""When to look at sources again: soon after they changed, in turns where nothing tells of that, and after failures."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Condition, Event, Thread
from typing import TypeAlias

from fonte.errors import FonteError
from fonte.standing import Looked

_log = logging.getLogger("fonte.standing")
Listen: TypeAlias = Callable[[str, Callable[[], None]], AbstractContextManager[Callable[[], bool]] | None]
"""Tells of changes of a source while its block runs, and whether it still does; None where nothing can."""
Look: TypeAlias = Callable[[str, datetime], Looked]
"""Looks at a source that nobody has looked at since."""
_MOST_SETTLING = 10
"""A stream of changes is broken after so many times the time that changes are gathered for."""
_SHARED = 0.9
"""A look of another worker does for ours if it began within this share of the time between two looks."""
_WAIT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How often, in seconds.

    Changes are gathered until there was none for ``settle``. Where nothing tells of them, a source is looked at every
    ``poll``; where something does, every ``look_again``, in case it was missed. A pass that runs for longer than
    ``rights`` does not keep changed rights waiting: they are looked at as often beside it.
    """

    settle: float = 1.0
    poll: float = 60.0
    look_again: float = 900.0
    rights: float = 10.0


@dataclass(slots=True)
class _Item:
    """A source under watch. Times are of the steady clock, but ``wanted``: nobody needs to look who did so since."""

    source: str
    every: float | None
    due: float
    wanted: datetime | None = None
    begun: bool = False
    first: float | None = None
    last: float | None = None
    narrowed: float = 0.0
    tells: Callable[[], bool] = field(default=lambda: False)


def _utc() -> datetime:
    return datetime.now(UTC)


class Watch:
    """Looks at some sources of one tenant, one at a time, whenever they are due."""

    def __init__(
        self,
        sources: Sequence[str],
        look: Look,
        listen: Listen,
        *,
        pace: Pace = Pace(),
        every: float | None = None,
        narrow: Callable[[str], object] | None = None,
        told: Callable[[Looked], None] = lambda _: None,
    ) -> None:
        """Nothing runs yet.

        Args:
            sources: by their remembered names; all are due at once.
            look: syncs one.
            listen: tells of changes; not asked where ``every`` is given.
            pace: see there.
            every: seconds between two looks, whatever changes.
            narrow: takes away the rights that a source does not give any more, beside a long pass.
            told: is given what came of each look.
        """
        moment = time.monotonic()
        self._items = [_Item(one, every, moment) for one in dict.fromkeys(sources)]
        self._look = look
        self._listen = listen
        self._pace = pace
        self._narrow = narrow
        self._told = told
        self._noticed = Condition()
        self._busy_since: float | None = None

    def run(self, stop: Event) -> None:
        """Until ``stop`` is set, which ``wake`` makes it see at once."""
        with self._listening(), self._rights_kept():
            while (item := self._next(stop)) is not None:
                wanted = self._begin(item)
                try:
                    looked = self._look(item.source, wanted)
                finally:
                    self._busy_since = None
                self._after(item, looked, wanted)
                self._told(looked)

    def wake(self) -> None:
        """Look again what there is to do."""
        with self._noticed:
            self._noticed.notify_all()

    # --- one look after the other ------------------------------------------------------------------------------------

    def _next(self, stop: Event) -> _Item | None:
        """The source that is due, once one is; None when it is time to stop."""
        with self._noticed:
            while not stop.is_set():
                item = min(self._items, key=self._due)
                wait = self._due(item) - time.monotonic()
                if wait <= 0:
                    return item
                self._noticed.wait(min(wait, _WAIT_SECONDS))
        return None

    def _due(self, item: _Item) -> float:
        if item.first is None or item.last is None:
            return item.due
        settled = min(item.last + self._pace.settle, item.first + _MOST_SETTLING * self._pace.settle)
        return min(item.due, settled) if item.wanted is None else max(item.due, settled)

    def _begin(self, item: _Item) -> datetime:
        """A look begins: changes that are told from now on are for the next one. Who looked since when did the same."""
        with self._noticed:
            moment, changed = time.monotonic(), item.last
            item.first = item.last = None
            self._busy_since = moment
            if item.wanted is not None and changed is None:
                return item.wanted
            ago = 0.0  # the first look of a process is made, whoever looked before
            if changed is not None:
                ago = moment - changed
            elif item.begun:
                ago = _SHARED * self._between(item)
            item.begun = True
            return _utc() - timedelta(seconds=ago)

    def _between(self, item: _Item) -> float:
        """Seconds between two looks at what did not change."""
        return item.every or (self._pace.look_again if item.tells() else self._pace.poll)

    def _after(self, item: _Item, looked: Looked, wanted: datetime) -> None:
        """When to look next."""
        with self._noticed:
            moment = time.monotonic()
            item.due = moment + self._between(item)
            item.wanted = None
            if looked.again_at is not None:
                item.due = min(item.due, moment + max(0.0, (looked.again_at - _utc()).total_seconds()))
                if looked.ended is None or looked.report is None:
                    item.due = moment + max(0.0, (looked.again_at - _utc()).total_seconds())
                    item.wanted = wanted

    # --- changes -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _listening(self) -> Iterator[None]:
        with ExitStack() as stack:
            for item in self._items:
                ear = self._listen(item.source, partial(self._changed, item)) if item.every is None else None
                if ear is not None:
                    item.tells = stack.enter_context(ear)
            yield

    def _changed(self, item: _Item) -> None:
        with self._noticed:
            item.last = time.monotonic()
            item.first = item.first if item.first is not None else item.last
            self._noticed.notify_all()

    # --- rights ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _rights_kept(self) -> Iterator[None]:
        """Beside a pass that takes long, take away at once what sources let nobody read any more."""
        if self._narrow is None:
            yield
            return
        over = Event()
        thread = Thread(target=self._keep_rights, args=(over, self._narrow), name="rights", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _keep_rights(self, over: Event, narrow: Callable[[str], object]) -> None:
        while not over.wait(min(self._pace.settle, self._pace.rights)):
            for item in self._waiting():
                try:
                    narrow(item.source)
                except FonteError:  # the pass that follows tells of it
                    continue
                except Exception:  # noqa: BLE001 - an edge, as that of a pass: rights of other sources are still to be kept
                    _log.exception("rights could not be narrowed")

    def _waiting(self) -> list[_Item]:
        """Sources that changed while a long pass runs, and whose rights were not looked at since."""
        with self._noticed:
            moment, since = time.monotonic(), self._busy_since
            if since is None or moment - since < self._pace.rights:
                return []
            found = [
                item
                for item in self._items
                if item.last is not None and item.last > item.narrowed and moment - item.narrowed >= self._pace.rights
            ]
            for item in found:
                item.narrowed = moment
            return found
