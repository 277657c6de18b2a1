"""Sources that a server looks after while it runs: one watch for each interval of each tenant, in threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Semaphore, Thread

from fonte.access.standing import Breaker
from fonte.standing import Looked, Standing
from fonte.watching import Listen, Pace, Watch


@dataclass(frozen=True, slots=True)
class Schedule:
    """A source by its remembered name; ``every`` None: when it changes."""

    source: str
    tenant: str
    every: float | None = None


class _Stopped(BaseException):
    """The server ends: the pass is abandoned, and another worker or the next start does it."""


@dataclass(slots=True)
class Scheduled:
    """Watches beside the requests of a server. Passes run ``at_once`` at most."""

    standing: Standing
    schedules: Sequence[Schedule]
    listen: Listen
    pace: Pace
    at_once: int = 1
    close_seconds: float = 30.0
    told: Callable[[Looked], None] = lambda _: None
    _stop: Event = field(default_factory=Event)
    _running: list[tuple[Watch, Thread]] = field(default_factory=list)

    def start(self) -> None:
        """Begin to look after them: all are due at once."""
        places = Semaphore(self.at_once)
        together: dict[tuple[str, float | None], list[str]] = {}
        for one in self.schedules:
            together.setdefault((one.tenant, one.every), []).append(one.source)
        for (tenant, every), sources in together.items():
            watch = self._watch(tenant, every, sources, places)
            thread = Thread(target=self._run, args=(watch,), name=f"watch-{len(self._running)}", daemon=True)
            self._running.append((watch, thread))
            thread.start()

    def close(self) -> None:
        """Let each pass come to its next step and leave it there; waits ``close_seconds`` at most for all of them."""
        self._stop.set()
        for watch, _ in self._running:
            watch.wake()
        until = time.monotonic() + self.close_seconds
        for _, thread in self._running:
            thread.join(max(0.0, until - time.monotonic()))

    def counts(self) -> dict[str, int]:
        """What is told of them in numbers: sources, those whose breaker is not closed, documents that were given up."""
        now = self.standing.now()
        stores = [self.standing.corpus.standing(one) for one in sorted({one.tenant for one in self.schedules})]
        known = [tended for store in stores for tended in store.sources()]
        closed = sum(one.breaker(self.standing.rules, now) is Breaker.CLOSED for one in known)
        given_up = sum(one.next_try is None for store in stores for one in store.tries())
        return {"sources": len(known), "open": len(known) - closed, "given_up": given_up}

    def _watch(self, tenant: str, every: float | None, sources: Iterable[str], places: Semaphore) -> Watch:
        def progress(*_: object) -> None:
            if self._stop.is_set():
                raise _Stopped

        def look(source: str, since: datetime) -> Looked:
            with places:
                progress()
                return self.standing.look(source, tenant=tenant, since=since, progress=progress)

        def narrow(source: str) -> object:
            return self.standing.corpus.narrow(source, tenant=tenant)

        return Watch(
            list(sources), look, self.listen, pace=self.pace, every=every, narrow=narrow, told=self.told
        )  # fmt: skip

    def _run(self, watch: Watch) -> None:
        try:
            watch.run(self._stop)
        except _Stopped:
            return
