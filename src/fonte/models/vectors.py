"""Raw model output to unit rows, or an error: a zero vector cannot come out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fonte.errors import BadModelOutput
from fonte.types import Vectors

_SHORTEST = 1e-6
_TOLERANCE = 1e-3


def unit_rows(raw: npt.NDArray[np.floating], dimensions: int, model: str) -> Vectors:
    """Rows (n, dimensions) scaled to length 1.

    Raises:
        BadModelOutput: another shape, values that are not finite, or a row without length.
    """
    if raw.ndim != 2 or raw.shape[1] != dimensions:  # noqa: PLR2004 - rows and columns
        raise BadModelOutput(f"{model} gave vectors of shape {raw.shape}, not of {dimensions} dimensions")
    wide = raw.astype(np.float64)
    if not np.isfinite(wide).all():
        raise BadModelOutput(f"{model} gave a vector that is not finite")
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if (lengths < _SHORTEST).any():
        raise BadModelOutput(f"{model} gave a zero vector")
    unit: Vectors = (wide / lengths).astype(np.float32)
    if (np.abs(np.linalg.norm(unit, axis=1) - 1) > _TOLERANCE).any():
        raise BadModelOutput(f"{model} gave a vector that cannot be scaled to length 1")
    return unit
