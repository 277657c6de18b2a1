from __future__ import annotations

from pathlib import Path

import pytest

from fonte.errors import InputError
from fonte.evaluation.experiments import Configuration, Experiment, differing, flat, judge, load_experiment
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.scoring import QueryKey, Scores, score

GOOD = """\
name = "chunking"
golden = "golden.yaml"
variable = "chunking"
measures = ["hit@1", "needle@1"]
pairs = [["A", "B"], ["A", "C"]]

[settings.embedding]
source = "package:all-MiniLM-L6-v2"
[settings.chunking]
overlap = 0

[[configurations]]
name = "A"
settings.chunking = { strategy = "blind", size = 512 }

[[configurations]]
name = "B"
settings.chunking = { strategy = "blind", size = 512, overlap = 64 }

[[configurations]]
name = "C"
settings.chunking = { strategy = "boundaries", size = 512 }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_becomes_configurations_over_common_settings(tmp_path: Path) -> None:
    found = load_experiment(write(tmp_path, GOOD))
    assert (found.name, found.golden, found.variable) == ("chunking", tmp_path / "golden.yaml", "chunking")
    assert found.pairs == (("A", "B"), ("A", "C"))
    a, b, _ = found.configurations
    assert b.settings == {
        "embedding.source": "package:all-MiniLM-L6-v2",
        "chunking.overlap": 64,
        "chunking.strategy": "blind",
        "chunking.size": 512,
    }
    assert differing(a.settings, b.settings) == {"chunking.overlap": (0, 64)}


def test_without_pairs_all_are_compared_with_the_baseline(tmp_path: Path) -> None:
    without = GOOD.replace('pairs = [["A", "B"], ["A", "C"]]', 'baseline = "B"')
    assert load_experiment(write(tmp_path, without)).pairs == (("B", "A"), ("B", "C"))
    assert load_experiment(write(tmp_path, without.replace('baseline = "B"', ""))).pairs == (("A", "B"), ("A", "C"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('variable = "chunking"', 'variable = "chunking.overlap"', "A and C differ in chunking.strategy"),
        ('name = "B"\n', 'name = "B"\nsettings.embedding.source = "package:e5"\n', "differ in embedding.source"),
        (", overlap = 64", "", "A and B do not differ"),
        ('["A", "C"]', '["A", "D"]', "no configuration is called D"),
        ('["A", "C"]', '["A", "B"]', "none of them twice"),
        ('["A", "C"]', '["A"]', "should be \\[a, b\\]"),
        ('name = "C"', 'name = "B"', "a name of its own"),
        ('"hit@1"', '"speed@1"', "no measure speed@1"),
        ('golden = "golden.yaml"', "", "golden should be text"),
        ('golden = "golden.yaml"', "golden = 3", "golden should be text"),
        ('name = "chunking"', 'titel = "chunking"', "no key titel"),
        ('name = "C"\n', 'name = "C"\nsize = 3\n', "no key size"),
        ('name = "chunking"', "name = ", "is not TOML"),
        ("[settings.embedding]", "[[settings]]\n[settings.embedding]", "is not TOML|should be a table"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError, match=words) as caught:
        load_experiment(write(tmp_path, GOOD.replace(old, new, 1)))
    assert "experiment.toml" in caught.value.message


def test_missing_and_undecodable_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_experiment(tmp_path / "absent.toml")
    (tmp_path / "x.toml").write_bytes(b'name = "\xe8"')
    with pytest.raises(InputError, match="not UTF-8"):
        load_experiment(tmp_path / "x.toml")


def made(hits: set[int], n: int = 40) -> Scores:
    questions = tuple(Question(f"q{number}", ("w",), relevance={"a": 1}) for number in range(n))
    found: dict[QueryKey, list[Retrieved]] = {
        (f"q{number}", 0): [Retrieved("a" if number in hits else "b", 0, 1, "x")] for number in range(n)
    }
    return score(GoldenSet("g", questions), found, ["hit@1", "needle@1"])


def experiment(*names: str) -> Experiment:
    configurations = tuple(Configuration(name, {"chunking.size": size}) for size, name in enumerate(names))
    pairs = tuple((names[0], name) for name in names[1:])
    return Experiment("e", Path("g.yaml"), "chunking.size", configurations, pairs, ("hit@1", "needle@1"))


def test_the_table_holds_figures_differences_and_verdicts() -> None:
    told = judge(experiment("A", "B", "C"), {"A": made(set()), "B": made(set(range(20))), "C": made({1, 2})}, {})
    better, unsure = told.verdicts
    assert (better.a, better.b, better.differences) == ("A", "B", {"chunking.size": (0, 1)})
    assert better.measures["hit@1"].verdict == "better"
    assert unsure.measures["hit@1"].verdict == "cannot_tell"
    assert unsure.measures["hit@1"].detectable is not None
    assert told.figures["B"]["hit@1"].value == 0.5
    assert "needle@1" not in better.measures
    assert told.unauthorized_hits == {"A": 0, "B": 0, "C": 0}


def test_holm_corrects_over_the_pairs_of_a_measure() -> None:
    six = made(set(range(6)))
    alone = judge(experiment("A", "B"), {"A": made(set()), "B": six}, {})
    assert alone.verdicts[0].measures["hit@1"].verdict == "better"
    among = judge(experiment("A", "B", "C"), {"A": made(set()), "B": six, "C": made({7})}, {})
    assert among.verdicts[0].measures["hit@1"].verdict == "cannot_tell"


def test_scores_that_are_missing_or_of_other_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="no scores of B"):
        judge(experiment("A", "B"), {"A": made(set())}, {})
    with pytest.raises(ValueError, match="other queries"):
        judge(experiment("A", "B"), {"A": made(set()), "B": made(set(), 20)}, {})


def test_settings_are_flattened_and_lists_are_values() -> None:
    assert flat({"a": {"b": {"c": 1}, "d": [{"e": 2}]}, "f": 3}) == {"a.b.c": 1, "a.d": [{"e": 2}], "f": 3}
