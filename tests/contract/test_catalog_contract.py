"""What a Catalog does, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Thread

import pytest
from contract.catalogs import KINDS, OpenCatalog, opening, postgres_catalog
from contract.store_making import building, document, publish

from fonte.errors import CorruptIndex, GenerationConflict, HomeLocked, NotFound
from fonte.stores.catalog import SqlCatalog
from fonte.stores.postgres.pool import Pool
from fonte.stores.sqlite_stores import SqliteCatalog
from fonte.types import (
    Acl,
    BlockKind,
    Counts,
    DocumentStatus,
    GenerationState,
    LedgerEntry,
    Loss,
    Place,
    Principal,
    Section,
    Span,
    Stamp,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ADA = Principal(user="ada", roles=frozenset({"staff"}))
ANYONE = Principal()
HR = Principal(roles=frozenset({"hr"}))


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenCatalog]:
    yield from opening(request.param, request)


@pytest.fixture
def catalog(opened: OpenCatalog) -> SqlCatalog:
    return opened("default")


def roles(*names: str) -> Acl:
    return Acl(frozenset(names))


# --- reading and writing ---------------------------------------------------------------------------------------------


@pytest.fixture
def file_catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    one = SqliteCatalog(tmp_path / "tenant" / "catalog.sqlite", "default")
    yield one
    one.close()


def test_an_unknown_tenant_reads_as_empty_and_nothing_is_made(catalog: SqlCatalog, tmp_path: Path) -> None:
    assert catalog.active() is None
    assert catalog.generations() == []
    assert catalog.acl("d1") == Acl()
    assert not catalog.may_read("d1", ANYONE)
    for missing in (lambda: catalog.generation("g1"), lambda: catalog.states("g1"), lambda: catalog.answer("a", ADA)):
        with pytest.raises(NotFound):
            missing()
    assert list(tmp_path.iterdir()) == []


def test_case_42_reading_never_writes(file_catalog: SqlCatalog, tmp_path: Path) -> None:
    catalog = file_catalog
    publish(catalog, "g1", None, d1=["public"])
    catalog.save_answer("a1", ADA, NOW, "{}", ["d1"])
    catalog.close()
    file = tmp_path / "tenant" / "catalog.sqlite"
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    catalog.active(), catalog.generations(), catalog.states("g1"), catalog.state("g1", "d1")
    catalog.document("g1", "d1"), catalog.revoked("g1", ANYONE), catalog.may_read("d1", ANYONE)
    catalog.answer("a1", ADA)
    catalog.close()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_a_document_comes_back_whole(catalog: SqlCatalog) -> None:
    text = "# Titolo\n\nCittà è «😀» – fine.\r\nriga\t2\n"
    state, one = document(
        "d1",
        ("staff", "hr"),
        text=text,
        sections=(Section(("Titolo",), 0, 10, len(text)),),
        spans=(Span(BlockKind.HEADING, 0, 8), Span(BlockKind.ROW, 10, 20, table=3, header=True)),
        places=(
            Place(0, 1, page=1, box=(1.0, 2.5, 3.1415926535, 1e-9)),
            Place(1, 3, page=2, slide=4, lines=(7, 9)),
            Place(3, 3, time=(0.1, 2.0), sheet="Foglio 1", range="A1:B2", anchor="§1"),
            Place(4, 9, page=700, box=(-0.0, 10.25, 99.99, 123.456)),
        ),
        page_labels=("i", "1"),
        pages=2,
        lines_are_source_lines=True,
        metadata={"a": "b"},
        modified_at=NOW.astimezone(timezone(timedelta(hours=2))),
        language="it",
        media_type="application/pdf",
        parser="pdf 1",
    )
    losses = (Loss("x", "pages 1-2", 2),)
    ledger = LedgerEntry(Counts(1, 2, 3, 4, 5), Counts(2), Counts(3), 1, 2, 3, losses, balanced=False)
    state = replace(
        state, status=DocumentStatus.PARTIAL, reason="perché", retryable=True, pages=2, language="it", ledger=ledger,
        stamp=Stamp("m", "r", 384, "s", "p", "e", "c", "t"), source_root="file:///",
    )  # fmt: skip
    catalog.add_generation(building("g1"))
    catalog.put_document("g1", state, one)
    assert catalog.document("g1", "d1") == one
    assert catalog.state("g1", "d1") == state
    assert catalog.states("g1") == [replace(state, ledger=None)]
    places = catalog.document("g1", "d1").places
    assert (places[-1], places[1:3]) == (one.places[-1], one.places[1:3])
    assert catalog.document("g1", "d9") is None
    assert catalog.state("g1", "d9") is None


def test_states_stand_by_name_then_id(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))
    items = [document(name) for name in ("d3", "d1", "d2")]
    catalog.put_documents("g1", [(replace(state, name="same"), one) for state, one in items] + [document("a0")])
    assert [state.document_id for state in catalog.states("g1")] == ["a0", "d1", "d2", "d3"]


def test_a_state_without_text_keeps_the_text_of_the_same_version(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))
    state, one = document("d1")
    ledger = LedgerEntry(Counts(1), Counts(1), Counts(1))
    catalog.put_document("g1", replace(state, ledger=ledger), one)
    catalog.put_document("g1", replace(state, acl=roles("hr")), None)
    assert catalog.document("g1", "d1") == replace(one, acl=roles("hr"))
    assert catalog.state("g1", "d1").ledger == ledger
    catalog.put_document("g1", replace(state, version="v2", status=DocumentStatus.FAILED, reason="damaged"), None)
    assert catalog.document("g1", "d1") is None


def test_the_text_of_one_document_under_another_is_refused(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))
    with pytest.raises(ValueError, match="d2"):
        catalog.put_document("g1", document("d1")[0], document("d2")[1])
    assert catalog.states("g1") == []


def test_texts_are_kept_once_and_go_with_their_last_generation(catalog: SqlCatalog) -> None:
    def count(table: str) -> int:
        with catalog.database.read() as connection:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    publish(catalog, "g1", None, d1=["public"], d2=["public"])
    publish(catalog, "g2", "g1", d1=["hr"], d2=None)
    assert (count("texts"), count("entries")) == (2, 3)
    assert catalog.forget_generations(0) == ["g1"]
    assert (count("texts"), count("entries")) == (1, 1)
    assert catalog.document("g2", "d1").text == "Ciao mondo."


def test_many_are_written_in_one_transaction(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))

    def broken() -> Iterator[tuple[object, object]]:
        yield document("d1")
        raise OSError("the source went away")

    with pytest.raises(OSError, match="went away"):
        catalog.put_documents("g1", broken())
    assert catalog.states("g1") == []


# --- generations -----------------------------------------------------------------------------------------------------


def test_a_generation_comes_back_as_it_was_given(catalog: SqlCatalog) -> None:
    one = replace(building("g1"), verdict="fine", chunks=3)
    catalog.add_generation(one)
    assert catalog.generation("g1") == one
    catalog.put_document("g1", *document("d1"))
    assert catalog.generation("g1") == replace(one, documents=1)


def test_documents_start_as_the_bases(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"], d2=["hr"])
    catalog.add_generation(building("g2", "g1"))
    assert catalog.states("g2") == catalog.states("g1")
    catalog.remove_documents("g2", ["d1"])
    assert [one.document_id for one in catalog.states("g2")] == ["d2"]
    assert len(catalog.states("g1")) == 2


def test_publish_is_compare_and_swap(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    for name in ("g2", "g3"):
        catalog.add_generation(building(name, "g1"))
        catalog.update_generation(name, GenerationState.CANDIDATE)
    catalog.publish("g2", expected="g1")
    with pytest.raises(GenerationConflict):
        catalog.publish("g3", expected="g1")
    with pytest.raises(GenerationConflict):
        catalog.publish("g3", expected=None)
    assert catalog.active().id == "g2"
    assert [one.state for one in catalog.generations()] == ["retired", "active", "candidate"]


def test_only_a_finished_generation_is_published(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))
    with pytest.raises(GenerationConflict, match="never finished"):
        catalog.publish("g1", expected=None)
    assert catalog.abandon_building() == ["g1"]
    with pytest.raises(GenerationConflict, match="never finished"):
        catalog.publish("g1", expected=None)
    with pytest.raises(NotFound):
        catalog.publish("g9", expected=None)
    assert catalog.active() is None


def test_a_rejected_candidate_may_be_published_by_a_person(catalog: SqlCatalog) -> None:
    catalog.add_generation(building("g1"))
    catalog.update_generation("g1", GenerationState.CANDIDATE, table_version=4, chunks=9)
    catalog.update_generation("g1", GenerationState.REJECTED, verdict="below its floor")
    catalog.publish("g1", expected=None)
    active = catalog.active()
    assert (active.table_version, active.chunks, active.verdict) == (4, 9, "below its floor")


def test_the_active_generation_never_changes(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    for change in (
        lambda: catalog.put_document("g1", *document("d2")),
        lambda: catalog.remove_documents("g1", ["d1"]),
        lambda: catalog.update_generation("g1", GenerationState.REJECTED),
    ):
        with pytest.raises(GenerationConflict):
            change()
    assert [one.document_id for one in catalog.states("g1")] == ["d1"]


@pytest.mark.parametrize("state", [GenerationState.ACTIVE, GenerationState.RETIRED])
def test_only_publishing_makes_active_or_retired(catalog: SqlCatalog, state: GenerationState) -> None:
    catalog.add_generation(building("g1"))
    with pytest.raises(ValueError):
        catalog.update_generation("g1", state)
    with pytest.raises(ValueError):
        catalog.add_generation(replace(building("g2"), state=state))


def test_forgetting_keeps_active_candidates_building_and_the_newest_retired(catalog: SqlCatalog) -> None:
    for at in range(1, 6):
        publish(catalog, f"g{at}", f"g{at - 1}" if at > 1 else None, d1=["public"])
    catalog.publish("g2", expected="g5")  # g2 was published last but for itself being active again
    for name, state in (("c1", GenerationState.CANDIDATE), ("r1", GenerationState.REJECTED), ("b1", None)):
        catalog.add_generation(building(name, "g2"))
        if state:
            catalog.update_generation(name, state)
    assert catalog.forget_generations(2) == ["g1", "g3", "r1"]
    assert [one.id for one in catalog.generations()] == ["g2", "g4", "g5", "c1", "b1"]
    assert catalog.forget_generations(2) == []


def test_another_tenants_generation_is_refused(catalog: SqlCatalog) -> None:
    with pytest.raises(ValueError, match="other"):
        catalog.add_generation(building("g1", tenant="other"))
    publish(catalog, "g1", None, d1=["public"])


def test_another_tenant_sees_nothing_and_changes_nothing(postgres_url: str) -> None:
    pool = Pool(postgres_url)
    catalog, other = postgres_catalog(pool, "default"), postgres_catalog(pool, "other")
    publish(catalog, "g1", None, d1=["public"])
    catalog.save_answer("a1", ADA, NOW, "{}", ["d1"])
    assert (other.active(), other.generations(), dict(other.acls()), other.sources()) == (None, [], {}, {})
    other.delete(["d1"])
    other.forget_answers(["a1"], Principal("other", "ada", frozenset({"staff"})))
    other.add_generation(building("g1", tenant="other"))
    assert catalog.may_read("d1", ANYONE)
    assert catalog.answer("a1", ADA) == "{}"
    assert [one.state for one in catalog.generations()] == [GenerationState.ACTIVE]
    with other.writer(), catalog.writer():
        pass
    pool.close()


def test_a_file_of_another_tenant_is_refused(file_catalog: SqlCatalog, tmp_path: Path) -> None:
    file_catalog.add_generation(building("g1"))
    stranger = SqliteCatalog(tmp_path / "tenant" / "catalog.sqlite", "other")
    with pytest.raises(CorruptIndex):
        stranger.generations()
    with pytest.raises(CorruptIndex):
        stranger.delete(["d1"])
    stranger.close()


# --- rights ----------------------------------------------------------------------------------------------------------


def test_case_27_a_deleted_document_is_unseen_in_every_generation_at_once(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"], d2=["public"])
    publish(catalog, "g2", "g1")
    catalog.delete(["d1"])
    assert catalog.revoked("g1", ANYONE) == catalog.revoked("g2", ANYONE) == ("d1",)
    assert not catalog.may_read("d1", ANYONE)
    assert [one.status for one in catalog.states("g2")] == [DocumentStatus.DELETED, DocumentStatus.READY]
    catalog.publish("g1", expected="g2")
    assert catalog.revoked("g1", ANYONE) == ("d1",)


def test_narrowing_holds_at_once_and_only_for_those_it_shuts_out(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["staff", "hr"])
    catalog.narrow("d1", roles("hr", "boss"))
    assert catalog.acl("d1") == roles("hr")
    assert catalog.revoked("g1", ADA) == ("d1",)
    assert catalog.revoked("g1", HR) == ()
    assert catalog.revoked("g1", ANYONE) == ()  # the index itself does not admit them


def test_a_candidate_of_another_source_that_is_published_late_gives_nothing_back(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public", "hr"], d2=["public"])
    publish(catalog, "g2", "g1", d1=["hr"], d2=["public"])
    catalog.publish("g1", expected="g2")
    assert catalog.acl("d1") == roles("hr")
    catalog.add_generation(building("late", "g1"))
    catalog.put_document("late", *document("d2", ["staff", "public"]))
    catalog.update_generation("late", GenerationState.CANDIDATE)
    publish(catalog, "g3", "g1", d2=["public"])
    catalog.publish("late", expected="g3")
    assert catalog.acl("d1") == roles("hr"), "it was narrowed before the candidate began, which never looked at it"
    assert catalog.acl("d2") == roles("staff", "public")
    publish(catalog, "g4", "late", d2=["public"])
    catalog.publish("late", expected="g4")
    assert catalog.acl("d1") == roles("hr")


def test_rights_widen_only_when_a_generation_is_published(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["hr"])
    catalog.add_generation(building("g2", "g1"))
    catalog.put_document("g2", *document("d1", ["hr", "staff"]))
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    assert catalog.acl("d1") == roles("hr")
    catalog.publish("g2", expected="g1")
    assert catalog.acl("d1") == roles("hr", "staff")


def test_a_narrowing_made_while_a_generation_is_built_wins(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["staff", "hr"], d2=["staff"])
    catalog.add_generation(building("g2", "g1"))
    catalog.narrow("d1", roles("hr"))
    catalog.delete(["d2"])
    catalog.put_documents("g2", [document("d1", ["staff", "hr", "public"]), document("d2", ["staff"])])
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    catalog.publish("g2", expected="g1")
    assert catalog.acl("d1") == roles("hr")
    assert not catalog.may_read("d2", ADA)
    assert catalog.revoked("g2", ADA) == ("d1", "d2")


def test_a_sync_that_gives_other_roles_shuts_out_at_once_and_admits_when_published(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["staff"])
    catalog.add_generation(building("g2", "g1"))
    catalog.narrow("d1", roles("hr"))
    assert catalog.acl("d1") == Acl()
    catalog.put_document("g2", *document("d1", ["hr"]))
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    catalog.publish("g2", expected="g1")
    assert catalog.acl("d1") == roles("hr")


def test_a_rollback_never_gives_back_rights(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["staff", "hr"])
    publish(catalog, "g2", "g1", d1=["hr"])
    catalog.publish("g1", expected="g2")
    assert catalog.acl("d1") == roles("hr")
    assert catalog.revoked("g1", ADA) == ("d1",)


def test_a_rollback_gives_back_a_document_that_could_not_be_read(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.add_generation(building("g2", "g1"))
    state, _ = document("d1", [], version="")
    catalog.put_document("g2", replace(state, status=DocumentStatus.FAILED, reason="not readable"), None)
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    catalog.publish("g2", expected="g1")
    assert not catalog.may_read("d1", ANYONE)
    catalog.publish("g1", expected="g2")
    assert catalog.may_read("d1", ANYONE)
    assert catalog.document("g1", "d1") is not None


def test_case_30_a_deleted_document_found_again_comes_back_with_its_generation(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.delete(["d1"])
    catalog.add_generation(building("g2", "g1"))
    catalog.restore(["d1", "never deleted"])
    catalog.put_document("g2", *document("d1"))
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    assert not catalog.may_read("d1", ANYONE)
    assert [one.status for one in catalog.states("g2")] == [DocumentStatus.READY]
    catalog.publish("g2", expected="g1")
    assert catalog.may_read("d1", ANYONE)
    assert catalog.revoked("g2", ANYONE) == ()


def test_a_restore_before_the_generation_begins_belongs_to_it(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.delete(["d1"])
    catalog.restore(["d1"])
    catalog.publish("g1", expected="g1")
    assert not catalog.may_read("d1", ANYONE)
    publish(catalog, "g2", "g1", d1=["public"])
    assert catalog.may_read("d1", ANYONE)


def test_a_delete_after_the_restore_wins(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.delete(["d1"])
    catalog.add_generation(building("g2", "g1"))
    catalog.restore(["d1"])
    catalog.delete(["d1"])
    catalog.restore(["d1"])
    catalog.update_generation("g2", GenerationState.CANDIDATE)
    catalog.publish("g2", expected="g1")
    assert not catalog.may_read("d1", ANYONE)


def test_a_new_document_is_readable_only_once_published(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None)
    catalog.add_generation(building("g2", "g1"))
    catalog.put_document("g2", *document("d1"))
    assert not catalog.may_read("d1", ANYONE)
    assert catalog.revoked("g2", ANYONE) == ()


def test_another_tenants_principal_may_read_nothing(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    assert not catalog.may_read("d1", Principal(tenant="other"))


def test_revoked_of_an_unfinished_generation_follows_its_documents(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.delete(["d1"])
    catalog.add_generation(building("g2"))
    assert catalog.revoked("g2", ANYONE) == ()
    catalog.put_document("g2", *document("d1"))
    assert catalog.revoked("g2", ANYONE) == ("d1",)
    with pytest.raises(NotFound):
        catalog.revoked("g9", ANYONE)


# --- answers ---------------------------------------------------------------------------------------------------------


def test_case_03_an_answer_is_byte_equal_and_written_once(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["staff"])
    body = '{"answer": "Sì [1]. 😀"}'
    catalog.save_answer("a1", ADA, NOW, body, ["d1", "d1"], trace='{"id": "t1"}')
    assert catalog.answer("a1", ADA) == body
    assert catalog.trace("a1", ADA) == '{"id": "t1"}'
    with pytest.raises(CorruptIndex):
        catalog.save_answer("a1", ADA, NOW, "{}", [])
    assert catalog.answer("a1", ADA) == body


@pytest.mark.parametrize(
    "asker",
    [
        Principal(user="bob", roles=frozenset({"staff"})),
        Principal(roles=frozenset({"staff"})),
        Principal(user="ada"),
        Principal(tenant="other", user="ada", roles=frozenset({"staff"})),
    ],
    ids=["another user", "nobody named", "without the role", "another tenant"],
)
def test_an_answer_is_served_only_to_its_asker(catalog: SqlCatalog, asker: Principal) -> None:
    publish(catalog, "g1", None, d1=["staff"])
    catalog.save_answer("a1", ADA, NOW, "{}", ["d1"], trace="{}")
    for read in (catalog.answer, catalog.trace):
        with pytest.raises(NotFound):
            read("a1", asker)


def test_an_unnamed_askers_answer_is_served_to_the_same_roles(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    catalog.save_answer("a1", HR, NOW, "{}", ["d1"])
    assert catalog.answer("a1", HR) == "{}"
    for other in (ANYONE, Principal(user="u", roles=frozenset({"hr"}))):
        with pytest.raises(NotFound):
            catalog.answer("a1", other)


@pytest.mark.parametrize("end", ["delete", "narrow", "sync"])
def test_an_answer_goes_with_the_right_to_any_document_it_cites(catalog: SqlCatalog, end: str) -> None:
    publish(catalog, "g1", None, d1=["staff"], d2=["staff"])
    catalog.save_answer("a1", ADA, NOW, "{}", ["d1", "d2"])
    if end == "delete":
        catalog.delete(["d2"])
    elif end == "narrow":
        catalog.narrow("d2", roles("hr"))
    else:
        publish(catalog, "g2", "g1", d2=None)
    with pytest.raises(NotFound):
        catalog.answer("a1", ADA)


def test_an_abstention_cites_nothing_and_stays(catalog: SqlCatalog) -> None:
    catalog.save_answer("a1", ADA, NOW, "{}", [])
    assert catalog.answer("a1", ADA) == "{}"
    with pytest.raises(NotFound):
        catalog.trace("a1", ADA)
    with pytest.raises(ValueError):
        catalog.save_answer("a2", Principal(tenant="other"), NOW, "{}", [])


# --- the write lock --------------------------------------------------------------------------------------------------


def test_case_100_one_writer_at_a_time_and_reads_never_blocked(catalog: SqlCatalog, opened: OpenCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    second = opened("default")
    with catalog.writer():
        with pytest.raises(HomeLocked), second.writer():
            pass
        assert second.active().id == "g1"
        second.delete(["d1"])  # what a person asks for does not wait for a sync
    with second.writer():
        pass
    second.close()


def test_the_same_thread_may_take_the_lock_again_another_may_not(catalog: SqlCatalog) -> None:
    refused = []

    def other() -> None:
        try:
            with catalog.writer():
                pass
        except HomeLocked as error:
            refused.append(error)

    with catalog.writer(), catalog.writer():
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1
    with catalog.writer():
        pass


def test_a_writer_may_wait(catalog: SqlCatalog, opened: OpenCatalog) -> None:
    second = opened("default")
    held = catalog.writer()
    held.__enter__()
    order: list[str] = []

    def other() -> None:
        with second.writer(wait_seconds=10):
            order.append("second")
        second.close()

    thread = Thread(target=other)
    thread.start()
    thread.join(0.2)
    order.append("first")
    held.__exit__(None, None, None)
    thread.join()
    assert order == ["first", "second"]


def test_four_threads_write_and_read_one_catalog(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"])
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for at in range(15):
                catalog.save_answer(f"{name}-{at}", ADA, NOW, "{}", [])
                assert catalog.answer(f"{name}-{at}", ADA) == "{}"
                assert catalog.revoked("g1", ANYONE) == ()
        except BaseException as error:  # noqa: BLE001  a thread's failure must reach the test
            failures.append(error)

    threads = [Thread(target=work, args=(f"t{at}",)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# --- many at once ----------------------------------------------------------------------------------------------------


def test_rights_of_many_are_read_and_narrowed_together(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, **dict.fromkeys(("d1", "d2", "d3"), ("public", "staff")))
    catalog.delete(["d3"])
    catalog.narrow_all({"d1": roles("staff"), "d2": roles("hr"), "unknown": roles("hr")})
    assert catalog.acls() == {"d1": roles("staff"), "d2": roles()}
    assert all(catalog.acl(one) == acl for one, acl in catalog.acls().items())


def test_a_tombstone_counts_no_chunk_and_its_table_is_still_counted(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None, d1=["public"], d2=["public"])
    catalog.delete(["d1"])
    assert {one.document_id: one.chunks for one in catalog.states("g1")} == {"d1": 0, "d2": 1}
    gone = catalog.state("g1", "d1")
    assert gone is not None
    assert (gone.status, gone.chunks) == (DocumentStatus.DELETED, 0)
    assert catalog.counted_chunks("g1") == 2


def test_the_active_generation_is_asked_without_counting(file_catalog: SqlCatalog) -> None:
    catalog = file_catalog
    publish(catalog, "g1", None, d1=["public"])
    active = catalog.active()
    assert active is not None
    assert replace(active, documents=1) == catalog.generation("g1") == catalog.generations()[0]
    statements: list[str] = []
    with catalog.database.read() as connection:
        connection.set_trace_callback(statements.append)
    catalog.active()
    assert statements
    assert not any("count(" in one for one in statements)


def test_a_retired_generation_takes_another_verdict_and_no_other_state(catalog: SqlCatalog) -> None:
    publish(catalog, "g1", None)
    publish(catalog, "g2", None)
    catalog.update_generation("g1", GenerationState.RETIRED, verdict="looked at again")
    assert (catalog.generation("g1").state, catalog.generation("g1").verdict) == ("retired", "looked at again")
    with pytest.raises(ValueError):
        catalog.update_generation("g1", GenerationState.ACTIVE)
    with pytest.raises(GenerationConflict):
        catalog.update_generation("g2", GenerationState.RETIRED)


def test_what_a_source_said_is_kept_with_the_stamp(catalog: SqlCatalog) -> None:
    stamp = Stamp("m", "1", 3, "s", "1/1", "plain/1", "boundaries", "t")
    catalog.add_generation(building("g1"))
    for name, said in (("d1", "abc"), ("d2", "")):
        state, text = document(name)
        catalog.put_document("g1", replace(state, stamp=stamp, said=said), text)
    assert [(one.said, one.stamp) for one in catalog.states("g1")] == [("abc", stamp), ("", stamp)]
