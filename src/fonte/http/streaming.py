"""Answers as server-sent events: made in one thread, sent as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import closing
from threading import Event, Thread
from typing import Generic, TypeVar

from fonte.contract import Json

_Item = TypeVar("_Item")
_AHEAD = 64
"""Items that are made before the first of them was taken."""
BROKEN_OFF = "broken_off"
"""What the audit log says of a stream that did not come to its answer."""


def event(name: str, data: Json) -> bytes:
    """One event. JSON has no line breaks, so that nothing in a text can end an event or begin another."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


class Stream(Generic[_Item]):
    """Items of a generator that works in a thread of its own, from its first to its last.

    The generator is closed at its next item once whoever takes them has gone.
    """

    def __init__(self, make: Callable[[], Generator[_Item, None, None]]) -> None:
        """``make`` is called in the thread."""
        self._make = make
        self._gone = Event()
        self._queue: asyncio.Queue[_Item | _End] = asyncio.Queue(_AHEAD)
        self._loop = asyncio.get_running_loop()

    async def items(self) -> AsyncIterator[_Item]:
        """The items; what the generator raises is raised here."""
        # A thread of its own: those of an executor are few, and as many streams as have a place are written at once.
        Thread(target=self._work, name="stream", daemon=True).start()
        try:
            while not isinstance(item := await self._queue.get(), _End):
                yield item
            if item.fault is not None:
                raise item.fault
        finally:
            self._gone.set()
            while not self._queue.empty():  # room for the item that the thread may be waiting to put
                self._queue.get_nowait()

    def _work(self) -> None:
        fault: Exception | None = None
        try:
            with closing(self._make()) as made:
                for item in made:
                    if self._gone.is_set():
                        break
                    self._put(item)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for, whatever it is
            fault = error
        if not self._gone.is_set():
            self._put(_End(fault))

    def _put(self, item: _Item | _End) -> None:
        asyncio.run_coroutine_threadsafe(self._queue.put(item), self._loop).result()


class _End:
    def __init__(self, fault: Exception | None) -> None:
        self.fault = fault


async def following(first: _Item, rest: AsyncIterator[_Item]) -> AsyncIterator[_Item]:
    """An item that was taken already, and the others."""
    yield first
    async for one in rest:
        yield one
