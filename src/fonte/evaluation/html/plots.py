"""Figures as inline SVG, drawn by matplotlib: text stays text, nothing is fetched, ids are unique within a page."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fonte.errors import ConfigError
from fonte.evaluation.statistics import Comparison, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Told apart by people who see colors otherwise (Okabe and Ito, 2008)."""
_RC: Any = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "fonte",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_BEFORE_SVG = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_ID = re.compile(r'(\bid="|href="#|url\(#)')
_MARKERS = ("o", "s", "^", "D")
_STYLES = ("-", "--", "-.", ":")
_WIDTH = 5.0
"""Inches. Drawn small, so that its letters can be read on a telephone too."""
_ROW, _AXIS = 0.3, 0.75
"""Inches of a row, and of what stands below all of them."""
_LONGEST = 28
"""Characters of a row's label; what is longer would take the plot's place."""


def require() -> None:
    """Raises ConfigError where matplotlib is missing: better before an hour of measuring than after it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ConfigError(
            "the plots of a report need matplotlib", hint="pip install 'fonte[report]', or leave --report out"
        ) from error
    del mpl


def curves(name: str, lines: Mapping[str, Mapping[int, Interval]]) -> str:
    """A measure at every k, a line for each name, with the band of its interval."""
    from matplotlib.ticker import MaxNLocator

    def draw(axes: Axes) -> None:
        for at, (label, points) in enumerate(lines.items()):
            ks = sorted(points)
            color, marker, style = COLORS[at % len(COLORS)], _MARKERS[at % len(_MARKERS)], _STYLES[at % len(_STYLES)]
            values = [points[k].value for k in ks]
            # Lines often lie on one another: each later one is broken and thinner, so that the earlier shows.
            size = max(1.2, 3.0 - 0.9 * at)
            axes.plot(ks, values, style, color=color, linewidth=size, marker=marker, markersize=size + 2, label=label)
            low, high = [points[k].low for k in ks], [points[k].high for k in ks]
            axes.fill_between(ks, low, high, color=color, alpha=0.15, linewidth=0)
        axes.set(xlabel="k: results looked at", ylabel="share of queries", ylim=(0, 1.02))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(loc="lower right", frameon=False)

    return _svg(name, draw)


def risk_coverage(name: str, points: Sequence[tuple[float, float]], now: tuple[float, float] | None) -> str:
    """Risk among what would be attempted, as the gate's threshold falls; ``now`` is where it stands."""

    def draw(axes: Axes) -> None:
        axes.plot([one for one, _ in points], [risk for _, risk in points], color=COLORS[0], drawstyle="steps-post")
        if now is not None:
            _stand(axes, now, COLORS[1])
            axes.legend(loc="best", frameon=False)
        axes.set(xlabel="coverage: share of queries attempted", ylabel="risk: share of those wrong")
        axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.02))

    return _svg(name, draw)


def risks(name: str, lines: Mapping[str, Sequence[tuple[float, float]]], now: tuple[float, float] | None) -> str:
    """Risk and coverage of several scores; ``now`` is where the first one's threshold stands."""

    def draw(axes: Axes) -> None:
        for at, (label, points) in enumerate(lines.items()):
            color, style = COLORS[at % len(COLORS)], _STYLES[at % len(_STYLES)]
            axes.plot([one for one, _ in points], [risk for _, risk in points], style, color=color, label=label)
        if now is not None:
            _stand(axes, now, COLORS[0])
        axes.set(xlabel="coverage: share of queries answered", ylabel="risk: share of those unsupported")
        axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.02))
        axes.legend(loc="best", frameon=False)

    return _svg(name, draw)


def reliability(name: str, bins: Sequence[tuple[float, Interval]]) -> str:
    """What was said of each bin, and the share that was found, with its interval."""

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#555555", linewidth=1, linestyle=":")
        for said, found in bins:
            axes.plot([said, said], [found.low, found.high], color="#222222", linewidth=1.2)
        found_values = [found.value for _, found in bins]
        axes.plot([said for said, _ in bins], found_values, "o", color=COLORS[0], clip_on=False)
        axes.set(xlabel="probability said", ylabel="share that can be answered", xlim=(0, 1.02), ylim=(0, 1.02))

    return _svg(name, draw)


def distances(name: str, answerable: Sequence[float], others: Sequence[float]) -> str:
    """Distance of the nearest passage, of queries that can be answered and of those that cannot."""
    both = [*answerable, *others]
    low, high = (min(both), max(both)) if both else (0.0, 1.0)
    edges = [low + (high - low or 1.0) * at / 24 for at in range(25)]

    def draw(axes: Axes) -> None:
        for values, label, color in ((answerable, "answerable", COLORS[0]), (others, "not answerable", COLORS[1])):
            if values:
                weights = [1 / len(values)] * len(values)
                axes.hist(
                    values, bins=edges, weights=weights, alpha=0.55, color=color, label=f"{label} ({len(values)})"
                )
        axes.set(xlabel="cosine distance of the nearest passage", ylabel="share of queries")
        # Above the bars, wherever they are.
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderpad=0)

    return _svg(name, draw)


def bars(name: str, measure: str, parts: Mapping[str, Interval]) -> str:
    """One measure of each segment, with its interval and number of queries."""
    listed = list(reversed(list(parts.items())))

    def draw(axes: Axes) -> None:
        places = range(len(listed))
        values = [one.value for _, one in listed]
        axes.barh(places, values, color=COLORS[0], alpha=0.6)
        _whiskers(axes, [one for _, one in listed])
        axes.set_yticks(places, labels=[f"{_short(label)} ({one.n})" for label, one in listed])
        axes.set(xlabel=f"{measure} (queries)", xlim=(0, 1.02), ylim=(-0.6, len(listed) - 0.4))

    return _svg(name, draw, height=_AXIS + _ROW * len(listed))


def differences(name: str, found: Mapping[str, Comparison]) -> str:
    """The difference of every measure with its interval; right of the line is better."""
    listed = list(reversed(list(found.items())))

    def draw(axes: Axes) -> None:
        intervals = [one.difference for _, one in listed]
        axes.axvline(0, color="#555555", linewidth=1)
        _whiskers(axes, intervals)
        axes.plot([one.value for one in intervals], range(len(listed)), "o", color=COLORS[0], zorder=3)
        axes.set_yticks(range(len(listed)), labels=[f"{_short(label)} ({one.difference.n})" for label, one in listed])
        axes.set(xlabel="difference, b - a (queries)", ylim=(-0.6, len(listed) - 0.4))

    return _svg(name, draw, height=_AXIS + _ROW * len(listed))


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _stand(axes: Axes, now: tuple[float, float], color: str) -> None:
    """Where a threshold stands, drawn whole also on the frame's edge."""
    share, risk = now
    axes.plot([share], [risk], "o", color=color, clip_on=False, zorder=3, label="threshold in force")


def _whiskers(axes: Axes, intervals: Sequence[Interval]) -> None:
    for at, one in enumerate(intervals):
        axes.plot([one.low, one.high], [at, at], color="#222222", linewidth=1.2)


def _svg(name: str, draw: Any, *, height: float = 2.9) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as _Figure

    with rc_context(_RC):
        figure: Figure = _Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        body = io.StringIO()
        figure.savefig(body, format="svg", metadata={"Date": None})
    text = _METADATA.sub("", _BEFORE_SVG.sub("", body.getvalue()))
    return _ID.sub(rf"\g<1>{name}-", text)
