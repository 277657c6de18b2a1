from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "evaluation"))

import public_sets
import run_answers
import run_retrieval

from fonte.evaluation.golden import Question
from fonte.evaluation.measures import Needle, Retrieved
from fonte.gate import GateModel

NEEDLE = Needle("a", "x" * 10, 100, 110)


def test_a_set_that_is_there_gives_a_file_and_one_that_is_not_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data" / "one").mkdir(parents=True)
    (tmp_path / "data" / "one" / "corpus.jsonl").write_text("{}\n", encoding="utf-8")
    options = public_sets.arguments("about").parse_args(
        [str(tmp_path / "data"), "one", "two", "--out", str(tmp_path / "out")]
    )
    assert public_sets.run(options, "figures", lambda folder: {"set": folder.name}) == 0
    assert json.loads((tmp_path / "out" / "figures-one.json").read_text(encoding="utf-8")) == {"set": "one"}
    assert "two: absent, not measured" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["figures-one.json"]


def test_documents_count_at_their_best_passage_and_needles_where_the_set_has_them() -> None:
    whole, part, other = Retrieved("a", 90, 120, ""), Retrieved("a", 105, 120, ""), Retrieved("b", 90, 120, "")
    question = Question("q", ("what",), needles=(NEEDLE,), relevance={"a": 1})
    values = run_retrieval.measure([question, question], [[other, part, whole], [other, part]])
    assert values["recall@1"] == [0.0, 0.0] and values["mrr@10"] == [0.5, 0.5]
    assert values["needle@5"] == [1.0, 0.0]
    bare = Question("r", ("what",), relevance={"a": 1})
    assert "needle@5" not in run_retrieval.measure([question, bare], [[whole], [whole]])


def test_a_gate_refuses_what_it_would_have_refused_and_keeps_the_rest_as_it_was() -> None:
    gate = GateModel({"sentence": 10.0}, -5.0, 0.5)
    sure = run_answers.Outcome("a", {"sentence": 0.9}, answered=True, holds=True, first=True, cited=True, sentences=2)
    weak = run_answers.Outcome("b", {"sentence": 0.1}, answered=True, holds=True, sentences=1)
    assert sure.behind(gate) == sure
    refused = weak.behind(gate)
    assert not refused.answered and not refused.holds and refused.id == "b"
    told = run_answers.figures([sure, refused])
    assert told["answered"] == run_answers.share([True, False])
    assert told["holds the gold answer"] == run_answers.share([True, False])
    assert told["of the answered: holds it"] == run_answers.share([True])
    assert told["sentences in an answer"] == 2


def test_a_gold_answer_is_found_whatever_its_case_accents_articles_and_markers() -> None:
    assert run_answers.holds("It opened at the Café [1] in 1990.", ["the cafe in 1990"])
    assert not run_answers.holds("It opened in 19901.", ["1990"])


def test_about_half_of_the_questions_judge_and_always_the_same() -> None:
    judging = [run_answers.judges(f"q{number}") for number in range(400)]
    assert 150 < sum(judging) < 250
    assert judging == [run_answers.judges(f"q{number}") for number in range(400)]
