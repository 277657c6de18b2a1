"""Four readers and two writers at once: what each saw and did is written down, and judged afterwards.

Every answer is of one generation that was active while it was made, whole and as that generation has it; nothing is
seen that was narrowed, deleted or erased before the question, in no generation and in no stored answer.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from faults.history_worker import PLAIN, Writer, text_of
from property.quick_corpus import quick_corpus

from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, NotFound
from fonte.stores.checking import check
from fonte.types import Answered, Principal

ASKERS = (Principal(user="ada"), Principal(user="hana", roles=frozenset({"hr"})))
QUESTION = "Who wrote the rules of the hall, the keeper of {}?"
WRITERS = ("a", "b")
PAUSE = 0.005
FEWEST = 8
"""Looks of each reader, however long they take."""


@dataclass(frozen=True)
class Reading:
    """What a reader did and saw: passages as (document's name, text), of the generation that it was told."""

    what: str
    hr: bool
    began: float
    ended: float
    generation: str
    passages: tuple[tuple[str, str], ...]
    error: str = ""


@dataclass
class Reader:
    """Asks until its time is over."""

    corpus: OpenCorpus
    number: int
    readings: list[Reading] = field(default_factory=list)

    def run(self, until: float) -> None:
        draw, answers = random.Random(self.number), list[tuple[str, tuple[tuple[str, str], ...]]]()
        who = ASKERS[self.number % 2]
        while time.monotonic() < until or len(self.readings) < FEWEST:  # a busy machine may take long for the first
            name = f"{draw.choice(WRITERS)}{draw.randrange(5)}.txt"
            what, began = draw.choice(["search", "search", "ask", "show", "answer"]), time.monotonic()
            generation, passages, error = "", (), ""
            try:
                if what == "search":
                    mode = draw.choice(["bm25", "dense", "hybrid"])
                    found = self.corpus.search("the keeper of the hall", principal=who, mode=mode, k=50)
                    generation = found.generation
                    passages = tuple((one.stored.document_name, one.stored.chunk.content) for one in found.results)
                elif what == "ask":
                    told = self.corpus.ask(QUESTION.format(name), principal=who)
                    generation = told.generation
                    cited = told.citations if isinstance(told, Answered) else ()
                    passages = tuple((one.document_name, one.quote) for one in cited)
                    if told.answer_id and passages:
                        answers.append((told.answer_id, passages))
                elif what == "show":
                    document = self.corpus.document(name, principal=who)
                    passages = ((document.name, document.text),)
                elif answers:
                    at = draw.randrange(len(answers))
                    self.corpus.answer(answers[at][0], principal=who)
                    passages = answers[at][1]
            except NotFound:
                what += " (not found)"
            except FonteError as raised:
                error = f"{raised.code}: {raised.message}"
            hr = bool(who.roles)
            self.readings.append(Reading(what, hr, began, time.monotonic(), generation, passages, error))
            time.sleep(PAUSE)


@dataclass
class History:
    """What the writers did, and what follows from it."""

    operations: list[dict[str, Any]]

    def __post_init__(self) -> None:
        self.operations.sort(key=lambda one: one["ended"])
        self.content: dict[str, dict[str, int]] = {}
        for one in self.operations:
            self.content |= one.get("content", {})
        self.active = list(self._active())

    def _active(self) -> Iterator[tuple[float, float, str]]:
        """From when to when a generation may have been active."""
        moves: list[tuple[float, float, str]] = []
        for one in self.operations:
            if one.get("active") and (not moves or moves[-1][2] != one["active"]):
                moves.append((one["began"], one["ended"], one["active"]))
        for at, (began, _, name) in enumerate(moves):
            yield began, moves[at + 1][1] if at + 1 < len(moves) else float("inf"), name

    def were_active(self, reading: Reading) -> set[str]:
        """Generations that may have been active while it was read."""
        return {name for began, ended, name in self.active if began <= reading.ended and reading.began <= ended}

    def forbidden(self, name: str, reading: Reading) -> bool:
        """Whether it was taken away before the reading began, and could not have been given back before it ended."""
        taken: dict[str, Any] | None = None
        for one in self.operations:
            if one["by"] != name[0]:
                continue
            if self._takes(one, name, hr=reading.hr) and one["ended"] <= reading.began:
                taken = one
            elif taken is not None and one["began"] < reading.ended and self._gives(one, name, taken):
                taken = None
        return taken is not None

    @staticmethod
    def _takes(one: dict[str, Any], name: str, *, hr: bool) -> bool:
        if one["error"]:
            return False
        narrowed = one["what"] in ("sync", "candidate") and "public" not in one["shelf"].get(name, ["public"])
        return one.get("name") == name or (narrowed and not hr)

    def _gives(self, one: dict[str, Any], name: str, taken: dict[str, Any]) -> bool:
        """A sync that found it again for more than it was taken from, or the publishing of such a sync's candidate."""
        if one["what"] == "publish":
            syncs = [other for other in self.operations if other["by"] == one["by"] and "shelf" in other]
            source = next(other for other in syncs if other["number"] == one["number"])
            return bool(source["began"] >= taken["began"] and name in source["shelf"])
        return one["what"] == "sync" and name in one["shelf"]

    def faults(self, reading: Reading) -> Iterator[str]:
        """What is wrong with what a reader saw."""
        if reading.error:
            yield f"an error: {reading.error}"
        for name, _ in reading.passages:
            if self.forbidden(name, reading):
                yield f"{name} was taken away before"
        if reading.what == "answer":
            return  # as it was when it was given
        may = self.were_active(reading)
        if reading.generation:
            may &= {reading.generation}
        if not may and (reading.generation or reading.passages):
            yield f"generation {reading.generation} was not active"
        for name, text in reading.passages:
            if not any(text in text_of(name, self.content[one][name]) for one in may if name in self.content[one]):
                yield f"{name} says {text!r}, which is of another generation"
        if reading.what == "search" and reading.generation and may:
            plain = {name for name in self.content[reading.generation] if int(name[1]) < PLAIN}
            if missing := plain - {name for name, _ in reading.passages}:
                yield f"{sorted(missing)} are missing"
        if len({name for name, _ in reading.passages}) < len(reading.passages) and reading.what == "search":
            yield "a document is there twice"


def write(home: Path, name: str, seed: int) -> subprocess.Popen[str]:
    tests = Path(__file__).resolve().parent.parent
    paths = [*sys.path, *(str(tests / one) for one in ("", "property"))]
    return subprocess.Popen(
        [sys.executable, "-m", "faults.history_worker", str(home), name, str(seed)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(home: Path, seconds: float, seed: int) -> tuple[History, list[Reading]]:
    """Two writers in processes of their own; four readers here, three of them over one corpus, as in a server."""
    writers = [write(home, name, seed + at) for at, name in enumerate(WRITERS)]
    operations: list[dict[str, Any]] = []

    def listen(writer: subprocess.Popen[str]) -> None:
        assert writer.stdout is not None
        operations.extend(map(json.loads, writer.stdout))

    listening = [Thread(target=listen, args=(one,)) for one in writers]
    for one in listening:
        one.start()
    try:
        with quick_corpus(home) as shared, quick_corpus(home) as own:
            while len({one["by"] for one in list(operations)}) < len(WRITERS):
                assert all(one.poll() is None for one in writers)
                time.sleep(0.05)
            readers = [Reader(shared if at else own, at) for at in range(4)]
            until = time.monotonic() + seconds
            reading = [Thread(target=one.run, args=(until,)) for one in readers]
            for thread in reading:
                thread.start()
            for thread in reading:
                thread.join()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.close()
        assert [one.wait(120) for one in writers] == [0, 0]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
        for thread in listening:
            thread.join()
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.close()
    return History(operations), [one for reader in readers for one in reader.readings]


def judge(home: Path, history: History, readings: Sequence[Reading]) -> None:
    """No fault in anything that was seen; the home is whole."""
    done = Counter(f"{one['what']}{' refused' if one['error'] else ''}" for one in history.operations)
    print(dict(done), dict(Counter(one.what for one in readings)), f"{len(history.content)} generations")
    found = [f"{fault}: {one}" for one in readings for fault in history.faults(one)]
    print(f"{len(history.operations)} operations, {len(readings)} readings, {len(found)} faults")
    assert not found, "\n".join(found[:5])
    refused = {one["error"].split(":")[0] for one in history.operations if one["error"]}
    assert refused <= {"not_found", "generation_conflict", "gate_failed"}
    assert list(check(home)) == []


def one_after_the_other(home: Path, steps: int, seed: int) -> tuple[History, list[Reading]]:
    """The two writers in this process, with many rollbacks and late candidates, and a look by each asker in between."""
    draw, told = random.Random(seed), io.StringIO()
    readings: list[Reading] = []
    with contextlib.redirect_stdout(told):
        writers = [Writer(home, name, seed + at) for at, name in enumerate(WRITERS)]
        for one in writers:
            one.sync()
        for _ in range(steps):
            writer = draw.choice(writers)
            do = draw.choices(
                [
                    writer.sync,
                    partial(writer.sync, publish=False),
                    writer.publish,
                    partial(writer.said, "rollback", writer.corpus.rollback),
                    partial(writer.take_away, "delete"),
                    partial(writer.take_away, "erase"),
                ],
                [35, 20, 15, 15, 12, 3],
            )
            do[0]()
            for who in ASKERS:
                began = time.monotonic()
                found = writers[0].corpus.search("the keeper of the hall", principal=who, mode="bm25", k=50)
                seen = tuple((each.stored.document_name, each.stored.chunk.content) for each in found.results)
                reading = Reading("search", bool(who.roles), began, time.monotonic(), found.generation, seen, "")
                readings.append(reading)
        for one in writers:
            one.corpus.close()
    return History([json.loads(line) for line in told.getvalue().splitlines()]), readings


def test_nothing_that_was_taken_away_comes_back_by_a_rollback_or_a_late_candidate(home: Path) -> None:
    judge(home, *one_after_the_other(home, 60, seed=1))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_nothing_that_was_taken_away_comes_back_whatever_is_drawn(home: Path, seed: int) -> None:
    judge(home, *one_after_the_other(home, 150, seed))


def test_readers_and_writers_at_once(home: Path) -> None:
    history, readings = run(home, 12.0, seed=3)
    judge(home, history, readings)
    assert any(one.passages for one in readings)


@pytest.mark.soak
def test_readers_and_writers_for_twenty_minutes(home: Path) -> None:
    history, readings = run(home, 1200.0, seed=11)
    judge(home, history, readings)
    done = {one["what"] for one in history.operations if not one["error"]}
    assert done == {"sync", "candidate", "publish", "rollback", "delete", "erase"}


def test_a_judge_that_sees() -> None:
    """Faults put into a history are found."""
    history = History(
        [
            {"what": "sync", "by": "a", "began": 0, "ended": 1, "error": None, "active": "g1", "number": 1,
             "shelf": {"a0.txt": ["public"], "a3.txt": ["public"]}, "content": {"g1": {"a0.txt": 1, "a3.txt": 1}}},
            {"what": "delete", "by": "a", "began": 2, "ended": 3, "error": None, "name": "a3.txt"},
            {"what": "sync", "by": "a", "began": 4, "ended": 5, "error": None, "active": "g2", "number": 2,
             "shelf": {"a0.txt": ["public"]}, "content": {"g2": {"a0.txt": 2}}},
        ]
    )  # fmt: skip

    def told(began: float, generation: str, *passages: tuple[str, int], what: str = "search") -> list[str]:
        texts = tuple((name, text_of(name, version)) for name, version in passages)
        return [
            one.split(",")[0] for one in history.faults(Reading(what, False, began, began + 0.5, generation, texts))
        ]

    assert told(1.2, "g1", ("a0.txt", 1), ("a3.txt", 1)) == []
    assert told(2.5, "g1", ("a0.txt", 1), ("a3.txt", 1)) == []
    assert told(3.2, "g1", ("a0.txt", 1), ("a3.txt", 1)) == ["a3.txt was taken away before"]
    assert told(3.2, "", ("a3.txt", 1), what="answer") == ["a3.txt was taken away before"]
    assert told(5.2, "g2", ("a0.txt", 2)) == []
    assert told(5.2, "g1", ("a0.txt", 1)) != []
    assert told(5.2, "g2", ("a0.txt", 1)) != []
    assert told(5.2, "g2") == ["['a0.txt'] are missing"]
    assert told(3.2, "g2", ("a0.txt", 2)) == ["generation g2 was not active", *told(3.2, "g2", ("a0.txt", 2))[1:]]
    assert told(4.5, "g1", ("a0.txt", 1)) == told(4.5, "g2", ("a0.txt", 2)) == []
