"""What a catalog offers to those who judge a generation before it serves, and to those who label its answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from contract.catalogs import KINDS, OpenCatalog, opening
from contract.store_making import building, document, publish

from fonte import publish as gate
from fonte.checks import Fault, Inspection
from fonte.errors import GateFailed, GenerationConflict, NotFound
from fonte.stores.catalog import SqlCatalog
from fonte.types import Acl, Generation, GenerationState, Principal

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ANYONE = Principal()
ADA = Principal(user="ada", roles=frozenset({"staff"}))
HR = Principal(roles=frozenset({"hr"}))
ASKERS = (ANYONE, ADA, HR)


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenCatalog]:
    yield from opening(request.param, request)


@pytest.fixture
def catalog(opened: OpenCatalog) -> SqlCatalog:
    return opened("default")


def _candidate(catalog: SqlCatalog, name: str, base: str | None, **documents: list[str]) -> None:
    catalog.add_generation(building(name, base))
    catalog.put_documents(name, [document(one, roles) for one, roles in documents.items()])
    catalog.update_generation(name, GenerationState.CANDIDATE, table_version=1, chunks=1)


def _first(catalog: SqlCatalog) -> str | None:
    _candidate(catalog, "g2", None, d1=["public"], d2=["hr"])
    return None


def _widened_narrowed_new_and_deleted(catalog: SqlCatalog) -> str | None:
    publish(catalog, "g1", None, d1=["hr"], d2=["public"], d3=["staff"], d4=["public"])
    catalog.add_generation(building("g2", "g1"))
    catalog.narrow("d3", Acl(frozenset({"hr"})))
    catalog.put_documents("g2", [document("d1", ["hr", "staff"]), document("d2", ["hr"]), document("d5", ["public"])])
    catalog.update_generation("g2", GenerationState.CANDIDATE, table_version=1, chunks=1)
    catalog.delete(["d4"])
    return "g1"


def _restored(catalog: SqlCatalog) -> str | None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.delete(["d1"])
    catalog.add_generation(building("g2", "g1"))
    catalog.restore(["d1"])
    catalog.put_document("g2", *document("d1"))
    catalog.update_generation("g2", GenerationState.CANDIDATE, table_version=1, chunks=1)
    return "g1"


@pytest.mark.parametrize("made", [_first, _widened_narrowed_new_and_deleted, _restored])
def test_rights_as_published_are_those_that_publishing_leaves_and_nothing_is_changed(
    catalog: SqlCatalog, made: object
) -> None:
    active = made(catalog)  # type: ignore[operator]
    before = (dict(catalog.acls()), [(one.id, one.state) for one in catalog.generations()], catalog.deleted())
    seen = catalog.as_published("g2", expected=active)
    told = {
        who: ([d for d in ("d1", "d2", "d3", "d4", "d5") if seen.may_read(d, who)], seen.revoked("g2", who))
        for who in ASKERS
    }
    assert (dict(catalog.acls()), [(one.id, one.state) for one in catalog.generations()], catalog.deleted()) == before
    catalog.publish("g2", expected=active)
    assert seen.acls() == catalog.acls()
    for who, (readable, revoked) in told.items():
        assert readable == [d for d in ("d1", "d2", "d3", "d4", "d5") if catalog.may_read(d, who)]
        assert revoked == catalog.revoked("g2", who)


def test_what_could_not_be_published_is_not_seen_as_published(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.add_generation(building("g2", "g1"))
    with pytest.raises(GenerationConflict):
        catalog.as_published("g2", expected="g1")
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    with pytest.raises(GenerationConflict):
        catalog.as_published("g2", expected=None)
    with pytest.raises(NotFound):
        catalog.as_published("g9", expected="g1")
    assert [one.state for one in catalog.generations()] == [GenerationState.ACTIVE, GenerationState.CANDIDATE]


def test_a_report_goes_with_its_generation_alone(catalog: SqlCatalog) -> None:
    for number in range(1, 5):
        publish(catalog, f"g{number}", None if number == 1 else f"g{number - 1}", d1=["public"])
        catalog.keep_report(f"g{number}", f'{{"n": {number}}}')
    catalog.keep_report("g4", '{"n": 44}')
    assert catalog.reports() == {"g1": '{"n": 1}', "g2": '{"n": 2}', "g3": '{"n": 3}', "g4": '{"n": 44}'}
    catalog.forget_generations(1)
    assert catalog.reports() == {"g3": '{"n": 3}', "g4": '{"n": 44}'}
    assert catalog.active() is not None
    with pytest.raises(NotFound):
        catalog.keep_report("g1", "{}")


def test_listed_answers_are_those_that_their_asker_gets(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"], d2=["staff"])
    kept = [("a1", ANYONE, ["d1"]), ("a2", ADA, ["d1", "d2"]), ("a3", ANYONE, []), ("a4", HR, ["d1"])]
    for number, (name, who, documents) in enumerate(kept):
        catalog.save_answer(name, who, NOW + timedelta(seconds=-number), "{}", documents)
    assert catalog.answer_ids(ANYONE) == ["a3", "a1"]
    assert catalog.answer_ids(ADA) == ["a2"]
    assert catalog.answer_ids(HR) == ["a4"]
    assert catalog.answer_ids(Principal("other")) == []
    catalog.narrow("d2", Acl(frozenset({"hr"})))
    assert catalog.answer_ids(ADA) == []
    for who in ASKERS:
        assert [catalog.answer(one, who) for one in catalog.answer_ids(who)] == ["{}"] * len(catalog.answer_ids(who))


def test_what_is_published_in_spite_of_its_data_was_measured_too(catalog: SqlCatalog) -> None:
    asked: list[str] = []

    def judge(candidate: Generation, active: Generation | None) -> gate.Judgment:
        asked.append(candidate.id)
        return gate.Judgment("fail", "the set fails it", {"outcome": "fail"})

    _candidate(catalog, "g1", None, d1=["public"], d2=["public"])  # one chunk, where its documents count two

    def inspect(candidate: Generation, active: Generation | None) -> Inspection:
        assert (candidate.id, active) == ("g1", None)
        return Inspection((Fault("counts", "the index holds 1 chunks, its documents count 2"),), 1)

    with pytest.raises(GateFailed, match="its documents count 2"):
        gate.publish(catalog, "g1", inspect=inspect, judge=judge)
    assert asked == []
    now, _ = gate.publish(catalog, "g1", inspect=inspect, override="known", judge=judge)
    assert asked == ["g1"]
    assert "documents count 2; " in now.verdict
    assert now.verdict.endswith("; the set fails it")
    assert catalog.reports() == {"g1": '{"outcome": "fail"}'}
