"""Sources that a server looks after: as they were synced by a person, whatever one of them does, until it ends."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from waiting import numbered_notes, wait_until

from fonte.access.standing import PassState, Rules
from fonte.cli.output import Output
from fonte.cli.watching import _Telling
from fonte.corpus import OpenCorpus
from fonte.errors import StoreUnavailable
from fonte.http.limits import Room
from fonte.http.telemetry import Telemetry
from fonte.parts import SourceOptions
from fonte.scheduled import Schedule, Scheduled
from fonte.standing import Looked, Standing
from fonte.stores.sqlite_stores import SqliteStanding
from fonte.tending import ears
from fonte.types import Principal
from fonte.watching import Pace
from quick_corpus import quick_corpus

LONG = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return numbered_notes(tmp_path / "docs", 3)


def _names(corpus: OpenCorpus, *roles: str, tenant: str = "default") -> set[str]:
    return {one.name for one in corpus.readable(Principal(tenant, roles=frozenset(roles)))}


@pytest.mark.parametrize("every", [None, 0.2])
def test_sources_are_looked_after_as_a_person_synced_them(tmp_path: Path, folder: Path, every: float | None) -> None:
    home, unknown = tmp_path / "home", tmp_path / "never"
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder), options=SourceOptions(allow=("staff",)), tenant="acme")
        told: list[Looked] = []
        schedules = [Schedule(str(unknown), "acme", every), Schedule(str(folder), "acme", every)]
        scheduled = Scheduled(
            Standing(corpus, Rules(open_after=1)), schedules, ears(home), Pace(settle=0.1), told=told.append
        )
        scheduled.start()
        try:
            wait_until(lambda: len({one.source for one in told}) == 2)
            (folder / "new.md").write_text("# New\n\nA new note.\n")
            wait_until(lambda: "new.md" in _names(corpus, "staff", tenant="acme"))
            assert "new.md" not in _names(corpus, tenant="acme")
            assert scheduled.counts() == {"sources": 2, "open": 1, "given_up": 0}
            metrics = Telemetry(Room(1, 1, 1.0), tended=scheduled.counts).text().decode()
            assert 'fonte_standing{what="open"} 1.0' in metrics
        finally:
            scheduled.close()
        wrong = next(one.ended for one in told if one.source == str(unknown))
        assert wrong is not None
        assert (wrong.state, (wrong.error or {})["code"]) == (PassState.FAILED, "not_found")
        assert all(one.owner is None for one in corpus.standing("acme").sources())


def test_a_store_that_cannot_be_read_for_a_while_ends_no_watch(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, told = tmp_path / "home", list[Looked]()
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder))
        full = [True, True]

        def take(self: SqliteStanding, *given: object) -> object:
            if full:
                full.pop()
                raise StoreUnavailable("the disk is full")
            return whole(self, *given)  # type: ignore[arg-type]  # as they came

        whole = SqliteStanding.take
        monkeypatch.setattr(SqliteStanding, "take", take)
        schedules = [Schedule(str(folder), "default")]
        standing = Standing(corpus, Rules(first_wait=0.05))
        scheduled = Scheduled(standing, schedules, ears(home), Pace(settle=0.1, poll=0.05), told=told.append)
        scheduled.start()
        try:
            wait_until(lambda: any(one.ended is not None and one.ended.state is PassState.DONE for one in told))
        finally:
            scheduled.close()
        states = [one.ended.state for one in told[:3] if one.ended is not None]
        assert states == [PassState.FAILED, PassState.FAILED, PassState.DONE]


def test_a_server_that_ends_leaves_its_pass(tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "home"
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder))
        active = corpus.status().active
        (folder / "new.md").write_text("# New\n\nA new note.\n")
        begun, go = Event(), Event()
        standing = Standing(corpus)
        scheduled = Scheduled(standing, [Schedule(str(folder), "default", 0.05)], ears(home), Pace())
        sync = corpus.resync

        def slow(*sources: str, **options: object) -> object:
            progress = options["progress"]

            def waits(*step: object) -> None:
                begun.set()
                go.wait(LONG)
                progress(*step)  # type: ignore[operator]  # what the pass handed over

            return sync(*sources, **{**options, "progress": waits})  # type: ignore[arg-type]  # the same

        corpus.resync = slow  # type: ignore[method-assign,assignment]
        scheduled.start()
        assert begun.wait(LONG)
        scheduled._stop.set()
        go.set()
        scheduled.close()
        assert corpus.status().active == active
        assert corpus.standing().source(str(folder)).owner is None


def test_the_command_says_what_is_wrong_once_and_when_it_is_over(
    tmp_path: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with quick_corpus(tmp_path / "home") as corpus:
        standing = Standing(corpus, Rules(open_after=2, first_wait=0.001, longest_wait=0.002))
        telling = _Telling(Output(json_mode=False, quiet=False))

        def look() -> str:
            def once() -> Looked:
                return standing.look(
                    str(folder),
                    tenant="default",
                    since=standing.now(),
                    progress=lambda *_: None,
                    options=SourceOptions(),
                )

            looked = once()
            while looked.ended is None:
                looked = once()
            telling.tell(looked)
            out, err = capfd.readouterr()
            return out + err

        assert "3 added" in look()
        assert look() == ""
        (folder / "odd.md").write_text("# Odd\n\nA name of two lines.\n")
        look()
        (folder / "odd.md").rename(folder / "odd\n\x1b[31mall is well.md")
        told = look()
        assert "moved odd.md → odd [31mall is well.md" in told
        assert told.count("\n") == 1, "a name makes no line of its own"
        away = folder.rename(folder.with_name("away"))
        told = look()
        assert "error[source_unreadable]" in told
        assert "it is tried again" in told
        assert "asked only now and then" in look()
        assert look() == ""
        away.rename(folder)
        assert "all is well again" in look()
        assert look() == ""
