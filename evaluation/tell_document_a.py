"""docs/document-a.md's tables and pictures out of what evaluation/run_document_a.py measured.

    .venv/bin/python evaluation/tell_document_a.py

Writes what stands between the page's two marks, and a picture for each set. What has no file of results is told as
not run yet, with its command.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- written by evaluation/tell_document_a.py -->", "<!-- end of what is written -->"
SETS = ("sample", "sample-en", "chroma-chunking", "covidqa")
ENCODERS = {"minilm": "all-MiniLM-L6-v2", "e5": "multilingual-e5-small"}
KS = (1, 4, 8, 20)
COLORS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7")
"""Told apart by people who see colors otherwise (Okabe and Ito, 2008)."""
WORDS = {"better": "better", "worse": "worse", "cannot_tell": "cannot tell"}
FINDINGS = (
    ("B against A", 8, "+8/−6, p 0.79"),
    ("B against A", 20, "+9/−7, p 0.80"),
    ("E against A", 20, "+18/−3, p 0.0015"),
    ("E against C", 20, "+12/−2, p 0.0129"),
    ("F against E", 20, "+2/−6"),
)
LEG_FINDINGS = (
    ("hybrid against bm25", 4, "+10/−3, p 0.09"),
    ("hybrid against dense", 4, "+10/−6, p 0.45"),
    ("dense against bm25", 1, "BM25 more than twice as good"),
    ("dense against bm25", 8, "dense clearly better"),
)
"""What document A reports of its pairs."""
Results = Mapping[str, Any]
"""One file, as run_document_a.py writes it."""


def load(folder: Path) -> dict[tuple[str, str], Results]:
    """What has been measured, by set and encoder."""
    found = {}
    for name in SETS:
        for encoder in ENCODERS:
            path = folder / f"document-a-{name}-{encoder}.json"
            if path.is_file():
                found[name, encoder] = json.loads(path.read_text(encoding="utf-8"))
    return found


# --- tables ----------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def interval(one: Mapping[str, float]) -> str:
    """A value and its interval."""
    return f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"


def small(p: float) -> str:
    """A p-value in as few characters as tell it."""
    return f"{p:.2g}" if p >= 0.0001 else f"{p:.0e}"  # noqa: PLR2004 - where digits no longer tell it


def quality(found: Results) -> Iterator[str]:
    """Forms by the dense leg, as document A's table."""

    def rows() -> Iterator[Sequence[str]]:
        for form, one in found["forms"].items():
            yield form, *(interval(one["legs"]["dense"][f"needle@{k}"]) for k in KS)

    yield from table(("form", *(f"R@{k}" for k in KS)), rows())


def costs(found: Results) -> Iterator[str]:
    """What each form destroys and takes."""

    def rows() -> Iterator[Sequence[str]]:
        for form, one in found["forms"].items():
            yield (
                form,
                f"{one['destroyed']} of {one['of needles']}",
                str(one["truncated"]),
                (
                    f"{one['truncated, were chunks not halved at the window']}"
                    f" ({one['needles beyond the window, were they not']})"
                ),
                f"{one['header tokens']:,} ({100 * one['header share']:.1f} %)",
                f"{one['tokens']:,}",
                str(one["chunks"]),
                f"{one['bytes'] / 1e6:.1f}",
                f"{one['seconds']:.0f} ({one['tokens embedded now']:,})",
                f"{one['median ms']['bm25']:.1f} / {one['median ms']['dense']:.1f}",
            )

    head = (
        "form",
        "destroyed",
        "truncated",
        "were they not halved (needles beyond)",
        "header tokens",
        "tokens",
        "chunks",
        "index MB",
        "seconds (tokens embedded in them)",
        "ms BM25 / dense",
    )
    yield from table(head, rows())


def pairs(told: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Wins, losses, p, p after Holm and verdict of each pair by each measure."""

    def rows() -> Iterator[Sequence[str]]:
        for pair in told["needle@1"]:
            yield pair, *(verdict(told[f"needle@{k}"][pair]) for k in KS)

    yield from table(("pair", *(f"R@{k}" for k in KS)), rows())


def verdict(one: Mapping[str, Any]) -> str:
    """One comparison in a cell."""
    told = f"+{one['wins']}/−{one['losses']}, p {small(one['p'])} ({small(one['p after Holm'])})"
    return told if one["verdict"] == "cannot_tell" else f"**{told}, {WORDS[one['verdict']]}**"


def legs(found: Results) -> Iterator[str]:
    """BM25, dense and hybrid of each form."""

    def rows() -> Iterator[Sequence[str]]:
        for form, one in found["forms"].items():
            for leg, values in one["legs"].items():
                yield form, leg, *(interval(values[f"needle@{k}"]) for k in KS)

    yield from table(("form", "leg", *(f"R@{k}" for k in KS)), rows())


def characters(found: Results) -> Iterator[str]:
    """Recall, precision and IoU of what is retrieved, by its characters."""
    names = [f"{one} of characters@5" for one in ("recall", "precision", "IoU")]

    def rows() -> Iterator[Sequence[str]]:
        for form, one in found["forms"].items():
            for leg, values in one["legs"].items():
                yield form, leg, *(interval(values[name]) for name in names)

    yield from table(("form", "leg", "recall", "precision", "IoU"), rows())


def section(found: Results) -> Iterator[str]:
    """All of one set and encoder."""
    forms = found["forms"]
    long = forms["A"]["longer than a chunk"]
    yield f"### {found['set']}, {found['encoder']}"
    yield ""
    yield (
        f"`{found['command']}`: {found['documents']} documents, {found['characters']:,} characters, "
        f"{found['sections']} sections under a heading, {found['queries']} queries of {found['questions']} questions "
        f"(n of every share), {forms['A']['of needles']} needles ({long} of those that form A destroys are longer "
        f"than its 512 characters); window {found['window']} tokens; golden set "
        f"{found['golden']['fingerprint']}, corpus and set {found['corpus_fingerprint']}."
    )
    yield ""
    yield "Dense:"
    yield from quality(found)
    yield ""
    yield "What is lost and what it costs:"
    yield from costs(found)
    yield ""
    yield "Dense, in pairs (wins and losses, p of the exact sign test, in brackets after Holm over the four pairs):"
    yield from pairs(found["pairs"]["dense"])
    yield ""
    for leg in ("bm25", "hybrid"):
        yield f"The same, {leg}:"
        yield from pairs(found["pairs"][leg])
        yield ""
    yield "BM25, dense and hybrid:"
    yield from legs(found)
    yield ""
    yield "In pairs, form E (after Holm over the three pairs):"
    yield from pairs(found["leg_pairs"]["E"])
    if found["set"] == "chroma-chunking":
        yield ""
        yield "Characters of the first five chunks:"
        yield from characters(found)
    yield ""


def summary(results: Mapping[tuple[str, str], Results]) -> Iterator[str]:
    """Document A's findings with its figures, and ours beside them."""
    columns = [(f"{name}, {ENCODERS[encoder]}", found) for (name, encoder), found in results.items()]

    def rows() -> Iterator[Sequence[str]]:
        for form in "AB":
            told = [f"{one['forms'][form]['destroyed']} of {one['forms'][form]['of needles']}" for _, one in columns]
            yield f"{form} destroys", "4 of 32" if form == "A" else "0 of 32", *told
        for pair, k, theirs in FINDINGS:
            told = [verdict(found["pairs"]["dense"][f"needle@{k}"][pair]) for _, found in columns]
            yield f"{pair}, R@{k}", theirs, *told
        yield (
            "header's share of E's tokens",
            "21.2 %",
            *(f"{100 * f['forms']['E']['header share']:.1f} %" for _, f in columns),
        )
        key = "truncated, were chunks not halved at the window"
        beyond = [f"{f['forms']['E'][key]} and {f['forms']['F'][key]}" for _, f in columns]
        yield "chunks beyond the window, E and F", "17 and 28 of 940", *beyond
        for pair, k, theirs in LEG_FINDINGS:
            told = [verdict(found["leg_pairs"]["E"][f"needle@{k}"][pair]) for _, found in columns]
            yield f"{pair}, R@{k}", theirs, *told

    yield from table(("", "document A", *(name for name, _ in columns)), rows())


def page(results: Mapping[tuple[str, str], Results]) -> Iterator[str]:
    """Everything between the marks."""
    yield from summary(results)
    yield ""
    for name in SETS:
        known = [encoder for encoder in ENCODERS if (name, encoder) in results]
        yield f"## {name}"
        yield ""
        if known:
            yield f"![R@k of the six forms and of the three legs on {name}](document-a-{name}.png)"
            yield ""
        for encoder, model in ENCODERS.items():
            if encoder in known:
                yield from section(results[name, encoder])
            else:
                yield f"### {name}, {model}"
                yield ""
                command = f"evaluation/run_document_a.py --data ../shared/data --sets {name} --encoders {encoder}"
                yield f"Not run yet: `{command} --out evaluation/results`."
                yield ""


# --- pictures --------------------------------------------------------------------------------------------------------


def picture(by_encoder: Mapping[str, Results], path: Path) -> None:
    """R@k with intervals: the forms by the dense leg, and the legs of form E, a row for each encoder."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.3 * len(by_encoder)), layout="constrained")
    axes = figure.subplots(len(by_encoder), 2, squeeze=False)
    for row, (encoder, found) in zip(axes, by_encoder.items(), strict=True):
        forms = found["forms"]
        _lines(row[0], {form: one["legs"]["dense"] for form, one in forms.items()})
        row[0].set_title(f"{ENCODERS[encoder]}, dense, by form", fontsize=10)
        _lines(row[1], forms["E"]["legs"])
        row[1].set_title(f"{ENCODERS[encoder]}, form E, by leg", fontsize=10)
    figure.savefig(path, dpi=80, metadata={"Software": None})


def _lines(axes: Axes, lines: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    for at, (label, values) in enumerate(lines.items()):
        points = [values[f"needle@{k}"] for k in KS]
        shown = [one["value"] for one in points]
        reach = [[one["value"] - one["low"] for one in points], [one["high"] - one["value"] for one in points]]
        # Side by side, so that no interval hides another.
        places = [place + 0.06 * (at - (len(lines) - 1) / 2) for place in range(len(KS))]
        axes.errorbar(places, shown, yerr=reach, color=COLORS[at], marker="o", markersize=3, linewidth=1, label=label)
    axes.set_xticks(range(len(KS)), [f"R@{k}" for k in KS])
    axes.set(ylim=(0, 1.02), ylabel="whole needle found")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, ncols=2, fontsize=8)


def main() -> int:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=ROOT / "evaluation" / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "document-a.md")
    options = parser.parse_args()
    results = load(options.results)
    before, _, rest = options.page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    options.page.write_text("\n".join([before + START, "", *page(results), END + after]), encoding="utf-8")
    for name in SETS:
        known = {encoder: results[name, encoder] for encoder in ENCODERS if (name, encoder) in results}
        if known:
            picture(known, options.page.parent / f"document-a-{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
