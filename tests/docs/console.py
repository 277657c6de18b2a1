"""Console blocks of a Markdown page, and a runner that holds them to what they show.

A block is fenced with ``console``. A line that begins with ``$ `` is a command (``\\`` at its end joins the next line);
lines below it are what it prints, in order, where ``…`` stands for any text. A trailing ``# exits N`` says that the
command ends with that status; without it the status is 0. ``# until Ctrl-C`` says that it goes on while the commands
below run: it has to print what is shown, and to end with status 0 when it is asked to. ``GENERATION`` in a command is
the id that was printed last. A block of any other kind with ``title="NAME"`` is written into the file of that name. All
blocks of one page are one session in one folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

INSTALLING = ("git clone", "make ", "pip install", "python3 -m venv", "cd ", "uv ")
"""Beginnings of commands that install or run everything: they are the project's own targets, tried by themselves."""
GOING = " # until Ctrl-C"
PATIENCE = 120
"""Seconds that a command that goes on has to print what is shown, and to end: busy machines are slow."""
_GENERATION = re.compile(r"\bg[0-9a-f]{16}\b")
_TITLE = re.compile(r'^```\w+ title="([^"]+)"$')


@dataclass(frozen=True)
class Command:
    """A command of a page: its line there, its text, what it should print, its exit status, whether it goes on."""

    line: int
    text: str
    shown: tuple[str, ...]
    status: int = 0
    goes_on: bool = False

    @property
    def runnable(self) -> bool:
        return not self.text.startswith(INSTALLING)


@dataclass(frozen=True)
class File:
    """A file of a page: the line of its block, its name and its text."""

    line: int
    name: str
    text: str


def steps(page: str) -> Iterator[Command | File]:
    """Every command and every file of a page, in order."""
    lines = page.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].startswith("```"):
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), None)
        if end is None:
            raise ValueError(f"line {at + 1}: the block never ends")
        if lines[at].strip() == "```console":
            yield from _commands(lines[at + 1 : end], at + 2)
        elif title := _TITLE.match(lines[at].strip()):
            yield File(at + 1, title[1], "\n".join(lines[at + 1 : end]) + "\n")
        at = end + 1


def _commands(block: list[str], first: int) -> Iterator[Command]:
    current: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(block, start=first):
        if current and current[1].endswith("\\") and not current[2]:
            current = (current[0], current[1].removesuffix("\\") + line.strip(), [])
        elif line.startswith("$ "):
            if current:
                yield _command(*current)
            current = (number, line.removeprefix("$ "), [])
        elif current:
            current[2].append(line)
    if current:
        yield _command(*current)


def _command(line: int, text: str, shown: list[str]) -> Command:
    status = re.search(r"\s+# exits (\d+)$", text)
    said = text[: status.start()] if status else text.removesuffix(GOING).rstrip()
    return Command(line, said, tuple(shown), int(status[1]) if status else 0, text.endswith(GOING))


def missing(shown: tuple[str, ...], printed: str) -> str | None:
    """The first line of ``shown`` that ``printed`` does not hold in order, or None."""
    rest = printed.split("\n")
    for line in filter(str.strip, shown):
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        found = next((i for i, text in enumerate(rest) if re.fullmatch(pattern, text.rstrip())), None)
        if found is None:
            return line
        rest = rest[found + 1 :]
    return None


def run_page(page: str, folder: Path) -> list[str]:
    """Run a page's commands in ``folder``, which holds ``sample``; what went otherwise than shown, in words."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("FONTE_", "OPENAI_"))}
    if "FONTE_CACHE" in os.environ:
        environ["FONTE_CACHE"] = os.environ["FONTE_CACHE"]
    environ |= {"PATH": f"{Path(sys.executable).parent}:{environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    faults: list[str] = []
    generation = "GENERATION"
    with ExitStack() as going:
        for step in steps(page):
            if isinstance(step, File):
                write(step, folder)
            elif step.goes_on:
                _begin(step, folder, environ, faults, going)
            elif step.runnable:
                command = replace(step, text=step.text.replace("GENERATION", generation))
                status, printed = _run(command, folder, environ)
                faults += _faults(command, status, printed)
                generation = (_GENERATION.findall(printed) or [generation])[-1]
    return faults


def write(file: File, folder: Path) -> None:
    """Put a file of a page below ``folder``."""
    place = folder / file.name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(file.text, encoding="utf-8")


def _run(command: Command, folder: Path, environ: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        ["/bin/sh", "-c", command.text], cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8",
        timeout=150, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _faults(command: Command, status: int, printed: str) -> list[str]:
    if status != command.status:
        return [f"line {command.line}: {command.text}: exits {status}: {printed[-600:]}"]
    if (line := missing(command.shown, printed)) is not None:
        return [f"line {command.line}: {command.text}: does not print {line!r}: {printed[-600:]}"]
    return []


def _begin(command: Command, folder: Path, environ: dict[str, str], faults: list[str], going: ExitStack) -> None:
    """Start a command that goes on, and wait until it has printed what is shown; it is ended with the page."""
    log = folder / f".printed-{command.line}"
    with log.open("wb") as written:
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command.text}"], cwd=folder, env=environ, stdout=written, stderr=written
        )

    def end() -> None:
        # Some launchers have their children ignore what Ctrl-C sends; this one they all hear.
        process.terminate()
        try:
            faults.extend(_faults(command, process.wait(PATIENCE), log.read_text(encoding="utf-8")))
        except subprocess.TimeoutExpired:
            process.kill()
            faults.append(f"line {command.line}: {command.text}: does not end")

    going.callback(end)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if missing(command.shown, log.read_text(encoding="utf-8", errors="replace")) is None:
            return
        time.sleep(0.1)
