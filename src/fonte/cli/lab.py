"""fonte lab: the laboratory, in one command."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path

from fonte.cli.evaluate import for_page, write
from fonte.cli.output import Output
from fonte.config import load_settings
from fonte.contract import Json
from fonte.errors import ConfigError
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.html import plots
from fonte.lab.measuring import CONFIGURATIONS, DEFAULT
from fonte.lab.mistakes import EXPLAINED, KINDS
from fonte.lab.page import lab_page, otherwise
from fonte.lab.place import lay_out
from fonte.lab.run import Lab, run, write_runs
from fonte.lab.told import lab_json, tables
from fonte.parts import Parts
from fonte.wiring import make_parts

SHOWN = ("recall@5", "mrr@10")
"""Measures whose verdicts are printed; the report has all."""
PLACES = 10
"""Places of the curves."""
FAILED = 1


def lab(options: argparse.Namespace, output: Output) -> int:
    """The whole laboratory; 1 where something came out that should not, or a simulation did not go as it must."""
    drawn = _can_draw(output)
    place = lay_out(Path(options.out))
    config = Path(options.config) if options.config else None

    def make(home: Path, wanted: Mapping[str, object]) -> Parts:
        rights = load_settings(place.folder / "fonte.toml", home, {}).sources
        settings = load_settings(config or home.parent / "fonte.toml", home, os.environ, wanted)
        return make_parts(home, settings.model_copy(update={"sources": rights}))

    golden = load_golden(place.golden)
    with (
        output.progress() as progress,
        run(make, place, golden, configurations=CONFIGURATIONS, tell=output.note, progress=progress) as found,
    ):
        told = lab_json(found)
        write(place.folder / "lab.json", json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        write(place.folder / "lab.html", _page(found, drawn=drawn))
        write_runs(found, place.folder / "runs")
        if output.json_mode:
            output.json(told)
        else:
            _tell(found, output)
            output.line(f"report: {place.folder / 'lab.html'}; explore it: --home {place.home} --tenant serena")
        return 0 if found.held else FAILED


def _can_draw(output: Output) -> bool:
    try:
        plots.require()
    except ConfigError:
        output.note("the report will have no plots: they need matplotlib (pip install 'fonte[report]')")
        return False
    return True


def _page(found: Lab, *, drawn: bool) -> str:
    best = next((row for row in found.rows if row.configuration.name == DEFAULT), found.rows[-1])
    recipe = next(iter(best.found.generations.values())).recipe.id
    told: Json = {"corpus_fingerprint": found.fingerprint, "recipe": recipe}
    return lab_page(found, for_page(best.found, best.tenants, told, PLACES), drawn=drawn)


def _tell(found: Lab, output: Output) -> None:
    golden = found.golden
    output.line(
        f"{found.documents} documents, {len(golden.questions)} questions, set {golden.fingerprint}, "
        f"corpus {found.fingerprint}"
    )
    output.line()
    for headings, table in tables(found):
        output.table([heading.upper() for heading in headings], table)
        output.line()
    rows = []
    for judged in found.verdicts:
        for pair in judged.verdicts:
            for name in SHOWN:
                if name in pair.measures:
                    one = pair.measures[name]
                    interval = f"{one.difference.value:+.3f} [{one.difference.low:+.3f}, {one.difference.high:+.3f}]"
                    won = f"+{one.wins}/-{one.losses}"
                    rows.append((f"{pair.b} against {pair.a}", name, interval, won, one.verdict.replace("_", " ")))
    output.table(("PAIR", "MEASURE", "DIFFERENCE", "WON/LOST", "VERDICT"), rows)
    output.line()
    _tell_mistakes(found, output)
    for trespass in found.trespasses:
        output.line(
            f"{trespass.questions} questions asked by {trespass.kind}: {trespass.results} results, "
            f"{trespass.unauthorized} unauthorized, {trespass.leaks} leaks, {trespass.betrayed} told that it exists"
        )
    for simulation in found.simulations:
        output.line(
            f"{simulation.name}: {'held' if simulation.held else 'DID NOT HOLD'} ({len(simulation.checks)} checks)"
        )
        for check in simulation.checks:
            if not check.held:
                output.line(f"  not: {check.what}{': ' + check.found if check.found else ''}")
    output.line(f"unauthorized in all: {found.unauthorized}")


def _tell_mistakes(found: Lab, output: Output) -> None:
    counts = [(name, *(str(kinds.get(kind, 0)) for kind in KINDS)) for name, kinds in found.found.items()]
    output.table(("MISTAKES OF", *(kind.upper() for kind in KINDS)), counts)
    output.line()
    explained = [one for one in found.mistakes if one.why is not None]
    if len(explained) < EXPLAINED:
        output.line(f"the run made no more than {len(explained)} mistakes that why can explain")
    for number, one in enumerate(explained, start=1):
        why = one.why
        if why is not None:
            output.line(f"{number}. {one.question.wordings[0]} ({one.configuration}: {one.kind})")
            output.line(f"   lost at {why.lost_at or 'no layer'}: {why.reason}")
            output.line(f"   {otherwise(one)}")
    output.line()
