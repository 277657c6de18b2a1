"""One small home in the middle of its life, and what is done to it: for tests that break off at every step."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from faults.stepping import stepped, stepping
from integration.test_migration import MODELS
from property.quick_corpus import Shelf, Shelves, quick_parts

from fonte.corpus import OpenCorpus
from fonte.text.terms import Analyser
from fonte.types import Principal

WHO = Principal()
PUBLIC = frozenset({"public"})
TERMS = Analyser()
"""Once for all homes: its glossary takes a while."""


def shelf(**versions: int) -> Shelves:
    """Documents by name, each with a text of its version."""
    texts = {
        f"{name}.txt": (f"The {name} lives in hall {at}. Its keeper writes version {at} of the rules.", PUBLIC)
        for name, at in versions.items()
    }
    return Shelves({"docs": Shelf(texts)})


FIRST = shelf(okapi=1, tiger=1, zebra=1, camel=1)
SECOND = shelf(okapi=2, tiger=1, zebra=1, camel=1)
WAITING = shelf(okapi=3, tiger=1, zebra=1, camel=1)
NEXT = shelf(okapi=2, tiger=4, zebra=1, koala=4)


def opened(home: Path, shelves: Shelves = SECOND, model: str = "words") -> OpenCorpus:
    """A corpus whose index tells its steps."""
    parts = quick_parts(home, shelves, embedder=MODELS[model]())
    return OpenCorpus(stepped(replace(parts, terms=TERMS, embedding=model, embedder_from=lambda told: MODELS[told]())))


def make(home: Path) -> None:
    """Two generations and one that waits to be published."""
    for shelves, publish in ((FIRST, True), (SECOND, True), (WAITING, False)):
        with opened(home, shelves) as corpus:
            corpus.sync("docs", publish=publish)


def _waiting(corpus: OpenCorpus) -> str:
    return next(one.id for one in corpus.generations()[1] if one.state == "candidate")


class Operation(NamedTuple):
    """What is done, by settings with this model and this shelf."""

    do: Callable[[OpenCorpus], object]
    shelves: Shelves = SECOND
    model: str = "words"

    def on(self, home: Path) -> OpenCorpus:
        return opened(home, self.shelves, self.model)


OPERATIONS: Mapping[str, Operation] = {
    "sync": Operation(lambda corpus: corpus.sync("docs"), NEXT),
    "publish": Operation(lambda corpus: corpus.publish(_waiting(corpus))),
    "rollback": Operation(lambda corpus: corpus.rollback()),
    "delete": Operation(lambda corpus: corpus.delete("tiger.txt")),
    "erase": Operation(lambda corpus: corpus.erase("tiger.txt")),
    "migration": Operation(lambda corpus: corpus.sync("docs"), SECOND, "turned"),
}

Seen = tuple[str, frozenset[tuple[str, str]]]
"""The model that answers, and names with texts."""


def seen(corpus: OpenCorpus) -> Seen:
    """What a reader sees: the same in every mode, each passage as its document has it, all documents that are there."""
    asker = corpus.asker(WHO)
    assert asker is not None
    active = asker.reader.generation.id
    found = {mode: corpus.search("keeper of the hall", principal=WHO, mode=mode, k=50) for mode in ("bm25", "hybrid")}
    assert {one.generation for one in found.values()} == {active}
    shown = {
        mode: frozenset((hit.stored.document_name, hit.stored.chunk.content) for hit in one.results)
        for mode, one in found.items()
    }
    assert shown["bm25"] == shown["hybrid"]
    texts = {one.name: corpus.document(one.document_id, principal=WHO).text for one in corpus.readable(principal=WHO)}
    assert shown["hybrid"] == texts.items(), "passages and documents are of one state"
    return asker.embedder.space.model, shown["hybrid"]


def copied(template: Path, home: Path) -> Path:
    """The home once more, hard links as files of their own."""
    return Path(shutil.copytree(template, home))


def die_at(home: Path, name: str, number: int) -> None:
    """Do an operation and end the process before its n-th step, without a word."""

    def at_step(at: int, _what: str) -> None:
        if at == number:
            os._exit(9)

    operation = OPERATIONS[name]
    with stepping(home, at_step), operation.on(home) as corpus:
        operation.do(corpus)


if __name__ == "__main__":
    die_at(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
