"""fonte eval: a golden set over the active generation."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fonte.cli.opening import parts
from fonte.cli.output import Output, many
from fonte.contract import Json
from fonte.corpus import OpenCorpus
from fonte.errors import InputError
from fonte.evaluating import (
    Evaluation,
    Tenants,
    curves_of,
    evaluate,
    fingerprint_of,
    measures_for,
    tenants_of,
    text_of,
)
from fonte.evaluation.floors import Floors, FloorVerdict, judge_floors, load_floors, save_floors, smallest_margin
from fonte.evaluation.golden import GoldenFault, GoldenSet
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.html import pages, plots
from fonte.evaluation.index_facts import bytes_under
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.report import eval_json
from fonte.evaluation.runs import run_of, write_run
from fonte.evaluation.statistics import Interval
from fonte.judging import wanted_by
from fonte.types import Answered, Principal

DEFAULT_K = 10
BELOW_A_FLOOR = 1
_SHOWN_FAULTS = 5
_CEILINGS = ("bluff_rate", "false_retrieval_rate", "leakage")
_DIGITS = 10_000


def run(options: argparse.Namespace, output: Output) -> int:
    """Ask the set, print the figures, write what was asked for; 1 below a floor."""
    if options.report:
        plots.require()
    golden = load_golden(Path(options.golden))
    floors = load_floors(Path(options.floors)) if options.floors else None
    k = options.k or DEFAULT_K
    made, _ = parts(options)
    with OpenCorpus(made) as opened:
        tenants = tenants_of(
            golden,
            lambda tenant: opened.asker(
                Principal(tenant), k=None, mode=options.mode, max_distance=None, rerank=options.rerank
            ),
        )
        fingerprint = fingerprint_of(golden, tenants)
        if floors is not None and floors.fingerprint != fingerprint:
            raise InputError(
                f"{options.floors}: is of corpus {floors.fingerprint}, this one is {fingerprint}",
                hint="the set or its documents changed: look at the figures and write the floors anew",
            )
        wanted = replace(
            wanted_by(measures_for(k), floors),
            gate=not options.retrieval_only,
            generator=made.make_generator(None, made.scorer) if options.answers else None,
        )
        with output.progress() as progress:
            found = evaluate(golden, tenants, wanted, progress)
    figures = {**found.scores.summary(), **found.rates}
    verdict = judge_floors(floors, figures, fingerprint) if floors is not None else None
    told = _json(found, fingerprint, verdict, bytes_under(Path(options.home)))
    if options.trec:
        write_run(run_of(found.golden, _retrieved(found), f"fonte-{golden.name}"), Path(options.trec))
    if options.save_floors:
        margin = _save_floors(golden, found, fingerprint, Path(options.save_floors))
        output.note(f"the margin is {margin:g}: the loss that a candidate may bear, and that this set can show")
    if options.report:
        write(Path(options.report), pages.eval_page(for_page(found, tenants, told, k)))
    if output.json_mode:
        output.json(told)
    else:
        _tell(found, figures, verdict, output)
    return BELOW_A_FLOOR if verdict is not None and verdict.outcome != "pass" else 0


def write(path: Path, body: str) -> None:
    """A file, or an InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be written: {reason}", hint="name another file") from error


def _retrieved(found: Evaluation) -> dict[tuple[str, int], tuple[Retrieved, ...]]:
    return {query: one.retrieved for query, one in found.observed.items()}


def _json(found: Evaluation, fingerprint: str, verdict: FloorVerdict | None, size: int) -> Json:
    generations = list(found.generations.values())
    told = eval_json(
        found.golden,
        found.scores,
        rates=found.rates,
        facts=found.facts,
        generation=generations[0].id,
        recipe=generations[0].recipe.id,
    )
    return told | {
        "size_bytes": size,
        "corpus_fingerprint": fingerprint,
        "generations": {tenant: one.id for tenant, one in found.generations.items()},
        "layers": dict(found.layers),
        "golden_faults": [{"line": one.line, "id": one.question, "code": one.code} for one in found.faults],
        "floors": verdict.as_json() if verdict is not None else None,
    }


def _save_floors(golden: GoldenSet, found: Evaluation, fingerprint: str, path: Path) -> float:
    """What was measured as the least that is to be kept, and the margin, which is what so many questions can show.

    Rounded outwards, so that the same index passes.
    """
    floors = {name: math.floor(one.value * _DIGITS) / _DIGITS for name, one in found.scores.summary().items()}
    rates: Mapping[str, Interval] = found.rates
    ceilings = {name: math.ceil(rates[name].value * _DIGITS) / _DIGITS for name in _CEILINGS if name in rates}
    if not floors:
        raise InputError("no measure is defined on this set, so there is no floor", hint="add answerable questions")
    questions = min(len({question for question, _ in found.scores.values[name]}) for name in floors)
    margin = smallest_margin(questions)
    try:
        save_floors(Floors(fingerprint, floors, ceilings, margin, golden=golden.name), path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be written: {reason}", hint="name another file") from error
    return margin


# --- for people ------------------------------------------------------------------------------------------------------


def _tell(found: Evaluation, figures: Mapping[str, Interval], verdict: FloorVerdict | None, output: Output) -> None:
    golden = found.golden
    queries = sum(len(question.wordings) for question in golden.questions)
    counts = f"{many(queries, 'query', 'queries')} of {many(len(golden.questions), 'question')}"
    output.line(f"{golden.name}: {counts}, set {golden.fingerprint}")
    for tenant, generation in found.generations.items():
        output.line(f"generation {generation.id} of {tenant}, recipe {generation.recipe.id}")
    output.line()
    output.table(
        ("MEASURE", "VALUE", "95 % INTERVAL", "QUERIES"),
        [(name, f"{one.value:.3f}", f"{one.low:.3f}-{one.high:.3f}", str(one.n)) for name, one in figures.items()],
    )
    facets = found.scores.by_facet()
    decides = deciding(figures)
    if facets:
        output.line()
        output.table(
            ("SEGMENT", decides.upper(), "95 % INTERVAL", "QUERIES"),
            [
                (facet, f"{one.value:.3f}", f"{one.low:.3f}-{one.high:.3f}", str(one.n))
                for facet, mine in facets.items()
                for name, one in mine.items()
                if name == decides
            ],
        )
    facts = found.facts
    output.line()
    output.line(f"destroyed needles: {len(facts.lost.split) + len(facts.lost.beyond_window)} of {facts.lost.needles}")
    output.line(f"truncated chunks: {facts.truncated_chunks} of {facts.chunks}")
    output.line(f"header tokens: {facts.header_tokens} of {facts.tokens}")
    if facts.timings:
        output.line(f"a search takes {facts.timings.p50:.0f} ms (p50), {facts.timings.p95:.0f} ms (p95)")
    output.line(f"unauthorized hits: {found.scores.unauthorized_hits}")
    output.line("layers: " + ", ".join(f"{name} {state}" for name, state in found.layers.items()))
    for fault in found.faults[:_SHOWN_FAULTS]:
        output.note(_fault(fault))
    if len(found.faults) > _SHOWN_FAULTS:
        output.note(f"and {len(found.faults) - _SHOWN_FAULTS} more: fonte golden check tells all")
    if verdict is not None:
        output.line(f"floors: {verdict.outcome}")
        for reason in verdict.reasons:
            output.line(f"  {reason}")


def _fault(fault: GoldenFault) -> str:
    lost = fault.code in ("no_document", "no_needle")
    return f"{fault} ({'counts as not found' if lost else 'to be corrected in the set'})"


def deciding(figures: Mapping[str, Interval]) -> str:
    """The measure that a page opens questions by: the needle where the set has some, else recall."""
    return next((name for name in figures if name.startswith("needle")), next(iter(figures), ""))


# --- the page --------------------------------------------------------------------------------------------------------


def for_page(found: Evaluation, tenants: Tenants, told: Json, k: int) -> pages.Measured:
    """What a page shows of one configuration; ``told`` names its ``corpus_fingerprint`` and ``recipe``."""
    golden = found.golden
    decides = deciding(found.scores.summary())
    header = {
        "golden set": f"{golden.name}, fingerprint {golden.fingerprint}",
        "corpus fingerprint": told["corpus_fingerprint"],
        "generation": ", ".join(f"{one.id} ({tenant})" for tenant, one in found.generations.items()),
        "recipe": told["recipe"],
        "queries": sum(len(question.wordings) for question in golden.questions),
        "unauthorized hits": found.scores.unauthorized_hits,
    }
    thresholds = [one.verdict.threshold for one in found.observed.values() if one.verdict is not None]
    return pages.Measured(
        golden=golden,
        told=header,
        scores=found.scores,
        rates=found.rates,
        facts=found.facts,
        layers=found.layers,
        curves=curves_of(found, tenants, k),
        asked=[_asked(found, query, words, decides) for query, words in _words(golden)],
        threshold=thresholds[0] if thresholds else None,
        decides=decides,
        notes=[_fault(fault) for fault in found.faults],
    )


def _words(golden: GoldenSet) -> list[tuple[tuple[str, int], str]]:
    return [((question.id, number), words) for question, number, words in golden.queries()]


def _asked(found: Evaluation, query: tuple[str, int], words: str, decides: str) -> pages.Asked:
    question = next(one for one in found.golden.questions if one.id == query[0])
    one = found.observed[query]
    attempted = isinstance(one.answer, Answered) if one.answer is not None else None
    if attempted is None and one.verdict is not None:
        attempted = one.verdict.sufficient
    return pages.Asked(
        query=query,
        words=words,
        question=question,
        results=one.retrieved,
        value=found.scores.values.get(decides, {}).get(query),
        wrong=None if attempted is None else attempted is not question.answerable,
        gate=one.verdict.score if one.verdict is not None else None,
        distance=one.distance,
        answer=text_of(one.answer) if isinstance(one.answer, Answered) else "",
    )
