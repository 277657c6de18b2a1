"""The HTML reports of ``fonte eval``, ``fonte compare`` and of an experiment, out of what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fonte.evaluation.experiments import Judged
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.html import plots
from fonte.evaluation.html.markup import figure, opening, page, paragraph, quote, table, tag, text
from fonte.evaluation.index_facts import IndexFacts
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.report import could_show
from fonte.evaluation.scoring import QueryKey, Scores
from fonte.evaluation.statistics import Comparison, Interval

MOST_OPENED = 400
"""Queries listed one by one; the others are counted."""
SHOWN_RESULTS = 5
_QUOTED = 400
_FACTS = {
    "header_tokens": "tokens of headers",
    "header_share": "share of headers in all tokens",
    "window": "window, tokens",
    "size_bytes": "size, bytes",
    "build_seconds": "last build, seconds",
    "embedded_texts": "texts embedded by the last build",
}
_VERDICTS = {"better": "better", "worse": "worse", "cannot_tell": "cannot tell"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One query for a page: its words, what came back, and how it went by the measure that decides.

    ``wrong`` says that it was answered where it should not be, or the other way round; None where nobody looked.
    """

    query: QueryKey
    words: str
    question: Question
    results: Sequence[Retrieved]
    value: float | None = None
    wrong: bool | None = None
    gate: float | None = None
    distance: float | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the page of one configuration shows. ``curves``: a measure at every k, by name."""

    golden: GoldenSet
    told: Mapping[str, object]
    """Facts of the header: generation, recipe, settings and so on, in order."""
    scores: Scores
    rates: Mapping[str, Interval]
    facts: IndexFacts
    layers: Mapping[str, str]
    curves: Mapping[str, Mapping[int, Interval]]
    asked: Sequence[Asked]
    threshold: float | None = None
    decides: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """A query that two configurations answer differently: the values and first results of both."""

    words: str
    question: Question
    a: float
    b: float
    results_a: Sequence[Retrieved] = field(default_factory=tuple)
    results_b: Sequence[Retrieved] = field(default_factory=tuple)


def risk_coverage(scored: Sequence[tuple[float, bool]]) -> list[tuple[float, float]]:
    """(coverage, risk) as the threshold falls over (score, wrong where attempted); equal scores fall together."""
    ordered = sorted(scored, key=lambda one: -one[0])
    points: list[tuple[float, float]] = []
    wrong = 0
    for at, (score, failed) in enumerate(ordered, start=1):
        wrong += failed
        if at == len(ordered) or ordered[at][0] != score:
            points.append((at / len(ordered), wrong / at))
    return points


def eval_page(measured: Measured) -> str:
    """The page of one configuration."""
    return page(f"fonte eval: {measured.golden.name}", _eval_parts(measured))


def _eval_parts(measured: Measured) -> Iterator[str]:
    yield table(("", ""), [(name, value) for name, value in measured.told.items()])
    yield from (paragraph(note, "note") for note in measured.notes)
    yield tag("h2", "Measures")
    figures = {**measured.scores.summary(), **measured.rates}
    yield table(
        ("measure", "value", "95 % interval", "queries"), [_row(name, figures[name]) for name in figures], numbers=2
    )
    yield from _excluded(measured.scores)
    yield tag("h2", "Layers")
    rows = [(layer, state.replace("_", " ")) for layer, state in measured.layers.items()]
    yield table(("layer", "state"), rows)
    yield tag("h2", "Plots")
    yield from plots_of(measured)
    yield tag("h2", "Segments")
    yield _segments(measured.scores)
    yield tag("h2", "What the index costs and loses")
    yield _facts({"": measured.facts})
    yield tag("h2", "Questions")
    yield from questions_of(measured)


def _row(name: str, one: Interval) -> tuple[str, str, str, int]:
    return name, f"{one.value:.3f}", f"[{one.low:.3f}, {one.high:.3f}]", one.n


def _excluded(scores: Scores) -> Iterator[str]:
    """Queries that measures are not defined for, the measures of one reason together."""
    alike: dict[str, list[str]] = {}
    for name, why in scores.excluded.items():
        if why:
            left = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))
            alike.setdefault(left, []).append(name)
    for left, names in alike.items():
        yield paragraph(f"Not defined for {left}: {', '.join(names)}.", "note")


def plots_of(measured: Measured) -> Iterator[str]:
    """The drawings of one configuration."""
    if measured.curves:
        n = max(one.n for points in measured.curves.values() for one in points.values())
        caption = f"Measures at every k over {n} queries, with 95 % intervals."
        yield figure(plots.curves("curves", measured.curves), caption)
    gated = [one for one in measured.asked if one.gate is not None and one.wrong is not None]
    if gated:
        scored = [(one.gate or 0.0, _wrong_if_attempted(one)) for one in gated]
        points = risk_coverage(scored)
        attempted = [
            failed for score, failed in scored if measured.threshold is not None and score >= measured.threshold
        ]
        now = (len(attempted) / len(scored), sum(attempted) / len(attempted)) if attempted else None
        caption = (
            f"Risk and coverage over {len(scored)} queries: an attempt at what cannot be answered is wrong,"
            " and an answer known to be wrong."
        )
        yield figure(plots.risk_coverage("risk", points, now), caption)
    near = [(one.question.answerable, one.distance) for one in measured.asked if one.distance is not None]
    if near:
        can = [distance for answerable, distance in near if answerable]
        cannot = [distance for answerable, distance in near if not answerable]
        yield figure(plots.distances("distances", can, cannot), "Where one distance alone could tell them apart.")
    parts = _of_segments(measured.scores, measured.decides)
    if parts:
        caption = f"{measured.decides} by segment, with 95 % intervals."
        yield figure(plots.bars("segments", measured.decides, parts), caption)


def _wrong_if_attempted(one: Asked) -> bool:
    """Unanswerable, or an answer that was given and is wrong."""
    return not one.question.answerable or bool(one.answer and one.wrong)


def _of_segments(scores: Scores, measure: str) -> dict[str, Interval]:
    return {name: figures[measure] for name, figures in scores.by_facet().items() if measure in figures}


def _segments(scores: Scores) -> str:
    facets = scores.by_facet()
    if not facets:
        return paragraph("The set names no segments, or only one.", "note")
    names = list(dict.fromkeys(name for figures in facets.values() for name in figures))
    rows = [
        (facet, *(f"{figures[name].value:.3f} ({figures[name].n})" if name in figures else "" for name in names))
        for facet, figures in facets.items()
    ]
    return table(("segment", *names), rows, numbers=2)


def _facts(by_name: Mapping[str, IndexFacts]) -> str:
    """Costs and losses, a column for each configuration."""
    told = {name: facts.as_json() for name, facts in by_name.items()}
    keys = [key for key in next(iter(told.values()), {}) if key not in ("destroyed", "destroyed_needles", "timings_ms")]

    def shown(key: str, value: object) -> str:
        if value is None:
            return "not measured"
        if key == "header_share":
            return f"{value:.1%}"
        return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"

    rows: list[tuple[object, ...]] = [
        ("questions whose needle is destroyed", *(len(facts.lost.questions) for facts in by_name.values())),
        ("needles cut by every chunk", *(len(facts.lost.split) for facts in by_name.values())),
        ("needles beyond the window", *(len(facts.lost.beyond_window) for facts in by_name.values())),
        *((_FACTS.get(key, key.replace("_", " ")), *(shown(key, one[key]) for one in told.values())) for key in keys),
        ("ms of a query, p50", *(f"{facts.timings.p50:.1f}" if facts.timings else "" for facts in by_name.values())),
        ("ms of a query, p95", *(f"{facts.timings.p95:.1f}" if facts.timings else "" for facts in by_name.values())),
    ]
    return table(("", *by_name), rows, numbers=2)


def questions_of(measured: Measured) -> Iterator[str]:
    """Every query, those that went wrong first; each opens."""

    def badness(one: Asked) -> tuple[bool, float]:
        return not one.wrong, 2.0 if one.value is None else one.value

    ordered = sorted(measured.asked, key=badness)
    lost = sum(bool(one.wrong) or (one.value is not None and one.value < 1) for one in ordered)
    yield paragraph(f"{lost} of {len(ordered)} queries went wrong somewhere; they stand first.")
    for one in ordered[:MOST_OPENED]:
        bad = bool(one.wrong) or (one.value is not None and one.value < 1)
        value = "" if one.value is None else f" {measured.decides} {one.value:.2f}"
        decided = "" if one.wrong is None else " decided wrongly" if one.wrong else " decided rightly"
        summary = (
            f"{_mark(not bad)} {text(one.words)} <span class='note'>{text(one.question.id + value + decided)}</span>"
        )
        gate = "" if one.gate is None else paragraph(f"gate {one.gate:.3f}", "note")
        answer = paragraph(f"answered: {one.answer}") if one.answer else ""
        yield opening(summary, _expected(one.question) + gate + answer + _results(one.results, one.question))
    if len(ordered) > MOST_OPENED:
        yield paragraph(f"and {len(ordered) - MOST_OPENED} more", "note")


def _mark(good: bool) -> str:  # noqa: FBT001 - its one argument
    return tag("span", "+" if good else "−", "right" if good else "wrong")


def _expected(question: Question) -> str:
    if not question.answerable:
        return paragraph("Nothing should answer this.", "note")
    wanted = "".join(
        paragraph(f"expected in {needle.document}") + quote(needle.text, _QUOTED) for needle in question.needles
    )
    return wanted or paragraph("expected: " + ", ".join(question.relevance))


def _results(results: Sequence[Retrieved], question: Question) -> str:
    if not results:
        return paragraph("nothing came back", "note")
    told = []
    for rank, one in enumerate(results[:SHOWN_RESULTS], start=1):
        held = any(one.holds(needle) for needle in question.needles)
        place = f"{rank}. {one.document} {one.start}-{one.end}" if one.content else f"{rank}. {one.document}"
        told.append(paragraph(place + (" (holds the needle)" if held else "")) + quote(one.content, _QUOTED))
    return "".join(told)


# --- comparisons -----------------------------------------------------------------------------------------------------


def compare_page(
    title: str,
    told: Mapping[str, object],
    measures: Mapping[str, Comparison],
    changed: Sequence[Changed],
    *,
    decides: str,
    facts: Mapping[str, IndexFacts] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The page of two configurations, with every query that one of them does better by the measure that decides."""
    parts = [table(("", ""), list(told.items())), *(paragraph(note, "note") for note in notes)]
    parts += [tag("h2", "Verdicts"), verdicts_of(measures)]
    parts.append(figure(plots.differences("differences", measures), "b less a, with 95 % intervals."))
    if facts:
        parts += [tag("h2", "What the indexes cost and lose"), _facts(facts)]
    wins = [one for one in changed if one.b > one.a]
    losses = [one for one in changed if one.b < one.a]
    for heading, some in ((f"Won by b ({len(wins)})", wins), (f"Lost by b ({len(losses)})", losses)):
        parts.append(tag("h2", text(f"{heading}, by {decides}")))
        parts += [_changed(one) for one in some[:MOST_OPENED]]
        if len(some) > MOST_OPENED:
            parts.append(paragraph(f"and {len(some) - MOST_OPENED} more", "note"))
    return page(title, parts)


def _changed(one: Changed) -> str:
    summary = f"{_mark(one.b > one.a)} {text(one.words)} " + tag(
        "span", text(f"{one.question.id}: a {one.a:.2f}, b {one.b:.2f}"), "note"
    )
    a = tag("h3", "a") + _results(one.results_a, one.question)
    b = tag("h3", "b") + _results(one.results_b, one.question)
    return opening(summary, _expected(one.question) + a + b)


def told_of(pair: tuple[object, object]) -> str:
    """A setting of a and of b."""
    return " and ".join("not set" if value is None else str(value) for value in pair)


def verdicts_of(measures: Mapping[str, Comparison]) -> str:
    """One pair by every measure, as a table."""
    rows = [
        (
            name,
            f"{one.a:.3f}",
            f"{one.b:.3f}",
            f"{one.difference.value:+.3f} [{one.difference.low:+.3f}, {one.difference.high:+.3f}]",
            f"+{one.wins}/-{one.losses}",
            f"{one.p_adjusted:.2g}",
            "none" if (least := could_show(one)) is None else f"{least:.3f}",
            _VERDICTS[one.verdict],
        )
        for name, one in measures.items()
    ]
    headings = ("measure", "a", "b", "difference", "won and lost", "p after Holm", "smallest to be shown", "verdict")
    return table(headings, rows, numbers=2)


def experiment_page(judged: Judged) -> str:
    """The page of an experiment: one table of all configurations, and the verdict of every pair."""
    experiment = judged.experiment
    names = [one.name for one in experiment.configurations]
    rows = [
        (
            name,
            *(f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in judged.figures[name].values()),
            judged.unauthorized_hits[name],
        )
        for name in names
    ]
    headings = ("configuration", *judged.figures[names[0]], "unauthorized hits")
    parts = [
        paragraph(f"Only {experiment.variable} differs between the configurations."),
        table(headings, rows, numbers=2),
        tag("h2", "What the indexes cost and lose"),
        _facts(judged.facts),
    ]
    for at, one in enumerate(judged.verdicts):
        differing = "; ".join(f"{key}: {told_of(pair)}" for key, pair in one.differences.items())
        parts += [tag("h2", text(f"{one.b} against {one.a}")), paragraph(differing, "note"), verdicts_of(one.measures)]
        if one.measures:
            caption = f"{one.b} (b) less {one.a} (a), with 95 % intervals."
            parts.append(figure(plots.differences(f"pair{at}", one.measures), caption))
    return page(f"fonte compare: {experiment.name}", parts)
