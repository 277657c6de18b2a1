"""Passes without a person: leases, tries again, the breaker, what is held back, and what is kept of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest
from integration.command import fonte

from fonte import wiring
from fonte.access.standing import Breaker, Pass, PassState, Rules, StandingStore, Tended
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, HomeLocked, InputError, ModelUnavailable, ParseTimeout, StoreUnavailable
from fonte.parts import SourceOptions
from fonte.protocols import Embedder
from fonte.publish import Judgment
from fonte.standing import Looked, Standing
from fonte.stores import standing as kept
from fonte.types import Parsed, Principal, Source, SyncReport
from quick_corpus import InlinePool, quick_corpus, quick_parts

RULES = Rules(attempts=3, open_after=3, first_wait=10.0, longest_wait=60.0, lease_seconds=30.0)
WHO = Principal()


@dataclass
class Clock:
    moment: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def pass_by(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass
class Bench:
    """A folder, a home, and a worker whose time is the test's."""

    folder: Path
    home: Path
    clock: Clock = field(default_factory=Clock)
    failing: set[str] = field(default_factory=set)
    parsed: list[str] = field(default_factory=list)

    def corpus(self) -> OpenCorpus:
        bench = self

        class Pool(InlinePool):
            def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
                for source in sources:
                    bench.parsed.append(source.name)
                    if source.name in bench.failing:
                        yield source, ParseTimeout(f"{source.name} took too long")
                    else:
                        yield from super().parse_many([source])

        @contextmanager
        def pool(workers: int) -> Iterator[Pool]:
            yield Pool()

        return OpenCorpus(replace(quick_parts(self.home), make_pool=pool))

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def worker(self, corpus: OpenCorpus, owner: str = "one") -> Standing:
        return Standing(corpus, RULES, owner, self.clock, lambda: 1.0)

    def look(self, worker: Standing, folder: Path | None = None) -> Looked:
        self.clock.pass_by(1)
        return worker.look(
            str(folder or self.folder),
            tenant="default",
            since=self.clock(),
            progress=lambda *_: None,
            options=SourceOptions(),
        )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path / "docs", tmp_path / "home")
    for number in range(6):
        made.write(f"n{number}.md", f"# Note {number}\n\nPump {number} is in hall {number}.\n")
    return made


def _found(corpus: OpenCorpus, words: str) -> list[str]:
    return [one.stored.document_name for one in corpus.search(words, principal=WHO, mode="bm25").results]


def test_a_pass_is_a_sync_and_one_without_a_change_embeds_nothing(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        first = bench.look(worker)
        assert first.ended is not None
        assert first.ended.state is PassState.DONE
        assert first.ended.changed
        generation = corpus.status().active
        for _ in range(3):
            looked = bench.look(worker)
            assert looked.ended is not None
            assert looked.report is not None
            assert (looked.ended.changed, looked.report.embedded_texts) == (False, 0)
        assert corpus.status().active == generation
        kept = corpus.standing().passes(10)
        assert [one.changed for one in kept] == [False, True], "of passes that change nothing the last is kept"
        assert kept[1].report is not None
        assert kept[1].report["documents"]["added"] == 6  # type: ignore[index]  # JSON


def test_two_workers_that_are_woken_at_once_do_one_pass(bench: Bench) -> None:
    with bench.corpus() as one, bench.corpus() as other:
        looked: list[Looked] = []
        start = Barrier(2)

        def work(corpus: OpenCorpus, owner: str) -> None:
            start.wait()
            looked.append(bench.worker(corpus, owner).look(
                str(bench.folder), tenant="default", since=bench.clock(), progress=lambda *_: None,
                options=SourceOptions(),
            ))  # fmt: skip

        threads = [Thread(target=work, args=pair) for pair in ((one, "one"), (other, "other"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(one.ended is not None for one in looked) == [False, True]
        assert len(bench.parsed) == 6, "nothing was parsed twice"
        idle = next(one for one in looked if one.ended is None)
        again = bench.worker(other, "other").look(
            str(bench.folder), tenant="default", since=bench.clock(), progress=lambda *_: None, options=SourceOptions()
        )
        assert (again.ended, again.again_at) == (None, None), f"what was to be done is done: {idle}"
        assert len(one.standing().passes(10)) == 1


def test_a_lease_holds_until_it_runs_out_and_is_then_taken_over(bench: Bench) -> None:
    with bench.corpus() as corpus:
        store, spec = corpus.standing(), str(bench.folder)
        now = bench.clock()
        dead = store.take(spec, "dead", now, now + timedelta(seconds=30), now)
        assert isinstance(dead, Pass)
        worker = bench.worker(corpus, "alive")
        looked = bench.look(worker)
        assert looked.ended is None
        assert looked.again_at is not None
        assert looked.again_at <= bench.clock() + timedelta(seconds=10), "it comes back soon"
        assert store.renew(dead, bench.clock() + timedelta(seconds=30))
        bench.clock.pass_by(25)
        assert bench.look(worker).ended is None, "a heartbeat keeps a lease"
        bench.clock.pass_by(10)
        assert bench.look(worker).ended is not None
        assert [(one.owner, one.state) for one in store.passes(9)] == [
            ("alive", PassState.DONE),
            ("dead", PassState.LOST),
        ]
        assert not store.renew(dead, bench.clock() + timedelta(seconds=30))
        assert not store.end(replace(dead, state=PassState.DONE), failures=0, next_try=None)
        assert store.source(spec).owner is None


def test_a_worker_that_looks_after_a_source_twice_does_not_take_it_from_itself(bench: Bench) -> None:
    with bench.corpus() as corpus:
        store, spec, now = corpus.standing(), str(bench.folder), bench.clock()
        until = now + timedelta(seconds=30)
        first = store.take(spec, "one", now, until, now)
        assert isinstance(first, Pass)
        assert isinstance(store.take(spec, "one", now, until, now), Tended)
        assert store.renew(first, until)


def test_a_worker_whose_lease_was_taken_leaves_its_pass(bench: Bench) -> None:
    rules = replace(RULES, lease_seconds=0.2)
    with bench.corpus() as corpus:
        store, spec = corpus.standing(), str(bench.folder)
        taken = Event()

        def steal(*_: object) -> None:
            if not taken.is_set():
                moment = datetime.now(UTC) + timedelta(hours=1)
                assert isinstance(store.take(spec, "thief", moment, moment + timedelta(hours=1), moment), Pass)
                taken.set()
            until = datetime.now(UTC) + timedelta(seconds=20)
            while store.renewed and datetime.now(UTC) < until:  # type: ignore[attr-defined]  # counted below
                pass

        renew = store.renew
        store.renewed = True  # type: ignore[attr-defined]

        def counted(begun: Pass, until: datetime) -> bool:
            store.renewed = renew(begun, until)  # type: ignore[attr-defined]
            return bool(store.renewed)  # type: ignore[attr-defined]

        store.renew = counted  # type: ignore[method-assign]
        looked = Standing(corpus, rules, "sleeper").look(
            spec, tenant="default", since=datetime.now(UTC), progress=steal, options=SourceOptions()
        )
        assert looked.ended is None
        assert corpus.status().active is None, "what it had begun was not published"
        assert store.source(spec).owner == "thief"


def test_a_persons_sync_is_waited_for_and_is_no_failure(bench: Bench) -> None:
    with bench.corpus() as corpus, bench.corpus() as person:
        bench.look(bench.worker(corpus))
        locked, done = Event(), Event()

        def hold() -> None:
            with person._store_of("default").catalog.writer():
                locked.set()
                done.wait()

        thread = Thread(target=hold)
        thread.start()
        locked.wait()
        looked = bench.look(bench.worker(corpus))
        done.set()
        thread.join()
        assert looked.ended is None
        assert looked.again_at is not None
        assert corpus.standing().source(str(bench.folder)).failures == 0
        assert bench.look(bench.worker(corpus)).ended is not None


def test_a_source_that_fails_is_asked_less_and_less_and_the_breaker_closes_when_it_is_back(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker, spec = bench.worker(corpus), str(bench.folder)
        bench.look(worker)
        away = bench.folder.rename(bench.folder.with_name("away"))
        waits = []
        for failures in range(1, 6):
            looked = bench.look(worker)
            assert looked.ended is not None
            assert looked.ended.state is PassState.FAILED
            assert looked.ended.error is not None
            assert looked.ended.error["code"] == "source_unreadable"
            assert looked.again_at is not None
            waits.append((looked.again_at - bench.clock()).total_seconds())
            assert looked.breaker is (Breaker.OPEN if failures >= 3 else Breaker.CLOSED)
            known = corpus.standing().source(spec)
            assert (known.failures, known.next_try) == (failures, looked.again_at)
            asked = bench.look(worker)
            assert (asked.ended, asked.again_at) == (None, looked.again_at), "not before its time"
            bench.clock.moment = looked.again_at
            assert known.breaker(RULES, bench.clock()) is (Breaker.HALF_OPEN if failures >= 3 else Breaker.CLOSED)
        assert waits == [10.0, 20.0, 40.0, 60.0, 60.0]
        assert len(_found(corpus, "pump hall")) == 6, "what is out of reach is not gone"
        away.rename(bench.folder)
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.ended.state is PassState.DONE
        known = corpus.standing().source(spec)
        assert (known.failures, known.next_try, known.error) == (0, None, None)
        assert known.breaker(RULES, bench.clock()) is Breaker.CLOSED
        assert [one.state for one in corpus.standing().passes(9)] == [PassState.DONE, PassState.FAILED, PassState.DONE]


def test_history_has_the_last_passes_that_count_and_no_running_one_is_dropped(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "KEPT", 3)
    with bench.corpus() as corpus:
        store, worker = corpus.standing(), bench.worker(corpus)
        bench.look(worker)
        late = bench.clock() + timedelta(days=1)
        long = store.take("elsewhere", "other", bench.clock(), late, bench.clock())
        assert isinstance(long, Pass)
        for _ in range(6):
            bench.look(worker)
        assert [(one.state, one.changed) for one in store.passes(9)] == [
            (PassState.DONE, False),
            (PassState.RUNNING, False),
            (PassState.DONE, True),
        ], "six looks at what did not change are one line, and push nothing out"
        assert store.renew(long, late), "however many others ended meanwhile"
        for number in range(6):
            bench.write("n0.md", f"# Note 0\n\nNow {number}.\n")
            bench.look(worker)
        assert [one.changed for one in store.passes(9) if one.state is PassState.DONE] == [True] * 3
        assert store.renew(long, late)


def test_waits_are_spread_and_capped() -> None:
    draw = random.Random(3)
    waits = [RULES.wait(failures, draw.random()).total_seconds() for failures in range(1, 60)]
    assert all(0 < wait <= 60 for wait in waits)
    assert len({round(wait, 3) for wait in waits[10:]}) > 30
    assert RULES.wait(1, 0.0).total_seconds() == 5


@pytest.mark.parametrize("number", [1, 3, 6])
def test_a_folder_that_is_empty_all_at_once_empties_no_index(bench: Bench, number: int) -> None:
    other = bench.folder.with_name("other")
    other.mkdir()
    for at in range(20):
        (other / f"o{at}.md").write_text(f"# Other {at}\n\nA lamp in room {at}.\n")
    for at in range(number, 6):
        (bench.folder / f"n{at}.md").unlink()
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker, other)
        bench.look(worker)
        inside = sorted(bench.folder.iterdir())
        away = bench.folder.with_name("away")
        away.mkdir()
        for path in inside:
            path.rename(away / path.name)
        built = len(corpus.generations()[1])
        for _ in range(3):
            looked = bench.look(worker)
            assert looked.ended is not None
            assert looked.ended.state is PassState.HELD
            assert "unmounted" in str(looked.ended.error)
        assert len(corpus.generations()[1]) == built, "nothing is built that nobody wants"
        assert len(_found(corpus, "pump hall")) == number
        for path in inside:
            (away / path.name).rename(path)
        looked = bench.look(worker)
        assert looked.ended is not None
        assert (looked.ended.state, looked.ended.changed) == (PassState.DONE, False)
        for path in inside:
            path.unlink()
        corpus.sync(str(bench.folder))  # a person says that they are meant to be gone
        assert _found(corpus, "pump hall") == []


def test_a_folder_whose_files_all_get_other_names_is_not_gone(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        (bench.folder / "sub").mkdir()
        for path in sorted(bench.folder.glob("*.md")):
            path.rename(bench.folder / "sub" / path.name)
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.report is not None
        assert looked.ended.state is PassState.DONE
        assert looked.report.moved == tuple((f"n{at}.md", f"sub/n{at}.md") for at in range(6))
        assert "moved n0.md → sub/n0.md" in looked.report.notes
        assert looked.report.embedded_texts == 0, "their vectors are known"
        assert {one.name for one in corpus.documents()} == {f"sub/n{at}.md" for at in range(6)}


def test_a_file_that_was_copied_or_changed_has_not_moved(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        bench.write("copy.md", (bench.folder / "n0.md").read_text())
        (bench.folder / "n1.md").unlink()
        bench.write("n1b.md", "# Note 1\n\nOther words.\n")
        looked = bench.look(worker)
        assert looked.report is not None
        assert looked.report.moved == ()
        assert looked.report.documents["deleted"] == 1


def test_deletes_in_a_source_take_the_document_out_of_sight(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        (bench.folder / "n2.md").unlink()
        looked = bench.look(worker)
        assert looked.report is not None
        assert (looked.report.documents["deleted"], looked.report.embedded_texts) == (1, 0)
        assert "n2.md" not in _found(corpus, "pump hall")


def test_narrowed_rights_hold_at_once_also_where_a_rollback_holds_the_rest(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        bench.write("n0.md", "# Note 0\n\nPump 0 was moved to the cellar.\n")
        bench.look(worker)
        corpus.rollback()
        bench.write("n1.md", "# Note 1\n\nPump 1 was moved to the cellar.\n")
        bench.write("n2.md.fonte.yaml", "roles: staff\n")
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.ended.state is PassState.HELD
        assert "rollback" in str(looked.ended.error)
        assert _found(corpus, "cellar") == []
        assert "n2.md" not in _found(corpus, "pump hall")
        corpus.sync(str(bench.folder))
        assert sorted(_found(corpus, "cellar")) == ["n0.md", "n1.md"]


def test_rights_are_narrowed_though_the_model_is_down(bench: Bench) -> None:
    with bench.corpus() as corpus:
        bench.look(bench.worker(corpus))
    bench.write("n1.md", "# Note 1\n\nPump 1 was moved to the cellar.\n")
    bench.write("n2.md.fonte.yaml", "roles: staff\n")

    def gone() -> Embedder:
        raise ModelUnavailable("the endpoint does not answer")

    with OpenCorpus(replace(quick_parts(bench.home), make_embedder=gone)) as corpus:
        looked = bench.look(bench.worker(corpus))
        assert looked.ended is not None
        assert looked.ended.state is PassState.FAILED
        assert looked.ended.error is not None
        assert looked.ended.error["code"] == "model_unavailable"
    with bench.corpus() as corpus:
        assert sorted(_found(corpus, "pump hall")) == ["n0.md", "n1.md", "n3.md", "n4.md", "n5.md"]


def test_a_sync_that_is_held_back_itself_answers_no_rollback(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        bench.write("n0.md", "# Note 0\n\nPump 0 was moved to the cellar.\n")
        bench.look(worker)
        corpus.rollback()
        aside = [path.rename(bench.folder.parent / path.name) for path in sorted(bench.folder.glob("*.md"))[1:]]
        assert corpus.sync(str(bench.folder)).held_back is not None
        assert corpus.held() is not None
        for path in aside:
            path.rename(bench.folder / path.name)
        assert corpus.sync(str(bench.folder)).published
        assert corpus.held() is None


def test_narrow_takes_rights_away_and_changes_nothing_else(bench: Bench) -> None:
    with bench.corpus() as corpus:
        bench.look(bench.worker(corpus))
        before = corpus.generations()
        bench.write("n2.md.fonte.yaml", "roles: staff\n")
        bench.write("n3.md", "---\nroles: staff\n---\n\n# Note 3\n\nPump 3 is in hall 3.\n")
        bench.write("n7.md", "# Note 7\n\nPump 7 is in hall 7.\n")
        bench.parsed.clear()
        assert corpus.narrow(str(bench.folder)) == 2
        assert corpus.generations() == before
        assert bench.parsed == []
        assert sorted(_found(corpus, "pump hall")) == ["n0.md", "n1.md", "n4.md", "n5.md"]


def test_rights_that_are_narrowed_while_a_first_sync_runs_hold_when_it_is_published(bench: Bench) -> None:
    with bench.corpus() as corpus, bench.corpus() as beside:
        once: list[int] = []

        def meanwhile(*_: object) -> None:
            if not once:
                bench.write("n2.md.fonte.yaml", "roles: staff\n")
                once.append(beside.narrow(str(bench.folder)))

        bench.clock.pass_by(1)
        bench.worker(corpus).look(
            str(bench.folder), tenant="default", since=bench.clock(), progress=meanwhile, options=SourceOptions()
        )
        assert once
        assert sorted(_found(corpus, "pump hall")) == ["n0.md", "n1.md", "n3.md", "n4.md", "n5.md"]


def test_a_candidate_that_a_judge_holds_back_is_not_built_again_until_something_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        judged: list[str] = []

        def judge(candidate: object, active: object) -> Judgment:
            judged.append(candidate.id)  # type: ignore[attr-defined]  # a generation
            return Judgment("fail", "needle@5 is worse", {})

        monkeypatch.setattr(OpenCorpus, "_judge", lambda *_: judge)
        bench.write("n0.md", "# Note 0\n\nWorse.\n")
        for _ in range(3):
            looked = bench.look(worker)
            assert looked.ended is not None
            assert looked.ended.state is PassState.HELD
            assert "needle@5 is worse" in str(looked.ended.error)
        assert len(judged) == 1
        bench.write("n1.md", "# Note 1\n\nWorse too.\n")
        bench.look(worker)
        assert len(judged) == 2
        monkeypatch.undo()
        bench.write("n1.md", "# Note 1\n\nBetter.\n")
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.ended.state is PassState.DONE


# --- documents that are tried again ----------------------------------------------------------------------------------


def _tries(corpus: OpenCorpus) -> list[tuple[int, bool]]:
    return [(one.tries, one.next_try is None) for one in corpus.standing().tries()]


def test_a_document_that_times_out_is_tried_again_and_given_up_after_so_many_tries(bench: Bench) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        looked = bench.look(worker)
        assert _tries(corpus) == [(1, False)]
        assert looked.again_at is not None
        assert bench.parsed.count("n3.md") == 1
        bench.look(worker)
        assert bench.parsed.count("n3.md") == 1, "not before its time"
        bench.clock.moment = looked.again_at
        looked = bench.look(worker)
        assert (bench.parsed.count("n3.md"), _tries(corpus)) == (2, [(2, False)])
        assert looked.again_at is not None
        bench.clock.moment = looked.again_at
        looked = bench.look(worker)
        assert (bench.parsed.count("n3.md"), _tries(corpus), looked.again_at) == (3, [(3, True)], None)
        bench.clock.pass_by(1e6)
        bench.look(worker)
        assert (bench.parsed.count("n3.md"), _tries(corpus)) == (3, [(3, True)]), "a dead letter"
        assert "took too long" in corpus.standing().tries()[0].error
        assert len(_found(corpus, "pump hall")) == 5


def test_a_pass_that_published_stays_told_where_a_person_writes_before_its_tries(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        looked = bench.look(worker)
        assert looked.again_at is not None
        bench.clock.moment = looked.again_at
        (bench.folder / "n9.md").write_text("The pump of hall 9 is new.\n", "utf-8")

        def locked(*_documents: str, **_how: object) -> SyncReport:
            raise HomeLocked("somebody writes")

        monkeypatch.setattr(OpenCorpus, "retry", locked)
        looked = bench.look(worker)
        assert looked.ended is not None
        assert (looked.ended.changed, looked.tried) == (True, None)
        assert corpus.standing().passes(1)[0].changed


def test_a_document_that_goes_better_is_whole_and_forgotten(bench: Bench) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        looked = bench.look(worker)
        bench.failing.clear()
        assert looked.again_at is not None
        bench.clock.moment = looked.again_at
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.tried is not None
        assert looked.ended.changed
        assert (looked.tried.documents["modified"], _tries(corpus)) == (1, [])
        assert len(_found(corpus, "pump hall")) == 6


@pytest.mark.parametrize("revived", ["change", "retry", "gone"])
def test_a_dead_letter_is_revived_by_a_change_or_a_person(bench: Bench, revived: str) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        looked = bench.look(worker)
        while looked.again_at is not None:
            bench.clock.moment = looked.again_at
            looked = bench.look(worker)
        assert _tries(corpus) == [(3, True)]
        if revived == "change":
            bench.write("n3.md", "# Note 3\n\nOther words.\n")
        elif revived == "gone":
            (bench.folder / "n3.md").unlink()
        else:
            corpus.retry("n3.md")
        bench.look(worker)
        assert _tries(corpus) == ([] if revived == "gone" else [(1, False)])


def test_status_and_documents_tell_of_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        looked = bench.look(worker)
        monkeypatch.setattr(wiring.Corpus, "open", lambda *_, **__: bench.corpus())
        [row] = [one for one in fonte(bench.home, "documents").json["documents"] if one["tries"]]
        assert (row["document_name"], row["tries"]["attempts"], row["tries"]["given_up"]) == ("n3.md", 1, False)
        assert "1 try, the next at" in fonte(bench.home, "documents", json_mode=False).out
        while looked.again_at is not None:
            bench.clock.moment = looked.again_at
            looked = bench.look(worker)
        bench.folder.rename(bench.folder.with_name("away"))
        bench.look(worker)
        assert "given up after 3 tries" in fonte(bench.home, "documents", json_mode=False).out
        told = fonte(bench.home, "status").json["standing"]
        assert told["given_up"] == 1
        assert [(one["source"], one["breaker"], one["failures"]) for one in told["sources"]] == [
            (str(bench.folder), "closed", 1)
        ]
        assert [one["state"] for one in told["passes"]] == ["failed", "done", "done", "done"]
        shown = fonte(bench.home, "status", json_mode=False).out
        assert f"looked after: {bench.folder}" in shown
        assert "1 failure in a row" in shown


def test_what_is_due_is_given_to_one_worker(bench: Bench) -> None:
    bench.failing.add("n3.md")
    with bench.corpus() as corpus:
        bench.look(bench.worker(corpus))
        store, later = corpus.standing(), bench.clock() + timedelta(hours=1)
        waits = {2: later + timedelta(hours=1)}
        claimed = [store.claim_tries(str(bench.folder), later, waits) for _ in range(2)]
        assert [len(one) for one in claimed] == [1, 0]


def test_an_erased_document_leaves_no_word_among_the_tries(bench: Bench) -> None:
    bench.write("zyxomma.md", "# Zyxomma\n\nA dragonfly.\n")
    bench.failing.add("zyxomma.md")
    with bench.corpus() as corpus:
        bench.look(bench.worker(corpus))
        file = bench.home / "tenants" / "default" / "standing.sqlite"
        assert corpus.standing().tries()
        corpus.erase("zyxomma.md")
        assert corpus.standing().tries() == []
    assert b"zyxomma" not in file.read_bytes()


def test_a_stop_in_the_middle_leaves_the_source_free_and_the_index_as_it_was(bench: Bench) -> None:
    with bench.corpus() as corpus:
        worker = bench.worker(corpus)
        bench.look(worker)
        active = corpus.status().active
        bench.write("n0.md", "# Note 0\n\nOther words.\n")

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        bench.clock.pass_by(1)
        with pytest.raises(KeyboardInterrupt):
            worker.look(
                str(bench.folder), tenant="default", since=bench.clock(), progress=stop, options=SourceOptions()
            )
        assert corpus.status().active == active
        known = corpus.standing().source(str(bench.folder))
        assert known == Tended(str(bench.folder), looked_at=known.looked_at)
        looked = bench.look(bench.worker(corpus, "other"))
        assert looked.ended is not None
        assert looked.ended.changed


def test_unknown_tenants_and_sources_read_as_none(tmp_path: Path) -> None:
    with quick_corpus(tmp_path / "home") as corpus:
        store = corpus.standing()
        assert (store.sources(), store.passes(5), store.tries()) == ([], [], [])
        assert store.source("x") == Tended("x")
    assert not (tmp_path / "home").exists()


class _Unkept:
    """A store of passes whose disk is full for some of its methods."""

    def __init__(self, whole: StandingStore, *full: str) -> None:
        self._whole = whole
        self.full = set(full)

    def __getattr__(self, name: str) -> object:
        if name in self.full:
            raise StoreUnavailable("disk full while writing standing.sqlite", hint="free some space")
        return getattr(self._whole, name)


@pytest.mark.parametrize("full", ["take", "end"])
def test_a_pass_that_cannot_be_kept_is_told_and_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    with bench.corpus() as corpus:
        worker, store = bench.worker(corpus), _Unkept(corpus.standing(), full)
        monkeypatch.setattr(corpus, "standing", lambda _tenant="default": store)
        waits = []
        for _ in range(3):
            looked = bench.look(worker)
            assert looked.ended is not None
            assert (looked.ended.state, (looked.ended.error or {})["code"]) == (PassState.FAILED, "store_unavailable")
            assert looked.again_at is not None
            waits.append((looked.again_at - bench.clock()).total_seconds())
            bench.clock.pass_by(RULES.lease_seconds)
        assert waits == [10.0, 20.0, 40.0]
        store.full.clear()
        looked = bench.look(worker)
        assert looked.ended is not None
        assert looked.ended.state is PassState.DONE
        assert _found(corpus, "Pump 3")


def test_a_full_disk_hides_no_stop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with bench.corpus() as corpus:
        store = _Unkept(corpus.standing(), "drop")
        monkeypatch.setattr(corpus, "standing", lambda _tenant="default": store)
        with pytest.raises(KeyboardInterrupt):
            bench.worker(corpus).look(
                str(bench.folder), tenant="default", since=bench.clock(), progress=stop, options=SourceOptions()
            )


def test_a_name_that_is_no_utf8_is_the_callers_mistake(bench: Bench) -> None:
    with bench.corpus() as corpus:
        bench.look(bench.worker(corpus))
        with pytest.raises(InputError, match=r"g\\udcff is not UTF-8"):
            corpus.diff("g\udcff", "g")
        odd = bench.folder.with_name("docs\udcff")
        odd.mkdir()
        looked = bench.look(bench.worker(corpus), odd)
        assert looked.ended is not None
        assert (looked.ended.error or {})["code"] == "input"
