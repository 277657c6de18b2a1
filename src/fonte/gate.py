"""Evidence to a verdict: may an answer be attempted, or is "not in the documents" the honest reply?

The default gate is a logistic function over several features of the evidence (see fonte.evidence.features), with
weights fitted once on public and own questions (docs/evaluation.md tells on which). It is reported as uncalibrated:
only a person's own answerable and unanswerable questions can calibrate it for their documents (fonte.calibration).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from fonte.types import GateVerdict, Space, sha256_hex


@dataclass(frozen=True, slots=True)
class GateModel:
    """Weights by feature name, an intercept, and the threshold on the resulting probability.

    With ``steps``, pairs of rising sums and probabilities, the probability is read off between them instead of from the
    logistic function. ``bound`` is the hash of what a calibrated gate was calibrated for.
    """

    weights: Mapping[str, float]
    intercept: float
    threshold: float
    calibrated: bool = False
    steps: tuple[tuple[float, float], ...] = ()
    bound: str = ""

    def __post_init__(self) -> None:
        numbers = (
            *self.weights.values(),
            self.intercept,
            self.threshold,
            *(one for step in self.steps for one in step),
        )
        if not all(math.isfinite(one) for one in numbers):
            raise ValueError("a gate is made of finite numbers")
        if any(before >= after for (before, _), (after, _) in pairwise(self.steps)):
            raise ValueError("the steps of a gate rise")

    @property
    def stamp(self) -> str:
        """Short hash of every number in it, and of what it is bound to."""
        numbers = (sorted(self.weights.items()), self.intercept, self.threshold, self.calibrated)
        return sha256_hex(repr((*numbers, self.steps, self.bound) if self.steps or self.bound else numbers))[:12]

    def judge(self, features: Mapping[str, float]) -> GateVerdict:
        """Whether the evidence is enough; ``score`` is between 0 and 1."""
        total = self.intercept + math.fsum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        score = self._along_steps(total) if self.steps else 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))
        return GateVerdict(
            sufficient=score >= self.threshold,
            score=score,
            threshold=self.threshold,
            calibrated=self.calibrated,
            stamp=self.stamp,
            features=dict(features),
        )

    def _along_steps(self, total: float) -> float:
        after = bisect_right(self.steps, total, key=lambda step: step[0])
        if after in (0, len(self.steps)):
            return self.steps[0 if after == 0 else -1][1]
        (low, first), (high, last) = self.steps[after - 1 : after + 1]
        return first + (last - first) * (total - low) / (high - low)

    def nothing(self) -> GateVerdict:
        """The verdict where nothing was retrieved: there is no evidence to judge."""
        return GateVerdict(False, 0.0, self.threshold, self.calibrated, self.stamp)  # noqa: FBT003 - its first field


_MULTILINGUAL_E5_SMALL = GateModel(
    weights={
        "sentence": 71.2,
        "similarity": 16.6,
        "comparable": 0.8,
        "code_missing": -4.0,
        "quoted": -4.0,
    },
    intercept=-74.8,
    threshold=0.5,
)

HELD_SIGNS = ("code_missing", "quoted")
"""Certain signs that are rare among questions: where a golden set shows too few of them, calibration keeps weights."""

DIRECTIONS: Mapping[str, int] = {
    "similarity": 1,
    "alignment": 1,
    "sentence": 1,
    "sentence_alignment": 1,
    "coverage": 1,
    "sentence_coverage": 1,
    "reading": 1,
    "weakest": 1,
    "numbers": 1,
    "late": 1,
    "code_missing": -1,
    "quoted": -1,
}
"""Signs of which more can only speak for an answer (1), or against one (-1), whatever a small sample says."""

DEFAULT_GATE = _MULTILINGUAL_E5_SMALL
"""The gate of the default encoder."""

_BY_MODEL: Mapping[str, GateModel] = {"multilingual-e5-small": _MULTILINGUAL_E5_SMALL}

_ANY_MODEL = GateModel(
    weights={"coverage": 3.0, "agreement": 1.0, "standing": 0.3, "code_missing": -4.0, "quoted": -4.0},
    intercept=-2.5,
    threshold=0.5,
)
"""For encoders whose cosines were never looked at: signs that mean the same in every space."""

_PARTS: Mapping[str, GateModel] = {
    "multilingual-e5-small": GateModel(weights={"late": 15.0, "sentence_coverage": 4.7}, intercept=-12.1, threshold=0.5)
}
"""For one part of a question, by model: fitted on 110 parts of our own (docs/query.md)."""
_SHORT_OF_GATE = 0.5
"""Share of the gate's threshold below which a part has no evidence, where its own signs are not there."""

NOTHING = GateVerdict(sufficient=False, score=0.0, threshold=DEFAULT_GATE.threshold, calibrated=False, stamp="")
"""The verdict where there is no index, and so no encoder whose gate could be named."""


def part_is_there(space: Space, verdict: GateVerdict, *, lengthened: bool) -> bool:
    """Whether one part of a question has evidence, from the verdict on it as a question of its own.

    Whoever asks two things here mostly finds both, and a part is short: late interaction and the share of its words
    tell an absent part from one that is there better than the gate does, which judges whole questions. ``lengthened``:
    words that ask nothing were put to it ("I start in Udine: …"), which no answer repeats; then the gate's yes is
    enough. Where the index has no token codes, or of another model, the gate's own score has to be half of what it
    wants of a question.
    """
    if lengthened and verdict.sufficient:
        return True
    own = _PARTS.get(space.model)
    if own is not None and verdict.features.get("late"):
        return own.judge(verdict.features).sufficient
    return verdict.score >= _SHORT_OF_GATE * verdict.threshold


def gate_for(space: Space) -> GateModel:
    """The uncalibrated gate of an embedding space: cosines of one model say nothing about another's."""
    return _BY_MODEL.get(space.model, _ANY_MODEL)
