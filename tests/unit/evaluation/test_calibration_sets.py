from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "evaluation"))

import calibration_features as features
import calibration_measure as measure
import calibration_sets as sets
import calibration_signs as signs

from fonte.evaluation.calibrating import Case
from quick_corpus import Shelf, Shelves, quick_corpus

PUBLIC = frozenset({"public"})
TEXTS = {
    "lamp": "The amber lantern of Brenta burns forty litres of oil. It was built by Anna Corvi in 1872.",
    "dock": "The dock of Brenta closes at midnight. Boats wait outside for the morning bell.",
    "bread": "Rye bread rises for nine hours. The baker of Adria keeps the oven warm all night.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "letters"
    place.mkdir()
    titles = {"lamp": "Harbour", "dock": "Harbour", "bread": "Bakery"}
    queries = [
        {"_id": "q1", "text": "Who built the amber lantern?", "answerable": True, "answers": ["Anna Corvi"]},
        {"_id": "q2", "text": "When does the dock close?", "answerable": True, "answers": ["midnight"]},
        {"_id": "q3", "text": "How long does rye bread rise?", "answerable": True, "answers": ["nine hours"]},
        {"_id": "q4", "text": "Who built the dock?", "answerable": False, "source_doc": "dock"},
    ]
    gold = {"q1": "lamp", "q2": "dock", "q3": "bread"}
    rows = {
        "corpus": [{"_id": name, "title": titles[name], "text": text} for name, text in TEXTS.items()],
        "queries": queries,
        "spans": [{"query_id": query, "doc": name, "start": 0, "end": 3} for query, name in gold.items()],
    }
    for name, some in rows.items():
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    return place


def test_near_misses_hide_the_passage_and_absent_ones_the_article(folder):
    probes = {one.key: one for one in sets.hiding(sets.Public.read(folder), None)}
    assert len(probes) == 9
    assert probes["letters/q1/answerable"].hidden == ()
    assert probes["letters/q1/near_miss"].hidden == ("lamp",)
    assert set(probes["letters/q1/absent"].hidden) == {"lamp", "dock"}


def test_draws_are_of_each_article_and_kind_and_a_larger_one_holds_the_smaller(folder):
    public = sets.Public.read(folder)
    one = [probe.key for probe in public.drawn(1)]
    assert len(one) == 3
    assert one == [probe.key for probe in public.drawn(1)]
    assert set(one) < {probe.key for probe in public.drawn(2)}


def test_the_readers_unseen_articles_are_those_of_its_script():
    assert {"Force", "Harvard University", "Ossigeno"} <= sets.held_out()


def test_twisted_questions_come_with_their_sources(folder, tmp_path):
    path = tmp_path / "twisted.jsonl"
    row = {"id": "t1", "source_query": "q1", "doc": "lamp", "question": "Who built the blue lantern?"}
    path.write_text(json.dumps(row), encoding="utf-8")
    source, twisted = sets.twisted_italian(sets.Public.read(folder), path)
    assert (source.kind, twisted.kind) == (sets.ANSWERABLE, sets.TWISTED)
    assert (source.source, twisted.source, twisted.article) == ("q1", "q1", "Harbour")


@pytest.fixture
def indexed(tmp_path):
    shelf = Shelf({f"{name}.txt": (text, PUBLIC) for name, text in TEXTS.items()})
    with quick_corpus(tmp_path / "home", Shelves({"shelf": shelf})) as corpus:
        corpus.sync("shelf")
        states = corpus.documents()
        ids = {state.name: state.document_id for state in states}
        yield features.Indexed(corpus, ids, {state.name: state.version for state in states})


PROBE = sets.Probe(
    "letters", "q1", "answerable", "Who built the amber lantern?", "Harbour", "q1", ("lamp.txt",), ("Anna Corvi",)
)


def test_what_is_hidden_is_never_seen(indexed):
    def seen(probe: sets.Probe) -> set[str]:
        row = features.ask(indexed, probe)
        return {name for leg in row["legs"].values() for name, *_ in leg} | {name for name, *_ in row["passages"]}

    assert "lamp.txt" in seen(PROBE)
    assert seen(replace(PROBE, hidden=("lamp.txt",))) == {"dock.txt", "bread.txt"}
    assert "lamp.txt" not in seen(replace(PROBE, needles=(("lamp.txt", "Anna Corvi in 1872"),)))


def test_an_answer_that_still_stands_is_told(indexed):
    assert features.ask(indexed, PROBE)["shown"]
    assert not features.ask(indexed, replace(PROBE, hidden=("lamp.txt",)))["shown"]
    left = replace(PROBE, hidden=("lamp.txt",), answers=("Midnight", "nobody"))
    assert features.ask(indexed, left)["shown"]
    assert not features.ask(indexed, replace(left, all_answers=True))["shown"]


def test_answers_stand_as_whole_words():
    assert features.stands(["nine"], ["at NINE o'clock"])
    assert not features.stands(["nine"], ["ninety", "canine"])
    assert not features.stands([""], ["anything"])
    assert not features.stands(["a b", "c"], ["a b", "c"], together=True)


def test_the_cache_asks_once_and_goes_on_after_a_broken_line(indexed, tmp_path, monkeypatch):
    asked = []
    real = features.ask
    monkeypatch.setattr(features, "ask", lambda index, probe: asked.append(probe.key) or real(index, probe))
    probes = [PROBE, replace(PROBE, kind="absent", hidden=("lamp.txt",))]
    stamp = features.stamp_of(indexed, "questions")
    first = list(features.rows_of(indexed, probes[:1], stamp, tmp_path, "letters"))
    (path,) = tmp_path.glob("letters-*.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + '{"key": "let', encoding="utf-8")
    both = list(features.rows_of(indexed, probes, stamp, tmp_path, "letters"))
    assert list(features.rows_of(indexed, probes, stamp, tmp_path, "letters")) == both
    assert both[0] == json.loads(json.dumps(first[0]))
    assert asked == [probe.key for probe in probes]
    list(features.rows_of(indexed, [replace(PROBE, text="Who lit the lantern?")], stamp, tmp_path, "letters"))
    assert len(asked) == 3
    list(features.rows_of(indexed, probes, stamp | {"gate": "another"}, tmp_path, "letters"))
    assert len(asked) == 5


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Luther die?", "time"),
        ("In che anno morì Lutero?", "time"),
        ("How many miners died?", "number"),
        ("Quanti minatori morirono?", "number"),
        ("Dove si trova il faro?", "name"),
        ("Why did it fall?", "other"),
    ],
)
def test_what_is_asked_for(question, kind):
    assert signs.asked_for(question) == kind


@pytest.mark.parametrize(
    ("kind", "text", "question", "there"),
    [
        ("time", "It was built in 1872.", "When was it built?", True),
        ("time", "It was built in 1872.", "When, after 1872, was it painted?", False),
        ("number", "Forty burn, and 12 do not.", "How many lamps?", True),
        ("number", "Lamps burn.", "How many lamps?", False),
        ("name", "The lamp was built by Anna Corvi.", "Who built the lamp?", True),
        ("name", "Then Anna Corvi built it.", "Who paid Anna Corvi?", False),
    ],
)
def test_whether_a_sentence_holds_it(kind, text, question, there):
    assert signs.holds(kind, text, question) is there


def test_signs_of_a_question_are_numbers_with_and_without_tokens(indexed):
    found = signs.signs(features.ask(indexed, PROBE), {"lamp.txt": "Harbour"})
    proposed = {name for names in signs.PROPOSED.values() for name in names}
    assert proposed <= found.keys()
    assert all(isinstance(value, float) for value in found.values())
    assert signs.signs({"features": {}}, {}) == {}


def test_how_near_the_words_of_a_question_are_is_the_mean_of_their_cosines(indexed):
    row = features.ask(indexed, PROBE)
    text = PROBE.text
    tokens = [(text.index(word), text.index(word) + len(word)) for word in ("built", "amber", "lantern")]
    row |= {"tokens": tokens, "cosines": {"sentence 0": [0.9, 0.4, 0.8]}}
    found = signs.signs(row, {})
    assert 0.4 < found["words_near"] < 0.9
    assert found["weakest"] == row["features"]["weakest"], "that one is the gate's own"


def made(number: int, can: bool, value: float) -> Case:
    return Case((f"q{number}", 0), f"g{number % 8}", can, {"similarity": value, "reading": value}, 0.5, 1 - value)


def test_a_column_that_knows_is_told_from_one_that_does_not():
    cases = []
    for number in range(160):
        can, noise = number % 2 == 0, (number * 37 % 101) / 101
        signs_of = {"similarity": noise, "reading": 0.6 * noise + 0.5 * can}
        cases.append(replace(made(number // 2, can, noise), query=(f"q{number}", 0), features=signs_of))
    line = measure.Line("letters", "twisted", tuple(cases))
    found = measure.column(line, ["reading"])
    assert found["with"]["auroc"]["value"] > 0.9 > found["without"]["auroc"]["value"]
    assert found["without"]["p"] < 0.05
    assert found["alone"]["reading"]["auroc"]["value"] > 0.8


def test_lines_drop_absent_questions_whose_answer_stands_and_join_sets():
    def pair(kind: str, article: str, *, there: bool = False):
        row = {
            "key": f"{kind} {article}",
            "kind": kind,
            "article": article,
            "gold": ["x"],
            "distance": 0.2,
            "found_by_bm25": there,
            "shown": there,
        }
        return row, {"similarity": 0.8}

    table = [
        pair("answerable", "Reno"),
        pair("absent", "Reno"),
        pair("absent", "Ossigeno", there=True),
        pair("near_miss", "Reno", there=True),
        pair("near_miss", "Ossigeno"),
        pair("own private", "Reno"),
    ]
    told = {
        (line.set, line.kind, line.note): len(line.cases) for line in measure.lines({"one": table, "two": table[:2]})
    }
    assert told == {
        ("one", "absent", ""): 2,
        ("one", "near_miss", ""): 3,
        ("one", "near_miss", "no gold answer in sight"): 2,
        ("one", "its own", ""): 2,
        ("two", "absent", ""): 2,
        ("all", "absent", ""): 4,
    }
    case = measure.case_of(*table[0])
    assert case.group == "Rhine"
    assert measure.case_of(*table[0], by_passage=True).group == "Rhine x"
