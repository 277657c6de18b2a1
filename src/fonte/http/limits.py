"""How much is taken at once: buckets of tokens for callers, and a room of bounded size for work that costs."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Lock

from fonte.errors import Overloaded, RateLimited

MOST_CALLERS = 10_000
"""Buckets that are kept; the one that was used least lately goes first, and would be full again soon."""


class Buckets:
    """A bucket of tokens for each name, refilled steadily; safe for several threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._rate = per_minute / 60.0
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> None:
        """Take a token.

        Raises:
            RateLimited: there is none.
        """
        with self._lock:
            left = self._left(name)
            if left < 1.0:
                raise self._limited(left)
            self._put(name, left - 1.0)

    def check(self, name: str) -> None:
        """Raises RateLimited where ``take`` would, and takes nothing."""
        with self._lock:
            left = self._left(name)
        if left < 1.0:
            raise self._limited(left)

    def _left(self, name: str) -> float:
        level, at = self._kept.get(name, (self._most, self._clock()))
        return min(self._most, level + (self._clock() - at) * self._rate)

    def _put(self, name: str, level: float) -> None:
        self._kept[name] = level, self._clock()
        self._kept.move_to_end(name)
        while len(self._kept) > MOST_CALLERS:
            self._kept.popitem(last=False)

    def _limited(self, left: float) -> RateLimited:
        seconds = max(1, math.ceil((1.0 - left) / self._rate))
        return RateLimited("too many requests", hint=f"try again in {seconds} s", after_seconds=seconds)


class Room:
    """A place where a number of requests are worked on, with a bounded queue before it."""

    def __init__(self, concurrent: int, waiting: int, wait_seconds: float) -> None:
        self._free = asyncio.Semaphore(concurrent)
        self._most_waiting = waiting
        self._wait_seconds = wait_seconds
        self.waiting = 0
        self.working = 0

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """A place in the room for the block.

        Raises:
            Overloaded: the queue is full, or the wait was too long.
        """
        if self._free.locked() and self.waiting >= self._most_waiting:
            raise _overloaded()
        self.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise _overloaded() from None
        finally:
            self.waiting -= 1
        self.working += 1
        try:
            yield
        finally:
            self.working -= 1
            self._free.release()


def _overloaded() -> Overloaded:
    return Overloaded("more requests than can be worked on", hint="try again in a moment", after_seconds=1)
