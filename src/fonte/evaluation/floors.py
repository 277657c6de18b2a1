"""Floors of a golden set, and whether a candidate is good enough: pass, fail, or cannot tell.

A floors file is JSON:

    {"golden": "handbook",
     "fingerprint": "3f2a…",                  what corpus_fingerprint gave when it was written
     "floors": {"needle@5": 0.9},             lowest value of a measure
     "ceilings": {"bluff_rate": 0.05},        highest value of one that should be low
     "margin": 0.05}                          loss against the active generation that would be borne

Two judgments: `judge_floors` of one index against the file, and `judge_pairs` of a candidate against the active
generation, query by query. A floor is of one set of questions over one state of their documents, so that figures of
any other are refused instead of compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, Literal, TypeAlias

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.scoring import Scores
from fonte.evaluation.statistics import CONFIDENCE, Interval, bootstrap_mean
from fonte.types import sha256_hex

Outcome: TypeAlias = Literal["pass", "fail", "cannot_tell"]
DEFAULT_MARGIN: Final = 0.05
_KEYS: Final = frozenset({"golden", "fingerprint", "floors", "ceilings", "margin"})
_FEW = 5
"""Below so many queries that differ, resampling them says too little."""
_STEPS = 60
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Floors:
    """Lowest (``floors``) and highest (``ceilings``) values by measure, for one corpus fingerprint."""

    fingerprint: str
    floors: Mapping[str, float]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    margin: float = DEFAULT_MARGIN
    golden: str = ""

    def __post_init__(self) -> None:
        if not self.fingerprint:
            raise ValueError("floors need the fingerprint of their corpus")
        if not self.floors and not self.ceilings:
            raise ValueError("floors need at least one measure")
        values = (*self.floors.values(), *self.ceilings.values())
        if any(not 0 <= value <= 1 for value in values):
            raise ValueError("a floor lies in 0..1")
        if not 0 < self.margin < 1:
            raise ValueError("a margin lies between 0 and 1")


@dataclass(frozen=True, slots=True)
class FloorLine:
    """One measure: ``bound`` is the floor, the ceiling or minus the margin, ``found`` what was measured."""

    measure: str
    outcome: Outcome
    bound: float
    found: Interval | None
    message: str


@dataclass(frozen=True, slots=True)
class FloorVerdict:
    """Fail where one line fails, pass where every line passes. ``fits`` says that the file is of this corpus."""

    outcome: Outcome
    lines: tuple[FloorLine, ...]
    fits: bool = True

    @property
    def reasons(self) -> tuple[str, ...]:
        """In words, what did not pass."""
        return tuple(line.message for line in self.lines if line.outcome != "pass")

    def as_json(self) -> dict[str, object]:
        """The verdict for programs."""
        return {
            "outcome": self.outcome,
            "fits": self.fits,
            "lines": [
                {
                    "measure": line.measure,
                    "outcome": line.outcome,
                    "bound": line.bound,
                    "value": None if line.found is None else round(line.found.value, 6),
                    "low": None if line.found is None else round(line.found.low, 6),
                    "high": None if line.found is None else round(line.found.high, 6),
                    "n": None if line.found is None else line.found.n,
                    "message": line.message,
                }
                for line in self.lines
            ],
        }


def corpus_fingerprint(golden: GoldenSet, versions: Mapping[str, str]) -> str:
    """Hash of a golden set and of the source versions (by document name) of the documents that it asks about.

    Other documents may come and go: that they push the right ones down is what a floor is there to show. Versions are
    hashes of bytes, so that another parser or normaliser is judged and not excused. A document that is absent counts
    as such.
    """
    named = sorted({name for question in golden.questions for name in question.relevance})
    return sha256_hex(repr((golden.fingerprint, [(name, versions.get(name, "")) for name in named])))[:16]


def judge_floors(floors: Floors, summary: Mapping[str, Interval], fingerprint: str) -> FloorVerdict:
    """Every floor against what was measured (`Scores.summary`, and the rates of answers where they were measured).

    On one set the same index gives the same value, so the value itself is compared and not its interval; what the set
    could not show is for `judge_pairs` to say. A measure that is missing, or a file of another corpus (``fits`` is
    then False, and no value was compared), cannot be told.
    """
    if fingerprint != floors.fingerprint:
        message = f"the floors are of corpus {floors.fingerprint}, this one is {fingerprint}"
        return FloorVerdict("cannot_tell", (FloorLine("", "cannot_tell", 0.0, None, message),), fits=False)
    lines = [_bounded(name, bound, summary.get(name), lowest=True) for name, bound in floors.floors.items()]
    lines += [_bounded(name, bound, summary.get(name), lowest=False) for name, bound in floors.ceilings.items()]
    return _verdict(lines)


def judge_pairs(floors: Floors, before: Scores, after: Scores) -> FloorVerdict:
    """A candidate (``after``) against the active generation on the same queries, by every floor's measure.

    Pass: the whole 95 % interval of the difference lies above minus the margin; fail: all of it below; else the set
    cannot tell. Not a test of difference: no significant loss is no proof that nothing was lost.

    Raises:
        ValueError: the two were measured on different queries.
    """
    lines = []
    for name in floors.floors:
        a, b = before.values.get(name, {}), after.values.get(name, {})
        if a.keys() != b.keys():
            raise ValueError(f"{name} was measured on different queries")
        if not a:
            message = f"{name} was not measured"
            lines.append(FloorLine(name, "cannot_tell", -floors.margin, None, message))
            continue
        found = difference(list(a.values()), [b[query] for query in a], [question for question, _ in a])
        lines.append(_non_inferior(name, floors.margin, found))
    return _verdict(lines)


def difference(before: Sequence[float], after: Sequence[float], groups: Sequence[str]) -> Interval:
    """Mean of after - before with its 95 % interval, over questions (``groups``), wide enough also for equal runs.

    Yes-or-no values of one wording a question: the score interval of Tango (Statistics in Medicine 17, 1998). Else the
    bootstrap over questions; where fewer than five of them differ, also Tango's, each difference counted whole.
    """
    changes: dict[str, list[float]] = {}
    for group, was, now in zip(groups, before, after, strict=True):
        changes.setdefault(group, []).append(now - was)
    means = [math.fsum(one) / len(one) for one in changes.values()]
    wins, losses = sum(one > 0 for one in means), sum(one < 0 for one in means)
    value = math.fsum(now - was for was, now in zip(before, after, strict=True)) / len(before)
    low, high = tango(wins, losses, len(means))
    if all(abs(one) in (0, 1) for one in means):
        return Interval(value, low, high, len(before))
    drawn = bootstrap_mean([b - a for a, b in zip(before, after, strict=True)], groups=groups)
    if wins + losses >= _FEW:
        return drawn
    return Interval(value, min(low, drawn.low), max(high, drawn.high), len(before))


def tango(wins: int, losses: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Score interval of (wins - losses) / n for paired proportions; never of width 0, also where nothing differs.

    Raises:
        ValueError: more discordant pairs than pairs, or no pair.
    """
    if n < 1 or min(wins, losses) < 0 or wins + losses > n:
        raise ValueError(f"not paired proportions: {wins} and {losses} of {n}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    value = (wins - losses) / n

    def root(inside: float, outside: float, far: Callable[[float], bool]) -> float:
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if far(middle) else (middle, outside)
        return inside

    low = root(value, -1.0, lambda at: _score(wins, losses, n, at) > z)
    high = root(value, 1.0, lambda at: _score(wins, losses, n, at) < -z)
    return low, high


def smallest_margin(questions: int) -> float:
    """The least loss, in hundredths, that so many questions rule out where nothing differs, or the usual margin.

    Raises:
        ValueError: no question.
    """
    low, _ = tango(0, 0, questions)
    return max(DEFAULT_MARGIN, math.floor(-low * 100 + 1) / 100)


def _score(wins: int, losses: int, n: int, at: float) -> float:
    """Tango's statistic for a true difference of ``at``: (b - c - nδ) / √(n(2q + δ(1 - δ))), q constrained by δ."""
    linear = -wins - losses + (2 * n - wins + losses) * at
    constant = -losses * at * (1 - at)
    q = (math.sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * q + at * (1 - at))
    gap = wins - losses - n * at
    if variance <= 0:
        return math.copysign(math.inf, gap) if gap else 0.0
    return gap / math.sqrt(variance)


def _bounded(name: str, bound: float, found: Interval | None, *, lowest: bool) -> FloorLine:
    what = "floor" if lowest else "ceiling"
    if found is None:
        return FloorLine(name, "cannot_tell", bound, None, f"{name} was not measured, its {what} is {bound:g}")
    kept = found.value >= bound - _ROUNDING if lowest else found.value <= bound + _ROUNDING
    side = ("at or above" if lowest else "at or below") if kept else ("below" if lowest else "above")
    message = f"{name} is {found.value:.4f} over {found.n} queries, {side} its {what} {bound:g}"
    return FloorLine(name, "pass" if kept else "fail", bound, found, message)


def _non_inferior(name: str, margin: float, found: Interval) -> FloorLine:
    outcome: Outcome = "pass" if found.low > -margin else "fail" if found.high < -margin else "cannot_tell"
    told = f"{name} changed by {found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f}, {found.n} queries)"
    words = {
        "pass": f"less than {margin:g} was lost",
        "fail": f"more than {margin:g} was lost",
        "cannot_tell": f"the set cannot tell whether {margin:g} was lost",
    }
    return FloorLine(name, outcome, -margin, found, f"{told}: {words[outcome]}")


def _verdict(lines: Sequence[FloorLine]) -> FloorVerdict:
    outcomes = {line.outcome for line in lines}
    worst: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "cannot_tell"
    return FloorVerdict(worst, tuple(lines))


# --- files -----------------------------------------------------------------------------------------------------------


def load_floors(path: Path) -> Floors:
    """Floors out of their JSON file.

    Raises:
        InputError: a file that cannot be read, is no JSON, has an unknown key, or contradicts itself.
    """
    try:
        root = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        told = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be read: {told}", hint="name a floors file") from error
    except (ValueError, RecursionError) as error:
        raise _fault(path, f"is not JSON in UTF-8: {error}") from error
    if not isinstance(root, dict):
        raise _fault(path, "should be one JSON object")
    unknown = sorted(root.keys() - _KEYS)
    if unknown:
        raise _fault(path, f"there is no key {unknown[0]}; known are {', '.join(sorted(_KEYS))}")
    texts = {key: root.get(key, "") for key in ("golden", "fingerprint")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise _fault(path, f"{key} should be text")
    try:
        return Floors(
            fingerprint=texts["fingerprint"],
            floors=_numbers(root, "floors", path),
            ceilings=_numbers(root, "ceilings", path),
            margin=_number(root.get("margin", DEFAULT_MARGIN), "margin", path),
            golden=texts["golden"],
        )
    except ValueError as error:
        raise _fault(path, str(error)) from error


def save_floors(floors: Floors, path: Path) -> None:
    """Write a floors file that `load_floors` reads. Raises OSError."""
    root = {
        "golden": floors.golden,
        "fingerprint": floors.fingerprint,
        "floors": dict(floors.floors),
        "ceilings": dict(floors.ceilings),
        "margin": floors.margin,
    }
    path.write_text(json.dumps(root, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _numbers(root: Mapping[str, Any], key: str, path: Path) -> dict[str, float]:
    table = root.get(key, {})
    if not isinstance(table, dict):
        raise _fault(path, f"{key} should be an object of numbers by measure")
    return {name: _number(value, f"{key} of {name}", path) for name, value in table.items()}


def _number(value: object, what: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _fault(path, f"{what} should be a number")
    return float(value)


def _fault(path: Path, message: str) -> InputError:
    return InputError(f"{path}: {message}", hint="correct the floors file")
