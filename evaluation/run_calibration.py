r"""How well calibrated gates tell what can be answered from what cannot: absent, near miss and twisted questions.

    .venv/bin/python evaluation/run_calibration.py ../shared/data --cache ../cache --homes ../homes \
        --each 25 --out evaluation/results --plots docs/img

Builds the sets (calibration_sets.py), asks every question once (calibration_features.py, kept in --cache), and tells
for every set and kind: AUROC and false answers where 80 % of the answerable questions are answered, cross-validated
over articles, beside the best single sign, the plain distance and the default gate with paired permutation tests over
articles; every family of signs left out and alone; and signs that the gate does not have (calibration_signs.py).

Once evidence has a reader, its odds as one more column, judged on the articles that it never saw alone:

    .venv/bin/python evaluation/run_calibration.py ../shared/data --cache ../cache --homes ../homes \
        --each 25 --column reading --out evaluation/results
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration_features import ADVERSARIAL, SETS, rows
from calibration_measure import (
    Line,
    Pair,
    ablation,
    beside,
    chosen,
    column,
    figures,
    judged,
    lines,
    nested,
    told,
)
from calibration_plots import draw
from calibration_sets import held_out
from calibration_signs import signs

from fonte.evaluation.calibrating import Calibrated
from fonte.evaluation.statistics import holm

NAMES = {"best_single": "best single sign", "dense_distance": "plain distance", "gate_before": "default gate"}


def measured(line: Line, found: Calibrated, proposed: Sequence[float]) -> dict[str, Any]:
    """A line's figures, all that is told of it."""
    own = judged(found.probabilities, line.cases)
    return {
        "set": line.set,
        "kind": line.kind,
        "note": line.note,
        "n": len(line.cases),
        "answerable": line.answerable,
        "articles": line.groups,
        "model": found.model.name,
        "chosen": dict(found.chosen),
        "auroc": told(found.auroc),
        "false_answers_at_80": {name: told(one.false_answer_rate) for name, one in found.at_kept.items()},
        "best_single": found.best_single,
        "baselines": {
            name: {"auroc": told(one.value), "difference": told(one.difference), "p": one.p}
            for name, one in found.baselines.items()
        },
        "singles": {name: round(value, 4) for name, value in found.singles.items()},
        "with_proposed": figures(judged(proposed, line.cases))
        | {key: beside(judged(proposed, line.cases), own)[key] for key in ("difference", "p")},
        "ablation": ablation(line),
    }


def shown(one: Mapping[str, float]) -> str:
    """A figure and its ends."""
    return f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"


def table(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines as Markdown."""
    yield "| set | unanswerable | n | articles | | AUROC | false answers at 80 % | p |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for one in results:
        kind = f"{one['kind']}, {one['note']}" if one["note"] else one["kind"]
        rates = one["false_answers_at_80"]
        yield (
            f"| {one['set']} | {kind} | {one['answerable']} + {one['n'] - one['answerable']} | {one['articles']} "
            f"| calibrated | {shown(one['auroc'])} | {shown(rates['model'])} | |"
        )
        for name, other in one["baselines"].items():
            label = f"{NAMES[name]} (`{one['best_single']}`)" if name == "best_single" else NAMES[name]
            yield f"| | | | | {label} | {shown(other['auroc'])} | {shown(rates[name])} | {other['p']:.2g} |"
        more = one["with_proposed"]
        yield (
            f"| | | | | with the proposed signs | {shown(more['auroc'])} | {shown(more['false_answers_at_80'])} "
            f"| {more['p']:.2g} |"
        )


def families(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The ablations as Markdown: differences of AUROC with p, and AUROC alone."""
    heads = [f"{one['set']}, {one['kind']}" for one in results]
    yield f"| family | {' | '.join(heads)} |"
    yield f"| --- |{' --- |' * len(heads)}"
    yield f"| all present signs | {' | '.join(_cell(one['ablation']['whole'], 'alone') for one in results)} |"
    for part, label in (("without", "without"), ("alone", "alone"), ("with", "and")):
        for name in dict.fromkeys(name for one in results for name in one["ablation"][part]):
            yield f"| {label} {name} | {' | '.join(_cell(one['ablation'][part].get(name), part) for one in results)} |"


def _cell(one: Mapping[str, Any] | None, part: str) -> str:
    if one is None:
        return "–"
    value = f"{one['auroc']['value']:.3f}"
    return value if part == "alone" else f"{value} (p {one['p']:.2g})"


def whole(tables: Mapping[str, Sequence[Pair]], options: argparse.Namespace) -> None:
    """Every line, its table, its file and its plots."""
    results = []
    panels: dict[str, list[tuple[Line, Calibrated, Sequence[float]]]] = defaultdict(list)
    for line in lines(tables):
        found = chosen(line)
        if found is None:
            print(f"{line.set}, {line.kind}: too few questions", file=sys.stderr)
            continue
        proposed = nested(line.cases)
        results.append(measured(line, found, proposed))
        if not line.note:
            panels[line.kind].append((line, found, proposed))
        print(f"{line.set}, {line.kind} {line.note}: AUROC {shown(results[-1]['auroc'])}", file=sys.stderr, flush=True)
    for one, p in zip(results, holm([one["baselines"]["dense_distance"]["p"] for one in results]), strict=True):
        one["p_against_distance_after_holm"] = p
    print("\n".join([*table(results), "", *families([one for one in results if not one["note"]])]))
    if options.out is not None:
        path = options.out / "calibration.json"
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.plots is not None:
        for kind, some in panels.items():
            draw(
                options.plots / f"calibration-{kind.replace(' ', '-').replace('_', '-')}.png",
                kind.replace("_", " "),
                some,
            )


def added(tables: Mapping[str, Sequence[Pair]], options: argparse.Namespace) -> int:
    """What one more column is worth beside the present signs; groups are passages, for unseen articles are few."""
    results = []
    name = options.column
    for line in lines(tables, by_passage=True):
        if len({case.features.get(name) for case in line.cases}) < 2:  # noqa: PLR2004 - it should vary
            print(f"{line.set}, {line.kind}: {name} is the same everywhere: is a reader wired in?", file=sys.stderr)
            return 1
        found = column(line, [name])
        results.append(
            {
                "set": line.set,
                "kind": line.kind,
                "note": line.note,
                "n": len(line.cases),
                "answerable": line.answerable,
                "passages": line.groups,
                **found,
            }
        )
        print(f"{line.set}, {line.kind} {line.note} (n {len(line.cases)}, {line.groups} passages)")
        for way, one in (("with", found["with"]), ("without", found["without"]), ("alone", found["alone"][name])):
            print(f"    {way}: AUROC {shown(one['auroc'])}, false answers at 80 % {shown(one['false_answers_at_80'])}")
        print(f"    p {found['without']['p']:.2g}", flush=True)
    if options.out is not None:
        path = options.out / f"calibration-{name}.json"
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def main() -> int:
    """Ask, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="where what was seen of each question is kept")
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"), help="where the sets' indexes live")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--each", type=int, help="questions drawn of each article and kind of the public sets")
    parser.add_argument("--column", help="a sign to judge alone, on articles that the reader never saw")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--as-synced", action="store_true", help="take indexes as they are; sync only what has none")
    parser.add_argument("--ask-only", action="store_true", help="fill the cache and measure nothing")
    options = parser.parse_args()
    unseen = held_out() if options.column else frozenset[str]()
    tables: dict[str, list[Pair]] = {}
    for name in options.sets:
        if options.column and name == "sample":
            continue
        # Twisted questions of the few articles that the reader never saw are all asked.
        each = None if name == "xquad-en" or (unseen and name == ADVERSARIAL) else options.each
        found, titles = rows(
            name,
            options.data,
            options.homes,
            options.cache,
            each=each,
            only=unseen,
            as_synced=options.as_synced,
        )
        tables[name] = [(row, signs(row, titles)) for row in found]
    if options.ask_only:
        return 0
    if options.column:
        return added(tables, options)
    whole(tables, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
