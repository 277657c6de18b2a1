"""Late interaction over stored token codes: a question and a passage meet token by token, not as two whole vectors.

A passage scores the weighted mean, over the question's tokens, of the best dot product with one of its tokens (Khattab
and Zaharia, "ColBERT", SIGIR 2020). A token's weight is read out of its code along a direction that was fitted to
questions, so that "deposit" counts more than "how" (ADR 28). Tokens are kept as small codes, as "ColBERTv2" does by
residuals (Santhanam et al., NAACL 2022) and PLAID searches them (CIKM 2022); here centered, projected on their first
principal components and rounded to int8, which needs no codebook: a passage's codes depend on nothing but its text and
the codec.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fonte.types import Codes, TokenWeights, Vectors

SCALE = 127
"""A coordinate of 1 as int8."""
SHIFT_WEIGHT = 2.0
"""How much of the language shift (``ranking.languages.shifts``) a MaxSim is moved by; chosen on the handbook's first
golden set: codes are compared after centering, which leaves single tokens nearer to their language than whole texts."""
COVERAGE_WEIGHT = 0.2
"""What the share of the question's rare words that a passage holds adds to its MaxSim: a mean over all tokens hardly
moves where one name is missing. Chosen on the handbook's first two golden sets, flat from 0.2 to 0.4 there,
and on 150 questions each of two public sets, where less is a little better (ADR 21)."""
_STEEPEST = 3.0
_FORM = b"center-project-unit-int8/1"
_SHORTEST = 1e-6
_STRIDE = 2048
"""Passage tokens multiplied at once: small products stay in the caches, and BLAS starts no threads for them."""


@dataclass(frozen=True)
class TokenCodec:
    """Token vectors to codes: ``mean`` (dim,) is taken away, ``projection`` (dim, width) has orthonormal columns.

    ``importance`` (width,) is the direction in which a question's codes weigh more.
    """

    mean: npt.NDArray[np.float32]
    projection: npt.NDArray[np.float32]
    importance: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.projection.ndim != 2 or self.mean.shape != self.projection.shape[:1]:  # noqa: PLR2004 - a matrix
            raise ValueError(f"a mean of shape {self.mean.shape} for a projection of shape {self.projection.shape}")
        if self.importance.shape != (self.width,):
            raise ValueError(f"an importance of shape {self.importance.shape} for codes of {self.width} numbers")
        if not all(np.isfinite(part).all() for part in (self.mean, self.projection, self.importance)):
            raise ValueError("a codec's numbers must be finite")

    @property
    def width(self) -> int:
        """Numbers in one code."""
        return int(self.projection.shape[1])

    @cached_property
    def id(self) -> str:
        """Hash over the form of the codes and every number that makes them: codes of two codecs never meet."""
        digest = hashlib.sha256(_FORM)
        for part in (self.mean, self.projection):
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype="<f4").tobytes())
        return digest.hexdigest()[:20]

    @cached_property
    def weighing(self) -> str:
        """Hash over what weighs tokens; it changes no code."""
        return hashlib.sha256(np.ascontiguousarray(self.importance, dtype="<f4").tobytes()).hexdigest()[:20]

    def weights(self, codes: Codes) -> TokenWeights:
        """How much each of a question's tokens counts: exp of its code along ``importance``, within e^-3 and e^3."""
        along = codes.astype(np.float64) @ self.importance.astype(np.float64) / SCALE
        weights: TokenWeights = np.exp(np.clip(along, -_STEEPEST, _STEEPEST))
        return weights

    def encode(self, vectors: Vectors) -> Codes:
        """Codes (n, width), int8, of token vectors (n, dim).

        A vector that is the mean itself has no direction left: its code is zero and matches nothing.

        Raises:
            ValueError: another dimension, or values that are not finite.
        """
        if vectors.ndim != 2 or vectors.shape[1] != len(self.mean):  # noqa: PLR2004 - rows and columns
            raise ValueError(f"token vectors of shape {vectors.shape} for a codec of {len(self.mean)} dimensions")
        if not np.isfinite(vectors).all():
            raise ValueError("a token vector is not finite")
        projected = (vectors.astype(np.float32) - self.mean) @ self.projection
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        unit = projected / np.maximum(lengths, np.float32(_SHORTEST))
        codes: Codes = np.round(unit * SCALE).astype(np.int8)
        return codes


def maxsim(question: Codes, passages: Sequence[Codes], weights: TokenWeights) -> list[float]:
    """For each passage the weighted mean over the question's tokens of the best product with one of its tokens.

    From about -1 to 1.

    Args:
        question: codes (q, width).
        weights: of its tokens (q,).
        passages: codes (n, width) each; one without tokens scores -1, below all others.

    Products of int8 codes of up to 1,024 numbers are whole numbers that float32 holds exactly, so that equal codes
    give equal scores whatever the order or number of passages.

    Raises:
        ValueError: the question has no tokens, or widths differ.
    """
    if not len(question):
        raise ValueError("a question without tokens cannot be compared")
    wide = question.astype(np.float32)
    return [_best(wide, passage, weights) if len(passage) else -1.0 for passage in passages]


def _best(question: npt.NDArray[np.float32], passage: Codes, weights: TokenWeights) -> float:
    best = np.full(len(question), -np.inf, np.float32)
    for start in range(0, len(passage), _STRIDE):
        part = passage[start : start + _STRIDE].astype(np.float32)
        np.maximum(best, (question @ part.T).max(axis=1), out=best)
    return float(np.average(best.astype(np.float64), weights=weights)) / (SCALE * SCALE)
