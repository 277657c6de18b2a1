"""Every HTML report, made by the command that makes it, over a small folder with hostile names, texts and questions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from integration.command import fonte

from fonte.cli import lab
from fonte.cli.lab import FAILED
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_files import load_golden
from fonte.lab.measuring import DEFAULT

PLACES = "Arona Biella Crema Desio Erba Fano Gela Imola Jesi Lodi".split()
SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>'
FILE = "x<img src=x onerror=alert(3)>.md"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
EXPERIMENT = """\
name = "cutting <b>"
golden = "golden.yaml"
variable = "chunking"
measures = ["needle@4", "recall@5"]

[[configurations]]
name = "blind"
settings.chunking = { strategy = "blind", size = 24 }

[[configurations]]
name = "as it is"
"""
QUERIES = 2 * len(PLACES) + 4 + 1 + 21
PLOTS = {"eval": 4, "compare": 1, "experiment": 1, "calibrate": 3, "lab": 8}
ASKED_IN_LAB = ("module-r7", "monthly-2026", "u-tg7", "livia-trainer")


def _documents(folder: Path) -> None:
    folder.mkdir()
    for number, place in enumerate(PLACES):
        text = f"The bridge of {place} was opened in {1800 + number}.\n\nThe market of {place} was opened in 1700.\n"
        (folder / f"{place}.md").write_text(text)
    (folder / FILE).write_text(f"    {SCRIPT} {IMAGE} {LONG}\n\nThe tower was painted in 1650.\n")


def _golden() -> str:
    known: list[dict[str, object]] = [
        {
            "id": f"{thing}-{place}",
            "question": f"When was the {thing} of {place} opened?",
            "segment": f"{thing}s of the towns, the long and the short ones",
            "relevant": [{"document": f"{place}.md", "needle": f"The {thing} of {place} was opened"}],
        }
        for place in PLACES
        for thing in ("bridge", "market")
    ]
    # Asked in other words than the documents', so that search and gate fail now and then.
    known += [
        {
            "id": f"other-{place}",
            "question": f"Since which year do carts cross water {at}?",
            "segment": "other words",
            "relevant": [{"document": f"{place}.md", "needle": f"The bridge of {place} was opened"}],
        }
        for at, place in enumerate(PLACES[:4])
    ]
    known.append(
        {
            "id": "tower<i>",
            "question": f"When was the tower painted {SCRIPT} {LONG}?",
            "segment": IMAGE,
            "relevant": [{"document": FILE, "needle": "The tower was painted in 1650"}],
        }
    )
    absent = [f"When was the bridge of {place} opened to tolls?" for place in PLACES[:6]]
    absent += [f"What does a ticket cost on moon {at}?" for at in range(14)] + [f"Who is {IMAGE}?"]
    questions = [*known, *({"id": f"no-{at}", "question": one, "answerable": False} for at, one in enumerate(absent))]
    lines = [f"  - {json.dumps(one | {'language': 'en'})}\n" for one in questions]
    return "name: towns <u>\nquestions:\n" + "".join(lines)


class Reports:
    """The reports' files by name, each made when it is first asked for."""

    def __init__(self, folder: Path, patched: pytest.MonkeyPatch) -> None:
        self._folder, self._patched = folder, patched
        self._made: dict[str, Path] = {}
        _documents(folder / "towns")
        (folder / "golden.yaml").write_text(_golden())
        (folder / "plain.toml").write_text("")
        (folder / "blind.toml").write_text('[chunking]\nstrategy = "blind"\nsize = 24\n')
        (folder / "experiment.toml").write_text(EXPERIMENT)
        self._run("sync", str(folder / "towns"))

    def __getitem__(self, name: str) -> Path:
        if name not in self._made:
            self._made[name] = self._laboratory() if name == "lab" else self._measured(name)
        return self._made[name]

    def _measured(self, name: str) -> Path:
        golden, report = str(self._folder / "golden.yaml"), self._folder / f"{name}.html"
        pair = ("--a", str(self._folder / "blind.toml"), "--b", str(self._folder / "plain.toml"))
        arguments = {
            "eval": ("eval", golden, "--answers"),
            "compare": ("compare", golden, *pair),
            "experiment": ("compare", str(self._folder / "experiment.toml")),
            "calibrate": ("calibrate", golden),
        }
        self._run(*arguments[name], "--report", str(report))
        return report

    def _laboratory(self) -> Path:
        """With some of its questions, in its default configuration."""

        def some(path: Path) -> GoldenSet:
            golden = load_golden(path)
            return replace(golden, questions=tuple(one for one in golden.questions if one.id in ASKED_IN_LAB))

        self._patched.setattr(lab, "load_golden", some)
        self._patched.setattr(lab, "CONFIGURATIONS", [one for one in lab.CONFIGURATIONS if one.name == DEFAULT])
        # With a stand-in for the encoder not everything is found that its simulations look for; they say so.
        self._run("lab", "--out", str(self._folder / "lab"), allowed=(0, FAILED))
        return self._folder / "lab" / "lab.html"

    def _run(self, *arguments: str, allowed: tuple[int, ...] = (0,)) -> None:
        ran = fonte(self._folder / "home", *arguments)
        assert ran.status in allowed, ran.err
