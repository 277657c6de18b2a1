"""Console blocks of a Markdown page, and a runner that holds them to what they show.

A block is fenced with ``console``. A line that begins with ``$ `` is a command (``\\`` at its end joins the next line);
lines below it are what it prints, in order, where ``…`` stands for any text. A trailing ``# exits N`` says that the
command ends with that status; without it the status is 0. All blocks of one page are one session in one folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

INSTALLING = ("git clone", "make ", "pip install", "python3 -m venv", "cd ", "uv ")
"""Beginnings of commands that install or run everything: they are the project's own targets, tried by themselves."""


@dataclass(frozen=True)
class Command:
    """A command of a page: its line there, its text, what it should print, and its exit status."""

    line: int
    text: str
    shown: tuple[str, ...]
    status: int = 0

    @property
    def runnable(self) -> bool:
        return not self.text.startswith(INSTALLING)


def commands(page: str) -> Iterator[Command]:
    """Every command of a page's console blocks, in order."""
    lines = page.split("\n")
    inside = False
    current: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            if current:
                yield _command(*current)
            inside, current = not inside and line.strip() == "```console", None
        elif inside and current and current[1].endswith("\\") and not current[2]:
            current = (current[0], current[1].removesuffix("\\") + line.strip(), [])
        elif inside and line.startswith("$ "):
            if current:
                yield _command(*current)
            current = (number, line.removeprefix("$ "), [])
        elif inside and current:
            current[2].append(line)
    if current:
        raise ValueError(f"line {current[0]}: the console block never ends")


def _command(line: int, text: str, shown: list[str]) -> Command:
    status = re.search(r"\s+# exits (\d+)$", text)
    return Command(line, text[: status.start()] if status else text, tuple(shown), int(status[1]) if status else 0)


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
    environ = {name: value for name, value in os.environ.items() if not name.startswith("FONTE_")}
    if "FONTE_CACHE" in os.environ:
        environ["FONTE_CACHE"] = os.environ["FONTE_CACHE"]
    environ |= {"PATH": f"{Path(sys.executable).parent}:{environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    faults: list[str] = []
    for command in commands(page):
        if not command.runnable:
            continue
        done = subprocess.run(
            ["/bin/sh", "-c", command.text], cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8",
            timeout=150, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        if done.returncode != command.status:
            faults.append(f"line {command.line}: {command.text}: exits {done.returncode}: {printed[-600:]}")
        elif (line := missing(command.shown, printed)) is not None:
            faults.append(f"line {command.line}: {command.text}: does not print {line!r}: {printed[-600:]}")
    return faults
