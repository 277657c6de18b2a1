"""Ruled lines in a picture: they spoil the words between them, and show that there is a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PIL.Image import Image

_DARK = 140
_GREY = 190
"""Rules are thin, and pale where they were drawn between pixels."""
_MARGIN_DPI = 100
"""One more pixel around a rule is painted for each of these dots an inch."""
_RULE_INCHES = 0.5
_THICK_INCHES = 0.04
_BLANK_SHARE = 0.0005
"""Share of dark pixels of a picture that holds nothing but specks."""
_FEW = 3
"""Rules in each direction that make a table."""


def without_rules(image: Image, dpi: int) -> tuple[Image, bool]:
    """(the grey picture with long thin lines painted white, whether they crossed as in a table)."""
    import numpy as np
    from PIL.Image import fromarray

    pixels = np.asarray(image)
    dark = pixels < _GREY
    length, thick = max(round(_RULE_INCHES * dpi), 30), max(round(_THICK_INCHES * dpi), 4)
    across = _runs(dark, length) & ~_runs(dark.T, thick).T
    down = _runs(dark.T, length).T & ~_runs(dark, thick)
    rows, columns = _bands(across), _bands(down.T)
    if rows < _FEW and columns < _FEW:
        return image, False
    table = rows >= _FEW and columns >= _FEW - 1
    rules = across | down
    for _ in range(max(dpi // _MARGIN_DPI, 1)):
        rules[1:] |= rules[:-1].copy()
        rules[:-1] |= rules[1:].copy()
        rules[:, 1:] |= rules[:, :-1].copy()
        rules[:, :-1] |= rules[:, 1:].copy()
    return fromarray(np.where(rules, np.uint8(255), pixels)), table


def _runs(dark: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.bool_]:
    """The dark pixels that lie in a run of ``length`` or more along their row."""
    import numpy as np

    height, width = dark.shape
    if width < length:
        return np.zeros_like(dark)
    sums = np.zeros((height, width + 1), np.int32)
    np.cumsum(dark, axis=1, out=sums[:, 1:])
    starts = (sums[:, length:] - sums[:, :-length]) == length
    opened = np.zeros((height, width + 1), np.int32)
    opened[:, : starts.shape[1]] += starts
    opened[:, length:] -= starts[:, : width + 1 - length]
    return np.cumsum(opened, axis=1, out=opened)[:, :width] > 0


def _bands(marked: npt.NDArray[np.bool_]) -> int:
    """Runs of rows with a marked pixel."""
    return len("".join("x" if row.any() else " " for row in marked).split())


def uncovered_share(image: Image, boxes: Sequence[tuple[int, int, int, int]]) -> float:
    """Share of a picture's ink outside all boxes, each widened by a quarter of its height; 0 for a blank picture."""
    import numpy as np

    dark = np.asarray(image) < _DARK
    total = int(np.count_nonzero(dark))
    if total < _BLANK_SHARE * dark.size:
        return 0.0
    left = dark.copy()
    for x0, y0, x1, y1 in boxes:
        pad = max((y1 - y0) // 4, 3)
        left[max(y0 - pad, 0) : y1 + pad, max(x0 - pad, 0) : x1 + pad] = False
    return int(np.count_nonzero(left)) / total
