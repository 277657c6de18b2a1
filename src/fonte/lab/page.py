"""The laboratory's report: one HTML file with every table, every plot, and every mistake that was explained."""

from __future__ import annotations

from collections.abc import Iterator

from fonte.evaluation.html import pages, plots
from fonte.evaluation.html.markup import figure, opening, page, paragraph, quote, table, tag, text
from fonte.evaluation.statistics import Interval
from fonte.lab.mistakes import BLUFF, EXPLAINED, KINDS, Mistake
from fonte.lab.run import Lab
from fonte.lab.told import figures, tables

_QUOTED = 400
_SIGNS = {True: "yes", False: "LOST", None: "-"}


def lab_page(lab: Lab, best: pages.Measured, *, drawn: bool) -> str:
    """The page; ``best`` is its default configuration, told as ``fonte eval`` does. Without ``drawn`` no plots."""
    return page("fonte lab", _parts(lab, best, drawn=drawn))


def _parts(lab: Lab, best: pages.Measured, *, drawn: bool) -> Iterator[str]:
    yield table(("", ""), [(name, value) for name, value in best.told.items()])
    if not drawn:
        yield paragraph("The plots are missing: they need matplotlib (pip install 'fonte[report]').", "note")
    yield tag("h2", "Configurations")
    for headings, rows in tables(lab):
        yield table(headings, rows, numbers=2)
    told = (
        f"A whole answer of the default takes {lab.answer_times.p50:.0f} ms (p50), {lab.answer_times.p95:.0f} ms (p95)"
    )
    yield paragraph(f"{told}, over {lab.answer_times.n} questions. Times of the table are of a search.", "note")
    if drawn:
        yield from _compared(lab)
    yield tag("h2", "Verdicts")
    for judged in lab.verdicts:
        for one in judged.verdicts:
            yield tag("h3", text(f"{one.b} (b) against {one.a} (a)"))
            yield pages.verdicts_of(one.measures)
    yield from _mistakes(lab)
    yield from _safety(lab)
    yield tag("h2", text(f"The default configuration, by {best.decides}"))
    if drawn:
        yield from pages.plots_of(best)
    yield from pages.questions_of(best)


def _compared(lab: Lab) -> Iterator[str]:
    """Each measure of the table, a bar for each configuration."""
    for at, name in enumerate(("recall@5", "mrr@10", "abstention_correctness", "answer_correctness")):
        parts: dict[str, Interval] = {row.configuration.name: figures(row)[name] for row in lab.rows}
        caption = f"{name} of every configuration, with 95 % intervals (queries)."
        yield figure(plots.bars(f"configurations{at}", name, parts), caption)


def _mistakes(lab: Lab) -> Iterator[str]:
    yield tag("h2", "Mistakes of this run, and why")
    counts = [(name, *(kinds.get(kind, 0) for kind in KINDS), sum(kinds.values())) for name, kinds in lab.found.items()]
    yield table(("configuration", *KINDS, "all"), counts, numbers=2)
    explained = [one for one in lab.mistakes if one.why is not None]
    if len(explained) < EXPLAINED:
        yield paragraph(f"The run made no more than {len(explained)} that could be explained so.", "note")
    for one in explained:
        yield _mistake(one)
    bluffs = [one for one in lab.mistakes if one.kind == BLUFF]
    if bluffs:
        yield tag("h3", "Answers to what nothing answers")
        yield paragraph("There was nothing to be found, so that there is no layer to name: the gate let them through.")
        for one in bluffs:
            yield _mistake(one)


def _mistake(one: Mistake) -> str:
    summary = f"{text(one.question.wordings[0])} " + tag(
        "span", text(f"{one.configuration}: {one.kind}{_lost(one)}"), "note"
    )
    told = [paragraph(KINDS[one.kind]), paragraph(f"answer: {one.answer}")]
    if one.cited:
        told.append(paragraph("cited: " + "; ".join(one.cited)))
    if one.gate is not None and one.threshold is not None:
        told.append(paragraph(f"gate {one.gate:.3f}, threshold {one.threshold:.3f}", "note"))
    if one.needle is not None:
        told += [paragraph(f"expected in {one.needle.document}"), quote(one.needle.text, _QUOTED)]
    if one.why is not None:
        told += [paragraph(one.why.reason), paragraph(otherwise(one))]
        if one.why.next:
            told.append(paragraph(f"what to do: {one.why.next}"))
        rows = [
            (layer.layer, _SIGNS[layer.present], "" if layer.rank is None else layer.rank, layer.detail)
            for layer in one.why.layers
        ]
        told.append(table(("layer", "there", "rank", "detail"), rows))
    return opening(summary, "".join(told))


def _lost(one: Mistake) -> str:
    if one.why is None:
        return ""
    return f", lost at {one.why.lost_at}" if one.why.lost_at else ", lost nowhere"


def otherwise(one: Mistake) -> str:
    """What would have found it, in words."""
    change = one.why.counterfactual if one.why is not None else None
    if change is None:
        return "no single change that was tried would have found it"
    rank = "" if change.rank is None else f" (rank {change.rank})"
    return f"{'would have found it' if change.tried else 'may find it'}: {change.change}{rank}"


def _safety(lab: Lab) -> Iterator[str]:
    yield tag("h2", "Asked by those who may not know")
    yield table(
        (
            "who asks",
            "questions",
            "results",
            "unauthorised",
            "leaks",
            "told that it exists",
            "answered by what is theirs",
        ),
        [
            (one.kind, one.questions, one.results, one.unauthorized, one.leaks, one.betrayed, one.answered)
            for one in lab.trespasses
        ],
        numbers=2,
    )
    yield tag("h2", "Simulations")
    for one in lab.simulations:
        yield tag("h3", text(f"{one.name}: {'held' if one.held else 'DID NOT HOLD'}"))
        yield paragraph(one.about)
        yield table(
            ("check", "held", "found"),
            [(check.what, "yes" if check.held else "NO", check.found) for check in one.checks],
        )
