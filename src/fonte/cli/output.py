"""What people and programs see: tables and progress on a terminal, one JSON document for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fonte import contract
from fonte.errors import FonteError

if TYPE_CHECKING:
    from rich.progress import TaskID

_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "")
_BIDI = dict.fromkeys((0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069), "")
_BREAKS = {9: " ", 10: " "}
_SECONDS_BETWEEN = 0.1


def safe(text: str) -> str:
    """Document text for a terminal: no control sequences, no tricks with writing direction."""
    return text.translate(_CONTROL | _BIDI)


def one_line(text: str) -> str:
    """The same without line breaks, so that what a document is called makes no line of its own."""
    return text.translate(_BREAKS)


def many(count: int, one: str, more: str = "") -> str:
    """How many of something: ``1 tenant``, ``2 tenants``."""
    return f"{count} {one if count == 1 else more or one + 's'}"


class Output:
    """Writes to stdout what was asked for, and to stderr everything else."""

    def __init__(self, *, json_mode: bool, quiet: bool) -> None:
        self.json_mode = json_mode
        self.quiet = quiet

    def json(self, value: object) -> None:
        """The one JSON document."""
        text = json.dumps(value, ensure_ascii=False, indent=2)
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()

    def json_line(self, value: object) -> None:
        """One JSON document on one line, of several that are written as things happen."""
        sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()

    def line(self, text: str = "") -> None:
        """A line for people."""
        sys.stdout.buffer.write(safe(text).encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()

    def piece(self, text: str) -> None:
        """Part of a line, at once."""
        sys.stdout.buffer.write(safe(text).encode("utf-8", "replace"))
        sys.stdout.buffer.flush()

    def note(self, text: str) -> None:
        """A remark beside the result."""
        if not self.quiet:
            print(safe(text), file=sys.stderr)

    def error(self, error: FonteError) -> None:
        """One line; with --json also the error as JSON on stdout."""
        self.warning(error.code, error.message, error.hint)
        if self.json_mode:
            self.json(contract.error(error))

    def warning(self, code: str, message: str, hint: str) -> None:
        """One line on stderr about what went wrong; by itself it does not end the command."""
        parts = [f"error[{code}]: {message}"] + ([hint] if hint else [])
        print(safe("; ".join(" ".join(part.split()) for part in parts)), file=sys.stderr)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A plain table, columns as wide as they need."""
        cells = [[safe(one_line(cell)) for cell in row] for row in rows]
        widths = [max(len(heading), *(len(row[at]) for row in cells), 0) for at, heading in enumerate(headings)]
        for row in [list(headings), *cells]:
            self.line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, int, int | None], None]]:
        """A progress bar on a terminal, silence elsewhere."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda _what, _done, _total: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bars:
            tasks: dict[str, TaskID] = {}
            last = 0.0

            def update(what: str, done: int, total: int | None) -> None:
                nonlocal last
                moment = time.monotonic()
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                elif moment - last < _SECONDS_BETWEEN and done != total:
                    return
                last = moment
                bars.update(tasks[what], completed=done, total=total)

            yield update
