"""A small corpus and golden set over the fake encoder, through the use cases and through the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fonte.config import Settings
from fonte.corpus import OpenCorpus
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_files import load_golden
from fonte.parts import Parts
from fonte.wiring import make_parts
from quick_corpus import WIDE_OPEN, Shelf, Shelves, WordEmbedder, quick_corpus, quick_parts

PUBLIC, GUARDS = frozenset({"public"}), frozenset({"guards"})
WORDS = {
    "keys.md": ("# Keys\n\nThe key of the archive hangs behind the door of room 12.\n", PUBLIC),
    "alarm.md": ("# Alarm\n\nThe alarm code of the archive is 4711.\n", GUARDS),
    "leave.md": ("# Leave\n\nStaff get 27 working days of annual leave a year.\n", PUBLIC),
    "travel.md": ("# Travel\n\nA hotel night in Rome is paid up to 140 euros.\n", PUBLIC),
}
GOLDEN = """\
name: small
questions:
  - id: key
    question: "Where does the key of the archive hang?"
    wordings: ["key archive hangs behind which door"]
    segment: plain
    relevant: [{document: keys.md, needle: "behind the door of room 12"}]
    must_include: ["room 12"]
  - id: leave
    question: "How many working days of annual leave do staff get?"
    segment: plain
    relevant: [{document: leave.md, needle: "27 working days of annual leave"}]
    must_include: ["27"]
    must_not_include: ["26 working"]
  - id: code
    question: "What is the alarm code of the archive?"
    segment: private
    roles: [guards]
    relevant: [{document: alarm.md, needle: "code of the archive is 4711"}]
    must_include: ["4711"]
  - id: code-stranger
    question: "What is the alarm code of the archive, please?"
    segment: private
    answerable: false
    must_not_include: ["4711"]
  - id: lunch
    question: "What is for lunch on Friday?"
    segment: absent
    answerable: false
"""


def written(folder: Path, text: str = GOLDEN) -> Path:
    path = folder / "golden.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def golden(folder: Path, text: str = GOLDEN) -> GoldenSet:
    return load_golden(written(folder, text))


def synced(home: Path, texts: Mapping[str, Any] | None = None) -> OpenCorpus:
    corpus = quick_corpus(home, Shelves({"shelf": Shelf(WORDS if texts is None else texts)}))
    corpus.sync("memory://shelf")
    return corpus


class Quick:
    """``make_parts`` with the fake encoder and an open gate; counts the models that it made."""

    def __init__(self) -> None:
        self.models: list[WordEmbedder] = []

    def __call__(self, home: Path, settings: Settings) -> Parts:
        def model() -> WordEmbedder:
            self.models.append(WordEmbedder())
            return self.models[-1]

        real = make_parts(home, settings)
        quick = quick_parts(home)
        return replace(
            real, make_embedder=model, make_pool=quick.make_pool, gate_for=lambda _space: WIDE_OPEN, extractors=dict
        )
