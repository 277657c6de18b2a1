"""The HTML report of ``fonte calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fonte.evaluation.calibrating import KEPT, Calibrated, Case
from fonte.evaluation.html import plots
from fonte.evaluation.html.markup import figure, page, paragraph, table, tag
from fonte.evaluation.risk import OperatingPoint, Swept
from fonte.evaluation.scoring import QueryKey
from fonte.evaluation.statistics import Interval

MOST_LISTED = 200
"""Queries that were decided wrongly, listed one by one; the others are counted."""
NAMES: Mapping[str, str] = {
    "model": "calibrated gate",
    "best_single": "best single sign",
    "dense_distance": "plain dense distance",
    "gate_before": "gate before",
}
_POINT = ("", "threshold", "answerable answered", "false answers", "coverage", "risk", "cost of a query")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows: figures with the cases they are of, and each query's words."""

    golden: str
    told: Mapping[str, object]
    """Facts of the header, in order."""
    figures: Calibrated
    cases: Sequence[Case]
    words: Mapping[QueryKey, str]


def calibration_page(shown: Shown) -> str:
    """The whole page. Every figure on it is cross-validated."""
    return page(f"fonte calibrate: {shown.golden}", _parts(shown))


def interval(one: Interval | None) -> str:
    """A figure and its ends; a dash where there is none."""
    return "-" if one is None else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def compared(figures: Calibrated) -> Iterator[tuple[str, str, str, str, str]]:
    """Gate and baselines: name, AUROC, false answers where most are answered, difference, p."""
    for name, point in figures.at_kept.items():
        other = figures.baselines.get(name)
        area = figures.auroc if other is None else other.value
        better = "" if other is None else f"{other.difference.value:+.3f}"
        chance = "" if other is None else f"{other.p:.2g}"
        yield NAMES[name], interval(area), interval(point.false_answer_rate), better, chance


def point_row(name: str, one: OperatingPoint) -> tuple[str, ...]:
    """What becomes of queries at one threshold."""
    figures = (one.answered, one.false_answer_rate, one.coverage, one.risk, one.cost)
    return name, f"{one.threshold:.3f}", *(interval(figure) for figure in figures)


def swept_row(one: Swept) -> tuple[str, str, str, str]:
    """A row of document A's table."""
    cut = "none" if one.threshold is None else f"{one.threshold:.3f}"
    return cut, interval(one.recall), f"{one.answered}/{one.answerable}", f"{one.bluffs}/{one.unanswerable}"


def _parts(shown: Shown) -> Iterator[str]:
    figures = shown.figures
    yield table(("", ""), list(shown.told.items()))
    yield paragraph("Cross-validated: every query was judged by a gate that was chosen and fitted without it.", "note")
    yield tag("h2", "Can it tell what the documents answer?")
    rate = f"false answers at {KEPT:.0%} answered"
    yield table(("", "AUROC", rate, "gate better by", "p (permutation)"), compared(figures), numbers=2)
    lines = {NAMES["model"]: figures.curve, NAMES["dense_distance"]: figures.distance_curve}
    risk = figures.point.risk
    now = (figures.point.coverage.value, risk.value) if risk is not None else None
    count = f"over {len(shown.cases)} queries"
    caption = f"Share of the answers that nothing supports, as more queries are answered, {count}."
    yield figure(plots.risks("risk", lines, now), caption)
    near = [(case.answerable, case.distance) for case in shown.cases if case.distance is not None]
    can, cannot = ([distance for answerable, distance in near if answerable is kind] for kind in (True, False))
    yield figure(plots.distances("distances", can, cannot), "Where one distance alone could tell them apart.")
    yield table(("sign alone", "AUROC"), [(name, f"{value:.3f}") for name, value in figures.singles.items()], numbers=2)
    yield tag("h2", "At the threshold in force")
    points = (point_row("calibrated", figures.point), point_row("before", figures.before))
    headings, *figured = zip(_POINT, *points, strict=True)
    yield table(headings, figured, numbers=2)
    yield tag("h2", "Does a probability mean what it says?")
    bins = figures.reliability.bins
    yield figure(
        plots.reliability("reliability", [(one.said, one.found) for one in bins]),
        f"{len(bins)} bins {count}, with 95 % intervals; mean distance from the line"
        f" {figures.reliability.calibration_error:.3f},"
        f" Brier {figures.reliability.brier:.3f} (always saying the share: {figures.reliability.brier_of_share:.3f}).",
    )
    yield tag("h2", "A threshold swept")
    yield paragraph("At most four passages are kept. R@4: one of them holds the whole needle.", "note")
    for title, rows in (("distance", figures.by_distance), ("probability", figures.by_gate)):
        yield table((title, "R@4", "answered", "bluffs"), [swept_row(one) for one in rows], numbers=2)
    yield from _wrong(shown)


def _wrong(shown: Shown) -> Iterator[str]:
    """Queries that the cross-validated gate decides wrongly at its threshold, the surest mistakes first."""
    threshold = shown.figures.point.threshold
    listed = [
        (abs(said - threshold), said, case)
        for said, case in zip(shown.figures.probabilities, shown.cases, strict=True)
        if (said >= threshold) is not case.answerable
    ]
    listed.sort(key=lambda one: (-one[0], one[2].query))
    yield tag("h2", f"Decided wrongly: {len(listed)} of {len(shown.cases)}")
    rows = [
        (
            "refused" if case.answerable else "answered",
            shown.words.get(case.query, ""),
            case.query[0],
            f"{said:.3f}",
            "" if case.distance is None else f"{case.distance:.3f}",
        )
        for _, said, case in listed[:MOST_LISTED]
    ]
    if not rows:
        return
    yield table(("wrongly", "query", "question", "probability", "distance"), rows, numbers=4)
    if len(listed) > MOST_LISTED:
        yield paragraph(f"and {len(listed) - MOST_LISTED} more", "note")
