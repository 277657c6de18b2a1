from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.runs import Run, queries_by_name, read_run, run_of, scores_of_run, write_qrels, write_run
from fonte.evaluation.scoring import score

names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)


@given(st.dictionaries(names, st.lists(names, min_size=1, max_size=6, unique=True), min_size=1, max_size=4), names)
def test_a_run_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rankings: dict[str, list[str]], tag: str
) -> None:
    path = tmp_path_factory.mktemp("r") / "run.txt"
    run = Run(tag, {query: tuple(ranking) for query, ranking in rankings.items()})
    write_run(run, path)
    assert read_run(path) == run
    assert all(len(line.split()) == 6 for line in path.read_text(encoding="utf-8").splitlines() if line)


def test_ties_are_ordered_as_trec_eval_orders_them(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q Q0 a 1 0.5 x\nq Q0 c 2 0.5 x\nq Q0 b 3 0.5 x\nq Q0 z 4 0.9 x\nq Q0 y 5 -1e3 x\n")
    assert read_run(path).rankings == {"q": ("z", "c", "b", "a", "y")}


def test_the_file_is_the_same_every_time_and_has_no_ties(tmp_path: Path) -> None:
    golden = GoldenSet("g", (Question("q", ("w", "v"), relevance={"a b": 2, "c": 1}),))
    found = {("q", 0): [Retrieved(name, 0, 1, "x") for name in ("c", "a b", "c", "d%")], ("q", 1): []}
    run = run_of(golden, found, "default recipe")
    write_run(run, tmp_path / "run.txt")
    assert (tmp_path / "run.txt").read_text() == (
        "q Q0 c 1 3 default%20recipe\nq Q0 a%20b 2 2 default%20recipe\nq Q0 d%25 3 1 default%20recipe\n"
    )
    write_qrels(golden, tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "q 0 a%20b 2\nq 0 c 1\nq#1 0 a%20b 2\nq#1 0 c 1\n"


def test_a_run_read_again_has_the_same_figures_and_empty_queries_count() -> None:
    golden = GoldenSet("g", (Question("q", ("w", "v"), relevance={"a": 2, "c": 1}),))
    found = {("q", 0): [Retrieved(name, 0, 1, "x") for name in ("b", "a", "c")]}
    run = Run("x", {"q": ("b", "a", "c")})
    assert scores_of_run(golden, run).values == score(golden, found, list(scores_of_run(golden, run).values)).values
    assert scores_of_run(golden, run).summary()["recall@5"].value == 0.5


def test_runs_that_do_not_fit_are_refused() -> None:
    golden = GoldenSet("g", (Question("q", ("w",), relevance={"a": 1}),))
    with pytest.raises(ValueError, match="not in the golden set"):
        scores_of_run(golden, Run("x", {"p": ("a",)}))
    with pytest.raises(ValueError, match="needles"):
        scores_of_run(golden, Run("x", {"q": ("a",)}), ["needle@5"])
    twin = GoldenSet("g", (Question("q", ("w", "v"), relevance={"a": 1}), Question("q#1", ("w",), relevance={"a": 1})))
    with pytest.raises(ValueError, match="rename"):
        queries_by_name(twin)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q Q0 a 1 0.5\n", "run.txt:1: has 5 fields"),
        ("q Q0 a 1 0.5 x\nq Q0 b 2 high x\n", "run.txt:2: the score high"),
        ("q Q0 a 1 nan x\n", "no number"),
        ("q Q0 a 1 0.5 x\nq Q0 a 2 0.4 x\n", "run.txt:2: query q has document a twice"),
        ("\n", "holds no result"),
    ],
)
def test_faulty_runs_are_refused_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "run.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert words in caught.value.message


def test_missing_and_undecodable_runs_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "absent")
    (tmp_path / "run.txt").write_bytes(b"q Q0 \xe8 1 1 x\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_run(tmp_path / "run.txt")
    with pytest.raises(InputError, match="cannot be written"):
        write_run(Run("x", {"q": ("a",)}), tmp_path)
