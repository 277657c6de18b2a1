"""A plot of what the support checks find and accuse falsely, with intervals. matplotlib draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NAMES = {
    "number": "number changed",
    "unit": "unit changed",
    "currency": "currency changed",
    "date": "date moved",
    "negation_added": "negation added",
    "negation_removed": "negation removed",
    "opposite": "must for may, ...",
    "entity": "name swapped",
    "code": "code changed",
    "merged": "clauses merged",
}
BASES = {"of verbatim": ("of sentences as they stand", "#3d5a98"), "of paraphrases": ("of paraphrases", "#b3541e")}
ALARMS = {
    "all": "all",
    "verbatim": "as they stand",
    "paraphrases": "paraphrases",
    "later paraphrases": "of these, later",
    "paraphrases across languages": "of these, across languages",
}
ALLOWED = 0.05


def draw(path: Path, result: Mapping[str, Any]) -> None:
    """One picture: the share of each kind that is flagged, and of faithful sentences, with Wilson's intervals."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 8}):
        figure = Figure(figsize=(9.2, 3.9), layout="tight")
        found, alarms = figure.subplots(1, 2, width_ratios=(3, 2))
        kinds = [kind for kind in NAMES if kind in result["recall"]]
        for shift, (base, (label, color)) in zip((-0.17, 0.17), BASES.items(), strict=True):
            shares = [result["recall"][kind][base] for kind in kinds]
            _points(found, shares, [at + shift for at in range(len(kinds))], color, label)
        for at, kind in enumerate(kinds):
            if (goal := result["recall"][kind]["goal"]) is not None:
                found.plot([goal, goal], [at - 0.4, at + 0.4], color="#0b6e4f", linewidth=1.4)
        _axes(found, [NAMES[kind] for kind in kinds], f"changes that are flagged ({result['half']})", 1.0)
        found.legend(fontsize=6.5, frameon=False, loc="upper left")
        shares = [result["false alarms"][group] for group in ALARMS]
        _points(alarms, shares, list(range(len(shares))), "#3d5a98", "")
        alarms.axvline(ALLOWED, color="#0b6e4f", linewidth=1.4)
        _axes(alarms, list(ALARMS.values()), "faithful sentences that are flagged", 0.5)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=80, metadata={"Software": None})


def _points(axes: Any, shares: Sequence[Mapping[str, float]], places: Sequence[float], color: str, label: str) -> None:
    drawn = [(share, place) for share, place in zip(shares, places, strict=True) if share["n"]]
    values = [share["value"] for share, _ in drawn]
    low = [share["value"] - share["low"] for share, _ in drawn]
    high = [share["high"] - share["value"] for share, _ in drawn]
    axes.errorbar(
        values, [place for _, place in drawn], xerr=[low, high], fmt="o", color=color, label=label, markersize=3.5
    )
    for share, place in drawn:
        axes.annotate(
            f"n {share['n']}", (share["high"], place), (3, -2.5), textcoords="offset points", fontsize=5.5, color=color
        )


def _axes(axes: Any, names: Sequence[str], title: str, most: float) -> None:
    axes.set(title=title, yticks=range(len(names)), yticklabels=names, xlim=(0, most * 1.12))
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
