"""Settings to a watch: what tells of changes, how often is looked, and when what failed is tried again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from fonte.access.standing import Rules
from fonte.config import Settings
from fonte.watching import Listen, Pace


def rules_of(settings: Settings) -> Rules:
    """When things are tried again, and how long a lease holds."""
    wanted = settings.watch
    return Rules(
        attempts=wanted.attempts,
        open_after=wanted.open_after,
        longest_wait=wanted.longest_wait,
        lease_seconds=wanted.lease_seconds,
    )


def pace_of(settings: Settings) -> Pace:
    """How often is looked."""
    wanted = settings.watch
    return Pace(settle=wanted.settle_seconds, poll=wanted.poll, look_again=wanted.look_again)


def ears(home: Path) -> Listen:
    """What tells of changes of a source; what is written into the home, which may lie in a source, is none."""

    def listen(source: str, changed: Callable[[], None]) -> AbstractContextManager[Callable[[], bool]] | None:
        from fonte.sources.changes import listening, place_of

        place = place_of(source)
        return listening(place, [str(home)], changed) if place is not None else None

    return listen
