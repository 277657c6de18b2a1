"""A reranker that reads, as a stage: its order alone counts, and where it fails the fused one is kept and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from unit.models.tiny_pairs import overlap, write_pair_folder

from fonte import contract
from fonte.calibration import conditions_of
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.doctor import examine
from fonte.errors import BadModelOutput, ConfigError, ModelError, ModelNotInstalled, ModelUnavailable
from fonte.evidence import features
from fonte.protocols import Reranker
from fonte.reranking import REST_SECONDS, Deferred, Resting
from fonte.retrieve import FUSION, RERANK, Retrieved
from fonte.types import PUBLIC_ROLE, Filters, Principal, Query
from quick_corpus import Shelf, Shelves, quick_corpus, quick_parts

WHO = Principal()
QUESTION = "pump tower room"
TEXTS = [
    "pump pump pump pump.",
    "tower of the hall and the pump.",
    "the report of a year.",
    "in the room of the tower is a pump.",
    "rooms with valves.",
]


class Reading:
    """Scores by words held, times a factor; keeps what it was shown."""

    def __init__(self, factor: float = 1.0, error: ModelError | None = None) -> None:
        self.id = "reading:1"
        self.factor = factor
        self.error = error
        self.seen: list[str] = []

    def score(self, question: str, passages: list[str]) -> list[float]:
        self.seen += passages
        if self.error is not None:
            raise self.error
        return [self.factor * overlap(question, passage) for passage in passages]


def shelves() -> Shelves:
    texts = {f"d{at}.txt": (text, frozenset({PUBLIC_ROLE})) for at, text in enumerate(TEXTS)}
    texts["secret.txt"] = ("the pump of the tower room.", frozenset({"board"}))
    return Shelves({"docs": Shelf(texts)})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading") / "home"
    with quick_corpus(folder, shelves()) as made:
        made.sync("docs")
    return folder


def corpus(home: Path, reranker: Reranker | None, *, required: bool = False, depth: int = 25) -> OpenCorpus:
    parts = quick_parts(home, shelves())
    retrieval = replace(parts.answers.retrieval, rerank_required=required, rerank_depth=depth)
    return OpenCorpus(replace(parts, reranker=reranker, answers=replace(parts.answers, retrieval=retrieval)))


def names(found: object) -> list[str]:
    return [one.stored.document_name for one in found.results]  # type: ignore[attr-defined]  # search results


def test_the_order_is_the_rerankers_and_its_scores_stand_alone(home: Path) -> None:
    reading = Reading()
    with corpus(home, reading) as made:
        found = made.search(QUESTION, principal=WHO)
    scores = [one.hit.rerank for one in found.results]
    assert names(found)[0] == "d3.txt"
    assert scores == sorted(scores, reverse=True)
    for one in found.results:
        assert one.hit.score == one.hit.rerank == pytest.approx(overlap(QUESTION, one.stored.chunk.text), abs=1e-6)
        assert one.hit.rrf is not None
    assert found.reranker == "reading:1"
    assert found.notes == ()
    told = contract.search_results(found)
    assert (told["reranker"], told["notes"]) == ("reading:1", [])


def test_case_50_no_score_is_a_threshold_however_low_and_whatever_its_scale(home: Path) -> None:
    for factor in (1.0, 1e-9, -1e6):
        with corpus(home, Reading(factor)) as made:
            plain = made.search(QUESTION, principal=WHO, rerank=False)
            found = made.search(QUESTION, principal=WHO)
            assert sorted(names(found)) == sorted(names(plain))


def test_case_46_distance_cuts_before_and_scores_never(home: Path) -> None:
    with corpus(home, Reading()) as made:
        plain = made.search(QUESTION, principal=WHO, rerank=False, max_distance=0.8)
        found = made.search(QUESTION, principal=WHO, max_distance=0.8)
    assert 0 < len(names(found)) < len(TEXTS)
    assert sorted(names(found)) == sorted(names(plain))


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("the server is down"), BadModelOutput("nonsense"), ModelNotInstalled("there is no such model")],
)
def test_where_it_fails_the_fused_order_is_kept_and_search_trace_and_notes_say_so(
    home: Path, error: ModelError
) -> None:
    with corpus(home, Reading(error=error)) as made:
        plain = made.search(QUESTION, principal=WHO, rerank=False)
        found = made.search(QUESTION, principal=WHO)
        answer = made.ask(QUESTION, principal=WHO)
        wrong = corpus(home, Reading(error=error), required=True)
    assert names(found) == names(plain)
    assert [one.hit.rerank for one in found.results] == [None] * len(found.results)
    assert found.reranker == ""
    (note,) = found.notes
    assert error.message in note
    assert "fused order was kept" in note
    assert note in answer.trace.notes
    assert answer.trace.reranker == ""
    assert RERANK not in {one.stage for one in answer.trace.rankings}
    with wrong, pytest.raises(type(error), match=error.message):
        wrong.search(QUESTION, principal=WHO)


def test_an_answer_says_what_ordered_its_passages(home: Path) -> None:
    with corpus(home, Reading()) as made:
        answer = made.ask(QUESTION, principal=WHO)
    assert answer.trace.reranker == "reading:1"
    assert contract.answer(answer)["reranker"] == "reading:1"
    with corpus(home, None) as made:
        assert made.ask(QUESTION, principal=WHO).trace.reranker == "late:word-codes"


def test_only_the_head_is_read_and_never_what_the_asker_may_not(home: Path) -> None:
    reading = Reading()
    with corpus(home, reading, depth=2) as made:
        plain = made.search(QUESTION, principal=WHO, rerank=False)
        assert reading.seen == []
        found = made.search(QUESTION, principal=WHO)
        assert len(reading.seen) == 2
        assert names(found)[2:] == names(plain)[2:]
        made.search(QUESTION, principal=Principal(roles=frozenset({"board", PUBLIC_ROLE})))
        assert any("tower room." in text for text in reading.seen[2:])
    assert not any("tower room." in text for text in reading.seen[:2])


def test_an_index_without_codes_is_reranked_too(tmp_path: Path) -> None:
    from quick_corpus import WordEmbedder

    parts = replace(quick_parts(tmp_path / "home", shelves(), embedder=WordEmbedder(codec="")), reranker=Reading())
    with OpenCorpus(parts) as made:
        made.sync("docs")
        assert names(made.search(QUESTION, principal=WHO))[0] == "d3.txt"
        assert names(made.search(QUESTION, principal=WHO, mode="bm25", rerank=True))[0] == "d3.txt"
        assert made.search(QUESTION, principal=WHO, mode="bm25").reranker == ""


def test_case_52_the_gate_never_takes_another_kind_of_score_for_late_interaction(home: Path) -> None:
    with corpus(home, Reading(1e6)) as made:
        asker = made.asker(WHO)
        assert asker is not None
        asked = asker.prepare(Query(QUESTION, WHO, Filters()))
        assert asked.verdict.features.get("late", 0.0) == 0.0
        stages = {one.stage for one in asked.retrieved.rankings}
        assert {FUSION, RERANK} <= stages
        late = replace(asked.retrieved, reranker="late:word-codes")
        evidence = asker.scorer.score(asked.query, asked.passages, asked.retrieved)

        def signs(retrieved: Retrieved) -> dict[str, float]:
            return features(asked.query, retrieved, asked.passages, evidence, asker.scorer)

        assert signs(asked.retrieved)["late"] == 0.0
        assert signs(late)["late"] > 0.0
        assert conditions_of(asker, asker.gate)["reranker"] == "reading:1"
        plain = made.asker(WHO, rerank=False)
        assert plain is not None
        assert "reranker" not in conditions_of(plain, plain.gate)


def test_a_reranker_is_loaded_once_when_needed_and_a_failure_is_remembered() -> None:
    loads: list[str] = []

    def load() -> Reranker:
        loads.append("load")
        raise ModelNotInstalled("no such model")

    broken = Deferred("path:nowhere", load)
    assert loads == []
    for _ in range(2):
        with pytest.raises(ModelNotInstalled, match="no such model"):
            broken.score("q", ["p"])
    assert (broken.id, loads) == ("path:nowhere", ["load"])
    whole = Deferred("path:there", Reading)
    assert (whole.id, whole.score("pump", ["a pump"])) == ("reading:1", [1.0])


def test_a_reranker_that_could_not_be_reached_is_left_alone_for_some_seconds() -> None:
    class Dead(Reading):
        asked, dead = 0, True

        def score(self, question: str, passages: list[str]) -> list[float]:
            self.asked += 1
            if self.dead:
                raise ModelUnavailable("the rerank endpoint at x cannot be reached", hint="start it")
            return super().score(question, passages)

    now = [100.0]
    dead = Dead()
    resting = Resting(dead, clock=lambda: now[0])
    with pytest.raises(ModelUnavailable, match=r"at x cannot be reached$"):
        resting.score("q", ["p"])
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="at x cannot be reached; it is asked again in 15 s") as caught:
            resting.score("q", ["p"])
        assert caught.value.hint == "start it"
    assert dead.asked == 1
    now[0] += REST_SECONDS
    dead.dead = False
    assert resting.score("pump", ["a pump"]) == [1.0]
    assert (dead.asked, resting.id) == (2, dead.id)


def test_an_answer_that_is_nonsense_puts_no_reranker_to_rest() -> None:
    class Mad(Reading):
        asked = 0

        def score(self, question: str, passages: list[str]) -> list[float]:
            self.asked += 1
            raise BadModelOutput("no numbers")

    mad = Mad()
    resting = Resting(mad)
    for _ in range(2):
        with pytest.raises(BadModelOutput):
            resting.score("q", ["p"])
    assert mad.asked == 2


def test_settings_name_a_folder_and_doctor_tells_it(tmp_path: Path, monkeypatch) -> None:
    write_pair_folder(tmp_path / "models" / "pairs")
    config = tmp_path / "fonte.toml"
    config.write_text('[reranker]\nsource = "path:models/pairs"\ndepth = 5\nthreads = 1\n', encoding="utf-8")
    told = {one.name: one for one in examine(str(tmp_path / "home"), str(config))}
    assert told["reranker"].ok
    assert told["reranker"].detail.startswith("onnx:pairs@")
    assert told["reranker"].detail.endswith("reads the first 5 passages")
    config.write_text('[reranker]\nsource = "path:models/nowhere"\n', encoding="utf-8")
    told = {one.name: one for one in examine(str(tmp_path / "home"), str(config))}
    assert not told["reranker"].ok
    assert not told["reranker"].required
    assert "no model folder" in told["reranker"].detail
    assert "keep the fused order" in told["reranker"].detail


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        ('source = "cohere"', "should be"),
        ('source = "http:rerank-3"', "needs base_url and form"),
        ('source = "late"\nform = "tei"', "of an http: reranker"),
        ('source = "http:m"\nbase_url = "http://u:p@h/v1"\nform = "tei"', "password"),
        ('source = "http:m"\nbase_url = "http://h/v1"\nform = "voyage"', "form"),
        ('api_key = "x"', "secret"),
        ("depth = 0", "depth"),
    ],
)
def test_settings_that_are_wrong_are_refused(tmp_path: Path, lines: str, match: str) -> None:
    config = tmp_path / "fonte.toml"
    config.write_text(f"[reranker]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=match):
        load_settings(config, tmp_path, {})
