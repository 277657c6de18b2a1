"""What a server keeps beside the catalog, over files and over PostgreSQL: the same statements, the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.catalogs import KINDS
from contract.store_making import document, publish, random_codes, random_units

from fonte.access.identity import Action, Identity
from fonte.access.jobs import Job, JobKind, JobState
from fonte.access.records import AuditEntry, Feedback, KeyRecord, SessionRecord, Verdict
from fonte.access.standing import Failing, Pass, PassState, Tended
from fonte.errors import CorruptIndex, NotFound, Overloaded
from fonte.stores.home import Home
from fonte.stores.postgres.home import PostgresHome
from fonte.stores.postgres.pool import Pool
from fonte.types import KeptTurn, Principal

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ADA = Principal(user="ada", roles=frozenset({"staff"}))
BOB = Principal(user="bob")
NOBODY = Principal(roles=frozenset({"staff"}))


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "sqlite":
        yield Home(tmp_path / "home")
        return
    pool = Pool(request.getfixturevalue("postgres_url"))
    yield PostgresHome(tmp_path / "files", pool)
    pool.close()


def test_conversations_are_their_askers_alone(stores: Any) -> None:
    kept = stores.tenant("default").conversations
    for number, (name, who) in enumerate((("c1", ADA), ("c2", NOBODY), ("c1", ADA), ("c3", ADA))):
        kept.add(name, who, KeptTurn(f"question {number}", f"a{number}", at(number)))
    assert [one.answer_id for one in kept.turns("c1", ADA)] == ["a0", "a2"]
    for name, who in (("c1", BOB), ("c1", NOBODY), ("c2", ADA), ("c2", Principal()), ("absent", ADA)):
        with pytest.raises(NotFound):
            kept.turns(name, who)
    with pytest.raises(NotFound):
        kept.add("c1", BOB, KeptTurn("mine?", "a9", NOW))
    heads = [(one.id, one.question, one.turns, one.begun_at, one.last_at) for one in kept.heads(ADA, 10, 0)]
    assert heads == [("c3", "question 3", 1, at(3), at(3)), ("c1", "question 0", 2, at(0), at(2))]
    assert [one.id for one in kept.heads(ADA, 1, 1)] == ["c1"]
    assert [one.id for one in kept.heads(NOBODY, 10, 0)] == ["c2"]
    assert kept.heads(Principal(), 10, 0) == []
    kept.remove("c1", ADA)
    assert [one.id for one in kept.heads(ADA, 10, 0)] == ["c3"]


def test_feedback_takes_the_place_of_what_the_same_asker_said(stores: Any) -> None:
    kept = stores.feedback("default")
    kept.forget(["a1"])
    first = Feedback("a1", "k1", "ada", Verdict.WRONG, "no", NOW)
    kept.say(first)
    kept.say(replace(first, identity="k2", verdict=Verdict.RIGHT, at=at(1)))  # another key of the same user
    kept.say(Feedback("a1", "k3", None, Verdict.PARTLY, "", at(2)))
    kept.say(Feedback("a2", "k1", "ada", Verdict.UNSAFE, "☠", at(2)))
    said = [(one.answer_id, one.identity, one.user, one.verdict, one.at) for one in kept.said(10)]
    assert said == [
        ("a1", "k3", None, Verdict.PARTLY, at(2)),
        ("a2", "k1", "ada", Verdict.UNSAFE, at(2)),
        ("a1", "k2", "ada", Verdict.RIGHT, at(1)),
    ]
    kept.forget(["a1"])
    assert [one.answer_id for one in kept.said(1)] == ["a2"]
    assert stores.feedback("other").said(10) == []


def job(name: str, kind: JobKind = JobKind.SYNC, **more: Any) -> Job:
    return Job(name, "default", kind, JobState.QUEUED, "k1", "ada", {"sources": ["x"]}, NOW, NOW, **more)


def test_jobs_are_taken_once_in_order_and_uploads_together(stores: Any) -> None:
    kept = stores.jobs("default")
    assert (kept.tenant(), kept.jobs(10), kept.job("j1")) == (None, [], None)
    for name, kind in (("j1", JobKind.SYNC), ("j2", JobKind.UPLOAD), ("j3", JobKind.RETRY), ("j4", JobKind.UPLOAD)):
        kept.add(job(name, kind), 4)
    with pytest.raises(Overloaded):
        kept.add(job("j5"), 4)
    with pytest.raises(Overloaded):
        kept.check(4)
    assert kept.take(at(-1)) == []
    (first,) = kept.take(at(1))
    assert (first.id, first.state, first.tries, first.started_at, first.wanted) == (
        "j1", JobState.RUNNING, 1, at(1), {"sources": ["x"]},
    )  # fmt: skip
    assert {one.id for one in kept.take(at(1))} == {"j2", "j4"}
    kept.progress([first], "reading", 3, 9)
    assert (kept.job("j1").what, kept.job("j1").done, kept.job("j1").total) == ("reading", 3, 9)
    kept.end(first, at(2), report={"chunks": 3}, error=None)
    assert (kept.job("j1").state, kept.job("j1").report) == (JobState.DONE, {"chunks": 3})
    kept.again(kept.job("j2"), at(60), {"code": "busy"}, counted=False)
    assert (kept.job("j2").tries, kept.job("j2").due_at) == (0, at(60))
    assert kept.by_state() == {"done": 1, "queued": 2, "running": 1}
    assert kept.reopen() == 3
    assert [one.id for one in kept.jobs(2)] == ["j4", "j3"]
    assert [kept.take(at(70))[0].id for _ in range(2)] == ["j2", "j3"]
    assert (kept.tenant(), stores.with_jobs(), stores.jobs("other").jobs(5)) == ("default", ["default"], [])


def test_a_source_is_looked_after_by_one_and_its_lease_runs_out(stores: Any) -> None:
    kept = stores.tenant("default").standing
    begun = kept.take("docs", "one", NOW, at(30), NOW)
    assert isinstance(begun, Pass)
    assert isinstance(kept.take("docs", "two", at(1), at(31), at(1)), Tended)
    assert kept.renew(begun, at(40))
    later = kept.take("docs", "two", at(41), at(71), at(41))
    assert isinstance(later, Pass)
    assert later.number > begun.number
    assert not kept.renew(begun, at(99))
    assert not kept.end(replace(begun, state=PassState.DONE, ended_at=at(42)), failures=0, next_try=None)
    failed = replace(later, state=PassState.FAILED, ended_at=at(43), error={"code": "store"})
    assert kept.end(failed, failures=1, next_try=at(50))
    source = kept.source("docs")
    assert (source.owner, source.failures, source.next_try, source.error) == (None, 1, at(50), {"code": "store"})
    assert isinstance(kept.take("docs", "two", at(44), at(74), at(44)), Tended)
    good = kept.take("docs", "two", at(51), at(81), at(51))
    assert kept.end(replace(good, state=PassState.DONE, ended_at=at(52), changed=True), failures=0, next_try=None)
    assert kept.source("docs").looked_at == at(51)
    assert [(one.state, one.changed) for one in kept.passes(10)] == [
        (PassState.DONE, True), (PassState.FAILED, False), (PassState.LOST, False),
    ]  # fmt: skip
    kept.drop(kept.take("docs", "two", at(60), at(90), at(60)))
    assert len(kept.passes(10)) == 3
    assert [one.source for one in kept.sources()] == ["docs"]
    assert stores.tenant("other").standing.sources() == []


def test_tries_of_documents_go_by_their_version(stores: Any) -> None:
    kept = stores.tenant("default").standing
    kept.note_tries("docs", [Failing("d1", "v1", "no"), Failing("d2", "v1", "no")], at(5))
    kept.note_tries("more", [Failing("d3", "v1", "no")], at(5))
    assert kept.claim_tries("docs", at(1), {2: at(9)}) == []
    assert kept.claim_tries("docs", at(6), {2: at(9)}) == ["d1", "d2"]
    assert kept.claim_tries("docs", at(6), {2: at(9)}) == []
    kept.note_tries("docs", [Failing("d1", "v1", "still"), Failing("d4", "v2", "new")], at(20))
    told = [(one.document_id, one.version, one.tries, one.next_try, one.error) for one in kept.tries()]
    assert told == [("d1", "v1", 2, at(9), "still"), ("d3", "v1", 1, at(5), "no"), ("d4", "v2", 1, at(20), "new")]
    kept.note_tries("docs", [Failing("d1", "v2", "other")], at(30))
    assert kept.claim_tries("docs", at(31), {}) == ["d1"]
    assert kept.tries()[0].next_try is None
    kept.forget_tries(["d1"])
    kept.forget_source("more")
    assert kept.tries() == []


def test_keys_end_no_later_than_they_would(stores: Any) -> None:
    kept = stores.keys()
    assert (kept.any_key(), kept.every_key(), kept.key("k1")) == (False, [], None)
    record = KeyRecord("k1", "0" * 64, ADA, frozenset({Action.READ}), NOW)
    kept.add_key(record)
    kept.add_key(replace(record, id="k2", principal=replace(BOB, tenant="other"), expires_at=at(10)))
    with pytest.raises(CorruptIndex):
        kept.add_key(record)
    assert kept.key("k1") == record
    assert [one.id for one in kept.every_key()] == ["k1", "k2"]
    assert (kept.end_key("k1", at(5)), kept.end_key("k2", at(50)), kept.end_key("k3", NOW)) == (True, True, False)
    assert [one.expires_at for one in kept.every_key()] == [at(5), at(10)]
    assert stores.keys().any_key()


def test_sessions_are_forgotten_when_they_are_over(stores: Any) -> None:
    kept = stores.sessions()
    who = Identity("oidc", ADA, frozenset({Action.READ}))
    kept.add_session(SessionRecord("s1", at(10), key_id="k1"), NOW)
    kept.add_session(SessionRecord("s2", at(20), identity=who), NOW)
    assert kept.session("s2") == SessionRecord("s2", at(20), None, who)
    kept.add_session(SessionRecord("s3", at(30), key_id="k1"), at(15))
    assert [kept.session(one) is not None for one in ("s1", "s2", "s3")] == [False, True, True]
    kept.end_session("s2")
    assert kept.session("s2") is None
    assert len(stores.sessions().mark()) == 8
    assert stores.sessions().mark() == kept.mark()


def test_the_audit_log_is_read_by_tenant_and_forgets(stores: Any) -> None:
    log = stores.audit()
    for number, (tenant, user) in enumerate([("a", "ada"), ("b", "ada"), ("a", None), ("a", "ada")]):
        log.record(AuditEntry(at(number), tenant, "k1", user, "ask", f"q{number} \ud800", "ok", ("d1",), "r1"))
    entries = log.entries("a")
    assert [entry.subject for _, entry in entries] == ["q3 ?", "q2 ?", "q0 ?"]
    assert entries[0][1].shown == ("d1",)
    assert [entry.subject for _, entry in log.entries("a", before=entries[1][0])] == ["q0 ?"]
    assert [entry.subject for _, entry in log.entries("a", user="ada", limit=1)] == ["q3 ?"]
    assert log.forget_user("a", "ada") == 2
    assert [entry.user for _, entry in log.entries("a")] == [None] * 3
    assert log.forget(at(2)) == 2
    assert [entry.subject for _, entry in log.entries("b")] == []


def test_vectors_are_remembered_by_text_and_space(stores: Any) -> None:
    cache = stores.tenant("default").cache
    vectors = dict(zip("abc", random_units(3, 1), strict=True))
    codes = dict(zip("ab", random_codes([3, 5], 2), strict=True))
    cache.put("s", vectors, codes)
    cache.put("t", {"a": vectors["b"]})
    cache.put("s", {"c": vectors["a"]})
    found = cache.get("s", ["a", "c", "z"])
    assert sorted(found) == ["a", "c"]
    assert np.array_equal(found["c"], vectors["a"])
    assert np.array_equal(cache.codes("s", ["a", "b", "c"])["b"], codes["b"])
    assert (cache.count(), stores.tenant("other").cache.count()) == (4, 0)
    assert cache.prune({"s": {"a"}}) == 3
    assert cache.count() == 1


def test_the_gate_is_kept_and_replaced(stores: Any) -> None:
    kept = stores.tenant("default").calibration
    assert kept.load() is None
    for text in ("{}", '{"a": "è"}'):
        kept.save(text)
    assert stores.tenant("default").calibration.load() == '{"a": "è"}'
    assert stores.tenant("other").calibration.load() is None


def test_a_user_and_a_tenant_are_taken_out_and_nobody_else(stores: Any) -> None:
    for tenant in ("default", "other"):
        store, who = stores.tenant(tenant), replace(ADA, tenant=tenant)
        if tenant == "default":
            publish(store.catalog, "g1", None, d1=["public"])
            store.catalog.save_answer("a1", who, NOW, '{"question": "q"}', ["d1"])
        store.conversations.add("c1", who, KeptTurn("q", "a1", NOW))
        stores.feedback(tenant).say(Feedback("a1", "k1", "ada", Verdict.RIGHT, "", NOW))
        stores.keys().add_key(KeyRecord(f"k-{tenant}", "0" * 64, who, frozenset({Action.READ}), NOW))
        stores.audit().record(AuditEntry(NOW, tenant, "k1", "ada", "ask", "q", "ok"))
        stores.jobs(tenant).add(replace(job("j1"), tenant=tenant), 5)
    stores.tenant("default").eraser.user("ada", disown=lambda _: None)
    assert stores.tenant("default").conversations.heads(ADA, 5, 0) == []
    assert stores.feedback("default").said(5) == []
    assert [one.id for one in stores.keys().every_key()] == ["k-other"]
    assert [(entry.user, entry.subject) for _, entry in stores.audit().entries("default")] == [(None, "")]
    assert stores.jobs("default").job("j1").user is None
    assert len(stores.tenant("other").conversations.heads(replace(ADA, tenant="other"), 5, 0)) == 1
    stores.tenant("default").eraser.everything()
    again = stores.tenant("default")
    assert (again.catalog.generations(), stores.jobs("default").jobs(5)) == ([], [])
    assert stores.audit().entries("default") == []
    assert len(stores.feedback("other").said(5)) == 1
    assert stores.count() == (1 if isinstance(stores, PostgresHome) else 0)  # of a home those with a catalog count


def test_an_erasure_that_was_begun_is_known_and_completed(stores: Any) -> None:
    store = stores.tenant("default")
    publish(store.catalog, "g1", None, d1=["public"], d2=["public"])
    assert (store.eraser.pending(), stores.unerased()) == (False, [])
    state, _ = document("d1")
    store.eraser._begun([state])
    assert (stores.tenant("default").eraser.pending(), stores.unerased()) == (True, ["default"])
