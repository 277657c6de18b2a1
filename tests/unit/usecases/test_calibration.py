"""A calibrated gate: made from a golden set, in force at once, and refused where it no longer fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fonte.calibration import Calibration, read_calibration
from fonte.corpus import OpenCorpus
from fonte.errors import ConfigError, InputError, NotFound
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Needle
from fonte.gate import GateModel
from fonte.types import Principal
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_parts

PLACES = "Arona Biella Crema Desio Erba Fano Gela Imola Jesi Lodi Massa Narni Orte Pisa Rieti".split()
THINGS = ("market", "bridge")
EVERYBODY, STAFF = frozenset({"public"}), frozenset({"staff"})


def texts() -> dict[str, tuple[str, frozenset[str]]]:
    found = {}
    for number, place in enumerate(PLACES):
        lines = [f"The {thing} of {place} was opened in {1900 + 10 * number + at}." for at, thing in enumerate(THINGS)]
        found[f"{place}.md"] = ("\n\n".join(lines), EVERYBODY)
    found["hidden.md"] = ("The vault of Susa was opened in 1777.", STAFF)
    return found


def asked(kind: str, place: str, *, answerable: bool, tenant: str = "default", at: int = 0) -> Question:
    needle = Needle(f"{place}.md", f"The {kind} of {place}")
    return Question(
        f"{kind}-{place}-{at}",
        (f"When was the {kind} of {place} opened?", f"opening of the {kind} of {place}"),
        answerable,
        (needle,) if answerable else (),
        {f"{place}.md": 1} if answerable else {},
        tenant=tenant,
    )


def golden(*more: Question, unanswerable: int = 24) -> GoldenSet:
    known = [asked(thing, place, answerable=True) for thing in THINGS for place in PLACES]
    absent = [
        Question(f"no-{at}", (f"What does a {word} cost on the moon number {at}?",), answerable=False)
        for at, word in enumerate("ticket meal visa tent lamp boat horse wheel".split() * 4)
    ]
    return GoldenSet("towns", (*known, *absent[:unanswerable], *more))


@contextmanager
def synced(home: Path) -> Iterator[OpenCorpus]:
    with OpenCorpus(quick_parts(home, Shelves({"all": Shelf(texts())}), embedder=WordEmbedder())) as corpus:
        corpus.sync("memory://all")
        yield corpus


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenCorpus]:
    with synced(tmp_path / "home") as corpus:
        yield corpus


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """A calibration of the same documents in another home: what it holds for is the same."""
    with synced(tmp_path_factory.mktemp("made") / "home") as corpus:
        return corpus.calibrate(golden()).calibration


@pytest.fixture
def calibrated(opened: OpenCorpus, made: Calibration) -> OpenCorpus:
    opened._parts.stores.tenant("default").calibration.save(made.as_text())
    return opened


def ask(corpus: OpenCorpus, text: str, k: int | None = None):
    return corpus.ask(text, principal=Principal(), k=k)


def test_the_gate_is_calibrated_and_judges_at_once(opened: OpenCorpus) -> None:
    before = ask(opened, "What does a visa cost on the moon?")
    assert not before.gate.calibrated
    assert not opened.calibration().in_force
    found = opened.calibrate(golden(), cost_wrong=2.0)
    assert len(found.cases) == 60 + 24
    assert found.left_out == {}
    assert found.figures.auroc.value > 0.9
    assert found.calibration.gate.threshold == pytest.approx(2 / 3)
    after = ask(opened, "What does a visa cost on the moon?")
    assert (after.gate.calibrated, after.gate.sufficient) == (True, False)
    assert after.gate.stamp == found.calibration.gate.stamp
    assert after.trace.notes == ()
    assert ask(opened, "When was the bridge of Lodi opened?").gate.sufficient
    standing = opened.calibration()
    assert standing.in_force
    assert standing.calibration == found.calibration

    row = found.figures.by_distance[0]
    assert row.recall is not None
    assert (row.recall.value, row.answered, row.answerable, row.bluffs) == (1.0, 60, 60, 24)
    assert all(case.needled == case.answerable and case.wordings in (1, 2) for case in found.cases)


def test_where_few_documents_are_asked_of_folds_keep_questions_whole(opened: OpenCorpus) -> None:
    few = [replace(one, relevance={"Pisa.md": 1}, needles=()) if one.answerable else one for one in golden().questions]
    found = opened.calibrate(GoldenSet("few", tuple(few)))
    assert found.grouped_by == "question"
    assert len({case.group for case in found.cases}) == 54


def test_questions_that_this_index_cannot_answer_to_their_asker_are_left_out(opened: OpenCorpus) -> None:
    hidden = Question("vault", ("When was the vault of Susa opened?",), relevance={"hidden.md": 1})
    mine = replace(hidden, id="mine", roles=frozenset({"staff", "public"}))
    gone = asked("market", "Atlantis", answerable=True)
    other = asked("market", "Pisa", answerable=True, tenant="acme", at=1)
    found = opened.calibrate(golden(hidden, mine, gone, other))
    groups = {case.query[0]: case.group for case in found.cases}
    if found.grouped_by == "document":
        assert groups["market-Pisa-0"] == groups["bridge-Pisa-0"] != groups["bridge-Lodi-0"]
    assert found.left_out == {"not_readable": 1, "no_document": 1, "other_tenant": 1}
    assert {case.query[0] for case in found.cases} >= {"mine", "no-0"}
    assert "vault" not in {case.query[0] for case in found.cases}


def test_too_few_questions_are_refused_before_any_is_asked_and_nothing_is_stored(opened: OpenCorpus) -> None:
    with pytest.raises(InputError, match="of the questions 30 can be answered and 11 cannot") as error:
        opened.calibrate(golden(unanswerable=11), progress=lambda *_: pytest.fail("asked"))
    assert "9 more unanswerable" in error.value.hint
    assert opened.calibration().calibration is None


def test_without_scikit_learn_it_says_what_to_install(opened: OpenCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    with pytest.raises(ConfigError, match="scikit-learn") as error:
        opened.calibrate(golden())
    assert "fonte[calibrate]" in error.value.hint


def test_without_an_index_there_is_nothing_to_calibrate(tmp_path: Path) -> None:
    with OpenCorpus(quick_parts(tmp_path / "empty", Shelves())) as corpus, pytest.raises(NotFound):
        corpus.calibrate(golden())


def other_default(corpus: OpenCorpus) -> OpenCorpus:
    changed = GateModel({"sentence": 1.0}, 9.0, 0.5)
    return OpenCorpus(replace(corpus._parts, gate_for=lambda _space: changed))


def other_width(corpus: OpenCorpus) -> OpenCorpus:
    answers = corpus._parts.answers
    return OpenCorpus(
        replace(corpus._parts, answers=replace(answers, retrieval=replace(answers.retrieval, per_document=1)))
    )


@pytest.mark.parametrize(
    ("change", "word"), [(other_default, "the default gate and its signs"), (other_width, "the widths of retrieval")]
)
def test_a_calibration_is_refused_where_it_no_longer_fits(calibrated: OpenCorpus, change, word: str) -> None:
    with change(calibrated) as changed:
        answer = ask(changed, "When was the bridge of Lodi opened?")
        assert not answer.gate.calibrated
        assert len(answer.trace.notes) == 1
        assert word in answer.trace.notes[0]
        assert "fonte calibrate" in answer.trace.notes[0]
        standing = changed.calibration()
        assert (standing.in_force, word in standing.note) == (False, True)
    assert ask(calibrated, "When was the bridge of Lodi opened?").gate.calibrated


def test_a_question_with_a_width_of_its_own_is_not_judged_by_numbers_of_another(calibrated: OpenCorpus) -> None:
    assert not ask(calibrated, "When was the bridge of Lodi opened?", k=1).gate.calibrated
    assert ask(calibrated, "When was the bridge of Lodi opened?", k=8).gate.calibrated


def test_an_index_of_another_recipe_is_not_judged_by_it(calibrated: OpenCorpus) -> None:
    recipe = calibrated._parts.make_recipe
    with OpenCorpus(
        replace(calibrated._parts, make_recipe=lambda one: replace(recipe(one), pipeline="next"))
    ) as changed:
        changed.sync("memory://all")
        answer = ask(changed, "When was the bridge of Lodi opened?")
        assert (answer.gate.calibrated, "the recipe of the index" in answer.trace.notes[0]) == (False, True)


def test_a_sync_that_changes_documents_only_keeps_the_calibration(calibrated: OpenCorpus) -> None:
    shelf = calibrated._parts.open_source("memory://all", None, "default")  # type: ignore[arg-type]  # shelves look at no options
    shelf.texts = {**texts(), "new.md": ("The tower of Noto was opened in 1650.", EVERYBODY)}
    calibrated.sync("memory://all")
    assert ask(calibrated, "When was the bridge of Lodi opened?").gate.calibrated


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: text.replace('"format": 1', '"format": 2'),
        lambda text: text.replace('"intercept": ', '"intercept": 1'),
        lambda text: json.dumps({**json.loads(text), "gate": {**json.loads(text)["gate"], "threshold": 0.01}}),
        lambda text: json.dumps({**json.loads(text), "conditions": {}}),
        lambda text: json.dumps({**json.loads(text), "gate": {**json.loads(text)["gate"], "intercept": float("nan")}}),
    ],
)
def test_a_damaged_calibration_is_not_used_and_said(calibrated: OpenCorpus, tmp_path: Path, spoil) -> None:
    (place,) = (tmp_path / "home").glob("tenants/*/calibration.json")
    place.write_text(spoil(place.read_text()))
    answer = ask(calibrated, "When was the bridge of Lodi opened?")
    assert not answer.gate.calibrated
    assert "its calibration cannot be used" in answer.trace.notes[0]
    assert calibrated.calibration().in_force is False
    with pytest.raises(ValueError, match=r"damaged|version|stamped|finite|Expecting|Unterminated|delimiter"):
        read_calibration(place.read_text())


def test_another_tenant_has_a_gate_of_its_own(calibrated: OpenCorpus) -> None:
    calibrated.sync("memory://all", tenant="acme")
    answer = calibrated.ask("When was the bridge of Lodi opened?", principal=Principal("acme"))
    assert not answer.gate.calibrated


def test_what_is_stored_is_numbers_and_names_and_reads_back_whole(made: Calibration) -> None:
    assert read_calibration(made.as_text()) == made
    told = json.loads(made.as_text())
    assert told["golden"]["fingerprint"] == golden().fingerprint
    assert set(told["conditions"]) == {"recipe", "space", "terms", "reader", "gate", "retrieval", "reranker"}
    assert told["conditions"]["reranker"] == "words", "how the stand-in weighs tokens"
