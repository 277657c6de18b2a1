"""Experiments: configurations that differ in one variable, in one file, judged in pairs on one golden set.

    name = "chunking of the handbook"
    golden = "golden.yaml"               # relative to this file
    variable = "chunking"                # a key or a section: nothing else may differ
    measures = ["needle@4", "recall@5"]  # the first is the one that decides
    baseline = "A"                       # every other one is compared with it, where no pairs are given
    pairs = [["A", "B"], ["E", "F"]]     # a and b

    [settings.embedding]                 # common to all, as in fonte.toml
    source = "package:all-MiniLM-L6-v2"

    [[configurations]]
    name = "A"
    settings.chunking = { strategy = "blind", size = 512 }

    [[configurations]]
    name = "B"
    settings.chunking = { strategy = "blind", size = 512, overlap = 64 }

Whether the settings are known ones is for whoever builds the configurations to say.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fonte.errors import InputError
from fonte.evaluation.index_facts import IndexFacts
from fonte.evaluation.scoring import DEFAULT_MEASURES, Scores, parse_measure
from fonte.evaluation.statistics import Comparison, Interval, compare_all

_KEYS = frozenset({"name", "golden", "variable", "measures", "baseline", "pairs", "settings", "configurations"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """One column of an experiment: its settings by dotted key, ``chunking.size``, the common ones among them."""

    name: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is compared with what, and by which measures; ``pairs`` are names of (a, b)."""

    name: str
    golden: Path
    variable: str
    configurations: tuple[Configuration, ...]
    pairs: tuple[tuple[str, str], ...]
    measures: tuple[str, ...]

    def __post_init__(self) -> None:
        named = {one.name: one for one in self.configurations}
        if len(self.configurations) < 2 or len(named) != len(self.configurations):  # noqa: PLR2004 - a pair
            raise ValueError("an experiment needs two configurations or more, each with a name of its own")
        if not self.pairs or len(set(self.pairs)) != len(self.pairs):
            raise ValueError("an experiment needs pairs to compare, none of them twice")
        for a, b in self.pairs:
            for name in (a, b):
                if name not in named:
                    raise ValueError(f"no configuration is called {name}")
            found = differing(named[a].settings, named[b].settings)
            if not found:
                raise ValueError(f"{a} and {b} do not differ")
            others = [key for key in found if key != self.variable and not key.startswith(f"{self.variable}.")]
            if others:
                told = ", ".join(sorted(others))
                raise ValueError(f"{a} and {b} differ in {told}, and only {self.variable} may differ")
        for name in self.measures:
            parse_measure(name)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One pair: what the two differ in (dotted key, values of a and b), and the comparison by each measure."""

    a: str
    b: str
    differences: Mapping[str, tuple[object, object]]
    measures: Mapping[str, Comparison]


@dataclass(frozen=True, slots=True)
class Judged:
    """An experiment's table: figures and facts of every configuration, and the verdict of every pair."""

    experiment: Experiment
    figures: Mapping[str, Mapping[str, Interval]]
    facts: Mapping[str, IndexFacts]
    unauthorized_hits: Mapping[str, int]
    verdicts: tuple[Verdicts, ...]


def judge(
    experiment: Experiment, scores: Mapping[str, Scores], facts: Mapping[str, IndexFacts], *, seed: int = 0
) -> Judged:
    """The table out of every configuration's scores on the same queries, and the facts of those that have an index.

    Each verdict is after Holm's correction over all pairs of its measure.

    Raises:
        ValueError: a configuration without scores, or scores of other queries.
    """
    missing = [one.name for one in experiment.configurations if one.name not in scores]
    if missing:
        raise ValueError(f"no scores of {', '.join(missing)}")
    by_measure = {name: _compared(experiment, scores, name, seed) for name in experiment.measures}
    settings = {one.name: one.settings for one in experiment.configurations}
    verdicts = tuple(
        Verdicts(
            a,
            b,
            differing(settings[a], settings[b]),
            {name: found[f"{a}\0{b}"] for name, found in by_measure.items() if found},
        )
        for a, b in experiment.pairs
    )
    return Judged(
        experiment=experiment,
        figures={one.name: scores[one.name].summary(seed=seed) for one in experiment.configurations},
        facts=facts,
        unauthorized_hits={one.name: scores[one.name].unauthorized_hits for one in experiment.configurations},
        verdicts=verdicts,
    )


def _compared(experiment: Experiment, scores: Mapping[str, Scores], measure: str, seed: int) -> dict[str, Comparison]:
    """Every pair by one measure; empty where it is defined for no query of the set."""
    values = {one.name: scores[one.name].values.get(measure, {}) for one in experiment.configurations}
    queries = list(values[experiment.configurations[0].name])
    for name, by_query in values.items():
        if by_query.keys() != set(queries):
            raise ValueError(f"{measure} of {name} was measured on other queries")
    if not queries:
        return {}
    listed = {name: [by_query[query] for query in queries] for name, by_query in values.items()}
    pairs = {f"{a}\0{b}": (listed[a], listed[b]) for a, b in experiment.pairs}
    questions = tuple(question for question, _ in queries)
    return compare_all(pairs, groups=dict.fromkeys(pairs, questions), seed=seed)


def differing(a: Mapping[str, object], b: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """The keys whose values differ, with the value of each side; None where a side does not set it."""
    return {key: (a.get(key), b.get(key)) for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)}


def flat(settings: Mapping[str, object], under: str = "") -> dict[str, object]:
    """Settings by dotted key. Lists are values: sources and their rules are told as a whole."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        name = f"{under}.{key}" if under else key
        if isinstance(value, Mapping):
            found |= flat(value, name)
        else:
            found[name] = value
    return found


# --- files -----------------------------------------------------------------------------------------------------------


def load_experiment(path: Path) -> Experiment:
    """An experiment out of its TOML file.

    Raises:
        InputError: a file that cannot be read, an unknown key, or an experiment that contradicts itself.
    """
    root = _toml(path)
    unknown = sorted(root.keys() - _KEYS)
    if unknown:
        raise _fault(path, f"there is no key {unknown[0]}; known are {', '.join(sorted(_KEYS))}")
    common = flat(_table(root, "settings", path))
    configurations = tuple(_configurations(root, common, path))
    names = [one.name for one in configurations]
    baseline = _text(root, "baseline", path) if "baseline" in root else (names or [""])[0]
    pairs = tuple(_pairs(root, path)) or tuple((baseline, name) for name in names if name != baseline)
    try:
        return Experiment(
            name=_text(root, "name", path) if "name" in root else path.stem,
            golden=path.parent / _text(root, "golden", path),
            variable=_text(root, "variable", path),
            configurations=configurations,
            pairs=pairs,
            measures=tuple(_texts(root.get("measures", list(DEFAULT_MEASURES)), "measures", path)),
        )
    except ValueError as error:
        raise _fault(path, str(error)) from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or type(error).__name__}", hint="name an experiment's .toml file"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _fault(path, f"is not TOML: {error}") from error


def _configurations(root: Mapping[str, Any], common: Mapping[str, object], path: Path) -> Iterator[Configuration]:
    listed = root.get("configurations", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise _fault(path, "configurations should be tables: [[configurations]]")
    for one in listed:
        strange = sorted(one.keys() - {"name", "settings"})
        if strange:
            raise _fault(path, f"a configuration has no key {strange[0]}; known are name, settings")
        yield Configuration(_text(one, "name", path), {**common, **flat(_table(one, "settings", path))})


def _pairs(root: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str]]:
    listed = root.get("pairs", [])
    if not isinstance(listed, list):
        raise _fault(path, "pairs should be a list of [a, b]")
    for one in listed:
        names = list(_texts(one, "each of pairs", path))
        if len(names) != 2:  # noqa: PLR2004 - a and b
            raise _fault(path, "each of pairs should be [a, b]")
        yield names[0], names[1]


def _text(table: Mapping[str, Any], key: str, path: Path) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _fault(path, f"{key} should be text")
    return value


def _texts(value: object, what: str, path: Path) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one.strip() for one in value):
        raise _fault(path, f"{what} should be a list of texts")
    return value


def _table(table: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise _fault(path, f"{key} should be a table")
    return value


def _fault(path: Path, message: str) -> InputError:
    return InputError(f"{path}: {message}", hint="correct the experiment's file")
