"""fonte compare: two configurations or runs, or all those of an experiment, judged in pairs on one golden set."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from fonte.cli.arguments import UsageError
from fonte.cli.evaluate import deciding, write
from fonte.cli.opening import parts
from fonte.cli.output import Output
from fonte.config import Settings
from fonte.contract import Json
from fonte.corpus import OpenCorpus
from fonte.errors import InputError
from fonte.evaluating import TenantIndex, Wanted, evaluate, measured, tenants_of
from fonte.evaluation.experiments import Experiment, Judged, differing, flat, judge, load_experiment
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.html import pages, plots
from fonte.evaluation.index_facts import IndexFacts, bytes_under
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.power import queries_needed
from fonte.evaluation.report import compare_json, comparison, could_show, judged_json
from fonte.evaluation.runs import DOCUMENT_MEASURES, queries_by_name, read_run, scores_of_run
from fonte.evaluation.scoring import DEFAULT_MEASURES, QueryKey, Scores, compare_scores
from fonte.evaluation.statistics import Comparison
from fonte.parts import Parts
from fonte.protocols import Progress
from fonte.types import Principal
from fonte.variant import asker_over, build_variant
from fonte.wiring import make_parts

DEFAULT_DIFFERENCE = 0.05
"""The smallest difference that --difference asks about where it is not given."""
_WORDS = {"better": "better", "worse": "worse", "cannot_tell": "cannot tell"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two: its scores, its first results, and where it has an index the facts of it."""

    scores: Scores
    retrieved: Mapping[QueryKey, Sequence[Retrieved]]
    facts: IndexFacts | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


def run(options: argparse.Namespace, output: Output) -> int:
    """A pair, or an experiment where GOLDEN is a .toml file."""
    if options.report:
        plots.require()
    path = Path(options.golden)
    if path.suffix == ".toml":
        if options.a or options.b:
            raise UsageError("an experiment names its own configurations", hint="leave --a and --b out")
        return _experiment(load_experiment(path), options, output)
    if not options.a or not options.b:
        raise UsageError("compare needs --a FILE and --b FILE", hint="configuration files (.toml) or TREC runs")
    return _pair(load_golden(path), options, output)


# --- two -------------------------------------------------------------------------------------------------------------


def _pair(golden: GoldenSet, options: argparse.Namespace, output: Output) -> int:
    files = (Path(options.a), Path(options.b))
    only_runs = any(file.suffix != ".toml" for file in files)
    names = DOCUMENT_MEASURES if only_runs else DEFAULT_MEASURES
    with output.progress() as progress, _Bench(options, progress) as bench:
        a, b = (
            bench.configured(golden, names, file) if file.suffix == ".toml" else _of_run(golden, names, file)
            for file in files
        )
    measures = compare_scores(a.scores, b.scores)
    sizes = {name: _size(one, options.difference or DEFAULT_DIFFERENCE) for name, one in measures.items()}
    differences = differing(a.settings, b.settings) if a.settings and b.settings else {}
    told = compare_json(options.a, options.b, measures) | {
        "golden": {"name": golden.name, "fingerprint": golden.fingerprint},
        "differences": {key: {"a": was, "b": now} for key, (was, now) in differences.items()},
        "size": sizes,
        "facts": {key: side.facts.as_json() if side.facts else None for key, side in (("a", a), ("b", b))},
        "unauthorized_hits": {"a": a.scores.unauthorized_hits, "b": b.scores.unauthorized_hits},
    }
    notes = [_told(name, size) for name, size in sizes.items() if not size["enough"]]
    if options.report:
        header = {"golden set": f"{golden.name}, fingerprint {golden.fingerprint}", "a": options.a, "b": options.b}
        header |= {key: pages.told_of(pair) for key, pair in differences.items()}
        facts = {key: side.facts for key, side in (("a", a), ("b", b)) if side.facts is not None}
        decides = deciding({name: one.difference for name, one in measures.items()})
        changed = _changed(golden, a, b, decides)
        title = f"fonte compare: {golden.name}"
        write(
            Path(options.report),
            pages.compare_page(title, header, measures, changed, decides=decides, facts=facts, notes=notes),
        )
    if output.json_mode:
        output.json(told)
        return 0
    output.line(f"a: {options.a}")
    output.line(f"b: {options.b}")
    for key, (was, now) in differences.items():
        output.line(f"   {key}: {was} and {now}")
    _verdicts(measures, output)
    for note in notes:
        output.line(note)
    return 0


def _of_run(golden: GoldenSet, names: Sequence[str], file: Path) -> _Side:
    found = read_run(file)
    try:
        scores = scores_of_run(golden, found, names)
    except ValueError as error:
        raise InputError(f"{file}: {error}", hint="name a run of this golden set") from error
    named = queries_by_name(golden)
    retrieved = {
        named[name]: [Retrieved(document, 0, 0, "") for document in ranking] for name, ranking in found.rankings.items()
    }
    return _Side(scores, retrieved)


def _changed(golden: GoldenSet, a: _Side, b: _Side, decides: str) -> list[pages.Changed]:
    """Queries that one does better than the other by the measure that decides, the greatest differences first."""
    was, now = a.scores.values[decides], b.scores.values[decides]
    changed = [
        pages.Changed(words, question, was[query], now[query], a.retrieved.get(query, ()), b.retrieved.get(query, ()))
        for question, number, words in golden.queries()
        if (query := (question.id, number)) in was and was[query] != now[query]
    ]
    return sorted(changed, key=lambda one: -abs(one.b - one.a))


def _size(one: Comparison, asked: float) -> Json:
    """Whether the set could have shown the difference asked for, and how many queries it would take."""
    n, least = one.difference.n, could_show(one)
    enough = least is not None and least <= asked
    needed: int | None = n
    if not enough:
        try:
            needed = max(n, queries_needed(asked, (one.wins + one.losses) / n))
        except ValueError:  # a million do not do
            needed = None
    return {
        "asked": asked,
        "queries": n,
        "detectable": least,
        "enough": enough,
        "queries_needed": needed,
    }


def _told(name: str, size: Json) -> str:
    least = size["detectable"]
    could = "no difference at all" if not isinstance(least, float) else f"nothing below {least:.2f}"
    wanted = size["queries_needed"]
    needed = "more than a million" if wanted is None else "more" if wanted == size["queries"] else f"about {wanted}"
    return (
        f"{name}: the set is too small for a difference of {size['asked']}: "
        f"its {size['queries']} queries show {could}; {needed} are needed"
    )


def _verdicts(measures: Mapping[str, Comparison], output: Output) -> None:
    rows = []
    for name, one in measures.items():
        shown = comparison(one)
        rows.append(
            (
                name,
                f"{one.a:.3f}",
                f"{one.b:.3f}",
                f"{one.difference.value:+.3f} [{one.difference.low:+.3f}, {one.difference.high:+.3f}]",
                f"+{one.wins}/-{one.losses}",
                f"{shown['p_adjusted']:.2g}",
                "none" if (least := could_show(one)) is None else f"{least:.3f}",
                _WORDS[one.verdict],
            )
        )
    output.table(("MEASURE", "A", "B", "DIFFERENCE", "WON/LOST", "P (HOLM)", "COULD SHOW", "VERDICT"), rows)


# --- many ------------------------------------------------------------------------------------------------------------


def _experiment(experiment: Experiment, options: argparse.Namespace, output: Output) -> int:
    golden = load_golden(experiment.golden)
    sides: dict[str, _Side] = {}
    with output.progress() as progress, _Bench(options, progress, always=True) as bench:
        for one in experiment.configurations:
            sides[one.name] = bench.overridden(golden, experiment.measures, one.settings)
    facts = {name: side.facts for name, side in sides.items() if side.facts is not None}
    try:
        judged = judge(experiment, {name: side.scores for name, side in sides.items()}, facts)
    except ValueError as error:
        raise InputError(f"{options.golden}: {error}", hint="see fonte golden check") from error
    if options.report:
        write(Path(options.report), pages.experiment_page(judged))
    if output.json_mode:
        output.json(judged_json(judged) | {"golden": {"name": golden.name, "fingerprint": golden.fingerprint}})
        return 0
    _table(judged, output)
    for pair in judged.verdicts:
        output.line()
        varied = "; ".join(f"{key} {was} and {now}" for key, (was, now) in pair.differences.items())
        output.line(f"{pair.b} against {pair.a}: {varied}")
        _verdicts(pair.measures, output)
    return 0


def _table(judged: Judged, output: Output) -> None:
    experiment = judged.experiment
    output.line(f"{experiment.name}: only {experiment.variable} differs")
    names = [name for name in experiment.measures if name in judged.figures[experiment.configurations[0].name]]
    rows = []
    for configuration in experiment.configurations:
        figures, facts = judged.figures[configuration.name], judged.facts[configuration.name]
        rows.append(
            (
                configuration.name,
                *(f"{figures[name].value:.3f} [{figures[name].low:.3f}, {figures[name].high:.3f}]" for name in names),
                f"{len(facts.lost.split) + len(facts.lost.beyond_window)}/{facts.lost.needles}",
                str(facts.truncated_chunks),
                f"{facts.header_share:.1%}",
                str(facts.chunks),
                "" if facts.build_seconds is None else f"{facts.build_seconds:.1f}",
                "" if facts.timings is None else f"{facts.timings.p95:.0f}",
                str(judged.unauthorized_hits[configuration.name]),
            )
        )
    columns = ("DESTROYED", "TRUNCATED", "HEADERS", "CHUNKS", "BUILD S", "P95 MS", "UNAUTHORIZED")
    output.table(("CONFIGURATION", *(name.upper() for name in names), *columns), rows)


# --- indexes beside the active one -----------------------------------------------------------------------------------


class _Bench:
    """Builds what a configuration needs, in a place of its own that goes when all is measured.

    An index is built once for each recipe, and a model loaded once for each of its settings. With ``always`` the
    recipe that is active is built too, so that all sizes and times are of one kind.
    """

    def __init__(self, options: argparse.Namespace, progress: Progress, *, always: bool = False) -> None:
        self._options, self._progress, self._always = options, progress, always
        self._built: dict[tuple[str, str], TenantIndex] = {}
        self._sizes: dict[tuple[str, str], int] = {}
        self._known: dict[str, Parts] = {}
        self._open: list[OpenCorpus] = []
        self._place = tempfile.TemporaryDirectory(prefix="fonte-compare-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._open:
            one.close()
        self._place.cleanup()

    def configured(self, golden: GoldenSet, names: Sequence[str], file: Path) -> _Side:
        """A settings file."""
        made, settings = parts(self._options, config=file)
        return self._measure(golden, names, made, settings)

    def overridden(self, golden: GoldenSet, names: Sequence[str], settings: Mapping[str, object]) -> _Side:
        """The settings in force, but for those named."""
        made, whole = parts(self._options, overrides=settings)
        return self._measure(golden, names, made, whole)

    def _measure(self, golden: GoldenSet, names: Sequence[str], made: Parts, settings: Settings) -> _Side:
        made = self._with_known_model(made, settings)
        tenants = dict.fromkeys(question.tenant for question in golden.questions)
        indexes = {tenant: self._index(made, settings, tenant) for tenant in tenants}
        # Raises where not one of them has an index.
        tenants_of(golden, lambda tenant: indexes[tenant].asker)
        found = evaluate(golden, indexes, Wanted(tuple(names)), self._progress)
        sizes = [self._sizes[key] for key in ((tenant, made.recipe.id) for tenant in tenants) if key in self._sizes]
        facts = replace(found.facts, size_bytes=sum(sizes)) if sizes else found.facts
        retrieved = {query: one.retrieved for query, one in found.observed.items()}
        plain = settings.model_dump(mode="json", exclude={"file"})
        return _Side(found.scores, retrieved, facts, flat(plain))

    def _with_known_model(self, made: Parts, settings: Settings) -> Parts:
        known = self._known.setdefault(settings.embedding.model_dump_json(), made)
        return made if known is made else replace(made, make_embedder=lambda: known.embedder)

    def _index(self, made: Parts, settings: Settings, tenant: str) -> TenantIndex:
        store = made.stores.tenant(tenant)
        active = store.catalog.active()
        if active is None:
            return TenantIndex(None)
        if active.recipe == made.recipe and not self._always:
            opened = OpenCorpus(made)
            self._open.append(opened)
            return measured(opened.asker(Principal(tenant), k=None, mode=None, max_distance=None))
        key = (tenant, made.recipe.id)
        known = self._built.get(key)
        if known is not None and known.asker is not None:
            # Another way to ask the same index.
            return replace(known, asker=asker_over(made, store, known.asker.reader))
        place = Path(self._place.name) / str(len(self._built))
        beside = make_parts(place, settings).stores.tenant(tenant)
        built = build_variant(made, store, active, beside.index, self._progress)
        self._sizes[key] = bytes_under(place)
        index = measured(asker_over(made, store, built.reader), seconds=built.seconds, embedded=built.embedded)
        self._built[key] = index
        return index
