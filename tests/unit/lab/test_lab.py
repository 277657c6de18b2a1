from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fonte.corpus import OpenCorpus
from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_check import check_golden
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.runs import read_run
from fonte.lab.measuring import CONFIGURATIONS, DEFAULT, Bench
from fonte.lab.mistakes import BLUFF, EXPLAINED
from fonte.lab.place import TENANTS, Place, lay_out
from fonte.lab.run import Lab, run, write_runs
from fonte.lab.told import lab_json
from fonte.lab.trespass import OTHER_TENANT, WITHOUT_ROLE, Trespass, cross_examine
from fonte.types import Document, Principal
from lab_corpus import CarelessStores, MixedUpStores, make

pytestmark = pytest.mark.timeout(900)
SOME = 6
"""Every sixth question is asked, of each kind some."""


def few(golden: GoldenSet) -> GoldenSet:
    return replace(golden, questions=golden.questions[::SOME])


def silent(*_: object) -> None:
    return None


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return lay_out(tmp_path_factory.mktemp("lab") / "made")


@pytest.fixture(scope="module")
def golden(place: Place) -> GoldenSet:
    return load_golden(place.golden)


@pytest.fixture(scope="module")
def lab(place: Place, golden: GoldenSet) -> Iterator[Lab]:
    wanted = [one for one in CONFIGURATIONS if one.name in ("hybrid", DEFAULT, "blind 512")]
    with run(make, place, few(golden), configurations=wanted, tell=silent, progress=silent) as found:
        yield found


def documents(place: Place) -> Iterator[Document]:
    for tenant in TENANTS:
        with OpenCorpus(make(place.home, {})) as corpus:
            for state in corpus.documents(tenant=tenant):
                user = next((role[5:] for role in state.acl.roles if role.startswith("user:")), None)
                reader = Principal(tenant, user, frozenset(state.acl.roles - {f"user:{user}"}))
                yield replace(corpus.document(state.document_id, principal=reader), acl=state.acl)


# --- the corpus and its questions ------------------------------------------------------------------------------------


def test_fifty_documents_of_two_tenants_with_versions_dates_and_rights(place: Place, lab: Lab) -> None:
    made = list(documents(place))
    assert len(made) == lab.documents == 50
    assert {one.tenant for one in made} == set(TENANTS)
    assert all({"version", "valid_from"} <= dict(one.metadata).keys() for one in made)
    assert {one.language for one in made} == {"it", "en"}
    assert {role for one in made for role in one.acl.roles} == {
        *("public", "staff", "board", "hr"),
        *("user:livia", "user:tom"),
    }
    assert len({one.text for one in made}) == 50


def test_no_two_documents_are_one_template(place: Place, lab: Lab) -> None:
    lines = Counter(
        line for one in documents(place) for line in set(one.text.split("\n")) if len(line) > 40 and "|" not in line
    )
    # Two versions of one policy may share a line; no line stands in three.
    assert max(lines.values()) <= 2


def test_sixty_questions_of_four_kinds_pass_the_check(place: Place, golden: GoldenSet, lab: Lab) -> None:
    assert Counter(one.segment for one in golden.questions) == {
        "lexical": 15,
        "semantic": 15,
        "multi-hop": 15,
        "unanswerable": 15,
    }
    assert all(
        len(one.needles) == (2 if one.segment == "multi-hop" else 1) for one in golden.questions if one.answerable
    )
    assert all(one.tenant in TENANTS for one in golden.questions)
    assert check_golden(golden, documents(place)) == []


# --- the folder ------------------------------------------------------------------------------------------------------


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="something else"):
        lay_out(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_laboratory_begins_anew_and_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    place = lay_out(tmp_path / "lab")
    (place.folder / "notes.txt").write_text("mine", encoding="utf-8")
    (place.documents("serena") / "public" / "extra.md").write_text("old", encoding="utf-8")
    place = lay_out(tmp_path / "lab")
    assert (place.folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert not (place.documents("serena") / "public" / "extra.md").exists()


@pytest.mark.parametrize(
    ("name", "asker", "may"),
    [
        ("serena/public/animali.md", Principal("serena"), True),
        ("serena/public/animali.md", Principal("meridian", "livia", {"staff", "board", "hr"}), False),
        ("serena/staff/onboarding.md", Principal("serena"), False),
        ("serena/staff/onboarding.md", Principal("serena", None, {"staff"}), True),
        ("serena/hr/retribuzioni-2026.md", Principal("serena", None, {"staff", "board"}), False),
        ("serena/personal/livia/colloquio-2026.md", Principal("serena", "livia"), True),
        ("serena/personal/livia/colloquio-2026.md", Principal("serena", "tom", {"staff", "board", "hr"}), False),
        ("serena/../../golden.yaml", Principal("serena"), False),
    ],
)
def test_rights_are_told_by_the_folder_alone(place: Place, name: str, asker: Principal, may: bool) -> None:
    path = (place.folder.resolve() / "documents" / name).resolve()
    assert place.admits(path.as_uri(), asker) is may


def test_the_index_and_the_folders_agree_about_every_right(place: Place, lab: Lab) -> None:
    askers = [
        Principal(tenant, user, roles)
        for tenant in TENANTS
        for user in (None, "livia", "tom")
        for roles in ({"staff"}, {"board"}, {"hr"}, set())
    ]
    with OpenCorpus(make(place.home, {})) as corpus:
        states = [(tenant, state) for tenant in TENANTS for state in corpus.documents(tenant=tenant)]
    assert len(states) == 50
    for tenant, state in states:
        for asker in askers:
            may = asker.tenant == tenant and state.acl.admits(asker)
            assert place.admits(state.uri, asker) is may, (state.name, asker)


# --- the run ---------------------------------------------------------------------------------------------------------


def test_every_column_is_filled(lab: Lab) -> None:
    told = lab_json(lab)
    json.dumps(told)
    rows = told["configurations"]
    assert [row["name"] for row in rows] == ["hybrid", DEFAULT, "blind 512"]
    for row in rows:
        measures = row["measures"]
        for name in ("recall@5", "mrr@10", "false_retrieval_rate", "abstention_correctness", "citation_precision"):
            assert measures[name]["low"] <= measures[name]["value"] <= measures[name]["high"], name
        assert measures["faithfulness"]["value"] == 1.0, "sentences are cut from their passages"
        assert row["unauthorized_hits"] == 0
        assert row["timings_ms"]["p95"] > 0
        assert row["size_bytes"] > 0
        assert row["build_seconds"] > 0
        assert row["cost"] == 0
    assert told["answer_ms"]["p95"] > 0


def test_configurations_differ_in_one_variable_and_are_judged_in_pairs(lab: Lab) -> None:
    pairs = {(pair.a, pair.b): pair for one in lab.verdicts for pair in one.verdicts}
    assert set(pairs) == {("hybrid", DEFAULT), ("blind 512", DEFAULT)}
    assert {key.split(".")[0] for key in pairs["blind 512", DEFAULT].differences} == {"chunking"}
    assert set(pairs["hybrid", DEFAULT].differences) == {"retrieval.rerank"}
    assert all({"recall@5", "mrr@10"} <= pair.measures.keys() for pair in pairs.values())


def test_another_chunking_has_an_index_of_its_own_and_the_default_stays(place: Place, lab: Lab) -> None:
    chunks = {row.configuration.name: row.found.facts.chunks for row in lab.rows}
    assert chunks["hybrid"] == chunks[DEFAULT] != chunks["blind 512"]
    with OpenCorpus(make(place.home, {})) as corpus:
        assert corpus.search("Griselda", principal=Principal("serena"), mode="bm25").results


def test_mistakes_are_those_that_were_measured_each_with_its_layer(lab: Lab) -> None:
    explained = [one for one in lab.mistakes if one.kind != BLUFF]
    counted = sum(number for kinds in lab.found.values() for kind, number in kinds.items() if kind != BLUFF)
    assert 0 < len(explained) <= EXPLAINED
    assert len(explained) <= counted
    assert len({one.question.id for one in explained}) == len(explained)
    for one in explained:
        assert one.why is not None
        assert one.needle in one.question.needles
        assert one.why.question == one.question.wordings[0]
        assert [layer.layer for layer in one.why.layers][:2] == ["parse", "canonical"]


def test_runs_are_files_that_other_tools_read(place: Place, lab: Lab) -> None:
    write_runs(lab, place.folder / "runs")
    assert sorted(one.name for one in (place.folder / "runs").iterdir()) == [
        "blind-512.run",
        "hybrid-rerank.run",
        "hybrid.run",
        "qrels.txt",
    ]
    written = read_run(place.folder / "runs" / "hybrid-rerank.run")
    assert written.rankings.keys() <= {one.id for one in lab.golden.questions}


def test_what_is_gone_is_gone_and_no_order_is_followed(lab: Lab) -> None:
    """Whether the answers were right before is for the real encoder to show."""
    assert [one.name for one in lab.simulations] == ["update", "delete", "injection"]
    checks = {check.what: check for one in lab.simulations for check in one.checks}
    wrong = [what for what, check in checks.items() if not check.held]
    assert [what for what in wrong if not what.startswith(("before", "deleted: the answer kept", "what it says"))] == []
    assert sum("any more" in what for what in checks) == 10


# --- nobody reads what is not theirs ---------------------------------------------------------------------------------


@pytest.fixture
def asked(place: Place, golden: GoldenSet, lab: Lab) -> Callable[..., dict[str, Trespass]]:
    """Those who may not know ask an index that is there, through stores of the test's choice."""

    def ask(stores: Callable[[object], object]) -> dict[str, Trespass]:
        parts = make(place.home, {})
        with OpenCorpus(replace(parts, stores=stores(parts.stores))) as corpus:
            return {one.kind: one for one in cross_examine(corpus, place, few(golden), silent)}

    return ask


def test_nothing_comes_out_and_absent_is_what_is_told(lab: Lab) -> None:
    told = {one.kind: one for one in lab.trespasses}
    assert set(told) == {OTHER_TENANT, WITHOUT_ROLE}
    assert all(one.questions > 0 and one.results > 0 for one in told.values())
    assert all((one.unauthorized, one.leaks, one.betrayed) == (0, 0, 0) for one in told.values())
    assert lab.unauthorized == 0


def test_without_the_filter_the_count_rises(asked: Callable[..., dict[str, Trespass]]) -> None:
    told = asked(CarelessStores)
    assert told[WITHOUT_ROLE].unauthorized > 0
    assert told[WITHOUT_ROLE].leaks > 0
    assert told[WITHOUT_ROLE].betrayed > 0
    assert not told[WITHOUT_ROLE].held


def test_with_the_tenants_mixed_up_the_count_rises(asked: Callable[..., dict[str, Trespass]]) -> None:
    told = asked(MixedUpStores)
    assert told[OTHER_TENANT].unauthorized > 0
    assert told[OTHER_TENANT].leaks > 0


def test_without_the_filter_the_table_counts_unauthorised_results_and_the_command_fails(
    place: Place, golden: GoldenSet, lab: Lab
) -> None:
    def careless(home: Path, wanted: object) -> object:
        parts = make(home, wanted)  # type: ignore[arg-type]
        return replace(parts, stores=CarelessStores(parts.stores))

    half = replace(golden, questions=golden.questions[40:60:3])
    with Bench(careless, lay_out(place.folder.parent / "careless"), silent, silent) as bench:  # type: ignore[arg-type]
        row = bench.measure(CONFIGURATIONS[0], half)
    assert row.found.scores.unauthorized_hits > 0
    assert not replace(lab, rows=[row]).held
