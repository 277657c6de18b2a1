"""Plots of calibration: risk against coverage, and where the nearest passages lie. matplotlib draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from calibration_measure import Line

from fonte.evaluation.calibrating import Calibrated
from fonte.evaluation.risk import Judged, risk_coverage

COLORS = {"calibrated gate": "#0b6e4f", "plain distance": "#b3541e", "all signs and the proposed": "#3d5a98"}
WIDTH, HEIGHT = 3.1, 2.6
"""Inches of a panel."""


def draw(path: Path, title: str, panels: Sequence[tuple[Line, Calibrated, Sequence[float]]]) -> None:
    """One picture of a kind: a column for each set, above risk and coverage, below distances."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 8}):
        figure = Figure(figsize=(WIDTH * len(panels), 2 * HEIGHT), layout="tight")
        axes = figure.subplots(2, len(panels), squeeze=False)
        for at, (line, found, proposed) in enumerate(panels):
            _risk(axes[0][at], line, found, proposed)
            _distances(axes[1][at], line)
        axes[0][0].set_ylabel("answered that nothing answers")
        axes[1][0].set_ylabel("share of questions")
        figure.suptitle(title)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=80, metadata={"Software": None})


def _risk(axes: Any, line: Line, found: Calibrated, proposed: Sequence[float]) -> None:
    kinds, groups = [case.answerable for case in line.cases], [case.group for case in line.cases]
    curves: Mapping[str, Sequence[tuple[float, float]]] = {
        "calibrated gate": found.curve,
        "plain distance": found.distance_curve,
        "all signs and the proposed": risk_coverage(Judged.of(proposed, kinds, groups)),
    }
    for name, curve in curves.items():
        axes.plot(*zip(*curve, strict=True), color=COLORS[name], label=name, linewidth=1.4)
    axes.axhline(1 - line.answerable / len(line.cases), color="#999999", linewidth=0.8, linestyle=":")
    axes.set(title=f"{line.set} (n {len(line.cases)})", xlabel="coverage", xlim=(0, 1), ylim=(0, None))
    axes.legend(fontsize=6.5, frameon=False, loc="upper left")


def _distances(axes: Any, line: Line) -> None:
    both = {
        can: [case.distance for case in line.cases if case.answerable is can and case.distance is not None]
        for can in (True, False)
    }
    edges = np.linspace(*np.quantile([*both[True], *both[False]], [0.0, 0.995]), 30)
    for can, color in ((True, COLORS["calibrated gate"]), (False, COLORS["plain distance"])):
        weights = np.full(len(both[can]), 1 / max(1, len(both[can])))
        label = f"{'answerable' if can else 'not'} ({len(both[can])})"
        axes.hist(both[can], edges, weights=weights, color=color, alpha=0.55, label=label)
    axes.set(xlabel="distance of the nearest passage")
    axes.legend(fontsize=6.5, frameon=False)
