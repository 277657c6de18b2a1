"""Answers put before people: those of a golden set over the active generation, or those stored in the home.

What they say is kept in a file that only grows, written under a lock, so that two labellers may work at once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from fonte import contract
from fonte.answer import now
from fonte.errors import InputError
from fonte.evaluating import Tenants, Wanted, evaluate
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.labels import Drawn, Item, Labels, drawn_line, item_of, read_labels
from fonte.protocols import Generator, Progress

_LARGEST = 256 * 2**20


def labels_beside(golden: Path) -> Path:
    """Where verdicts on a golden set's answers are kept: beside its file, or in its folder."""
    return golden / "labels.jsonl" if golden.is_dir() else golden.with_name(f"{golden.stem}.labels.jsonl")


def golden_items(golden: GoldenSet, tenants: Tenants, generator: Generator, progress: Progress) -> list[Item]:
    """What every wording of a set is answered with now.

    Raises:
        As ``evaluate``.
    """
    found = evaluate(golden, tenants, Wanted(("needle@1",), generator=generator), progress)
    items = []
    for question, number, _ in found.golden.queries():
        answer = found.observed[question.id, number].answer
        if answer is not None:
            source = {"golden": golden.fingerprint, "query": [question.id, number], "generation": answer.generation}
            items.append(item_of(contract.answer(answer), source, question))
    return items


def stored_items(bodies: Sequence[str], said: Mapping[str, str] = MappingProxyType({})) -> list[Item]:
    """Stored answers, of whose rightness no automatic measure knows anything.

    ``said`` is what their askers think of them, by answer; they are drawn and told by it.
    """
    items = []
    for body in bodies:
        told = json.loads(body)
        item = item_of(told, {"answer_id": told["answer_id"], "generation": told["generation"]})
        word = said.get(told["answer_id"])
        items.append(item if word is None else replace(item, kind=f"asker said {word}"))
    return items


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The file of a golden set's or a tenant's labels."""

    path: Path

    def read(self) -> Labels:
        """All that it keeps; nothing where it is not there.

        Raises:
            InputError: it cannot be read, or a line of it cannot be.
        """
        try:
            if self.path.stat().st_size > _LARGEST:
                raise InputError(f"{self.path} is larger than {_LARGEST >> 20} MiB", hint="begin a new one beside it")
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Labels()
        except OSError as error:
            raise _unusable(self.path, "read", error) from error
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path} is not UTF-8 text", hint="restore it: people's work is in it") from error
        labels, faults = read_labels(text)
        if faults:
            first, more = faults[0], f" (and {len(faults) - 1} more lines)" if faults[1:] else ""
            hint = "correct or take out that line: people's work is in the others"
            raise InputError(f"{self.path}:{first.line}: {first.message}{more}", hint=hint)
        return labels

    def append(self, lines: Sequence[str]) -> None:
        """Add whole lines at the end, all of them or none, on the disk when this returns.

        Raises:
            InputError: it cannot be written.
        """
        body = "".join(lines).encode("utf-8")
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                _add(descriptor, body)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unusable(self.path, "written", error) from error

    def draw(self, items: Sequence[Item], known: Labels) -> None:
        """Keep what is put before somebody, those left out that are kept as they are now.

        Raises:
            InputError: it cannot be written.
        """
        lines = [drawn_line(item, now()) for item in items if known.drawn.get(item.id) != _kept(item)]
        if lines:
            self.append(lines)


def _kept(item: Item) -> Drawn:
    support = tuple(one for _, one in item.sentences)
    return Drawn(item.id, item.answered, item.kind, item.automatic, support, item.source)


def _add(descriptor: int, body: bytes) -> None:
    """Write after the last whole line: what a killed process left of one is cut off first."""
    size = _whole(descriptor, os.lseek(descriptor, 0, os.SEEK_END))
    os.ftruncate(descriptor, size)
    try:
        done = 0
        while done < len(body):
            done += os.pwrite(descriptor, body[done:], size + done)
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _whole(descriptor: int, size: int) -> int:
    """Length of the file up to its last line end."""
    block = 4096
    end = size
    while end > 0:
        start = max(0, end - block)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _unusable(path: Path, what: str, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(f"{path}: cannot be {what}: {reason}", hint="check its folder's owner, mode and free space")
