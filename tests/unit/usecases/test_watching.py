"""When a watch looks: after changes that have settled, in turns, after failures; and never two looks at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import Empty, Queue
from threading import Event, Thread

from fonte.access.standing import Pass, PassState
from fonte.standing import Looked
from fonte.watching import Listen, Pace, Watch

LONG = 30.0
NEVER = 3600.0


def _done(source: str, again_at: datetime | None = None) -> Looked:
    now = datetime.now(UTC)
    return Looked(source, Pass(1, source, "me", PassState.DONE, now, now), again_at=again_at)


@dataclass
class Watched:
    """A watch that runs, what it looked at, and the ears that it was given."""

    pace: Pace
    sources: tuple[str, ...] = ("docs",)
    hears: bool = True
    answer: Callable[[str], Looked] = _done
    every: float | None = None
    looks: Queue[tuple[str, datetime, float]] = field(default_factory=Queue)
    narrowed: Queue[str] = field(default_factory=Queue)
    changed: dict[str, Callable[[], None]] = field(default_factory=dict)
    works: bool = True

    @contextmanager
    def running(self) -> Iterator[Watched]:
        def look(source: str, since: datetime) -> Looked:
            self.looks.put((source, since, time.monotonic()))
            return self.answer(source)

        stop = Event()
        watch = Watch(
            self.sources, look, self._listen(), pace=self.pace, every=self.every, narrow=self.narrowed.put
        )  # fmt: skip
        thread = Thread(target=watch.run, args=(stop,))
        thread.start()
        try:
            yield self
        finally:
            stop.set()
            watch.wake()
            thread.join()

    def _listen(self) -> Listen:
        @contextmanager
        def ear(source: str, changed: Callable[[], None]) -> Iterator[Callable[[], bool]]:
            self.changed[source] = changed
            yield lambda: self.works

        return lambda source, changed: ear(source, changed) if self.hears else None

    def next(self, seconds: float = LONG) -> tuple[str, datetime, float]:
        return self.looks.get(timeout=seconds)

    def none(self, seconds: float = 0.5) -> None:
        try:
            raise AssertionError(self.looks.get(timeout=seconds))
        except Empty:
            return


def test_it_looks_at_once_and_then_only_after_changes() -> None:
    with Watched(Pace(settle=0.05, poll=NEVER, look_again=NEVER), ("a", "b")).running() as it:
        assert [it.next()[0], it.next()[0]] == ["a", "b"]
        it.none()
        it.changed["b"]()
        assert it.next()[0] == "b"
        it.none()


def test_changes_in_a_row_are_one_look_after_the_last_of_them() -> None:
    with Watched(Pace(settle=1.0, poll=NEVER, look_again=NEVER)).running() as it:
        it.next()
        for _ in range(5):
            it.changed["docs"]()
            last = time.monotonic()
            time.sleep(0.05)
        _, since, at = it.next()
        assert at - last >= 1.0
        assert since <= datetime.now(UTC) - timedelta(seconds=at - last - 0.5)
        it.none()


def test_a_stream_of_changes_that_never_settles_is_looked_at_all_the_same() -> None:
    with Watched(Pace(settle=0.3, poll=NEVER, look_again=NEVER)).running() as it:
        it.next()
        until = time.monotonic() + LONG
        while it.looks.empty() and time.monotonic() < until:
            it.changed["docs"]()
            time.sleep(0.05)
        assert not it.looks.empty()


def test_what_changes_during_a_look_is_looked_at_again() -> None:
    it = Watched(Pace(settle=0.05, poll=NEVER, look_again=NEVER))
    begun, go = Event(), Event()

    def slow(source: str) -> Looked:
        begun.set()
        go.wait()
        return _done(source)

    it.answer = slow
    with it.running():
        assert begun.wait(LONG)
        it.changed["docs"]()
        go.set()
        it.next()
        assert it.next()[0] == "docs"
        it.none()


def test_without_ears_it_looks_in_turns_and_another_workers_look_will_do() -> None:
    with Watched(Pace(settle=0.05, poll=0.3, look_again=NEVER), hears=False).running() as it:
        _, first, _ = it.next()
        assert first > datetime.now(UTC) - timedelta(seconds=LONG)
        for _ in range(3):
            _, since, _ = it.next()
            ago = (datetime.now(UTC) - since).total_seconds()
            assert ago >= 0.9 * 0.3


def test_ears_that_hear_nothing_more_make_it_look_in_turns() -> None:
    it = Watched(Pace(settle=0.05, poll=0.2, look_again=NEVER))
    with it.running():
        it.next()
        it.none()
        it.works = False
        it.changed["docs"]()
        for _ in range(3):
            it.next()


def test_an_interval_is_kept_whatever_changes() -> None:
    with Watched(Pace(settle=0.05, poll=NEVER, look_again=NEVER), every=0.3).running() as it:
        it.next()
        assert it.changed == {}
        for _ in range(2):
            it.next()


def test_after_a_failure_it_comes_back_when_it_was_told_to_and_no_change_makes_it_sooner() -> None:
    it = Watched(Pace(settle=0.05, poll=0.05, look_again=0.05))

    def failing(source: str) -> Looked:
        now = datetime.now(UTC)
        failed = Pass(1, source, "me", PassState.FAILED, now, now, error={"message": "gone"})
        return Looked(source, failed, again_at=now + timedelta(seconds=1.5))

    it.answer = failing
    with it.running():
        _, _, first = it.next()
        it.changed["docs"]()
        _, _, second = it.next()
        assert second - first >= 1.4


def test_a_source_that_another_worker_looks_at_is_asked_for_the_same_moment_again() -> None:
    it = Watched(Pace(settle=0.05, poll=NEVER, look_again=NEVER))
    it.answer = lambda source: Looked(source, again_at=datetime.now(UTC) + timedelta(seconds=0.2))
    with it.running():
        _, first, _ = it.next()
        _, second, _ = it.next()
        assert first == second


def test_rights_are_looked_at_beside_a_long_pass_and_not_beside_a_short_one() -> None:
    it = Watched(Pace(settle=0.05, poll=NEVER, look_again=NEVER, rights=0.3))
    begun, go = Event(), Event()

    def slow(source: str) -> Looked:
        begun.set()
        go.wait(LONG)
        return _done(source)

    with it.running():
        it.next()
        it.changed["docs"]()
        it.next()
        assert it.narrowed.empty()
        it.answer = slow
        it.changed["docs"]()
        assert begun.wait(LONG)
        it.changed["docs"]()
        assert it.narrowed.get(timeout=LONG) == "docs"
        time.sleep(0.7)
        assert it.narrowed.empty(), "once for each change"
        go.set()
        assert it.next()
        assert it.next(), "the pass that follows does the rest"
