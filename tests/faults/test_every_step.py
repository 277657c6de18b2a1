"""Broken off at every step of a sync, a publish, a rollback, a delete, an erasure and a migration to another model.

After each the home is whole, who asks sees what was or what came and no mixture, and the operation done again succeeds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.small_life import OPERATIONS, Seen, copied, make, opened, seen
from faults.stepping import FULL, stepping

from fonte.errors import FonteError, StoreUnavailable
from fonte.stores import lance_index
from fonte.stores.checking import check

STEPS = 6
"""Of an operation, in the run that is not the long one."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("life") / "home"
    make(home)
    return home


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_index, "ERASE_SECONDS", 0.0)


def look(home: Path) -> Seen:
    with opened(home) as corpus:
        return seen(corpus)


def both(template: Path, place: Path, name: str) -> tuple[Seen, Seen, int]:
    """What is seen before an operation and after it (a reader at each step sees one of them), and how many steps."""
    home, shown = copied(template, place / "whole"), []
    operation = OPERATIONS[name]
    with opened(home) as reader:
        before = seen(reader)
        with stepping(home, lambda _at, _what: shown.append(seen(reader))) as steps, operation.on(home) as corpus:
            operation.do(corpus)
        after = seen(reader)
    assert before != after
    assert set(shown) <= {before, after}
    assert shown == sorted(shown, key=lambda one: one == after), "what came does not go again"
    assert list(check(home)) == []
    return before, after, len(steps.names)


def faults(home: Path) -> list[str]:
    """What ``check`` says but for what the next run of the operation takes away, as it says."""
    return [
        line
        for line in check(home)
        if not line.endswith(("the next sync removes it", "an erasure was not completed: run fonte erase again"))
    ]


def afterwards(home: Path, name: str, before: Seen, after: Seen) -> bool:
    """The home is whole and the operation can be done again; whether it had been done already."""
    assert faults(home) == []
    found = look(home)
    assert found in (before, after)
    operation = OPERATIONS[name]
    if not (name == "rollback" and found == after):
        with operation.on(home) as corpus:
            operation.do(corpus)
    assert look(home) == after
    if name in ("sync", "erase", "migration"):
        assert list(check(home)) == []
    return found == after


def drawn(steps: int, name: str, *, whole: bool) -> Iterator[int]:
    numbers = list(range(1, steps + 1))
    yield from numbers if whole else sorted(random.Random(name).sample(numbers, min(STEPS, steps)))


def refuse_steps(template: Path, place: Path, name: str, *, for_good: bool, whole: bool) -> None:
    before, after, steps = both(template, place, name)
    refused = done = 0
    for number in drawn(steps, name, whole=whole):

        def at_step(at: int, _what: str, number: int = number) -> None:
            if at == number or (for_good and at > number):
                raise FULL

        home = copied(template, place / f"{number}")
        with stepping(home, at_step) as taken, OPERATIONS[name].on(home) as corpus:
            try:
                OPERATIONS[name].do(corpus)
            except FonteError as error:
                assert isinstance(error, StoreUnavailable), f"step {number}, {taken.names[number - 1]}: {error!r}"
                assert error.retryable
                assert error.hint
                refused += 1
        done += afterwards(home, name, before, after)
    print(f"{name}: {steps} steps, {refused} errors, {done} times it had been done all the same")
    assert refused


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_disk_that_refuses_a_step(template: Path, tmp_path: Path, name: str, for_good: bool) -> None:
    refuse_steps(template, tmp_path, name, for_good=for_good, whole=False)


@pytest.mark.soak
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_disk_that_refuses_every_step(template: Path, tmp_path: Path, name: str, for_good: bool) -> None:
    refuse_steps(template, tmp_path, name, for_good=for_good, whole=True)


def kill_steps(template: Path, place: Path, name: str, most: int | None) -> None:
    before, after, steps = both(template, place, name)
    numbers = list(range(1, steps + 1))
    if most is not None:
        numbers = random.Random(f"kill {name}").sample(numbers, min(most, steps))
    tests = Path(__file__).resolve().parent.parent
    paths = [*sys.path, *(str(tests / one) for one in ("", "property", "integration"))]
    for number in numbers:
        home = copied(template, place / f"{number}")
        done = subprocess.run(
            [sys.executable, "-m", "faults.small_life", str(home), name, str(number)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 9, done.stderr
        afterwards(home, name, before, after)


@pytest.mark.parametrize("name", ["sync", "erase", "migration"])
def test_a_process_that_ends_at_a_step(template: Path, tmp_path: Path, name: str) -> None:
    kill_steps(template, tmp_path, name, 1)


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_process_that_ends_at_every_step(template: Path, tmp_path: Path, name: str) -> None:
    kill_steps(template, tmp_path, name, None)
