"""fonte eval and fonte compare from the outside, over the fake encoder: JSON, floors, runs, pages, experiments."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import fonte
from evaluating_making import GOLDEN, WORDS, Quick, synced, written

INTERVAL = {"value", "low", "high", "n"}
VERDICT = {"a", "b", "difference", "low", "high", "wins", "losses", "p", "verdict", "detectable"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    made = Quick()
    monkeypatch.setattr("fonte.wiring.make_parts", made)
    monkeypatch.setattr("fonte.cli.compare.make_parts", made)
    return made


@pytest.fixture
def files(home: Path, tmp_path: Path) -> Path:
    synced(home).close()
    written(tmp_path)
    (tmp_path / "plain.toml").write_text("")
    (tmp_path / "blind.toml").write_text('[chunking]\nstrategy = "blind"\nsize = 24\n')
    return tmp_path


def page(path: Path) -> ET.Element:
    return ET.fromstring(path.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))


def test_eval_prints_what_the_contract_names_and_writes_a_run_and_a_page(home: Path, files: Path) -> None:
    run, report = files / "out" / "a.run", files / "out" / "eval.html"
    ran = fonte(home, "eval", str(files / "golden.yaml"), "--answers", "--run", str(run), "--report", str(report))
    assert ran.status == 0, ran.err
    told = ran.json
    assert told["golden"] | {"fingerprint": ""} == {"name": "small", "fingerprint": "", "queries": 6, "answerable": 4}
    assert all(set(one) == INTERVAL for one in told["measures"].values())
    assert {
        "recall@5", "needle@5", "hit@5", "precision@5", "mrr@10", "ndcg@10", "false_retrieval_rate", "bluff_rate",
        "abstention_correctness", "answer_correctness", "leakage", "answer_needle", "citation_precision",
        "citation_recall", "c@1",
    } <= set(told["measures"])  # fmt: skip
    assert told["destroyed"] == {"n": 0, "queries": []}
    assert (told["unauthorized_hits"], told["truncated_chunks"], told["floors"]) == (0, 0, None)
    assert set(told["timings_ms"]) == {"p50", "p95"}
    assert told["size_bytes"] > 0
    assert "segment:plain" in told["segments"]
    assert run.read_text().startswith("key Q0 ")
    assert len([one for one in page(report).iter() if one.tag == "{http://www.w3.org/2000/svg}svg"]) == 4
    shown = fonte(home, "eval", str(files / "golden.yaml"), "--retrieval-only", json_mode=False)
    assert shown.status == 0
    assert "needle@5" in shown.out
    assert "support not_measured" in shown.out
    assert "bluff_rate" not in shown.out


def test_needles_that_are_not_there_are_told_and_count_as_not_found(home: Path, files: Path) -> None:
    set_ = str(written(files, GOLDEN.replace("door of room 12", "door of room 13")))
    ran = fonte(home, "eval", set_, "--retrieval-only")
    assert ran.status == 0
    assert [one["code"] for one in ran.json["golden_faults"]] == ["no_needle"]
    assert (ran.json["measures"]["needle@5"]["value"], ran.json["destroyed"]["queries"]) == (0.5, ["key"])
    shown = fonte(home, "eval", set_, "--retrieval-only", json_mode=False)
    assert "(counts as not found)" in shown.err
    assert "unauthorized hits: 0" in shown.out


def test_floors_hold_fail_and_are_refused_for_other_documents(home: Path, files: Path) -> None:
    set_, floors = str(files / "golden.yaml"), files / "floors.json"
    assert fonte(home, "eval", set_, "--save-floors", str(floors)).status == 0
    again = fonte(home, "eval", set_, "--floors", str(floors))
    assert (again.status, again.json["floors"]["outcome"]) == (0, "pass")
    body = json.loads(floors.read_text())
    assert body["fingerprint"] == again.json["corpus_fingerprint"]
    assert body["ceilings"]["bluff_rate"] == 1.0
    floors.write_text(json.dumps(body | {"ceilings": {"bluff_rate": 0.5}, "floors": {"needle@3": 0.5}}))
    below = fonte(home, "eval", set_, "--floors", str(floors))
    assert (below.status, below.json["floors"]["outcome"]) == (1, "fail")
    assert [one["measure"] for one in below.json["floors"]["lines"]] == ["needle@3", "bluff_rate"]
    floors.write_text(json.dumps(body | {"floors": {"answer_correctness": 0.5}, "ceilings": {}}))
    assert fonte(home, "eval", set_, "--floors", str(floors)).status == 1  # not measured without --answers
    floors.write_text(json.dumps(body | {"fingerprint": "0123456789abcdef"}))
    other = fonte(home, "eval", set_, "--floors", str(floors))
    assert (other.status, other.json["error"]["code"]) == (2, "input")
    assert "is of corpus 0123456789abcdef" in other.json["error"]["message"]


def test_two_equal_configurations_cannot_be_told_apart(home: Path, files: Path) -> None:
    plain = str(files / "plain.toml")
    ran = fonte(home, "compare", str(files / "golden.yaml"), "--a", plain, "--b", plain)
    assert ran.status == 0, ran.err
    assert {one["verdict"] for one in ran.json["measures"].values()} == {"cannot_tell"}
    assert all(set(one) >= VERDICT for one in ran.json["measures"].values())
    assert ran.json["differences"] == {}
    assert all(not one["enough"] for one in ran.json["size"].values())


def test_what_differs_is_built_beside_and_the_active_generation_is_left_alone(
    home: Path, files: Path, quick: Quick
) -> None:
    before = fonte(home, "generations").json
    report = files / "compare.html"
    arguments = (
        "compare",
        str(files / "golden.yaml"),
        "--a",
        str(files / "blind.toml"),
        "--b",
        str(files / "plain.toml"),
    )
    ran = fonte(home, *arguments, "--report", str(report))
    assert ran.status == 0, ran.err
    differences = ran.json["differences"]
    assert differences["chunking.strategy"] == {"a": "blind", "b": "boundaries"}
    # Cut every 24 characters no needle is left whole; the default keeps them all.
    assert (ran.json["facts"]["a"]["destroyed"]["n"], ran.json["facts"]["b"]["destroyed"]["n"]) == (3, 0)
    needle = ran.json["measures"]["needle@5"]
    assert (needle["a"], needle["b"], needle["wins"], needle["losses"]) == (0.0, 1.0, 4, 0)
    assert needle["verdict"] == "cannot_tell"  # four wins are no proof
    assert ran.json["facts"]["a"]["embedded_texts"] > 0
    assert fonte(home, "generations").json == before
    words = "".join(page(report).itertext())
    assert "Won by b (4), by needle@5" in words
    quick.models.clear()
    again = fonte(home, *arguments)
    assert again.json["facts"]["a"]["embedded_texts"] == 0
    assert sum(one.calls for one in quick.models) == 0
    told = fonte(home, *arguments, json_mode=False).out
    assert "needle@5: the set is too small for a difference of 0.05: its 4 queries show no difference at all" in told
    assert "cannot tell" in told


def many(count: int) -> tuple[dict[str, tuple[str, frozenset[str]]], str]:
    """Documents whose fact stands across the 24th character, and a question to each."""
    texts, lines = {}, ["name: many", "questions:"]
    for at in range(count):
        texts[f"d{at}.md"] = (f"alpha{at} beta{at} depot{at}x word{at}y gamma{at}\n", frozenset({"public"}))
        lines.append(f"  - id: q{at}")
        lines.append(f'    question: "alpha{at} depot{at}x"')
        lines.append(f'    relevant: [{{document: d{at}.md, needle: "depot{at}x word{at}y"}}]')
    return texts, "\n".join(lines) + "\n"


def test_better_is_said_where_enough_questions_show_it_and_ten_are_called_too_few(home: Path, files: Path) -> None:
    texts, text = many(10)
    other = files / "other"
    synced(other, texts).close()
    set_ = str(written(files, text))
    ran = fonte(other, "compare", set_, "--a", str(files / "blind.toml"), "--b", str(files / "plain.toml"))
    needle = ran.json["measures"]["needle@5"]
    assert (needle["verdict"], needle["wins"], needle["losses"]) == ("better", 10, 0)
    back = fonte(other, "compare", set_, "--a", str(files / "plain.toml"), "--b", str(files / "blind.toml"))
    assert back.json["measures"]["needle@5"]["verdict"] == "worse"
    same = fonte(
        other, "compare", set_, "--a", str(files / "plain.toml"), "--b", str(files / "plain.toml"), json_mode=False
    )
    assert "needle@5: the set is too small for a difference of 0.05: its 10 queries show nothing below 0.67" in same.out
    size = fonte(
        other,
        "compare",
        set_,
        "--a",
        str(files / "plain.toml"),
        "--b",
        str(files / "plain.toml"),
        "--difference",
        "0.7",
    ).json["size"]["needle@5"]
    assert size["enough"] is True


def test_a_difference_that_no_set_shows_is_said_so(home: Path, files: Path) -> None:
    plain = str(files / "plain.toml")
    arguments = ("compare", str(files / "golden.yaml"), "--a", plain, "--b", plain, "--difference", "0.000001")
    assert "more than a million are needed" in fonte(home, *arguments, json_mode=False).out
    assert fonte(home, *arguments).json["size"]["recall@5"]["queries_needed"] is None


def test_runs_are_compared_by_documents_also_with_a_configuration(home: Path, files: Path) -> None:
    set_, run = str(files / "golden.yaml"), files / "a.run"
    assert fonte(home, "eval", set_, "--retrieval-only", "--run", str(run)).status == 0
    two = fonte(home, "compare", set_, "--a", str(run), "--b", str(run))
    assert set(two.json["measures"]) == {"recall@5", "hit@5", "precision@5", "mrr@10", "ndcg@10"}
    mixed = fonte(home, "compare", set_, "--a", str(run), "--b", str(files / "plain.toml"))
    assert mixed.status == 0, mixed.err
    assert all(one["difference"] == 0 for one in mixed.json["measures"].values())
    run.write_text("elsewhere Q0 keys.md 1 1 x\n")
    strange = fonte(home, "compare", set_, "--a", str(run), "--b", str(run))
    assert (strange.status, strange.json["error"]["code"]) == (2, "input")


EXPERIMENT = """\
name = "cutting"
golden = "golden.yaml"
variable = "chunking"
measures = ["needle@4", "recall@5"]

[[configurations]]
name = "A"
settings.chunking = { strategy = "blind", size = 24 }

[[configurations]]
name = "B"
settings.chunking = { strategy = "blind", size = 24, overlap = 12 }

[[configurations]]
name = "F"
"""


def test_an_experiment_is_one_table_with_paired_verdicts(home: Path, files: Path) -> None:
    path, report = files / "experiment.toml", files / "experiment.html"
    path.write_text(EXPERIMENT)
    ran = fonte(home, "compare", str(path), "--report", str(report))
    assert ran.status == 0, ran.err
    assert [one["name"] for one in ran.json["configurations"]] == ["A", "B", "F"]
    assert [(one["a"], one["b"]) for one in ran.json["comparisons"]] == [("A", "B"), ("A", "F")]
    for one in ran.json["configurations"]:
        assert one["unauthorized_hits"] == 0
        assert one["facts"]["size_bytes"] > 0
        assert one["facts"]["build_seconds"] is not None
        assert set(one["measures"]) == {"needle@4", "recall@5"}
    shown = fonte(home, "compare", str(path), json_mode=False).out
    assert "cutting: only chunking differs" in shown
    assert "F against A" in shown
    assert "F against A" in "".join(page(report).itertext())
    path.write_text(EXPERIMENT.replace("overlap = 12", "overlap = 12, stride = 3"))
    wrong = fonte(home, "compare", str(path))
    assert (wrong.status, "chunking.stride" in wrong.json["error"]["message"]) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval"],
        ["eval", "GOLDEN", "--k", "0"],
        ["eval", "nowhere.yaml"],
        ["compare", "GOLDEN"],
        ["compare", "GOLDEN", "--a", "x.run"],
        ["compare", "GOLDEN", "--a", "x.run", "--b", "nowhere.toml"],
        ["compare", "GOLDEN", "--a", "x.run", "--b", "x.run", "--difference", "2"],
        ["compare", "nowhere.toml"],
    ],
)
def test_wrong_use(home: Path, files: Path, arguments: list[str]) -> None:
    ran = fonte(home, *(str(files / "golden.yaml") if one == "GOLDEN" else one for one in arguments))
    assert ran.status == 2
    assert ran.json["error"]["hint"]


def test_without_an_index_nothing_is_measured_and_nothing_made(tmp_path: Path) -> None:
    set_ = str(written(tmp_path, GOLDEN))
    ran = fonte(tmp_path / "none", "eval", set_)
    assert ran.status == 2
    assert not (tmp_path / "none").exists()
    assert WORDS
