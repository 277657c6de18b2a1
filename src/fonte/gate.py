"""Evidence to a verdict: may an answer be attempted, or is "not in the documents" the honest reply?

The default gate is a logistic function over several features of the evidence (see fonte.evidence.features), with
weights fitted once on public and own questions (docs/evaluation.md tells on which). It is reported as uncalibrated:
only a person's own answerable and unanswerable questions can calibrate it for their documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fonte.types import GateVerdict, Space, sha256_hex


@dataclass(frozen=True, slots=True)
class GateModel:
    """Weights by feature name, an intercept, and the threshold on the resulting probability."""

    weights: Mapping[str, float]
    intercept: float
    threshold: float
    calibrated: bool = False

    @property
    def stamp(self) -> str:
        """Short hash of every number in it."""
        return sha256_hex(repr((sorted(self.weights.items()), self.intercept, self.threshold, self.calibrated)))[:12]

    def judge(self, features: Mapping[str, float]) -> GateVerdict:
        """Whether the evidence is enough; ``score`` is between 0 and 1."""
        total = self.intercept + math.fsum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        score = 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))
        return GateVerdict(
            sufficient=score >= self.threshold,
            score=score,
            threshold=self.threshold,
            calibrated=self.calibrated,
            stamp=self.stamp,
            features=dict(features),
        )

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

DEFAULT_GATE = _MULTILINGUAL_E5_SMALL
"""The gate of the default encoder."""

_BY_MODEL: Mapping[str, GateModel] = {"multilingual-e5-small": _MULTILINGUAL_E5_SMALL}

_ANY_MODEL = GateModel(
    weights={"coverage": 3.0, "agreement": 1.0, "standing": 0.3, "code_missing": -4.0, "quoted": -4.0},
    intercept=-2.5,
    threshold=0.5,
)
"""For encoders whose cosines were never looked at: signs that mean the same in every space."""

NOTHING = GateVerdict(sufficient=False, score=0.0, threshold=DEFAULT_GATE.threshold, calibrated=False, stamp="")
"""The verdict where there is no index, and so no encoder whose gate could be named."""


def gate_for(space: Space) -> GateModel:
    """The uncalibrated gate of an embedding space: cosines of one model say nothing about another's."""
    return _BY_MODEL.get(space.model, _ANY_MODEL)
