"""Every HTML report, made by the command that makes it, over a small folder with hostile names, texts and questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from integration.command import fonte

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
PLOTS = {"eval": 4, "compare": 1, "experiment": 1, "calibrate": 3}


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


def make(folder: Path) -> Mapping[str, Path]:
    """The reports' files, by name."""
    home, golden = folder / "home", folder / "golden.yaml"
    _documents(folder / "towns")
    golden.write_text(_golden())
    (folder / "plain.toml").write_text("")
    (folder / "blind.toml").write_text('[chunking]\nstrategy = "blind"\nsize = 24\n')
    (folder / "experiment.toml").write_text(EXPERIMENT)
    commands = {
        "eval": ("eval", str(golden), "--answers"),
        "compare": ("compare", str(golden), "--a", str(folder / "blind.toml"), "--b", str(folder / "plain.toml")),
        "experiment": ("compare", str(folder / "experiment.toml")),
        "calibrate": ("calibrate", str(golden)),
    }
    assert fonte(home, "sync", str(folder / "towns")).status == 0
    made = {}
    for name, command in commands.items():
        made[name] = folder / f"{name}.html"
        ran = fonte(home, *command, "--report", str(made[name]))
        assert ran.status == 0, ran.err
    return made
