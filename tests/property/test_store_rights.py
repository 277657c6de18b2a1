"""Rights under every interleaving, and values that try to become SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from contract.catalogs import postgres_catalog
from contract.store_making import RECIPE, build, building, document, question, random_units, sealed, stored, unit
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from postgres_server import Server

from fonte.errors import GenerationConflict
from fonte.stores.catalog import SqlCatalog
from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_reader import LanceReader
from fonte.stores.postgres.pool import Pool
from fonte.stores.sql_filter import quoted
from fonte.stores.sqlite_stores import SqliteCatalog
from fonte.types import Acl, GenerationState, Principal

ROLES = ["public", "staff", "hr"]
DOCUMENTS = ["d1", "d2", "d3"]
some_roles = st.frozensets(st.sampled_from(ROLES))
PRINCIPALS = [Principal(), Principal(roles=frozenset({"staff"})), Principal(roles=frozenset({"hr"}))]


@dataclass
class ModelGeneration:
    name: str
    began: int
    documents: dict[str, frozenset[str]]
    base: ModelGeneration | None
    carried: set[str]
    """Documents that are as the base has them."""
    restored: set[str] = field(default_factory=set)
    sealed: bool = False


class RightsMachine(RuleBasedStateMachine):
    """The catalog against the rules written down once more, in their plainest form."""

    def __init__(self) -> None:
        super().__init__()
        self.catalog = self.made()
        self.now = 0
        self.generations: list[ModelGeneration] = []
        self.active: ModelGeneration | None = None
        self.live: dict[str, frozenset[str]] = {}
        self.deleted: dict[str, int] = {}
        self.cuts: list[tuple[int, str, frozenset[str]]] = []

    def made(self) -> SqlCatalog:
        """An empty catalog."""
        self.folder = tempfile.TemporaryDirectory()
        return SqliteCatalog(Path(self.folder.name) / "catalog.sqlite", "default")

    def tick(self) -> int:
        self.now += 1
        return self.now

    @initialize()
    def first(self) -> None:
        self.begin(from_active=True)
        for name in DOCUMENTS:
            self.put(name, frozenset({"public", "staff"}))
        self.seal()
        self.publish(0)

    def building(self) -> ModelGeneration | None:
        return next((one for one in self.generations if not one.sealed), None)

    @precondition(lambda self: self.building() is None)
    @rule(from_active=st.booleans())
    def begin(self, from_active: bool) -> None:
        base = self.active if from_active else None
        name = f"g{len(self.generations)}"
        documents = dict(base.documents) if base else {}
        self.generations.append(ModelGeneration(name, self.tick(), documents, base=base, carried=set(documents)))
        self.catalog.add_generation(building(name, base.name if base else None))

    @precondition(lambda self: self.building() is not None)
    @rule(name=st.sampled_from(DOCUMENTS), roles=some_roles)
    def put(self, name: str, roles: frozenset[str]) -> None:
        self.building().documents[name] = roles
        self.building().carried.discard(name)
        self.catalog.put_document(self.building().name, *document(name, roles))

    @precondition(lambda self: self.building() is not None)
    @rule(name=st.sampled_from(DOCUMENTS))
    def take_out(self, name: str) -> None:
        self.building().documents.pop(name, None)
        self.catalog.remove_documents(self.building().name, [name])

    @precondition(lambda self: self.building() is not None)
    @rule(name=st.sampled_from(DOCUMENTS))
    def restore(self, name: str) -> None:
        self.tick()
        if name in self.deleted:
            self.building().restored.add(name)
        self.catalog.restore([name])

    @precondition(lambda self: self.building() is not None)
    @rule()
    def seal(self) -> None:
        self.catalog.update_generation(self.building().name, GenerationState.CANDIDATE, table_version=1)
        self.building().sealed = True

    @rule(name=st.sampled_from(DOCUMENTS), roles=some_roles)
    def narrow(self, name: str, roles: frozenset[str]) -> None:
        self.cuts.append((self.tick(), name, roles))
        if name in self.live:
            self.live[name] &= roles
        self.catalog.narrow(name, Acl(roles))

    @rule(name=st.sampled_from(DOCUMENTS))
    def delete(self, name: str) -> None:
        self.deleted[name] = self.tick()
        self.live.setdefault(name, frozenset())
        for one in self.generations:
            one.restored.discard(name)
        self.catalog.delete([name])

    @rule(back=st.integers(0, 4))
    def publish(self, back: int) -> None:
        """Publish any generation: a candidate, or an older one (a rollback)."""
        if back >= len(self.generations):
            return
        one = self.generations[-1 - back]
        expected = self.active.name if self.active else None
        if not one.sealed:
            with pytest.raises(GenerationConflict):
                self.catalog.publish(one.name, expected=expected)
            return
        moment = self.tick()
        for name, roles in one.documents.items():
            kept = roles
            for at, cut, to in self.cuts:
                kept = kept & to if cut == name and at > one.began else kept
            before = self.live.get(name)
            if before is not None and name in one.carried:
                kept &= before  # unchanged since the generation before it: no narrowing is undone, however late
            self.live[name] = kept
            if before is not None and not before <= kept:
                self.cuts.append((moment, name, kept))
            if name in one.restored and self.deleted.get(name, moment) <= one.began:
                self.deleted.pop(name, None)
        self.active = one
        self.catalog.publish(one.name, expected=expected)

    def effective(self, name: str) -> frozenset[str]:
        return frozenset() if name in self.deleted else self.live.get(name, frozenset())

    @invariant()
    def live_rights_are_the_models(self) -> None:
        for name in DOCUMENTS:
            assert self.catalog.acl(name).roles == self.effective(name)

    @invariant()
    def revoked_is_exactly_what_the_index_would_show_and_rights_do_not(self) -> None:
        for one in self.generations:
            for principal in PRINCIPALS:
                hidden = {
                    name
                    for name, indexed in one.documents.items()
                    if Acl(indexed).admits(principal)
                    and (name in self.live or name in self.deleted)
                    and not Acl(self.effective(name)).admits(principal)
                }
                assert set(self.catalog.revoked(one.name, principal)) == hidden

    @invariant()
    def exactly_one_generation_is_active(self) -> None:
        active = self.catalog.active()
        assert (active.id if active else None) == (self.active.name if self.active else None)

    def teardown(self) -> None:
        self.catalog.close()
        self.cleared()

    def cleared(self) -> None:
        """Takes it away."""
        self.folder.cleanup()


RightsMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestRights = RightsMachine.TestCase


def test_rights_in_postgresql(postgres_server: Server, postgres_url: str) -> None:
    pool = Pool(postgres_url)

    class InDatabase(RightsMachine):
        def made(self) -> SqlCatalog:
            return postgres_catalog(pool, "default")

        def cleared(self) -> None:
            postgres_server.empty(pool.address.database)

    run_state_machine_as_test(InDatabase, settings=settings(max_examples=8, stateful_step_count=20, deadline=None))
    pool.close()


# --- text never becomes SQL ------------------------------------------------------------------------------------------

HOSTILE = [
    "'", "''", "\\'", "'; DROP TABLE chunks; --", "') OR ('1'='1", '"', "\\", "%", "_", "a\nb", "\t", "é", "e\u0301",
    "😀", "\u202e", "NULL", "TRUE", "$1", "?", "{}", "[]", "/* */", "--", "`", "U&'\\0041'", "E'\\n'", "\u2019",
    "\ufeff",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanceReader]:
    store = LanceIndex(tmp_path_factory.mktemp("hostile") / "lance")
    rows = [
        (stored(f"c{at:02}", f"d{at}", [f"role {one}"], document_name=one, media_type=one, language=one), ["x"])
        for at, one in enumerate(HOSTILE)
    ]
    yield store.open(build(store, rows))


def found(reader: LanceReader, roles: set[str], **filters: tuple[str, ...]) -> set[str]:
    asked = question(roles, **filters)
    words = {hit.chunk_id for hit in reader.bm25(["x"], asked, revoked=(), k=99)}
    near = {hit.chunk_id for hit in reader.dense(unit(1.0), asked, revoked=(), k=99)}
    assert words == near
    return words


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_a_hostile_value_finds_itself_and_nothing_else(hostile: LanceReader, at: int) -> None:
    value, everything = HOSTILE[at], {f"role {one}" for one in HOSTILE}
    assert found(hostile, {f"role {value}"}) == {f"c{at:02}"}
    assert found(hostile, everything, documents=(value,)) == {f"c{at:02}"}
    assert found(hostile, everything, media_types=(value,), languages=(value,)) == {f"c{at:02}"}


@given(value=st.text(max_size=12), where=st.sampled_from(["documents", "media_types", "languages", "role", "revoked"]))
@settings(max_examples=60)
def test_any_text_filters_by_equality_only(hostile: LanceReader, value: str, where: str) -> None:
    everything = {f"role {one}" for one in HOSTILE}
    same = {f"c{at:02}" for at, one in enumerate(HOSTILE) if one == value}
    if where == "role":
        assert found(hostile, {f"role {value}"}) == same
    elif where == "revoked":
        hits = hostile.bm25(["x"], question(everything), revoked=[value], k=99)
        assert len(hits) == len(HOSTILE)
    else:
        assert found(hostile, everything, **{where: (value,)}) == same


@given(value=st.text(alphabet=st.sampled_from("'\\\";-\0\ud800ab%"), max_size=10))
def test_a_literal_ends_only_at_its_end(value: str) -> None:
    literal = quoted(value)
    if "\0" in value or "\ud800" in value:
        assert literal is None
    else:
        assert literal[0] == literal[-1] == "'"
        assert literal[1:-1].replace("''", "") == value.replace("'", "")
        assert literal[1:-1].count("'") == 2 * value.count("'")


@given(
    word=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
        lambda one: one != "y" and not any(letter.isspace() for letter in one)
    )
)
@settings(max_examples=12)
def test_any_term_is_found_by_itself(word: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = LanceIndex(Path(folder) / "lance")
        writer = store.begin(RECIPE, None)
        writer.add([stored("c1", "d1"), stored("c2", "d2")], [[word, "x"], ["y"]], random_units(2, 1))
        reader = store.open(sealed(writer))
        assert [hit.chunk_id for hit in reader.bm25([word], question(), revoked=(), k=5)] == ["c1"]
        assert reader.document_frequencies([word])[word] == 1
