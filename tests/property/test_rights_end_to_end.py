"""Whatever the rights, whoever asks: search, ask, show and stored answers give nothing that the asker may not read."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte import contract
from fonte.corpus import OpenCorpus
from fonte.errors import NotFound
from fonte.protocols import Generator
from fonte.types import Abstained, Acl, Answered, Draft, Principal, Query, document_id
from quick_corpus import Shelf, Shelves, quick_corpus, quick_parts

TENANTS = ("alfa", "beta")
ROLES = ("staff", "hr", "legal")
USERS = (None, "ada", "bob")
SHARED = "The archive of the north tower keeps every yearly report on paper."
QUESTIONS = (
    "Where is the archive of the north tower?",
    "What does the pump of the tower cost a year?",
    "Who keeps the report of room 4?",
    "token0 token3 token5",
    "pump",
)
MODES = ("hybrid", "bm25", "dense")
COUNTED: Counter[str] = Counter()


def acls() -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from([*ROLES, "public", "user:ada"]), max_size=3)


@st.composite
def principals(draw: st.DrawFn) -> Principal:
    roles = draw(st.frozensets(st.sampled_from(ROLES), max_size=2))
    return Principal(draw(st.sampled_from(TENANTS)), draw(st.sampled_from(USERS)), roles)


@dataclass
class Live:
    """What should be readable, kept by hand beside the corpus."""

    shelves: Shelves = field(default_factory=Shelves)
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)

    def put(self, tenant: str, given: list[frozenset[str]]) -> None:
        """A shelf of the tenant: half of the documents with words of their own, half with the shared sentence alone."""
        texts, italian = {}, set()
        for at, roles in enumerate(given):
            secret = f"secret{tenant}{at}"
            if at % 4 == 1:
                italian.add(f"d{at}.txt")
            own = (
                f"The pump of the tower in room {at} costs {at + 2} euro a year, says {secret} token{at}."
                if at % 4 == 3
                else f"La pompa della torre nella stanza {at} costa {at + 2} euro ogni anno, dice {secret} token{at}."
            )
            name = f"d{at}.txt"
            texts[name] = (own if at % 2 else SHARED, roles)
            identity = document_id(tenant, f"memory://shelf/{name}")
            self.tenants[identity] = tenant
            if at % 2:
                self.secrets[identity] = secret
        self.shelves.by_name[tenant] = Shelf(texts, italian=frozenset(italian))

    def set(self, tenant: str) -> None:
        """The shelf's rights hold."""
        for name, (_, roles) in self.shelves.by_name[tenant].texts.items():
            self.roles[document_id(tenant, f"memory://shelf/{name}")] = roles

    def cut(self, tenant: str) -> None:
        """The shelf's rights narrow what held."""
        for name, (_, roles) in self.shelves.by_name[tenant].texts.items():
            self.roles[document_id(tenant, f"memory://shelf/{name}")] &= roles

    def readable(self, principal: Principal) -> set[str]:
        return {
            one
            for one, roles in self.roles.items()
            if self.tenants[one] == principal.tenant and roles & principal.held_roles
        }


def check_search(corpus: OpenCorpus, live: Live, principal: Principal, question: str) -> None:
    allowed = live.readable(principal)
    for mode in MODES:
        found = corpus.search(question, principal=principal, mode=mode, k=20)
        shown = [one.stored.chunk.document_id for one in found.results]
        copies = [document for one in found.results for document, _ in one.duplicates]
        assert allowed.issuperset((*shown, *copies))
        COUNTED["shown"] += len(shown)
        COUNTED["copies"] += len(copies)
        if mode != "bm25":
            assert {*shown, *copies} == allowed, "nothing readable is held back either"
        assert {one.hit.rerank is None for one in found.results} <= {mode == "bm25"}
        asker = corpus.asker(principal, k=20, mode=mode, max_distance=None, rerank=True)
        assert asker is not None
        for ranking in asker.prepare(Query(question, principal)).retrieved.rankings:
            assert allowed.issuperset(hit.document_id for hit in ranking.hits)
            COUNTED[ranking.stage] += len(ranking.hits)


def check_ask(corpus: OpenCorpus, live: Live, principal: Principal, question: str) -> Answered | Abstained:
    allowed = live.readable(principal)
    answer = corpus.ask(question, principal=principal)
    said = json.dumps(contract.answer(answer))
    for identity in live.roles:
        if identity not in allowed:
            assert identity not in said
            assert live.secrets.get(identity, "no secret") not in said
    COUNTED["cited" if isinstance(answer, Answered) else "abstained"] += 1
    assert corpus.answer(answer.answer_id, principal=principal) == json.dumps(
        contract.answer(answer), ensure_ascii=False
    )
    other = Principal("beta" if principal.tenant == "alfa" else "alfa", principal.user, principal.roles)
    with pytest.raises(NotFound):
        corpus.answer(answer.answer_id, principal=other)
    return answer


def check_show(corpus: OpenCorpus, live: Live, principal: Principal) -> None:
    allowed = live.readable(principal)
    for identity in live.roles:
        if identity in allowed:
            assert corpus.show(identity, principal=principal)[0].id == identity
        else:
            with pytest.raises(NotFound) as forbidden:
                corpus.show(identity, principal=principal)
            with pytest.raises(NotFound) as absent:
                corpus.show("absent", principal=principal)
            assert forbidden.value.message.replace(identity, "absent") == absent.value.message


def check_all(corpus: OpenCorpus, live: Live, askers: list[tuple[Principal, str]]) -> None:
    for principal, question in askers:
        check_search(corpus, live, principal, question)
        check_ask(corpus, live, principal, question)
        check_show(corpus, live, principal)


@pytest.fixture(scope="module")
def counted() -> Iterator[None]:
    """Nothing below would fail over empty rankings; so they are counted."""
    COUNTED.clear()
    yield
    print(dict(COUNTED))
    for what in ("shown", "copies", "bm25", "bm25_across", "dense", "fusion", "rerank", "cited", "abstained"):
        assert COUNTED[what] > 20, what


@settings(max_examples=6)
@given(data=st.data())
def test_nothing_leaves_the_rights(counted: None, data: st.DataObject) -> None:
    nothing_leaves_the_rights(data)


@pytest.mark.soak
@settings(max_examples=200)
@given(data=st.data())
def test_nothing_leaves_the_rights_at_length(counted: None, data: st.DataObject) -> None:
    nothing_leaves_the_rights(data)


def nothing_leaves_the_rights(data: st.DataObject) -> None:
    """Rights are drawn for every document, then changed without and with a publication, and documents are deleted."""
    live = Live()
    number = data.draw(st.integers(1, 6))
    rights = st.lists(acls(), min_size=number, max_size=number)
    askers = st.lists(st.tuples(principals(), st.sampled_from(QUESTIONS)), min_size=3, max_size=5)
    with tempfile.TemporaryDirectory() as place, quick_corpus(Path(place) / "home", live.shelves) as corpus:
        for tenant in TENANTS:
            live.put(tenant, data.draw(rights))
            live.set(tenant)
            corpus.sync(tenant, tenant=tenant)
        check_all(corpus, live, data.draw(askers))

        changed = data.draw(st.sampled_from(TENANTS))
        live.put(changed, data.draw(rights))
        live.cut(changed)
        corpus.sync(changed, tenant=changed, publish=False)
        check_all(corpus, live, data.draw(askers))  # narrowing holds at once, widening does not

        gone = data.draw(st.sampled_from(sorted(one for one in live.roles if live.tenants[one] == changed)))
        corpus.delete(gone, tenant=changed)
        live.roles[gone] = frozenset()
        check_all(corpus, live, data.draw(askers))

        corpus.sync(changed, tenant=changed)
        live.set(changed)
        check_all(corpus, live, data.draw(askers))


def one_tenant(place: Path, **documents: tuple[str, set[str]]) -> tuple[OpenCorpus, Shelves]:
    shelves = Shelves({"docs": Shelf({name: (text, frozenset(roles)) for name, (text, roles) in documents.items()})})
    corpus = quick_corpus(place / "home", shelves)
    corpus.sync("docs")
    return corpus, shelves


ASKER = Principal(roles=frozenset({"staff"}))
OTHER = Principal(roles=frozenset({"hr"}))


def names(corpus: OpenCorpus, principal: Principal, question: str = "the pump costs") -> set[str]:
    return {one.stored.document_name for one in corpus.search(question, principal=principal).results}


def test_missing_rights_mean_nobody(tmp_path: Path) -> None:
    corpus, _ = one_tenant(tmp_path, a=("The pump costs 7 euro.", set()))
    with corpus:
        for roles in ({"staff"}, {"admin"}, set(), {"public"}, {"*"}, {""}):
            who = Principal(user="ada", roles=frozenset(roles))
            assert names(corpus, who) == set()
            assert isinstance(corpus.ask("What does the pump cost?", principal=who), Abstained)
        assert [state.name for state in corpus.documents()] == ["a"], "an administrator sees that it is there"


def test_an_unrelated_sync_gives_no_narrowed_document_back(tmp_path: Path) -> None:
    """A candidate that narrowed rights and was never published keeps them narrow, whatever is published after it."""
    corpus, shelves = one_tenant(tmp_path, a=("The pump costs 7 euro.", {"staff", "hr"}))
    with corpus:
        shelves.by_name["docs"] = Shelf({"a": ("The pump costs 7 euro.", frozenset({"hr"}))})
        corpus.sync("docs", publish=False)
        shelves.by_name["more"] = Shelf({"b": ("The pump costs 8 euro.", frozenset({"staff"}))}, "memory://more/")
        corpus.sync("more")
        assert (names(corpus, ASKER), names(corpus, OTHER)) == ({"b"}, {"a"})


def test_a_new_recipe_gives_no_narrowed_document_back(tmp_path: Path) -> None:
    corpus, shelves = one_tenant(tmp_path, a=("The pump costs 7 euro.", {"staff", "hr"}))
    corpus.close()
    shelves.by_name["docs"] = Shelf({"a": ("The pump costs 7 euro.", frozenset({"hr"}))})
    shelves.by_name["more"] = Shelf({"b": ("The pump costs 8 euro.", frozenset({"staff"}))}, "memory://more/")
    with quick_corpus(tmp_path / "home", shelves) as again:
        again.sync("docs", publish=False)
    (tmp_path / "home" / "fonte.toml").write_text('[chunking]\nstrategy = "blind"\nsize = 512\n')
    with quick_corpus(tmp_path / "home", shelves) as again:
        report = again.sync("more")
        assert report.chunks_added == 2, "the other source's document is cut again"
        assert (names(again, ASKER), names(again, OTHER)) == ({"b"}, {"a"})


def test_rights_taken_back_before_a_publication_are_given_again_by_a_sync(tmp_path: Path) -> None:
    corpus, shelves = one_tenant(tmp_path, a=("The pump costs 7 euro.", {"staff"}))
    before = shelves.by_name["docs"]
    with corpus:
        shelves.by_name["docs"] = Shelf({"a": ("The pump costs 7 euro.", frozenset({"hr"}))})
        corpus.sync("docs", publish=False)
        assert names(corpus, ASKER) == set()
        shelves.by_name["docs"] = before
        corpus.sync("docs")
        assert names(corpus, ASKER) == {"a"}, "what the source says holds after its sync"


@pytest.mark.parametrize("how", ["delete", "narrow"])
def test_what_is_taken_away_while_the_generator_writes_is_not_shown(tmp_path: Path, how: str) -> None:
    text = "The pump of hall 4 costs 7 euro."
    corpus, _ = one_tenant(tmp_path, a=(text, {"staff"}))
    catalog = corpus._store_of("default").catalog
    identity = document_id("default", "memory://shelf/a")

    class Slow:
        name = "slow"

        def stream(self, query: Query, passages: object, *, language: str) -> Iterator[str | Draft]:
            if how == "delete":
                catalog.delete([identity])
            else:
                catalog.narrow(identity, Acl(frozenset({"hr"})))
            yield f"{text} [1]"
            yield Draft(f"{text} [1]")

    with corpus:
        asker = corpus.asker(ASKER, k=None, mode=None, max_distance=None)
        slow: Generator = Slow()  # type: ignore[assignment]  # its other members are not asked
        shown = list(asker.stream(Query("What does the pump cost?", ASKER), slow))
        assert len(shown) == 1
        assert isinstance(shown[0], Abstained)
        assert "7 euro" not in json.dumps(contract.answer(shown[0]))


def test_a_stored_answer_is_gone_with_any_document_that_it_names(tmp_path: Path) -> None:
    """Copies that are only listed beside a citation count too."""
    text = "The pump of hall 4 costs 7 euro."
    corpus, shelves = one_tenant(tmp_path, a=(text, {"staff"}), b=(text, {"staff"}))
    with corpus:
        answer = corpus.ask("What does the pump of hall 4 cost?", principal=ASKER)
        assert isinstance(answer, Answered)
        (citation,) = answer.citations
        ((copy, uri),) = citation.duplicates
        assert {citation.source_uri, uri} == {"memory://shelf/a", "memory://shelf/b"}
        assert corpus.answer(answer.answer_id, principal=ASKER)
        shelves.by_name["docs"] = Shelf(
            {name: (text, frozenset({"hr"} if uri.endswith(name) else {"staff"})) for name in "ab"}
        )
        corpus.sync("docs")
        with pytest.raises(NotFound):
            corpus.answer(answer.answer_id, principal=ASKER)
        again = corpus.ask("What does the pump of hall 4 cost?", principal=ASKER)
        assert isinstance(again, Answered)
        assert again.citations[0].duplicates == ()
        assert copy not in json.dumps(contract.answer(again))


def test_the_parts_are_real(tmp_path: Path) -> None:
    """The stand-ins replace the model, the parser processes and the files, nothing that looks at rights."""
    kinds = {
        type(part).__module__.split(".")[1] for part in (quick_parts(tmp_path).stores, quick_parts(tmp_path).terms)
    }
    assert kinds == {"stores", "text"}
